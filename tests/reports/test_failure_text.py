"""What a failure says, in full: the text is the product."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.reports.failure_text import failure_text
from pytest_ireval.results.outcome import Cause, Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import BaselineInfo, MetricFigures, SuiteResult
from pytest_ireval.text_table import LEFT_TO_RIGHT, printable, width

TODAY = "2027-03-03T09:00:00Z"

TAIL = SliceFigures(
    "segment=tail",
    12,
    now=0.6254,
    baseline=0.9081,
    worse=4,
    same=8,
    tolerance=0.0272,
    over=True,
    low=-0.508,
    high=-0.0683,
    resolution=0.338,
)
HEAD = SliceFigures("segment=head", 30, now=0.9552, baseline=0.9033, better=26, same=4)
ALL = SliceFigures("all", 60, now=0.8714, baseline=0.9020, worse=4, better=26, same=30)


def lost(number, text, baseline, now_at):
    query = f"q{number:03}"
    top = tuple(Placed(f"{query}-n{n}", None, rank) for rank, n in ((1, 11), (2, 16), (3, 22)))
    return QueryChange(query, text, 0.0, baseline, best=Placed(f"{query}-d0", 3, now_at, 1), top=top)


QUERIES = (
    lost(60, "red mug", 0.9331, 17),
    lost(57, "tea set", 0.9118, 15),
    lost(52, "lids", 0.8804, 9),
    lost(50, "fuse", 0.6666, 12),
)

HIDDEN_TAIL = Outcome(
    id="no_regression::nDCG_10.segment-tail",
    kind="no_regression",
    verdict="fail",
    headline="nDCG@10 fell 31.1% on segment=tail (tolerance 3%)",
    sentence="4 of 12 tail queries lost their best document; they carry 2.1% of searches.",
    file="suites/product-search.ireval.yaml",
    line=18,
    metric="nDCG@10",
    slice="segment=tail",
    figures=(TAIL, ALL, HEAD),
    queries=QUERIES,
    compares=True,
)

SHOP = SuiteResult(
    name="product-search",
    path="suites/product-search.ireval.yaml",
    verdict="fail",
    outcomes=(HIDDEN_TAIL,),
    owner="@search-team",
    metrics=(MetricFigures("nDCG@10", "higher", "query", "mean", 0.8714, 0.9020, verdict="fail"),),
    cause=Cause(rankings=34, compared=60),
    baseline=BaselineInfo("b.json", "2027-03-01T08:00:00Z", "3f9c2e1d8a77", "main", False, "start", False, ()),
    depth=20,
)


def text_of(outcome, suite=SHOP, **options):
    return failure_text(outcome, suite, **{"date": TODAY, **options}) + "\n"


def widest(text):
    return max(width(line) for line in text.splitlines())


def test_hidden_tail_reads_as_specified():
    text = text_of(HIDDEN_TAIL, width=100, report="ireval-report/index.html#product-search.tail")

    assert (
        text
        == """\
suites/product-search.ireval.yaml:18: nDCG@10 fell 31.1% on segment=tail (tolerance 3%)
4 of 12 tail queries lost their best document; they carry 2.1% of searches. Owner @search-team.

                 baseline     now    change           queries   worse / better / same
  segment=tail     0.9081  0.6254   -0.2827  -31.1%        12   4 / 0 / 8      <- over tolerance
  all              0.9020  0.8714   -0.0306   -3.4%        60   4 / 26 / 30
  segment=head     0.9033  0.9552   +0.0519   +5.7%        30   0 / 26 / 4
  tail: 90% interval -0.508 .. -0.068; 12 queries can show a drop of 0.34 or more (80% power)

  worst queries    nDCG@10           document that fell    now at
  q060 "red mug"   0.933 -> 0.000    q060-d0 (grade 3) #1     #17
  q057 "tea set"   0.912 -> 0.000    q057-d0 (grade 3) #1     #15
  q052 "lids"      0.880 -> 0.000    q052-d0 (grade 3) #1      #9
  … and 1 more: -v shows it
  q060 top 3 is now q060-n11, q060-n16, q060-n22 (none judged)

  inputs: rankings changed; queries, judgments, source and metrics are those of the baseline
  baseline: 3f9c2e1 on main, 2 days old      report: ireval-report/index.html#product-search.tail
  why:      ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query q060
  accept:   pytest --ireval suites/product-search.ireval.yaml --ireval-update --ireval-reason "..."
"""
    )


def test_at_80_columns_columns_stand_closer_and_sentences_are_wrapped():
    assert (
        text_of(HIDDEN_TAIL)
        == """\
