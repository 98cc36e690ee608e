"""The exact sign-flip test: among all ways to swap the two scores of each query, the share as extreme as the observed.

It makes no draws: the same data always give the same p. It counts all patterns if there are few sums. Otherwise it
computes the distribution of the sum from its characteristic function, the product of cosines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats, Mask
from pytest_ireval.statistics.estimate import Counts, summed
from pytest_ireval.statistics.student import quantile

COUNTED = 64
"""Up to this many changed queries, counting all patterns is tried."""

MOST_SUMS = 2**16
"""Counting stops if half of the queries have more different sums; 32 changed queries can always be counted."""

GRID = 10
"""Sums are equal if they agree to this many decimals, where the largest difference is 1."""


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
    totals = np.array([total, -total])
    counted = _counted(sizes, totals) if sizes.size <= COUNTED else None
    higher, lower = (shares_reaching(sizes, totals) if counted is None else counted).tolist()
    tied = abs(total) <= TIE * float(sizes.sum())
    return SignFlip(changed.size, lower, higher, 1.0 if tied else min(1.0, 2 * min(lower, higher)))


def _counted(sizes: Floats, totals: Floats, most: int = MOST_SUMS) -> Floats | None:
    """The shares of :func:`shares_reaching` by counting: pairs of sums of two halves; None: too many sums."""
    halves = [_halves_sums(half, most) for half in (sizes[0::2], sizes[1::2])]
    if halves[0] is None or halves[1] is None:
        return None
    (one, shares), (other, weights) = halves[0], halves[1]
    reaching = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # the share of the other half from each sum on
    slack = sizes.size * 10.0**-GRID
    begin = np.searchsorted(other, totals[:, None] - slack - one, side="left")
    return np.minimum(reaching[begin] @ shares, 1.0)


def _halves_sums(sizes: Floats, most: int) -> tuple[Floats, Floats] | None:
    """The different sums under all sign patterns, in order, and the share of patterns of each; None: too many."""
    sums: Floats = np.zeros(1)
    shares: Floats = np.ones(1)
    for size in sizes.tolist():
        both = np.round(np.concatenate((sums - size, sums + size)), GRID)
        different, place = np.unique(both, return_inverse=True)
        if different.size > most:
            return None
        sums = different
        shares = np.bincount(place, weights=np.concatenate((shares, shares)) / 2).astype(np.float64, copy=False)
    return sums, shares


LARGEST, RARE = 8, 10
"""The largest numbers that are enumerated, and the most that do not repeat."""

BEYOND = 7.6
"""Hoeffding: a sum is farther out than this many standard deviations with a chance below 2·exp(-7.6²/2) = 6e-13."""

SMOOTHING, FINEST = 1 / 500, 1 / 20_000
"""Standard deviation of the noise that cuts the integral off, usual and least, in standard deviations of the sum."""

REPEATED = 4
"""A number that occurs this often makes sums cluster."""

NOTHING = 1e-14
"""A product of cosines below this contributes nothing, whatever the cosines still to come."""

RELIABLE = 1e-8
"""Smaller shares than this are lost in the errors of the integral."""

FACTORS = 16
ELEMENTS = 1 << 18
"""The factors multiplied, or the cosines in memory, before points without a contribution are dropped."""


def shares_reaching(sizes: Floats, totals: Floats) -> Floats:
    """For each total the share of sign patterns of ``sizes`` (largest first, none 0) whose sum is at least that.

    Each total must be the sum of some pattern.
    """
    few, rest = _split(sizes)
    targets = totals[:, None] - _sums(few)
    step = _step(rest)
    if step:
        above = np.ceil((targets - rest.sum()) / step - 1e-6)
        targets = rest.sum() + (above - 0.5) * step
    spread = math.sqrt(float(rest @ rest))
    shares = (targets < 0).astype(np.float64)
    near = np.abs(targets) < BEYOND * spread
    shares[near] = _inverted(rest, spread, SMOOTHING if step else _noise(rest, spread), targets[near])
    share = shares.mean(axis=1)
    bound = np.exp(-0.5 * np.maximum(totals, 0.0) ** 2 / float(sizes @ sizes))
    return np.clip(np.where(share < RELIABLE, np.minimum(bound, RELIABLE), share), 0.5**sizes.size, 1.0)


def _split(sizes: Floats) -> tuple[Floats, Floats]:
    """The numbers whose signs are enumerated, and the rest."""
    rare = _rare(sizes)
    if rare.sum() <= RARE:
        return sizes[rare], sizes[~rare]
    return sizes[:LARGEST], sizes[LARGEST:]


def _rare(sizes: Floats) -> Mask:
    _, place, counts = np.unique(np.round(sizes, 9), return_inverse=True, return_counts=True)
    return counts[place] < REPEATED


def _sums(sizes: Floats) -> Floats:
    signs = 1.0 - 2.0 * ((np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size)) & 1)
    return signs @ sizes


def _step(sizes: Floats) -> float:
    """The distance of neighbouring sums if all sizes are multiples of one number; 0 if that is too fine to matter."""
    finest = math.sqrt(float(sizes @ sizes)) / 20_000
    divisor = 0.0
    for size in np.unique(np.round(sizes, 12)).tolist():
        one, other = size, divisor
        while other > TIE * 1e3:
            one, other = other, abs(one - other * round(one / other))
        divisor = one
        if divisor < finest:
            return 0.0
    return 2 * divisor


def _noise(sizes: Floats, spread: float) -> float:
    """A sixth of the spread by numbers that do not repeat, between the usual noise and the least."""
    rare = sizes[_rare(sizes)]
    if rare.size * 2 > sizes.size:
        return SMOOTHING
    return min(SMOOTHING, max(FINEST, math.sqrt(float(rare @ rare)) / 6 / spread))


def _inverted(sizes: Floats, spread: float, noise: float, targets: Floats) -> Floats:
    """For each target the share of sign patterns whose sum is above it (Gil-Pelaez, midpoint rule)."""
    step = math.pi / (BEYOND * spread)
    end = 7.5 / (noise * spread)
    points = (np.arange(math.ceil(end / step), dtype=np.float64) + 0.5) * step
    at, product = _products_of_cosines(points, sizes)
    weight = product * np.exp(-0.5 * (at * noise * spread) ** 2) / at
    shares: Floats = 0.5 - np.sin(np.outer(targets, at)) @ weight * step / math.pi
    return np.clip(shares, 0.0, 1.0)


def _products_of_cosines(at: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """The points where the product of ``cos(at * size)`` is more than nothing, and the product there."""
    values, counts = np.unique(sizes, return_counts=True)
    order = np.argsort(-values * np.sqrt(counts))
    values, counts = values[order], counts[order]
    product = np.ones(at.size)
    first = 0
    while first < values.size and at.size:
        part = slice(first, first + max(FACTORS, ELEMENTS // at.size))
        cosines, times = np.cos(np.outer(at, values[part])), counts[part]
        cosines[:, times > 1] **= times[times > 1]
        product = product * cosines.prod(axis=1)
        more = np.abs(product) > NOTHING
        at, product = at[more], product[more]
        first = part.stop
    return at, product


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
    p = sign_flip(summed(balance[None, :], codes, int(codes.max()) + 1)[0]).p_lower
    return NetSevere(losses, gains, p)


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


def rate_bound(losses: float, queries: float, level: float = 0.95) -> float:
    """The upper bound of the share of severe losses at this confidence, after ``losses`` among ``queries``."""
    if losses >= queries:
        return 1.0
    if not losses:
        return -math.expm1(math.log1p(-level) / queries)
    return quantile(level, losses + 1, queries - losses)
