"""What a set of paired queries can show: its resolution, and how often a harmless change breaks a tolerance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from pytest_ireval.statistics.student import NORMAL, noncentrality

POWER = 0.80
LEVEL = 0.05

MOST = 1e15
"""More queries than anybody has."""


def resolution(sd: float, queries: int, level: float = LEVEL, per_unit: float = 1.0) -> float | None:
    """The smallest true drop of the mean that a one-sided t test shows in 80% of cases; None without spread.

    ``sd`` is the standard deviation of the differences, ``level`` that of the test. Where queries were drawn in
    clusters, ``per_unit`` is how many of them make one degree of freedom.
    """
    degrees = queries - 1 if per_unit == 1 else queries / per_unit - 1
    if degrees < 1 or not math.isfinite(sd):
        return None
    return noncentrality(level, POWER, degrees) * sd / math.sqrt(queries)


def false_alarm(tolerance: float, sd: float, queries: int) -> float | None:
    """How often the mean of harmless changes of this spread falls by more than ``tolerance``; None without spread."""
    if queries < 2 or not math.isfinite(sd):
        return None
    error = sd / math.sqrt(queries)
    if error == 0:
        return 0.0
    return 0.5 * math.erfc(tolerance / error / math.sqrt(2))


def queries_needed(sd: float, drop: float, level: float = LEVEL, per_unit: float = 1.0) -> int | None:
    """How many queries of this spread have a resolution of ``drop`` or less; None where no number has."""
    if not (math.isfinite(sd) and drop > 0):
        return None
    fewer = 0.999 * (NORMAL.inv_cdf(1 - level) + NORMAL.inv_cdf(POWER))  # of any number: t is wider than the normal
    too_few = (fewer * sd / drop) * (fewer * sd / drop)
    if too_few > MOST:
        return None
    least, step = max(1, int(too_few)), 1
    while not _shows(sd, least + step, drop, level, per_unit):
        least, step = least + step, step * 2
    most = least + step
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if _shows(sd, middle, drop, level, per_unit) else (middle, most)
    return most


def _shows(sd: float, queries: int, drop: float, level: float, per_unit: float) -> bool:
    smallest = resolution(sd, queries, level, per_unit)
    return smallest is not None and smallest <= drop


LIKENESS = 0.95
"""How strongly the values of two versions correlate after a small change, as far as anybody knows before the second."""


def likely_spread(values: Sequence[float]) -> float | None:
    """The standard deviation of the differences of two versions whose values spread alike and correlate so.

    None where the values say nothing: there are fewer than two, or all are alike.
    """
    if len(values) < 2:
        return None
    return stdev(values) * math.sqrt(2 * (1 - LIKENESS)) or None