suites/product-search.ireval.yaml:18: nDCG@10 fell 31.1% on segment=tail (tolerance 3%)
4 of 12 tail queries lost their best document; they carry 2.1% of searches.
Owner @search-team.

                baseline     now   change          queries  worse/better/same
  segment=tail    0.9081  0.6254  -0.2827  -31.1%       12  4/0/8    <- over
  all             0.9020  0.8714  -0.0306   -3.4%       60  4/26/30
  segment=head    0.9033  0.9552  +0.0519   +5.7%       30  0/26/4
  tail: 90% interval -0.508 .. -0.068; 12 queries can show a drop of 0.34 or
    more (80% power)

  worst queries    nDCG@10           document that fell    now at
  q060 "red mug"   0.933 -> 0.000    q060-d0 (grade 3) #1     #17
  q057 "tea set"   0.912 -> 0.000    q057-d0 (grade 3) #1     #15
  q052 "lids"      0.880 -> 0.000    q052-d0 (grade 3) #1      #9
  … and 1 more: -v shows it
  q060 top 3 is now q060-n11, q060-n16, q060-n22 (none judged)

  inputs: rankings changed; queries, judgments, source and metrics are those of
    the baseline
  baseline: 3f9c2e1 on main, 2 days old
  why:      ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query q060
  accept:   pytest --ireval suites/product-search.ireval.yaml --ireval-update --ireval-reason "..."
"""
    )


@pytest.mark.parametrize(("limit", "mark"), [(120, "<- breaks the rule"), (80, "<- red")])
def test_what_fails_by_evidence_need_not_be_over_the_tolerance(limit, mark):
    tail = replace(TAIL, now=0.9091)

    text = text_of(replace(HIDDEN_TAIL, figures=(tail, ALL)), width=limit)

    assert mark in text
    assert "<- over" not in text


def test_a_threshold_has_no_baseline_columns_and_nothing_to_accept():
    outcome = Outcome(
        "threshold::nDCG_10",
        "threshold",
        "fail",
        "nDCG@10 is 0.8714 (wanted >= 0.9)",
        file="shop.ireval.yaml",
        line=9,
        metric="nDCG@10",
        figures=(SliceFigures("all", 60, 0.8714, over=True),),
        queries=(
            QueryChange("q060", "red mug", 0.0, best=Placed("q060-d0", 3, 17), top=(Placed("q060-n1", 0, 1),)),
            QueryChange("q002", "", 0.25, best=Placed("q002-d1", 2, None)),
        ),
        worst="lowest queries",
    )

    assert (
        text_of(outcome, replace(SHOP, owner=""))
        == """\
shop.ireval.yaml:9: nDCG@10 is 0.8714 (wanted >= 0.9)

           now   queries
  all   0.8714        60    <- breaks the rule

  lowest queries   nDCG@10    best document             now at
  q060 "red mug"   0.000      q060-d0 (grade 3)            #17
  q002             0.250      q002-d1 (grade 2)  not in top 20
  q060 top 1 is now q060-n1 (grade 0)

  why:      ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query q060
"""
    )


def test_an_expectation_has_no_figures():
    outcome = Outcome(
        "expect::q044.order",
        "expect",
        "fail",
        "q044: q044-d3 stands above q044-d0",
        "Somebody who searches for 'tea' sees the wrong one first.",
        "shop.ireval.yaml",
        30,
        queries=(
            QueryChange(
                "q044",
                "tea",
                None,
                note="q044-d0 at 4, q044-d3 at 1",
                top=(Placed("q044-d3", 2, 1), Placed("x", None, 2)),
            ),
        ),
        worst="query",
    )

    assert (
        text_of(outcome)
        == """\
shop.ireval.yaml:30: q044: q044-d3 stands above q044-d0
Somebody who searches for 'tea' sees the wrong one first. Owner @search-team.

  query
  q044 "tea"
    q044-d0 at 4, q044-d3 at 1
  q044 top 2 is now q044-d3 (grade 2), x (not judged)
"""
    )


def test_without_a_baseline_it_ends_in_the_command_that_accepts():
    outcome = Outcome(
        "no_regression::nDCG_10.all",
        "no_regression",
        "fail",
        "there is no baseline yet",
        "Nothing can be compared until somebody accepts what is measured now.",
        "shop.ireval.yaml",
        12,
        metric="nDCG@10",
        compares=True,
        missing_baseline=True,
    )
    suite = replace(SHOP, path="my suites/shop's.ireval.yaml", baseline=None, cause=None, owner="")

    assert (
        text_of(outcome, suite)
        == """\
shop.ireval.yaml:12: there is no baseline yet
Nothing can be compared until somebody accepts what is measured now.

  accept:   pytest --ireval "my suites/shop's.ireval.yaml" --ireval-update-new
