"""Judgments that were regraded to fit a worse ranking: said with figures, and red where a lowered baseline is."""

from copy import deepcopy

import pytest
from branches import FAILS, LOWERING

from pytest_ireval import load_suite, run_gate

OK = pytest.ExitCode.OK
RULES = """\
  - no_regression: {metric: nDCG@10, tolerance: 1%, decide_by: observed}
  - no_regression: {metric: P@3, tolerance: 1%, decide_by: observed}
"""
FITTED = {"d0": 0, "d1": 1, "d2": 2, "d3": 3}
"""Grades under which the reversed list is the best one."""


@pytest.fixture
def strict(branch):
    """A branch of a suite of two rules, with ``main`` as it was accepted."""
    branch.begin_with((branch.shop.suite.partition("rules:\n")[2], RULES))
    return branch


def reverse(shop, *queries):
    for query in queries:
        shop.rankings[query].reverse()
    shop.write()


def regrade(shop, grades, *queries):
    for query in queries:
        shop.judgments[query] |= {f"{query}-{end}": grade for end, grade in grades.items()}
    shop.write()


def fit(shop):
    """Break a ranking, and regrade its judgments so that every rule holds."""
    reverse(shop, "q10")
    assert shop.gate().verdict == "fail"
    regrade(shop, FITTED, "q10")


def headline(strict):
    """What the check of a lowered baseline says of files that are not committed."""
    found = run_gate(load_suite(strict.path / "shop.ireval.yaml"), base="main")
    (outcome,) = (each for each in found.outcomes if each.id == LOWERING)
    return outcome.headline


def summary(shop):
    text = (shop.path / "ireval-report/summary.md").read_text().replace("\u200b", "")
    return text.splitlines()[1]


FIGURES = "nDCG@10 changes by +0.0386 with the new grades, by -0.0386 with the old ones"
IN_BRANCH = f"4 judgments were regraded in this branch: {FIGURES}"


def test_a_regrading_that_fits_a_worse_ranking_is_said_with_the_figures_before_and_after(strict):
    fit(strict.shop)

    assert strict.shop.run().ret == OK
    assert summary(strict.shop) == (
        "**Safe to land, with 1 warning**: all 3 checks passed; "
        f"but 4 judgments were regraded since the baseline was accepted: {FIGURES}."
    )
    (suite,) = strict.shop.results()["suites"]
    inputs = suite["outcomes"][0]
    assert (inputs["verdict"], inputs["warning"]) == ("pass", True)
    assert inputs["numbers"]["baseline"] == 1
    assert inputs["facts"][:4] == [
        "q10 q10-d0: 3 -> 0",
        "q10 q10-d1: 2 -> 1",
        "q10 q10-d2: 1 -> 2",
        "q10 q10-d3: 0 -> 3",
    ]


def test_with_a_base_it_is_red_where_a_lowered_baseline_is(strict):
    fit(strict.shop)
    strict.shop.update("x")  # in the same commit, so that the stored baseline knows no other grades
    strict.commit("fitted")

    reported = strict.outcome()
    told = summary(strict.shop)
    failed = strict.outcome(*FAILS)

    assert strict.said.ret == pytest.ExitCode.TESTS_FAILED
    assert (reported["verdict"], reported["warning"], failed["verdict"]) == ("pass", True, "fail")
    assert failed["headline"] == IN_BRANCH
    assert told == f"**Safe to land, with 1 warning**: all 4 checks passed; but {IN_BRANCH}."

    content = (strict.path / "judgments.txt").read_text()  # another file of judgments is no way around
    strict.git("checkout", "main", "judgments.txt")
    (strict.path / "newer.txt").write_text(content)
    text = strict.shop.suite.replace("judgments: judgments.txt", "judgments: newer.txt")
    (strict.path / "shop.ireval.yaml").write_text(text)
    assert headline(strict) == IN_BRANCH


def test_each_way_to_lower_the_bar_is_found(strict):
    shop = strict.shop
    regrade(shop, {"d0": 0}, "q10")  # before any ranking changes
    regraded = "1 judgment was regraded in this branch: P@3"
    assert headline(strict) == f"{regraded} of the baseline 1.0000 -> 0.9667"

    reverse(shop, "q10")
    regrade(shop, {"d0": 3, "d3": 1}, "q10")  # P@3 of the baseline is what it was; that of the worse ranking rises
    figures = "P@3 changes by +0.0000 with the new grades, by -0.0333 with the old ones"
    assert headline(strict) == f"1 judgment was regraded in this branch: {figures}"

    regrade(shop, {"d3": 0}, "q10")
    del shop.judgments["q10"]["q10-d0"]
    shop.write()
    assert headline(strict).startswith("1 judgment was regraded in this branch: nDCG@10 changes by ")
    assert "q10 q10-d0: 3 -> not judged" in strict.gate()["facts"]
    assert headline(strict).endswith("; the suite is also weaker")


