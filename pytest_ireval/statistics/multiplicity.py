"""The evidence that is needed when many things are tested at once, or the same thing again and again.

The first part corrects the p-values of a family of tests, so that the chance of any false alarm keeps its level. The
second part is about versions that are compared with the same anchor, one after the other. The third part is about a
test that looks several times at more and more data.

Versions walk at random around their anchor as long as nothing is lost, and chance alone leads a walk below any fixed
bound in the end. So the chance of a false alarm is spent look by look: after look k of K, the share (k / K)³ of alpha
is spent (K. Lan, D. DeMets 1983, Discrete sequential boundaries for clinical trials, Biometrika 70(3): 659-663; the
power family of K. Kim, D. DeMets 1987, Biometrika 74(1): 149-154). Most of it is left for late looks, where many small
losses have come together.

The walk that is left is integrated look after look (P. Armitage, C. McPherson, B. Rowe 1969, Repeated significance
tests on accumulating data, Journal of the Royal Statistical Society A 132(2): 235-244). How much two looks agree is
measured, not assumed: all looks share their queries, and scores end at 0 and 1, so what one change moved the next one
often moves back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.student import NORMAL


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family; NaN, a test that could not be made, does not belong to it."""
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    factor = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjusted p-values that keep the share of false alarms among all alarms; NaN does not belong to the family.

    They show which slices are worth a look; they do not block a change.
    """
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")][::-1]
    factor = order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


STEP = 1 / 10
"""Distance of the points of the grid, in standard errors."""
FAR = 8.5
"""Nothing is farther out than this many standard errors."""
ENDING = (3 / 8, 7 / 6, 23 / 24)
"""Weights of the points beside the boundary (Gregory), so that the sum is the integral to the fourth order."""
CLOSEST = 0.995
"""The highest correlation of two looks: the grid has no finer steps, and a lower correlation asks for more."""
SPENDING = 3
"""The power of the share of looks that is the share of alpha."""


def agreement(one: float, other: float, step: float) -> float:
    """The correlation of two looks whose spreads from the anchor are known, and that of the step between them."""
    product = 2 * one * other
    return min(1.0, max(0.0, (one * one + other * other - step * step) / product)) if product else 0.0


def even_agreement(look: int) -> float:
    """The correlation of a look with the one before, if all steps are alike and independent; from look 2 on."""
    return math.sqrt((look - 1) / look)


def levels_of_looks(correlations: Sequence[float], looks: int, alpha: float) -> tuple[float, ...]:
    """The one-sided level at which each look is tested; ``correlations`` are those of each look with the next.

    Without any there is one look. Alpha is to last for ``looks`` looks, or for all of them if there are more.
    """
    return _levels(tuple(min(CLOSEST, max(0.0, each)) for each in correlations), looks, alpha)


@lru_cache
def _levels(correlations: tuple[float, ...], looks: int, alpha: float) -> tuple[float, ...]:
    lasting = max(looks, len(correlations) + 1)
    levels = [alpha / lasting**SPENDING]
    bound = -NORMAL.inv_cdf(levels[0])
    points, masses = _below(bound, _normal)
    for look, correlation in enumerate(correlations, 2):
        spend = alpha * (look**SPENDING - (look - 1) ** SPENDING) / lasting**SPENDING
        left = math.sqrt(1 - correlation * correlation)
        bound = _bound(points * correlation, masses, left, spend)
        levels.append(0.5 * math.erfc(bound / math.sqrt(2)))
        points, masses = _below(bound, _moved(points * correlation, masses, left))
    return tuple(levels)


def _below(bound: float, density: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Points below a bound, and the share of the walk near each."""
    points = bound - np.arange(math.ceil((bound + FAR) / STEP), dtype=np.float64) * STEP
    weights = np.full(points.size, STEP)
    weights[: len(ENDING)] *= ENDING
    return points, density(points) * weights


def _moved(centres: Floats, masses: Floats, left: float) -> Callable[[Floats], Floats]:
    """The density of the walk one look later."""

    def density(points: Floats) -> Floats:
        return _normal((points[:, None] - centres[None, :]) / left) @ masses / left

    return density


