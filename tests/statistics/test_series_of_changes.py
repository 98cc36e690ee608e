"""How often series of accepted changes are red against an anchor: a small part of ``benchmarks/drift.py``."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

pytestmark = pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="needs a checkout of the project")


@pytest.fixture
def drift(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("drift")


@pytest.mark.ci
@pytest.mark.parametrize(("process", "observed"), [("independent", 0.5), ("returning", 0.08)])
def test_neutral_series_are_rarely_red_by_evidence(drift, process, observed):
    found = drift.red(process, drift.unchanged(drift.PROFILES[0]), 0.0, 200, 200)

    assert found["shipped"] <= 0.09  # .06 and two standard errors of 200 series
    assert found["observed"] > observed


@pytest.mark.ci
def test_series_that_lose_a_little_each_time_are_seen_more_often_than_by_one_bound(drift):
    found = drift.red("independent", drift.unchanged(drift.PROFILES[0]), drift.LOSS, 200, 200)

    assert found["shipped"] >= 0.47
    assert found["shipped"] > found["one bound"] + 0.05
