"""What queries can show before any run: beside the formulas, and on the slices and waivers of a suite."""

import shutil
import statistics
from datetime import date

import pytest
from suite_files import write_queries

from pytest_ireval import load_suite
from pytest_ireval.baseline.record import Acceptance, Baseline, StoredMetric, round_spreads
from pytest_ireval.baseline.writing import write_baseline
from pytest_ireval.data.from_objects import convert_rankings
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.power.outlook import (
    collect_suite_data,
    find_tolerances_of_nothing,
    find_too_small_tolerances,
    foresee_rules,
)
from pytest_ireval.statistics.resolution import false_alarm, queries_needed, resolution
from pytest_ireval.suite.quantities import Tolerance

TODAY = date(2026, 11, 22)
HEADS = 40
SUITE = """\
ireval: 1
suite: shop
source: {run: never-read.txt}
depth: 10
queries: queries.tsv
weight: searches
judgments: never-read.txt
rules:
  - no_regression: {metric: nDCG@10, tolerance: 2%, decide_by: observed}
  - no_regression: {metric: nDCG@10, per: segment, tolerance: {head: {absolute: 0.1}, default: 5%}, decide_by: observed}
  - worsened: {metric: RR@10, by_more_than: 0.3, at_most: 2, decide_by: observed}
"""


def make_baseline(values, acceptances):
    stored = StoredMetric(1, "pytest-ireval", statistics.fmean(values.values()), values)
    lists = convert_rankings({query: ["d"] for query in values})
    return Baseline("shop", 10, (lists,), metrics={"nDCG@10": stored}, acceptances=acceptances)


@pytest.fixture
def suite(tmp_path):
    """Fifty queries, ten of them of the tail; half of their values are 0.6, the others 0.4."""
    rows = [(f"q{n:02}", "head" if n < HEADS else "tail", 1 if n % 2 else 3) for n in range(50)]
    queries, segment, searches = zip(*rows, strict=True)
    write_queries(tmp_path / "queries.tsv", queries, segment=segment, searches=searches)
    (tmp_path / "never-read.txt").write_text("this is nothing that anybody could read\n")
    (tmp_path / "shop.ireval.yaml").write_text(SUITE)
    values = {query: 0.6 if n % 2 else 0.4 for n, (query, *_) in enumerate(rows)}
    acceptances = (
        Acceptance("2026-01-01T00:00:00Z"),
        Acceptance("2026-02-01T00:00:00Z", spreads=round_spreads([("nDCG@10", 0.1), ("nDCG@10 segment=tail", 0.3)])),
    )
    write_baseline(tmp_path / "baselines", make_baseline(values, acceptances))
    return tmp_path / "shop.ireval.yaml"


def foresee(path, **more):
    return foresee_rules(collect_suite_data(load_suite(path), installed_registry(), TODAY), **more)


def index_by_slice(found):
    return {(each.metric, each.slice): each for each in found}


def test_each_rule_and_slice_has_what_its_queries_can_show(suite):
    found = index_by_slice(foresee(suite))

    assert list(found) == [
        ("nDCG@10", "all"),
        ("nDCG@10", "segment=head"),
        ("nDCG@10", "segment=tail"),
        ("RR@10", "all"),
    ]
    whole = found["nDCG@10", "all"]
    assert (whole.queries, whole.mean, whole.room) == (50, pytest.approx(0.5), pytest.approx(0.5))
    assert whole.usual_spread == (0.1, "1 acceptance")
    assert whole.tolerance == pytest.approx(0.01)
    assert whole.resolution == resolution(0.1, 50) == pytest.approx(0.0356, abs=1e-4)
    assert whole.needed == queries_needed(0.1, 0.01) == pytest.approx(620, abs=1)
    assert whole.false_alarm == false_alarm(0.01, 0.1, 50) == pytest.approx(0.24, abs=0.005)
    assert whole.has_too_small_tolerance
    head = found["nDCG@10", "segment=head"]  # nothing is known of its spread, and its tolerance is its own
    assert head.queries == HEADS
    assert head.usual_spread.assumed
    assert head.usual_spread.spread == pytest.approx(statistics.stdev([0.4, 0.6] * 20) * 0.1**0.5)
    assert (head.tolerance, head.tolerance_text, head.relative) == (0.1, "0.1", False)
    assert not head.has_too_small_tolerance


