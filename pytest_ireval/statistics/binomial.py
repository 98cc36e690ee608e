"""Shares of a count: exact limits of the true share, and tosses of fair coins."""

from __future__ import annotations

import math
from typing import NamedTuple

from pytest_ireval.statistics.student import beta_quantile


class Limits(NamedTuple):
    """The lower and the upper limit."""

    low: float
    high: float


def share_limits(count: int, of: int, level: float = 0.95) -> Limits:
    """The interval of Clopper and Pearson, which contains the true share in at least ``level`` of cases."""
    if not 0 <= count <= of or not of:
        raise ValueError(f"{count} of {of} is not a share")
    tail = (1 - level) / 2
    low = beta_quantile(tail, count, of - count + 1) if count else 0.0
    return Limits(low, upper_limit(count, of, 1 - tail))


def upper_limit(count: float, of: float, level: float = 0.95) -> float:
    """The upper limit alone; numbers of weighted queries may have decimals."""
    if count >= of:
        return 1.0
    if not count:
        return -math.expm1(math.log1p(-level) / of)
    return beta_quantile(level, count + 1, of - count)


def heads_at_most(heads: int, coins: int) -> float:
    """The chance that this number of fair coins shows at most this number of heads."""
    if heads >= coins:
        return 1.0
    if 2 * heads >= coins:
        return 1.0 - heads_at_most(coins - heads - 1, coins)
    log_choose = math.lgamma(coins + 1) - math.lgamma(heads + 1) - math.lgamma(coins - heads + 1)
    term = math.exp(log_choose - coins * math.log(2))
    terms = [term]
    for left in range(heads, 0, -1):
        term *= left / (coins - left + 1)
        terms.append(term)
        if term < terms[0] * 1e-18:
            break
    return math.fsum(terms)
