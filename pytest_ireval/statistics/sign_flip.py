"""The sign-flip test: among all ways to swap the two scores of each query, the share as extreme as the observed.

It makes no draws, so the same data always give the same p. With at most 24 changed queries, and with more if their
differences take few values, all patterns are counted. Otherwise the signs of the largest differences are tried, and
the sum of all others is normal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.binomial import heads_at_most
from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.estimate import Counts, sum_clusters

MOST_SUMS = 2**12
"""Counting stops if half of the queries have more different sums than this."""
DECIMALS = 10
"""Sums are equal if they agree to this many decimals, where the largest difference is 1."""
LARGEST = 12
"""The number of differences whose signs are tried where the patterns of all are too many: few of them may decide."""


class SignFlip(NamedTuple):
    """Shares of the sign patterns whose sum is as low or lower, as high or higher, and as far from 0 or farther.

    ``changed`` counts the queries that differ; the others leave all sums as they are.
    """

    changed: int
    p_lower: float
    p_higher: float
    p: float


def sign_flip(differences: Floats) -> SignFlip:
    """The test for the differences of one comparison."""
    changed = differences[np.abs(differences) >= TIE]
    if not changed.size:
        return SignFlip(0, 1.0, 1.0, 1.0)
    scaled = changed / np.abs(changed).max()  # so that no sum overflows, and rounding is in proportion
    sizes = np.sort(np.abs(scaled))[::-1]
    total = float(scaled.sum())
    halves = _count_sums(sizes[0::2]), _count_sums(sizes[1::2])
    if halves[0] is None or halves[1] is None:
        lower, higher = (_approximate_share(sizes, sum_) for sum_ in (-total, total))
    else:
        lower, higher = (_count_share(*halves[0], *halves[1], sizes.size, sum_) for sum_ in (-total, total))
    tied = abs(total) <= TIE * float(sizes.sum())
    return SignFlip(changed.size, lower, higher, 1.0 if tied else min(1.0, 2 * min(lower, higher)))


def _count_sums(sizes: Floats) -> tuple[Floats, Floats] | None:
    """The different sums under all sign patterns, in order, and the share of patterns of each; None: too many."""
    sums: Floats = np.zeros(1)
    shares: Floats = np.ones(1)
    for size in sizes.tolist():
        both = np.round(np.concatenate((sums - size, sums + size)), DECIMALS)
        sums, place = np.unique(both, return_inverse=True)
        if sums.size > MOST_SUMS:
            return None
        shares = np.bincount(place, weights=np.concatenate((shares, shares)) / 2).astype(np.float64, copy=False)
    return sums, shares


def _count_share(one: Floats, shares: Floats, other: Floats, weights: Floats, count: int, total: float) -> float:
    """The share of patterns with at least this sum, by the sums of both halves."""
    reaching = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # the share of the other half from each sum on
    slack = count * 10.0**-DECIMALS
    begin = np.searchsorted(other, total - slack - one, side="left")
    return min(1.0, float(reaching[begin] @ shares))


def _approximate_share(sizes: Floats, total: float) -> float:
    """About the share of patterns with at least this sum; ``sizes`` are in order, the largest first."""
    sums = np.zeros(1)
    for size in sizes[:LARGEST].tolist():
        sums = np.concatenate((sums - size, sums + size))
    rest = sizes[LARGEST:]
    far = (total - sums) / math.sqrt(2 * float(rest @ rest))
    return math.fsum(0.5 * math.erfc(distance) for distance in far.tolist()) / sums.size


class NetSevere(NamedTuple):
    """The queries that lost or gained the cut or more, and the chance of this few gains if both were as likely."""

    losses: int
    gains: int
    p: float


def net_severe(differences: Floats, cut: float, clusters: Counts | None = None) -> NetSevere:
    """The exact sign test of the queries whose difference (above 0 is better) is ``cut`` or more.

    Queries of one cluster are lost or gained together: chance decides the sign of each cluster, not of each query.
    """
    reached = cut - TIE
    lost, gained = differences <= -reached, differences >= reached
    losses, gains = int(np.count_nonzero(lost)), int(np.count_nonzero(gained))
    codes = None if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if codes is None or codes.max(initial=-1) + 1 == codes.size:
        return NetSevere(losses, gains, heads_at_most(gains, losses + gains))
    balance = gained.astype(np.float64) - lost
    return NetSevere(losses, gains, sign_flip(sum_clusters(balance, codes, int(codes.max()) + 1)).p_lower)
