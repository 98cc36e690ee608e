"""The metrics that ship with pytest-ireval, registered through the entry point that is open to every package."""

from __future__ import annotations

from dataclasses import replace

from pytest_ireval import Metric, hookimpl
from pytest_ireval_metrics.agreement import METRICS as AGREEMENT
from pytest_ireval_metrics.average_precision import METRICS as AVERAGE_PRECISION
from pytest_ireval_metrics.blended_ratio import METRICS as BLENDED_RATIO
from pytest_ireval_metrics.continuation import METRICS as CONTINUATION
from pytest_ireval_metrics.correlation import METRICS as CORRELATION
from pytest_ireval_metrics.counts import METRICS as COUNTS
from pytest_ireval_metrics.cumulated_gain import METRICS as CUMULATED_GAIN
from pytest_ireval_metrics.diversity import METRICS as DIVERSITY
from pytest_ireval_metrics.efficiency import METRICS as EFFICIENCY
from pytest_ireval_metrics.gain_so_far import METRICS as GAIN_SO_FAR
from pytest_ireval_metrics.guardrails import METRICS as GUARDRAILS
from pytest_ireval_metrics.incomplete import METRICS as INCOMPLETE
from pytest_ireval_metrics.interpolated import METRICS as INTERPOLATED
from pytest_ireval_metrics.other_packages import DIALECTS, rows_of
from pytest_ireval_metrics.preferences import METRICS as PREFERENCES
from pytest_ireval_metrics.sessions import METRICS as SESSIONS
from pytest_ireval_metrics.sets_and_ranks import METRICS as SETS_AND_RANKS
from pytest_ireval_metrics.user_models import METRICS as USER_MODELS
from pytest_ireval_metrics.user_oriented import METRICS as USER_ORIENTED


@hookimpl
def ireval_metrics() -> list[Metric]:
    """All of them."""
    metrics = [
        *SETS_AND_RANKS,
        *COUNTS,
        *AVERAGE_PRECISION,
        *INTERPOLATED,
        *INCOMPLETE,
        *CUMULATED_GAIN,
        *GAIN_SO_FAR,
        *BLENDED_RATIO,
        *USER_MODELS,
        *CONTINUATION,
        *DIVERSITY,
        *USER_ORIENTED,
        *SESSIONS,
        *AGREEMENT,
        *CORRELATION,
        *PREFERENCES,
        *EFFICIENCY,
        *GUARDRAILS,
    ]
    return [
        replace(metric, elsewhere=rows_of(metric.name), dialects=DIALECTS.get(metric.name, {})) for metric in metrics
    ]