"""
    )


def test_churn_shows_how_much_each_list_changed():
    outcome = Outcome(
        "churn::RBO",
        "churn",
        "fail",
        "12 of 60 queries have another list (20.0%, at most 10%)",
        file="shop.ireval.yaml",
        line=22,
        metric="RBO(p=0.9)",
        queries=(QueryChange("q7", "cups", 0.1234), QueryChange("q8", "mugs", 0.4)),
        worst="most changed",
        facts=("queries below RBO(p=0.9) = 0.8 count",),
        compares=True,
    )

    assert (
        text_of(outcome)
        == """\
shop.ireval.yaml:22: 12 of 60 queries have another list (20.0%, at most 10%)
Owner @search-team.

  queries below RBO(p=0.9) = 0.8 count

  most changed   RBO(p=0.9)
  q7 "cups"      0.123
  q8 "mugs"      0.400

  inputs: rankings changed; queries, judgments, source and metrics are those of
    the baseline
  baseline: 3f9c2e1 on main, 2 days old
  why:      ireval why 'RBO(p=0.9)' --suite suites/product-search.ireval.yaml --query q7
  accept:   pytest --ireval suites/product-search.ireval.yaml --ireval-update --ireval-reason "..."
"""
    )


def test_an_error_says_all_its_lines_and_no_command_to_accept():
    outcome = Outcome(
        "inputs",
        "inputs",
        "error",
        "runs/fine.trec:3: expected 6 columns, found 5\n  q001 Q0 d1 1 2.5",
        file="shop.ireval.yaml",
        line=4,
        compares=True,
    )

    assert (
        text_of(outcome, replace(SHOP, cause=None, baseline=None, owner=""))
        == """\
shop.ireval.yaml:4: runs/fine.trec:3: expected 6 columns, found 5
  q001 Q0 d1 1 2.5
"""
    )


@pytest.mark.parametrize(
    ("shown", "line"), [(3, "  … and 27 more: -v shows ten, -vv shows all"), (10, "  … and 20 more: -vv shows all")]
)
def test_more_queries_are_counted_with_what_shows_them(shown, line):
    many = replace(HIDDEN_TAIL, queries=tuple(lost(n, "cup", 0.9, 5) for n in range(30)))

    lines = text_of(many, queries=shown).splitlines()

    assert line in lines
    assert sum("q0" in each and "(grade 3)" in each for each in lines) == shown


def test_all_queries_are_shown_when_asked_for():
    many = replace(HIDDEN_TAIL, queries=tuple(lost(n, "cup", 0.9, 5) for n in range(30)))

    text = text_of(many, queries=None)

    assert text.count("(grade 3)") == 30
    assert "… and" not in text


@pytest.mark.parametrize(("left", "line"), [(1, "  … and 1 more: -v shows it"), (2, "  … and 2 more: -v shows them")])
def test_few_more_queries_are_all_shown_by_one_v(left, line):
    assert line in text_of(replace(HIDDEN_TAIL, queries=(*QUERIES[:3], *QUERIES[:left]))).splitlines()


def test_wide_letters_and_long_texts_keep_the_columns():
    queries = (
        QueryChange("検索", "赤いマグカップ" * 30, 0.1, 0.9, best=Placed("商品", 3, 2, 1)),
        QueryChange("q2", "mug " * 50, 0.2, 0.9, best=Placed("d2", 3, 12, 1)),
        QueryChange("q\x1b[31m3", "tab\there", 0.3, 0.9, best=Placed("d\n3", 3, 3, 1)),
    )

    text = text_of(replace(HIDDEN_TAIL, queries=queries, figures=(replace(TAIL, slice="地域=東京"), ALL)))

    assert (
        text
        == """\
