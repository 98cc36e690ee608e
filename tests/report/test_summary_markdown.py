# ruff: noqa: E501 - lines of Markdown are as long as their paragraphs
"""``summary.md``: the verdict first, everything in its place, harmless whatever the data say, and never too long."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_pages import Page
from runs import (
    ALL,
    FAILED,
    GREEN,
    PASSED,
    RUN,
    SHOP,
    TAIL,
    UNFINISHED,
    WARNED,
    make_lost_query,
    make_suite_of_red_rules,
    suites,
)

from pytest_ireval.report.fitting import count_characters
from pytest_ireval.report.markdown_summary import LIMIT, format_markdown_summary, make_marker
from pytest_ireval.report.markdown_text import SourceLinks
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange
from pytest_ireval.results.suite_result import RunResult, SuiteResult, ToJudge

LINKS = SourceLinks("https://github.com/acme/shop/blob/3b1c0ff", "search")


WHOLE = re.compile(r"<details><summary>\d+\. ")
"""A red check with all that is known of it."""


def first_lines(run):
    return format_markdown_summary(run).splitlines()[1]


def test_a_run_that_did_not_end_is_no_pass():
    assert (
        format_markdown_summary(UNFINISHED)
        == """\
<!-- pytest-ireval summary -->
**Could not be judged**: the run did not end.

**Next**: fix the problems named here and run again; until then the effect of the change is unknown.

