"""The core metrics, registered through the entry point that is open to every package."""

from __future__ import annotations

from pytest_ireval import Metric, hookimpl
from pytest_ireval_metrics import (
    agreement,
    average_precision,
    blended_ratio,
    counts,
    cumulated_gain,
    guardrails,
    sessions,
    sets_and_ranks,
    user_models,
)

FILES = (
    *(sets_and_ranks, counts, average_precision, cumulated_gain, blended_ratio),
    *(user_models, sessions, agreement, guardrails),
)


@hookimpl
def ireval_metrics() -> list[Metric]:
    """All metrics that these files define, in the order of their definitions."""
    return [value for file in FILES for value in vars(file).values() if isinstance(value, Metric)]
