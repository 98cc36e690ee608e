"""How the default decides in whole runs, on changes that harm nothing: a small part of ``benchmarks/decisions.py``."""

import importlib
import math
from pathlib import Path

import pytest

from pytest_ireval import load_suite, run_gate
from pytest_ireval.results.plain import to_plain

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="needs a checkout of the project")


@pytest.fixture
def decisions(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("decisions")


def most(promised, sets):
    """A share that is drawn may be two standard errors larger than the promised one."""
    return promised + 2 * math.sqrt(promised * (1 - promised) / sets)


@pytest.mark.ci
@pytest.mark.parametrize("metric", [0, 1], ids=["graded", "one relevant document"])
def test_without_a_change_few_runs_are_red_and_a_third_warns_at_most(metric, decisions):
    found = decisions.decide_rules(decisions.METRICS[metric], decisions.NO_CHANGE, 50, 60)["default"]

    assert found.red <= most(0.07, 60)
    assert found.warned <= most(1 / 3, 60)


def run_suites_here(folder):
    """The results of its suites without a pytest run, which takes longer than they do."""
    return [to_plain(run_gate(load_suite(path))) for path in sorted(folder.glob("*/*.ireval.yaml"))]


def test_a_slice_that_fell_by_a_third_is_red_however_few_its_queries_are(decisions, monkeypatch):
    monkeypatch.setattr(decisions, "_run_suites", run_suites_here)
    broken = next(change for change in decisions.CHANGES if change.broken_slice)
    for metric in decisions.METRICS:
        assert decisions.decide_rules(metric, broken, 12, 10)["default"].red == 1.0


@pytest.mark.ci
def test_the_suite_that_init_writes_is_rarely_red_without_a_change(decisions):
    found = decisions.decide_init(decisions.METRICS[1], 50, 30)

    assert found.red <= most(0.07, 30)
    assert found.warned <= most(1 / 3, 30)
