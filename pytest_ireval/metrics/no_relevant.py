"""What a metric scores on a query without relevant documents, if that is one number whatever was ranked."""

from __future__ import annotations

import numpy as np

from pytest_ireval.errors import MetricError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import settled
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.from_objects import judgments_from, rankings_from
from pytest_ireval.retrieval.join import judge
from pytest_ireval.retrieval.judged import JudgedRankings

PLACES = {"int": 10, "float": 0.5}


def scored_without_relevant(metric: Metric) -> float | None:
    """The number; None if it depends on the ranking, or if nobody can say beforehand."""
    if metric.no_relevant is not None or metric.unit != "query":
        return metric.no_relevant
    if any(p.required and p.kind not in PLACES for p in metric.parameters):
        return None
    try:
        values = settled(_with_arguments(metric), _without_relevant())
    except MetricError:  # it needs more than rankings: nothing can be said
        return None
    return float(values[0]) if np.isfinite(values[0]) and (values == values[0]).all() else None


def _with_arguments(metric: Metric) -> Metric:
    return metric(**{p.name: PLACES[p.kind] for p in metric.parameters if p.name in metric.missing})


def _without_relevant() -> JudgedRankings:
    judgments = {"a": {"x": 0, "y": -1}, "b": {"x": 0}, "c": {"x": 0, "y": 0, "z": 0}, "d": {"x": 0}}
    rankings = {"a": ["x", "y"], "b": ["z"], "c": ["z", "w", "x", "y"]}
    return with_companions(judge(judgments_from(judgments), rankings_from(rankings)), collection=1000)