def test_judgments_that_git_does_not_have_are_compared_with_those_that_the_baseline_keeps(strict):
    strict.git("checkout", "--quiet", "main")
    strict.git("rm", "--quiet", "--cached", "judgments.txt")
    (strict.path / ".gitignore").write_text("ireval-report/\njudgments.txt\n")
    strict.commit("judgments elsewhere")
    strict.git("checkout", "--quiet", "-B", "change")
    fit(strict.shop)

    assert headline(strict) == IN_BRANCH


def test_a_grade_of_one_subtopic_is_a_judgment_as_well(strict):
    def write(second):
        grades = {"d0": (1, 0), "d1": (0, 1), "d2": (1, second), "d3": (0, 0)}
        (strict.path / "judgments.txt").write_text(
            "".join(
                f"{query} {topic} {query}-{end} {grade}\n"
                for query in strict.shop.rankings
                for end, pair in grades.items()
                for topic, grade in enumerate(pair, 1)
            )
        )

    strict.git("checkout", "--quiet", "main")
    write(0)
    rule = "  - no_regression: {metric: StRecall@2, tolerance: 1%, decide_by: observed}\n"
    text = strict.shop.suite.replace(RULES, rule).replace("metrics: [nDCG@10, P@3]", "metrics: [StRecall@2]")
    text = text.replace("judgments: judgments.txt", "judgments: {file: judgments.txt, format: trec-diversity}")
    (strict.path / "shop.ireval.yaml").write_text(text)
    strict.shop.update("x", force=True)
    strict.commit("subtopics")
    strict.git("checkout", "--quiet", "-B", "change")
    write(1)
    ranked = (strict.path / "rankings.txt").read_text()
    swapped = ranked.replace("q10-d1", "q10-xx").replace("q10-d2", "q10-d1").replace("q10-xx", "q10-d2")
    (strict.path / "rankings.txt").write_text(swapped)

    assert headline(strict) == (
        "10 judgments were regraded in this branch: "
        "StRecall@2 changes by +0.0000 with the new grades, by -0.0500 with the old ones"
    )


# What is no regrading in anybody's favour


def judge_more(shop):
    """Documents that nobody had judged; the baseline is worth less, as there is more to find."""
    regrade(shop, {"n1": 3, "n2": 3}, "q09", "q10")


def raise_a_grade(shop):
    """A document that both list at the end; the best list is better than either from now on."""
    regrade(shop, {"d3": 3}, "q10")


def change_what_no_value_depends_on(shop):
    regrade(shop, {"d8": 0}, "q10")  # nobody lists it
    shop.rankings["q10"].append("q10-n1")
    shop.write()
    path = shop.path / "judgments.txt"
    path.write_text("".join(reversed(path.read_text().splitlines(True))))


def test_what_lowers_no_bar_stays_green(strict):
    regrade(strict.shop, {"d8": 2}, "q10")
    strict.git("checkout", "--quiet", "main")
    strict.shop.update("x")
    strict.commit("one more judgment")
    strict.git("checkout", "--quiet", "-B", "change")
    judgments, rankings = deepcopy((strict.shop.judgments, strict.shop.rankings))
    for change in (judge_more, raise_a_grade, change_what_no_value_depends_on):
        strict.shop.judgments, strict.shop.rankings = deepcopy((judgments, rankings))
        change(strict.shop)

        found = strict.gate(lowering_fails=True)

        assert (found["verdict"], found["warning"]) == ("pass", False), change
        (suite,) = strict.shop.results()["suites"]
        assert not any("regraded" in outcome["headline"] for outcome in suite["outcomes"])


def test_grades_that_main_has_changed_are_not_this_branch_s(strict):
    strict.git("checkout", "--quiet", "main")
    regrade(strict.shop, {"d0": 0}, "q10")
    strict.commit("another grade, and no acceptance")
    strict.git("checkout", "--quiet", "-B", "change")
    reverse(strict.shop, "q01")

    assert "regraded" not in headline(strict)