def test_a_metric_without_values_in_the_baseline_is_counted_and_nothing_more(suite, tmp_path):
    unknown = index_by_slice(foresee(suite))["RR@10", "all"]

    assert (unknown.queries, unknown.mean, unknown.usual_spread, unknown.resolution) == (50, None, None, None)
    assert not unknown.has_too_small_tolerance
    shutil.rmtree(tmp_path / "baselines")
    assert [(each.queries, each.mean) for each in foresee(suite)] == [(50, None), (40, None), (10, None), (50, None)]


def test_waived_queries_do_not_count_and_rules_against_something_else_are_not_foreseen(suite):
    waiver = "waive:\n  - {query: q49, until: 2026-12-31, reason: broken}\n"
    suite.write_text(SUITE.replace("tolerance: 2%", "tolerance: 2%, against: anchor") + waiver)

    found = foresee(suite)

    assert [each.check.place.line for each in found] == [10, 10, 11]
    assert index_by_slice(found)["nDCG@10", "segment=tail"].queries == 9


def test_another_drop_and_another_number_of_queries_can_be_asked_about(suite):
    drop = index_by_slice(foresee(suite, drop=Tolerance(absolute=0.05)))["nDCG@10", "all"]
    more = index_by_slice(foresee(suite, queries=500))
    small = index_by_slice(foresee(suite, queries=10))["nDCG@10", "segment=tail"]

    assert (drop.tolerance, drop.needed) == (0.05, queries_needed(0.1, 0.05))
    assert drop.needed == pytest.approx(27, abs=1)
    assert more["nDCG@10", "all"].resolution == resolution(0.1, 500)
    assert more["nDCG@10", "all"].needed == queries_needed(0.1, 0.01)
    assert more["nDCG@10", "segment=tail"].queries == 100  # slices grow in proportion
    assert small.queries == 2
    assert small.resolution > small.room
    assert small.can_show_no_drop


def test_a_tolerance_below_what_can_be_shown_is_told_with_the_queries_it_takes(suite):
    shown = [line.partition(": ")[2] for line in find_too_small_tolerances(foresee(suite))]

    assert shown == [
        "no_regression nDCG@10: 50 queries can show a drop of 0.036; the tolerance is 0.010 (2%): about 620 queries "
        "would be needed",
        "no_regression nDCG@10 on segment=tail: 10 queries can show a drop of 0.26; the tolerance is 0.025 (5%): about "
        "900 queries would be needed",
    ]


def test_a_share_of_nearly_nothing_is_a_mistake(tmp_path, suite):
    values = {f"q{n:02}": 0.08 if n % 2 else 0.0 for n in range(50)}
    shutil.rmtree(tmp_path / "baselines")
    write_baseline(tmp_path / "baselines", make_baseline(values, (Acceptance("2026-01-01T00:00:00Z"),)))

    problems = list(find_tolerances_of_nothing(foresee(suite)))

    assert [problem.complaint for problem in problems] == [
        "the baseline of nDCG@10 is 0.0400: a share of such a small value is noise",
        "the baseline of nDCG@10 on segment=tail is 0.0400: a share of such a small value is noise",
    ]
    assert problems[0].suggestion == "write an amount: tolerance: {absolute: 0.0046}"


def test_a_weighted_mean_is_named_beside_the_plain_one(suite):
    suite.write_text(SUITE + "  - no_regression: {metric: nDCG@10, tolerance: 2%, weighted: true, name: traffic}\n")

    assert [each.mean_name for each in foresee(suite) if each.slice == "all"] == [
        "nDCG@10",
        "RR@10",
        "nDCG@10, weighted",
    ]


def test_a_cluster_is_taken_for_one_query_as_long_as_the_spread_is_assumed(suite, tmp_path):
    rows = [line.split("\t") for line in (tmp_path / "queries.tsv").read_text().splitlines()]
    lines = ["\t".join([*row, "intent" if n == 0 else f"i{n // 5}"]) for n, row in enumerate(rows)]
    (tmp_path / "queries.tsv").write_text("\n".join(lines) + "\n")
    plain = foresee(suite)[:3]
    suite.write_text(SUITE.replace("weight: searches", "weight: searches\ncluster: intent"))
    whole, head, tail = foresee(suite)[:3]

    assert [(each.queries, each.clusters) for each in (whole, head, tail)] == [(50, 11), (40, 9), (10, 3)]
    assert [each.usual_spread.assumed for each in (whole, head, tail)] == [False, True, False]
    assert whole.resolution == plain[0].resolution  # the spread that was seen has in it how alike variants are
    assert head.resolution > plain[1].resolution * (40 / 9) ** 0.5
