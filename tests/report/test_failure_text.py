"""What a failure says, in full: the text is the product."""

from dataclasses import replace

import pytest

from pytest_ireval.report.failure_text import format_failure
from pytest_ireval.results.outcome import Cause, Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import BaselineInfo, MetricFigures, SuiteResult

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


def make_lost_query(number, text, baseline, now_at):
    query = f"q{number:03}"
    top = tuple(Placed(f"{query}-n{n}", None, rank) for rank, n in ((1, 11), (2, 16), (3, 22)))
    return QueryChange(query, text, 0.0, baseline, best=Placed(f"{query}-d0", 3, now_at, 1), top=top)


QUERIES = (
    make_lost_query(60, "red mug", 0.9331, 17),
    make_lost_query(57, "tea set", 0.9118, 15),
    make_lost_query(52, "lids", 0.8804, 9),
    make_lost_query(50, "fuse", 0.6666, 12),
)

HIDDEN_TAIL = Outcome(
    id="no_regression::nDCG_10.segment-tail",
    kind="no_regression",
    verdict="fail",
    headline="nDCG@10 fell 31.1% on segment=tail (tolerance 3%)",
    sentence="4 of 12 tail queries (2.1% of all searches) lost their best document.",
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
    return format_failure(outcome, suite, **{"date": TODAY, **options}) + "\n"


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
        queries_title="lowest queries",
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
        queries_title="query",
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


def test_more_queries_are_counted_with_what_shows_them():
    many = replace(HIDDEN_TAIL, queries=tuple(make_lost_query(n, "cup", 0.9, 5) for n in range(30)))
    shown = {limit: text_of(many, queries=limit) for limit in (3, 10, None)}

    assert [text.count("(grade 3)") for text in shown.values()] == [3, 10, 30]
    assert "  … and 27 more: -v shows ten, -vv shows all\n" in shown[3]
    assert "  … and 20 more: -vv shows all\n" in shown[10]
    assert "… and" not in shown[None]


def test_a_control_character_is_spelled_out():
    query = QueryChange("q\x1b[31m3", "tab\there", 0.3, 0.9, best=Placed("d\n3", 3, 3, 1))

    text = text_of(replace(HIDDEN_TAIL, queries=(query,)))

    assert '  q\\x1b[31m3 "tab\\there"   0.900 -> 0.300    d\\n3 (grade 3) #1       #3\n' in text


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
        ("2027-03-03T07:00:00+00:00", "2 hours old"),
        ("2027-03-02T09:00:00", "1 day old"),
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


def test_of_a_metric_that_should_be_low_the_smallest_rise_is_said():
    suite = replace(SHOP, metrics=(replace(SHOP.metrics[0], direction="lower"),))
    figures = (replace(TAIL, queries=1, low=None),)

    text = text_of(replace(HIDDEN_TAIL, figures=figures, queries=()), suite)

    assert "  tail: 1 query shows a rise of 0.34 or more in 4 of 5 cases" in text.splitlines()
