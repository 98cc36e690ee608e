"""The metrics that ship with pytest-ireval, registered through the entry point that everybody's metrics come through."""

from __future__ import annotations

from pytest_ireval import Metric, hookimpl
from pytest_ireval_metrics import cumulated_gain, incomplete, interpolated, sets_and_ranks, user_models


@hookimpl
def ireval_metrics() -> list[Metric]:
    return [
        *sets_and_ranks.METRICS,
        *interpolated.METRICS,
        *incomplete.METRICS,
        *cumulated_gain.METRICS,
        *user_models.METRICS,
    ]
