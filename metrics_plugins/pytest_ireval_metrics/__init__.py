"""The metrics that ship with pytest-ireval, registered through the entry point that is open to everybody."""

from __future__ import annotations

from pytest_ireval import Metric, hookimpl
from pytest_ireval_metrics import cumulated_gain, incomplete, interpolated, sets_and_ranks, user_models


@hookimpl
def ireval_metrics() -> list[Metric]:
    """All of them."""
    return [
        *sets_and_ranks.METRICS,
        *interpolated.METRICS,
        *incomplete.METRICS,
        *cumulated_gain.METRICS,
        *user_models.METRICS,
    ]
