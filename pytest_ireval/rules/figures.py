"""The figures of one metric on one slice: means, change, who won, the interval, and what these queries can show."""

from __future__ import annotations

import math

import numpy as np

from pytest_ireval.metrics.score import aggregated
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.seen import Seen, Values
from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.resolution import false_alarm, resolution
from pytest_ireval.statistics.student import t_quantile

INTERVAL = 0.10
"""The interval that is shown leaves out so much: it is the 90% interval."""


def figures_compared(seen: Seen, values: Values | None = None, tolerance: float | None = None) -> SliceFigures:
    """With a baseline, over the units that both sides have; ``tolerance`` is how far the figure may fall."""
    values = seen.paired() if values is None else values
    change = seen.sign * differences(values.now, values.before)
    low, high, smallest, alarm = _evidence(seen, change, tolerance)
    return SliceFigures(
        slice=str(seen.slice),
        queries=int(change.size),
        now=aggregated(values.now, seen.metric.aggregate),
        baseline=aggregated(values.before, seen.metric.aggregate),
        worse=int(np.count_nonzero(change < 0)),
        better=int(np.count_nonzero(change > 0)),
        same=int(np.count_nonzero(change == 0)),
        share=seen.population.share(seen.slice),
        tolerance=tolerance,
        low=low,
        high=high,
        resolution=smallest,
        false_alarm=alarm,
    )


def _evidence(
    seen: Seen, change: np.ndarray[tuple[int], np.dtype[np.float64]], tolerance: float | None
) -> tuple[float | None, float | None, float | None, float | None]:
    """Interval, resolution and false alarms of a mean; nothing for other figures, or where nothing changed."""
    if seen.metric.aggregate != "mean" or change.size < 2 or not change.any():
        return None, None, None, None
    mean, sd = float(change.mean()), float(change.std(ddof=1))
    half = t_quantile(1 - INTERVAL / 2, change.size - 1) * sd / math.sqrt(change.size)
    low, high = sorted((seen.sign * (mean - half), seen.sign * (mean + half)))
    alarm = None if tolerance is None else false_alarm(tolerance, sd, change.size)
    return low, high, resolution(sd, change.size), alarm
