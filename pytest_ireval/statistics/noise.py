"""Run noise: a system that answers differently each time blurs a comparison, so it has to be asked several times.

The query is the unit: the askings of a query are averaged first. The variance of a mean difference of n queries is then
(q² + e² (1/before + 1/now)) / n. There q is the spread of the true differences, e that of the askings of one query,
and the sides were asked ``before`` and ``now`` times.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.student import NORMAL

MOST = 0.10
"""The largest acceptable share of run noise in the variance."""


class RunNoise(NamedTuple):
    """The noise among several askings of one system; NaN where there are too few.

    ``moved`` counts the queries whose value was not always the same. ``within`` is the mean variance of the askings of
    a query, ``between`` the variance of what the queries' values would be without that noise.
    """

    askings: int
    queries: int
    moved: int
    within: float
    between: float


def run_noise(askings: Floats) -> RunNoise:
    """The parts of the variance of ``askings``, a row for each time all queries were asked."""
    times, queries = askings.shape
    if times < 2 or not queries:
        return RunNoise(times, queries, 0, math.nan, math.nan)
    spans = np.ptp(askings, axis=0)
    variances = np.where(spans < TIE, 0.0, askings.var(axis=0, ddof=1))
    within = math.fsum(variances.tolist()) / queries
    between = math.nan
    if queries > 1:
        between = max(0.0, float(askings.mean(axis=0).var(ddof=1)) - within / times)
    return RunNoise(times, queries, int(np.count_nonzero(spans >= TIE)), within, between)


def _added_variance(within: float, before: int, now: int) -> float:
    """The variance that run noise adds to one query's difference, by the number of askings of both sides."""
    return within * (1 / before + 1 / now)


def noise_share(sd: float, within: float, before: int, now: int) -> float:
    """The share of the variance of observed differences that is run noise; ``sd`` is their spread."""
    added = _added_variance(within, before, now)
    return min(1.0, added / (sd * sd)) if sd > 0 else float(added > 0)


def askings_needed(sd: float, within: float, before: int, now: int, most: float = MOST) -> int | None:
    """The number of askings of each side with at most the share ``most`` of run noise; None: there is only noise.

    ``sd`` is the spread of the differences observed when the sides were asked ``before`` and ``now`` times.
    """
    if within == 0:
        return 1
    true = sd * sd - _added_variance(within, before, now)
    if not true > 0:
        return None
    return max(1, math.ceil(2 * within * (1 - most) / (most * true) - TIE))


def census_error(within: float, queries: float, before: int, now: int) -> float:
    """The standard error of a mean difference over the whole population of queries: run noise alone."""
    return math.sqrt(_added_variance(within, before, now) / queries)


def noise_floor(within: float, queries: float, before: int = 1, now: int = 1, share: float = 0.95) -> float:
    """The distance that two means of one system do not exceed in 95% of cases; a smaller margin would be noise."""
    return NORMAL.inv_cdf((1 + share) / 2) * census_error(within, queries, before, now)
