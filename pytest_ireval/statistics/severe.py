"""Whether more queries lost much than gained much, and how rare severe losses are at best."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.beta import quantile
from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.sign_flip import sign_flip
from pytest_ireval.statistics.weighting import Counts, summed


class NetSevere(NamedTuple):
    """How many queries lost or gained the cut or more, and the chance of so few gains if both were as likely."""

    losses: int
    gains: int
    p: float


def net_severe(differences: Floats, cut: float, clusters: Counts | None = None) -> NetSevere:
    """The exact sign test of the queries whose difference (above 0 is better) is ``cut`` or more.

    Queries of one cluster are lost or gained together: the sign of each cluster's balance is by chance, not that of
    each query.
    """
    reached = cut - TIE
    lost, gained = differences <= -reached, differences >= reached
    losses, gains = int(np.count_nonzero(lost)), int(np.count_nonzero(gained))
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes is None or codes.max(initial=-1) + 1 == codes.size:
        return NetSevere(losses, gains, heads_at_most(gains, losses + gains))
    balance = gained.astype(np.float64) - lost
    p = sign_flip(summed(balance[None, :], codes, int(codes.max()) + 1)[0]).p_lower
    return NetSevere(losses, gains, p)


def heads_at_most(heads: int, coins: int) -> float:
    """The chance that so many fair coins show at most so many heads."""
    if heads >= coins:
        return 1.0
    if 2 * heads >= coins:
        return 1.0 - heads_at_most(coins - heads - 1, coins)
    term = math.exp(_log_choose(coins, heads) - coins * math.log(2))
    terms = [term]
    for left in range(heads, 0, -1):
        term *= left / (coins - left + 1)
        terms.append(term)
        if term < terms[0] * 1e-18:
            break
    return math.fsum(terms)


def _log_choose(coins: int, heads: int) -> float:
    return math.lgamma(coins + 1) - math.lgamma(heads + 1) - math.lgamma(coins - heads + 1)


def rate_bound(losses: float, queries: float, level: float = 0.95) -> float:
    """The share of severe losses that is not exceeded with so much confidence, when so many were seen."""
    if losses >= queries:
        return 1.0
    if not losses:
        return -math.expm1(math.log1p(-level) / queries)
    return quantile(level, losses + 1, queries - losses)