suites/product-search.ireval.yaml:18: nDCG@10 fell 31.1% on segment=tail (tolerance 3%)
4 of 12 tail queries lost their best document; they carry 2.1% of searches.
Owner @search-team.

             baseline     now   change          queries  worse/better/same
  地域=東京    0.9081  0.6254  -0.2827  -31.1%       12  4/0/8    <- over
  all          0.9020  0.8714  -0.0306   -3.4%       60  4/26/30
  東京: 90% interval -0.508 .. -0.068; 12 queries can show a drop of 0.34 or
    more (80% power)

  worst queries                     nDCG@10           document that fell  now at
  検索 "赤いマグカップ赤いマグ…"    0.900 -> 0.100    商品 (grade 3) #1       #2
  q2 "mug mug mug mug mug mug m…"   0.900 -> 0.200    d2 (grade 3) #1        #12
  q\\x1b[31m3 "tab\\there"            0.900 -> 0.300    d\\n3 (grade 3) #1       #3

  inputs: rankings changed; queries, judgments, source and metrics are those of
    the baseline
  baseline: 3f9c2e1 on main, 2 days old
  why:      ireval why nDCG@10 --suite suites/product-search.ireval.yaml --query '検索'
  accept:   pytest --ireval suites/product-search.ireval.yaml --ireval-update --ireval-reason "..."
"""
    )
    assert widest("\n".join(line for line in text.splitlines()[1:] if "ireval" not in line)) <= 80


def test_a_very_long_id_has_its_figures_below_it():
    long = "x" * 200
    queries = (lost(1, "cup", 0.9, 5), replace(lost(2, "", 0.9, 5), query=long))

    lines = text_of(replace(HIDDEN_TAIL, queries=queries)).splitlines()

    assert '  q001 "cup"      0.900 -> 0.000    q001-d0 (grade 3) #1      #5' in lines
    place = lines.index(f"  {long}")
    assert lines[place + 1] == "                  0.900 -> 0.000    q002-d0 (grade 3) #1      #5"


def test_commands_quote_ids_for_a_shell():
    query = replace(QUERIES[0], query="it's $HOME\n")

    text = text_of(replace(HIDDEN_TAIL, queries=(query,), metric="nDCG(gain='exp')@10"))

    assert (
        """  why:      ireval why "nDCG(gain='exp')@10" --suite suites/product-search.ireval.yaml """
        r"""--query $'it\'s $HOME\n'""" in text.splitlines()
    )


@pytest.mark.parametrize(
    ("accepted", "age"),
    [
        ("2027-03-03T08:59:30Z", "less than a minute old"),
        ("2027-03-03T08:59:00Z", "1 minute old"),
        ("2027-03-03T07:00:00+00:00", "2 hours old"),
        ("2027-03-02T09:00:00", "1 day old"),
        ("2026-03-03T09:00:00Z", "365 days old"),
        ("2027-03-04T09:00:00Z", "of 2027-03-04T09:00:00Z"),
        ("yesterday", "yesterday"),
    ],
)
def test_age_of_a_baseline(accepted, age):
    suite = replace(SHOP, baseline=replace(SHOP.baseline, date=accepted))

    assert f"  baseline: 3f9c2e1 on main, {age}" in text_of(HIDDEN_TAIL, suite).splitlines()


def test_a_baseline_from_outside_of_git_with_force():
    suite = replace(SHOP, baseline=replace(SHOP.baseline, commit="", branch="", forced=True))

    line = "  baseline: no commit (not in a git repository), 2 days old, forced"
    assert line in text_of(HIDDEN_TAIL, suite).splitlines()


def test_many_queries_fit_into_80_columns():
    broad = replace(TAIL, queries=5000, worse=1234, better=2345, same=1421)

    assert widest(text_of(replace(HIDDEN_TAIL, figures=(broad,), queries=())).split("\n\n")[1]) <= 80


def test_of_a_metric_that_should_be_low_the_smallest_rise_is_said():
    suite = replace(SHOP, metrics=(replace(SHOP.metrics[0], direction="lower"),))
    figures = (replace(TAIL, queries=1, low=None),)

    text = text_of(replace(HIDDEN_TAIL, figures=figures, queries=()), suite)

    assert "  tail: 1 query can show a rise of 0.34 or more (80% power)" in text.splitlines()


NAMES = st.text(st.sampled_from("aä語\n\x1b\u200b\u0301"), min_size=1, max_size=5).filter(
    lambda name: width(printable(name)) < 12
)
VALUES = st.floats(0, 1)


@given(
    figures=st.lists(
        st.builds(
            SliceFigures,
            slice=NAMES,
            queries=st.integers(1, 99_999),
            now=VALUES,
            baseline=VALUES.filter(lambda value: value > 1e-4) | st.none(),
            worse=st.integers(0, 999),
            better=st.integers(0, 999),
            same=st.integers(0, 999),
            tolerance=st.none() | VALUES,
            over=st.booleans(),
            low=st.none() | st.floats(-1, 1),
            high=st.none() | st.floats(-1, 1),
            resolution=st.none() | VALUES,
        ),
        max_size=3,
    ),
    queries=st.lists(
        st.builds(
            QueryChange,
            query=NAMES,
            text=st.text(max_size=60),
            now=st.none() | VALUES,
            baseline=st.none() | VALUES,
            best=st.none()
            | st.builds(Placed, NAMES, VALUES.map(round), st.none() | st.integers(1, 99), st.integers(1, 99)),
            top=st.lists(st.builds(Placed, NAMES, st.none() | VALUES), max_size=3).map(tuple),
            note=st.lists(NAMES, max_size=30).map(" ".join),
        ),
        max_size=5,
    ),
)
def test_at_80_columns_nothing_but_paths_and_ids_runs_over(figures, queries):
    outcome = replace(HIDDEN_TAIL, figures=tuple(figures), queries=tuple(queries), facts=("fact " * 40,))

    lines = failure_text(outcome, SHOP, date=TODAY).split("\n")

    assert all(width(line) <= 80 for line in lines[1:] if not line.startswith(("  why: ", "  accept: ")))
    assert all(line.replace(LEFT_TO_RIGHT, "").isprintable() for line in lines)
