"""Metrics where lower values are better, decided by evidence: numbers have the sign of the figures beside them."""

from pathlib import Path

import pytest
from suite_files import outcomes_by_id, write_suite
from town import Town

from pytest_ireval import load_suite, run_gate
from pytest_ireval.plugins.conftests import Conftests

WASTED = '''
from pytest_ireval import hookimpl, per_query_metric


@per_query_metric(name="Wasted", direction="lower", no_relevant=None, empty=1.0, range=(0, 1))
def wasted(ranking, *, cutoff: int) -> float:
    """Share of the first documents that are not relevant."""
    return float(sum(grade <= 0 for grade in ranking.grades[:cutoff]) / cutoff)


@hookimpl
def ireval_metrics():
    return [wasted]
'''
RULES = (
    "no_regression: {metric: Wasted@1, tolerance: 2%, hard_limit: 90%, against: {run: before.txt}}",
    "worsened: {metric: Wasted@1, by_more_than: 0.3, against: {run: before.txt}}",
)


@pytest.fixture
def outcomes(tmp_path: Path):
    """What becomes of sixty queries that stayed and forty behind a new document that nobody judged."""
    folder = Town(tmp_path / "town", [(2, 2)] * 60 + [(1, -2)] * 40).folder
    (folder / "conftest.py").write_text(WASTED)
    path = write_suite(folder, *RULES, source="{run: now.txt}", depth=10)
    registry = Conftests().registry_for(path)
    return outcomes_by_id(run_gate(load_suite(path, registry), registry=registry))


def test_bounds_and_interval_of_a_rise_have_one_sign(outcomes):
    mean = outcomes["no_regression::Wasted_1.all"]

    assert mean.verdict == "inconclusive"
    assert mean.headline.startswith(
        "Wasted@1 rose 66.7% (tolerance 2%, statistically significant): grades for 40 unjudged "
    )
    said = "40 unjudged documents: with the worst grades the change is +0.400, with the best +0.000"
    assert f"{said}; with judged documents alone it is +0.000" in mean.facts


def test_a_tail_of_costs_gains(outcomes):
    tail = outcomes["worsened::Wasted_1"]

    assert tail.verdict == "inconclusive"
    assert tail.headline.startswith(
        "40 of 100 queries gain more than 0.3 of Wasted@1 (0 lose as much, statistically significant): grades for 40 "
    )
    assert "with 95% confidence, at most 48.7% of all such queries gain as much" in tail.statistics
