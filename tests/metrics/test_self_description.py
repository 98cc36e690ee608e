"""Every built-in metric says of itself what a reader needs, and its pencil example is right."""

import math

import pytest
from pencil import value, worked

from pytest_ireval import load_registry

METRICS = sorted(load_registry().metrics.values(), key=lambda metric: metric.name)

BY_OTHER_DATA = {"reference", "subtopics", "sessions", "preferences", "judgments", "timings"}

each_metric = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


@each_metric
def test_pencil_example_is_right(metric):
    _, computed, expected = worked(metric.example)

    assert computed == pytest.approx(expected, abs=5.1e-5)


@each_metric
def test_example_is_one_of_this_metric(metric, registry):
    (found,) = registry.parse_metrics([worked(metric.example)[0]])

    assert found.name == metric.name


@each_metric
def test_formula_and_reference_are_there(metric):
    assert metric.summary.endswith(".")
    assert metric.formula
    assert metric.reference


@each_metric
def test_every_parameter_has_a_meaning(metric):
    unexplained = [p.name for p in metric.parameters if not p.about.meaning]

    assert unexplained == []


@each_metric
def test_canonical_name_round_trips(metric, registry):
    given = {"recall": 0.5, "field": "price", "value": "it's"}
    required = {p.name: given.get(p.name, 10) for p in metric.parameters if p.required}
    whole = metric(**required)

    assert registry.parse_metrics([str(whole)]) == [whole]


@pytest.mark.parametrize(
    "metric", [m for m in METRICS if m.direction == "higher" and not m.needs & BY_OTHER_DATA], ids=str
)
def test_perfect_ranking_scores_best(metric):
    required = {p.name: 1.0 if p.name == "recall" else 3 for p in metric.parameters if p.required}
    whole = metric(**required)
    perfect, worse = value(str(whole), [2, 1, 1]), value(str(whole), [0, 0, 0, 0, 1], [2, 1])

    assert perfect >= worse
    endless = metric.name in ("RBP", "ERR") or metric.parameter("measure")  # whose best lists are endless
    if math.isfinite(metric.bounds[1]) and not endless:
        assert perfect == pytest.approx(metric.bounds[1], abs=1e-5)