pytest-ireval 0.1.0
"""
    )


def failing(**changes):
    return replace(RUN, suites=(replace(SHOP, outcomes=(PASSED, replace(FAILED, **changes))),))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (
            failing(figures=(replace(TAIL, slice="all"),)),
            "searches in product-search got 35% worse (nDCG@10 0.9438 -> 0.6154); 1 of 2 checks failed.",
        ),
        (
            failing(figures=(replace(TAIL, slice="a=b, c=d"),)),
            "searches with a=b, c=d in product-search got 35% worse (nDCG@10 0.9438 -> 0.6154); 1 of 2 checks failed.",
        ),
        (
            failing(figures=(replace(TAIL, tolerance=None),), headline="4 queries lose more than 0.3"),
            "4 queries lose more than 0.3 in product-search; 1 of 2 checks failed.",
        ),
    ],
)
def test_the_verdict_says_for_whom_it_got_worse(run, says):
    assert first_lines(run) == f"**Not safe to land**: {says}"


def test_of_many_findings_the_worst_are_named():
    run = suites(40, red=4)
    worst = replace(FAILED, figures=(replace(TAIL, slice="all", now=0.1, baseline=0.9),))
    made = (*run.suites[:3], replace(run.suites[3], outcomes=(worst,)), *run.suites[4:])

    assert first_lines(replace(run, suites=made)) == (
        "**Not safe to land**: searches in shop-03 got 89% worse (nDCG@10 0.9000 -> 0.1000); "
        "tail searches in shop-00 got 35% worse (nDCG@10 0.9438 -> 0.6154); "
        "4 of 46 checks failed in 4 of 40 suites."
    )


EVERY = replace(TAIL, slice="all", queries=60, now=0.90, baseline=0.92, p=0.001)
HEAD = replace(TAIL, slice="segment=head", queries=30, now=0.80, baseline=0.90, p=0.02)
TINY = replace(TAIL, slice="segment=rare", queries=2, now=0.10, baseline=0.90, p=0.25)
LOW = replace(EVERY, tolerance=None, baseline=None, p=None)


@pytest.mark.parametrize(
    ("outcomes", "order"),
    [
        (
            ("tiny", "all"),
            ("searches in product-search got 2.2% worse", "rare searches in product-search got 89% worse"),
        ),
        (("tiny", "head"), ("head searches in product-search got 11% worse", "rare searches")),
        (("tiny", "threshold"), ("nDCG@10 is 0.9000", "rare searches")),
        (("query", "worsened"), ("3 queries lose more than 0.3", "q1-d0 is not in the first 3")),
        (("tiny without p", "head without p"), ("head searches", "rare searches")),
    ],
    ids=" ".join,
)
def test_the_first_line_is_about_all_searches_then_the_slice_with_the_strongest_evidence(outcomes, order):
    failed = {
        "all": replace(FAILED, slice="all", figures=(EVERY,)),
        "head": replace(FAILED, slice="segment=head", figures=(HEAD, EVERY)),
        "tiny": replace(FAILED, slice="segment=rare", figures=(TINY, EVERY)),
        "head without p": replace(FAILED, slice="segment=head", figures=(replace(HEAD, p=None),)),
        "tiny without p": replace(FAILED, slice="segment=rare", figures=(replace(TINY, p=None),)),
        "threshold": replace(FAILED, slice="all", figures=(LOW,), headline="nDCG@10 is 0.9000, below 0.95"),
        "worsened": replace(
            FAILED, slice="all", figures=(replace(EVERY, over=False),), headline="3 queries lose more than 0.3"
        ),
        "query": replace(FAILED, metric="", figures=(), headline="q1-d0 is not in the first 3"),
    }
    suite = replace(SHOP, outcomes=(PASSED, *(failed[name] for name in outcomes)))

    told = first_lines(replace(RUN, suites=(suite,))).removeprefix("**Not safe to land**: ").split("; ")

    assert [line.startswith(start) for line, start in zip(told, order, strict=False)] == [True, True], told


def test_broken_inputs_are_told_once():
    error = "judgments.txt:3: 'x' is no grade\n  did you mean 1?"
    outcomes = (replace(PASSED, verdict="error", headline="inputs"), replace(FAILED, verdict="error"))
    planned = ("inputs", "churn::RBO", "expect::q1")
    broken = replace(SHOP, verdict="error", outcomes=outcomes, planned=planned, error=error, metrics=(), waived=())

    text = format_markdown_summary(replace(RUN, verdict="error", suites=(broken,)))

    assert "**Could not be judged**: product-search: judgments.txt:\u200b3: 'x' is no grade." in text
    assert "### product-search: could not be judged\n\nOwner: @acme/search-team\n\n```\njudgments.txt:3:" in text
    assert "3 checks of this suite could not be made." in text
    assert "####" not in text
    assert "Warnings, waivers and notes" not in text


def test_doubts_are_no_failures_and_are_said():
    doubt = replace(PASSED, verdict="inconclusive", id="no_regression::x")
    run = replace(GREEN, verdict="inconclusive", suites=(replace(SHOP, outcomes=(PASSED, doubt, WARNED)),))

    said = "1 of 3 checks is inconclusive, 2 passed; 1 warning."
    assert first_lines(run) == f"**May land, but is not shown to be safe**: {said}"
    assert "**Next**" not in format_markdown_summary(run)


def test_what_would_have_failed_but_for_unjudged_documents_is_never_called_safe():
    doubt = replace(PASSED, verdict="inconclusive", id="no_regression::x", warning=True)
    shop = replace(SHOP, outcomes=(PASSED, doubt))
    look, judge = (
        format_markdown_summary(replace(GREEN, verdict="inconclusive", suites=(each,)))
        for each in (shop, replace(shop, to_judge=(ToJudge("q1", "d1", "nDCG@10", -0.1),)))
    )

    assert "Safe to land" not in look + judge
    assert "**Next**: look at the inconclusive checks before the change lands." in look
    assert "**Next**: judge the documents that decide: ireval judge --last, or --run FOLDER" in judge.replace(
        "\u200b", ""
    )


def test_what_was_accepted_did_not_pass_and_a_first_baseline_is_against_nothing():
    accepted = replace(FAILED, verdict="pass", accepted=True)
    first = replace(accepted, missing_baseline=True)

    def said(*outcomes):
        suite = replace(SHOP, verdict="pass", outcomes=outcomes)
        return first_lines(replace(GREEN, suites=(suite,), accepted=("product-search",))).partition(": ")[2]

    new = "accepted as the new baseline: product-search."
    assert said(PASSED, accepted, accepted) == f"1 of 3 checks passed; 2 failed and were accepted; {new}"
    assert said(PASSED, first, first) == f"all 3 checks passed; {new}"


def test_a_missing_baseline_is_told_once():
    missing = replace(FAILED, headline="no baseline to compare with", missing_baseline=True, figures=())
    others = (replace(missing, line=18), replace(missing, line=19))
    run = replace(RUN, suites=(replace(SHOP, outcomes=(PASSED, missing, *others)),))

    text = format_markdown_summary(run)

    said = "**Not safe to land**: no baseline to compare with in product-search; 3 of 4 checks failed."
    assert text.splitlines()[1] == said
    assert text.count("--ireval-update-new") == 1
    assert "#### no baseline to compare with (and 2 more checks)" in text
    assert text.count("no baseline to compare with") == 2


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ("a.ireval.yaml:6:1\n  unknown key 'depht'\n  did you mean 'depth'?", "a.ireval.yaml:6:1: unknown key 'depht'"),
        ("a b.yaml:3:15: source > run\n  no such file: x", "a b.yaml:3:15: source > run: no such file: x"),
    ],
)
def test_the_verdict_says_what_is_wrong_and_not_only_where(problem, says):
    run = replace(RUN, verdict="error", suites=(), problems=(problem,))

    assert first_lines(run).replace("\u200b", "") == f"**Could not be judged**: {says}."


def test_what_nobody_came_to_is_not_the_first_reason():
    never = replace(SHOP, verdict="error", outcomes=(), error="the run ended before this suite was evaluated")
    run = replace(RUN, verdict="error", suites=(never,), problems=("a.py could not be collected",))

    assert first_lines(run) == (
        "**Could not be judged**: a.py could not be collected; "
        "product-search: the run ended before this suite was evaluated."
    )


def test_a_suite_that_was_cut_off_is_not_told_as_if_it_were_whole():
    cut = replace(SHOP, verdict="error", notes=("the run ended before 7 of its verdicts were reported",))

    text = format_markdown_summary(replace(RUN, verdict="error", suites=(cut,)))

    assert "\n### product-search: 1 of 3 failed, could not be judged as a whole\n" in text


def test_next_is_what_settles_it():
    def next_of(*outcomes):
        return format_markdown_summary(replace(RUN, suites=(replace(SHOP, outcomes=outcomes),))).splitlines()[3]

    missing = replace(FAILED, missing_baseline=True, figures=())
    bound = replace(FAILED, acceptable=False)

    assert next_of(missing) == "**Next**: accept the first baseline with the command below, and commit it."
    assert next_of(bound) == "**Next**: fix it; a new baseline does not settle this."
    assert next_of(bound, FAILED).startswith("**Next**: fix it, or first fix 1 of 2 that no baseline settles")


def test_a_branch_that_lowers_its_baseline_is_shown_openly():
    lowering = replace(
        WARNED,
        id="lowering",
        kind="lowering",
        headline="nDCG@10 of the baseline fell 3%",
        facts=("reason: x", "reason: y"),
        numbers={"change": -0.03},
    )

    text = format_markdown_summary(
        replace(GREEN, base="origin/main", suites=(replace(GREEN.suites[0], outcomes=(PASSED, lowering)),))
    )

    assert (
        "### This branch lowers what later changes are compared with\n\n* product-search: nDCG@10 of the baseline fell 3% "
        "(`suites/product-search.ireval.yaml:24`): reason: x; reason: y\n" in text
    )
    assert "Baselines were compared with those of the merge base with `origin/main`" in text
    assert text.splitlines()[1] == (
        "**Safe to land, with 1 warning**: all 2 checks passed; but nDCG@10 of the baseline fell 3%."
    )
    assert text.count("of the baseline fell 3%") == 2  # in the verdict, and with the reasons


def test_a_branch_that_makes_its_suite_weaker_is_shown_openly():
    weaker = [f"expect::q{number}: top 3 -> top 4" for number in range(7)]
    lowering = replace(
        WARNED, id="lowering", kind="lowering", headline="the suite is weaker than at abc", facts=tuple(weaker)
    )

    text = format_markdown_summary(
        replace(GREEN, base="origin/main", suites=(replace(GREEN.suites[0], outcomes=(PASSED, lowering)),))
    )

    assert text.splitlines()[1].endswith("but this branch makes the suite weaker: product-search.")
    assert "### This branch makes its suite weaker\n\n* product-search: the suite is weaker than at abc" in text
    assert "q4: top 3 -> top 4; and 2 more\n" in text


def test_what_is_to_be_known_of_the_run_stands_beside_the_verdict():
    text = format_markdown_summary(replace(GREEN, warnings=("the suite <ads> is gone", "b", *"cd")))

    assert text.splitlines()[1].endswith("; but the suite &lt;ads> is gone; b; and 2 more.")
    assert "### Notes on this run\n\n* the suite &lt;ads> is gone\n* b\n" in text


def test_checks_that_nobody_asked_for_are_counted():
    run = replace(GREEN, suites=(replace(GREEN.suites[0], planned=(PASSED.id, "churn::RBO", "expect::q1")),))

    assert first_lines(run) == "**Passed, but not everything was checked**: 1 check passed; 2 checks not selected."


def test_who_took_no_part_is_named():
    run = replace(GREEN, changed_since="origin/main", unaffected=tuple(f"shop-{i}" for i in range(25)))

    text = format_markdown_summary(run)

    assert "1 check passed; 25 suites not affected by the change." in text
    assert "changed since `origin/main`: `shop-0`, `shop-1`" in text
    assert "`shop-19` and 5 more\n" in text


def test_where_nothing_watched_has_changed_nothing_is_called_safe():
    run = replace(GREEN, suites=(), unaffected=("shop",))

    assert first_lines(run) == ("**Nothing was checked**: 1 suite not affected by the change.")


def test_python_tests_that_failed_are_part_of_the_verdict():
    run = replace(GREEN, verdict="fail", failed_tests=("tests/test_gate.py::test_shop", "b", "c"))

    assert first_lines(run).startswith(
        "**Not safe to land**: 3 Python tests tests/test_gate.py::\u200btest_shop, b and 1 more failed; 1 check passed."
    )


@pytest.mark.parametrize(("key", "line"), [("", ""), ("nightly", ": nightly"), ("a --> b", ": a-b")])
def test_a_comment_is_found_by_its_first_line(key, line):
    assert (
        format_markdown_summary(RUN, key=key).splitlines()[0]
        == f"<!-- pytest-ireval summary{line} -->"
        == make_marker(key)
    )


@pytest.mark.parametrize(
    ("owner", "shown"),
    [
        ("@search-team", "Owner: @search-team"),
        ("@acme/search.team", "Owner: @acme/search.team"),
        ("search@acme.com", "Owner: search@\u200bacme.com"),
        ("@a @b, https://x.y", "Owner: @\u200ba @\u200bb, https:\u200b//x.y"),
    ],
)
def test_an_owner_who_is_one_name_is_mentioned(owner, shown):
    assert shown in format_markdown_summary(replace(RUN, suites=(replace(SHOP, owner=owner),))).splitlines()


def test_a_file_above_the_run_is_linked_from_the_top():
    links = SourceLinks("https://host/blob/1", "sub/folder", "/home/me/repo")

    assert links.place("/home/me/repo/suites/a b.yaml", 3) == (
        "[`/home/me/repo/suites/a b.yaml:3`](https://host/blob/1/suites/a%20b.yaml#L3)"
    )
    assert links.path("../other/x.yaml") == "sub/other/x.yaml"
    assert links.place("/elsewhere/x.yaml", 3) == "`/elsewhere/x.yaml:3`"


def test_two_thousand_red_rules_are_counted():
    text = format_markdown_summary(
        replace(RUN, suites=(make_suite_of_red_rules(2000),)), LINKS, rest="ireval-report/results.json"
    )

    whole, lines = len(WHOLE.findall(text)), text.count("\n* product-search: ")
    shortened, omitted = map(
        int, re.search(r"(\d+) failures shortened to one line, (\d+) failures left out", text).groups()
    )
    assert count_characters(text) <= LIMIT
    assert whole == 5
    assert (shortened, whole + lines + omitted) == (lines, 2000)
    assert text.endswith("Everything is in `ireval-report/results.json`.\n")


def test_where_not_all_can_be_named_each_suite_has_some():
    run = replace(RUN, suites=tuple(make_suite_of_red_rules(50, f"shop-{i:02}") for i in range(40)))

    text = format_markdown_summary(run, LINKS)

    assert count_characters(text) <= LIMIT
    assert min(text.count(f"\n* shop-{i:02}: ") for i in range(1, 40)) >= 5


HOSTILE = [
    "@everyone look",
    "see #123 and acme/shop#4, GH-7, !9",
    "https://evil.example/x?y www.evil.example",
    "<img src=x onerror=alert(1)><script>x</script></details>",
    "<!-- ", "-->",
    "`code` ``more`` ```\n```sh\nrm -rf /\n```",
    "a | b \\| c \\\\| d",
    "two\nlines\r\n\r\n# heading\n- list",
    "\u202egnirts\u202c \u2066x\u2069 \x1b[31mred\x1b[0m \x00 \u2028 \x85",
    "[link](https://evil.example) ![image](x) [ref]: y",
    "*bold* _it_ __b__ ~~s~~ $math$ :smile: &lt;b&gt; &amp;",
    "::set-output name=x::y ##[error]z",
    "1. one", "- two", "> three", "# four", "===", "---", "    indented",
    "\ud800 lone",
    "x" * 5000,
    "|" * 400,
    "`" * 400,
    "@" * 400,
]  # fmt: skip
texts = st.sampled_from(HOSTILE) | st.text(st.sampled_from("@#!`|\\<>&*_[]()~$:/\n\r\t .-=+1aw\u202e\x1b"), max_size=60)


def hostile_run(a, b, c, d):
    document = Placed(a or "d", None, 1, 2)
    query = QueryChange(b or "q", c, 0.1, 0.2, 1.0, document, (document,), d)
    outcome = replace(
        FAILED,
        headline=a or "x",
        sentence=b,
        file=c,
        facts=(d, a),
        figures=(replace(TAIL, slice=b), replace(ALL, slice=c)),
        queries=(query, make_lost_query(1, d)),
        metric=d,
    )
    told = replace(outcome, against=c or "x", id=d or "i")
    suite = replace(
        SHOP, name=a or "s", path=b, owner=f"{c} ", outcomes=(outcome, told, replace(WARNED, headline=d)), waived=(a,)
    )
    broken = replace(suite, verdict="error", error=f"{b}\n{c}")
    return replace(
        RUN,
        suites=(suite, broken),
        problems=(d, a),
        commit=b,
        branch=c,
        base=d,
        changed_since=a,
        unaffected=(b, c),
        version="1",
    )


OURS = re.compile(
    r"</?details>(?:<summary>(?:[\w ,]+(?:: \d+(?: rows?)?)?|\d+\. [^<>]*)</summary>)?|<!-- pytest-ireval summary -->"
)


def harmless(text):
    page = Page(text)
    assert [each for each in page.html if not OURS.fullmatch(each.split("\n")[0])] == []
    assert sum("<details>" in each for each in page.html) == sum("</details>" in each for each in page.html)
    assert page.acting == []
    assert page.emphasised == []
    assert [link for link in page.links if not link.startswith(LINKS.base)] == []
    assert [char for char in text if not char.isprintable() and char != "\n" and char != "\u200b"] == []
    for lines in page.tables:
        assert {line.count("|") for line in lines} == {lines[0].count("|")}
    return page


@given(texts, texts, texts, texts)
def test_nothing_that_data_say_acts(a, b, c, d):
    text = format_markdown_summary(hostile_run(a, b, c, d), LINKS)

    page = harmless(text)
    assert count_characters(text) <= LIMIT
    assert len([t for t in page.tokens if t.type == "heading_open"]) == len(re.findall(r"^#{3,4} ", text, re.M))


@pytest.mark.parametrize(
    ("kind", "next_step"),
    [
        ("waive", "renew the waiver, or remove it."),
        (
            "lowering",
            "revert it; or, if it is intended, ask someone who may merge: updating the baseline does not settle it.",
        ),
        ("threshold", "fix it; a new baseline does not settle this."),
    ],
)
def test_what_no_baseline_settles_is_settled_otherwise(kind, next_step):
    outcome = Outcome(kind, kind, "fail", "it is red")
    run = RunResult("0.1", "2026-11-20T10:00:00Z", "fail", (SuiteResult("shop", "shop.yaml", "fail", (outcome,)),))

    assert f"**Next**: {next_step}" in format_markdown_summary(run).splitlines()
