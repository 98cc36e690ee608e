"""What a set of paired queries can show: its resolution, and how often a harmless change breaks a tolerance."""

from __future__ import annotations

import math

from pytest_ireval.statistics.student import noncentrality

POWER = 0.80
LEVEL = 0.05


def resolution(sd: float, queries: int) -> float | None:
    """The smallest true drop of the mean that a one-sided t test at 5% shows in 80% of cases; None without spread.

    ``sd`` is the standard deviation of the differences.
    """
    if queries < 2 or not math.isfinite(sd):
        return None
    return noncentrality(LEVEL, POWER, queries - 1) * sd / math.sqrt(queries)


def false_alarm(tolerance: float, sd: float, queries: int) -> float | None:
    """How often the mean of harmless changes of this spread falls by more than ``tolerance``; None without spread."""
    if queries < 2 or not math.isfinite(sd):
        return None
    error = sd / math.sqrt(queries)
    if error == 0:
        return 0.0
    return 0.5 * math.erfc(tolerance / error / math.sqrt(2))
