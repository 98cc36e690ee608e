"""The metrics that ship with pytest-ireval, registered through the entry point that is open to every package."""

from __future__ import annotations

from dataclasses import replace

from pytest_ireval import Elsewhere, Metric, hookimpl
from pytest_ireval_metrics import (
    agreement,
    average_precision,
    blended_ratio,
    continuation,
    correlation,
    counts,
    cumulated_gain,
    diversity,
    guardrails,
    preferences,
    sets_and_ranks,
    user_models,
    user_oriented,
)
from pytest_ireval_metrics.other_packages import DIALECTS, names_elsewhere

FILES = (
    *(sets_and_ranks, counts, average_precision, cumulated_gain, blended_ratio),
    *(user_models, continuation, diversity, user_oriented, agreement, correlation, preferences, guardrails),
)


@hookimpl
def ireval_metrics() -> list[Metric]:
    """All metrics that these files define, in the order of their definitions."""
    metrics = [value for file in FILES for value in vars(file).values() if isinstance(value, Metric)]
    return [replace(metric, dialects=DIALECTS.get(metric.name, {})) for metric in metrics]


@hookimpl
def ireval_names_elsewhere() -> list[Elsewhere]:
    """All names."""
    return names_elsewhere()