def _bound(centres: Floats, masses: Floats, left: float, spend: float) -> float:
    """The bound that ``spend`` of the walk exceeds; found by halves, because that always ends."""
    low, high = -FAR, FAR
    scale = left * math.sqrt(2)
    while high - low > 1e-7:
        middle = (low + high) / 2
        beyond = [math.erfc(each) for each in ((middle - centres) / scale).tolist()]
        low, high = (middle, high) if 0.5 * float(masses @ np.array(beyond)) > spend else (low, middle)
    return high


def _normal(values: Floats) -> Floats:
    return np.exp(-0.5 * values * values) / math.sqrt(2 * math.pi)


class Sequential(NamedTuple):
    """A test that looks several times at equal distances and may stop early; bounds are in standard errors."""

    bounds: tuple[float, ...]
    sample: float
    """Its largest sample, as a multiple of that of a test with one look and the same power."""
    average: float
    """The same for its average sample, if the difference is the one that the test is planned for."""


@lru_cache
def sequential(looks: int, alpha: float, power: float, *, two_sided: bool = True, falling: bool = False) -> Sequential:
    """The test with this level and power.

    Its bound is the same at each look (S. Pocock 1977, Group sequential methods in the design and analysis of clinical
    trials, Biometrika 64(2): 191-199). If ``falling``, it falls with the root of the look (P. O'Brien, T. Fleming 1979,
    A multiple testing procedure for clinical trials, Biometrics 35(3): 549-556).
    """
    single = NORMAL.inv_cdf(1 - alpha / (1 + two_sided))
    if looks == 1:
        return Sequential((single,), 1.0, 1.0)
    shape = np.array([math.sqrt(looks / look) if falling else 1.0 for look in range(1, looks + 1)])
    constant = _root(lambda bound: alpha - sum(crossings(bound * shape, two_sided=two_sided)), 0.0, FAR)
    bounds = constant * shape
    drift = _root(lambda each: sum(crossings(bounds, each, two_sided=two_sided)) - power, 0.0, 2 * FAR)
    sample = (drift / (single + NORMAL.inv_cdf(power))) ** 2
    stops = np.array(crossings(bounds, drift, two_sided=two_sided))
    stops[-1] += 1 - stops.sum()
    average = sample * float(stops @ np.arange(1, looks + 1)) / looks
    return Sequential(tuple(bounds.tolist()), sample, average)


def crossings(bounds: Floats | Sequence[float], drift: float = 0.0, *, two_sided: bool = True) -> list[float]:
    """The share of walks that first exceed their bound at each of some looks at equal distances.

    ``drift`` is the mean of the last look, in its standard errors, of walks that nothing stops. ``two_sided`` walks
    also stop below the negative bound.
    """
    looks = len(bounds)
    nodes, weights = _nodes(max(64, 16 * math.ceil(math.sqrt(looks))))
    left, found = 1.0, []
    points, masses = np.zeros(1), np.ones(1)
    for look, bound in enumerate(np.minimum(np.asarray(bounds), FAR).tolist(), 1):
        low = -bound if two_sided else -FAR
        fresh = (bound + low) / 2 + (bound - low) / 2 * nodes
        centres = (points * math.sqrt(look - 1) + drift / math.sqrt(looks)) / math.sqrt(look)
        masses = _moved(centres, masses, 1 / math.sqrt(look))(fresh) * weights * (bound - low) / 2
        points, before, left = fresh, left, float(masses.sum())
        found.append(max(0.0, before - left))
    return found


@lru_cache
def _nodes(count: int) -> tuple[Floats, Floats]:
    return np.polynomial.legendre.leggauss(count)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """The place where a rising function is 0: by halves until it is near, then by secants (Illinois)."""
    while high - low > 0.3:
        middle = (low + high) / 2
        low, high = (low, middle) if function(middle) > 0 else (middle, high)
    under, over, side = function(low), function(high), 0
    while high - low > 1e-9:
        middle = (low * over - high * under) / (over - under)
        found = function(middle)
        if abs(found) < 1e-11:
            return middle
        if found > 0:
            high, over, under = middle, found, under / (2 if side > 0 else 1)
        else:
            low, under, over = middle, found, over / (2 if side < 0 else 1)
        side = 1 if found > 0 else -1
    return high
