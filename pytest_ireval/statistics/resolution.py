"""The change of a mean that a number of queries can show, and the number of queries that show a change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

from pytest_ireval.statistics.student import NORMAL, t_quantile

POWER = 0.80
LEVEL = 0.05
"""How often chance may turn a harmless change red; a lower and an upper bound at it are the 90% interval."""

MOST = 1e15
"""No test collection has more queries."""


def noncentrality(level: float, power: float, df: float) -> float:
    """The distance of a true mean from 0, in standard errors, at which a one-sided t test has about this power.

    It is the normal approximation of the noncentral t distribution (Abramowitz and Stegun 1964, 26.7.10): within 0.1%
    from 10 queries on, and near 2.49 for many. Of fewer queries the normal distribution itself (2.49 for any number)
    would promise too much.
    """
    critical = t_quantile(1 - level, df)
    spread = math.sqrt(1 + critical * critical / (2 * df))
    return critical * (1 - 1 / (4 * df)) + NORMAL.inv_cdf(power) * spread


def resolution(sd: float, queries: int, level: float = LEVEL) -> float | None:
    """The smallest true drop of the mean that a one-sided t test shows in 80% of cases; None without spread.

    ``sd`` is the standard deviation of the differences, ``level`` that of the test.
    """
    if queries < 2 or not math.isfinite(sd):
        return None
    return noncentrality(level, POWER, queries - 1) * sd / math.sqrt(queries)


def false_alarm(tolerance: float, sd: float, queries: int) -> float | None:
    """The share of harmless changes of this spread whose mean falls by more than ``tolerance``; None without spread."""
    if queries < 2 or not math.isfinite(sd):
        return None
    error = sd / math.sqrt(queries)
    if error == 0:
        return 0.0
    return 0.5 * math.erfc(tolerance / error / math.sqrt(2))


def queries_needed(sd: float, drop: float, level: float = LEVEL) -> int | None:
    """The least number of queries of this spread with a resolution of ``drop`` or less; None if there is none."""
    if not (math.isfinite(sd) and drop > 0):
        return None
    errors = (NORMAL.inv_cdf(1 - level) + NORMAL.inv_cdf(POWER)) * sd / drop
    too_few = errors * errors  # of any number, by a few: t is wider than the normal distribution
    if too_few > MOST:
        return None
    needed = max(2, math.ceil(too_few))
    while (resolution(sd, needed, level) or 0.0) > drop:
        needed += 1
    return needed


LIKENESS = 0.95
"""The correlation of the values of two versions after a small change, assumed before the second is known."""


def likely_spread(values: Sequence[float]) -> float | None:
    """The likely standard deviation of the differences of two versions, from the values of one.

    None if there are fewer than two values, or all are alike.
    """
    if len(values) < 2:
        return None
    return stdev(values) * math.sqrt(2 * (1 - LIKENESS)) or None
