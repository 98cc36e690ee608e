"""Every built-in metric says of itself what a reader needs, and its pencil example is right."""

import math

import pytest
from graded_rankings import compute_example, value

from pytest_ireval.plugins.manager import installed_registry

METRICS = sorted(installed_registry().metrics.values(), key=lambda metric: metric.name)

BY_OTHER_DATA = {"reference", "subtopics", "sessions", "preferences", "judgments", "timings"}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_explains_itself_and_its_example_is_right(metric, registry):
    name, computed, expected = compute_example(metric.info.example)

    assert registry.parse_metrics([name])[0].name == metric.name
    assert computed == pytest.approx(expected, abs=5.1e-5)
    assert metric.info.summary.endswith(".")
    assert metric.info.formula
    assert metric.info.reference
    assert [p.name for p in metric.parameters if not p.about.meaning] == []


@pytest.mark.parametrize(
    "metric",
    [m for m in METRICS if m.direction == "higher" and not m.needs & BY_OTHER_DATA and not m.undefined],
    ids=str,
)
def test_perfect_ranking_scores_best(metric):
    required = {p.name: 1.0 if p.name == "recall" else 3 for p in metric.parameters if p.required}
    whole = metric(**required)
    perfect, worse = value(str(whole), [2, 1, 1]), value(str(whole), [0, 0, 0, 0, 1], [2, 1])

    assert perfect >= worse
    endless = metric.name in ("RBP", "ERR") or metric.parameter("measure")  # whose best lists are endless
    if math.isfinite(metric.bounds[1]) and not endless:
        assert perfect == pytest.approx(metric.bounds[1], abs=1e-5)
