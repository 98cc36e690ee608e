"""The metrics that ship with pytest-ireval, registered through the entry point that is open to everybody."""

from __future__ import annotations

from dataclasses import replace

from pytest_ireval import Metric, hookimpl
from pytest_ireval_metrics import (
    agreement,
    average_precision,
    blended_ratio_at_a_rank,
    contingency,
    counts,
    cumulated_gain,
    expected_blended_ratio,
    gain_so_far,
    incomplete,
    interpolated,
    mean_blended_ratio,
    other_packages,
    overlap,
    sets_and_ranks,
    user_models,
)


@hookimpl
def ireval_metrics() -> list[Metric]:
    """All of them."""
    metrics = [
        *sets_and_ranks.METRICS,
        *counts.METRICS,
        *contingency.METRICS,
        *average_precision.METRICS,
        *interpolated.METRICS,
        *incomplete.METRICS,
        *cumulated_gain.METRICS,
        *gain_so_far.METRICS,
        *mean_blended_ratio.METRICS,
        *blended_ratio_at_a_rank.METRICS,
        *expected_blended_ratio.METRICS,
        *user_models.METRICS,
        *overlap.METRICS,
        *agreement.METRICS,
    ]
    return [replace(metric, elsewhere=other_packages.rows_of(metric.name)) for metric in metrics]
