"""The level of each comparison with one anchor, where many versions are compared with it, one after the other.

Versions walk at random around their anchor as long as nothing is lost, and chance alone leads a walk below any fixed
bound in the end. So the chance of a false alarm is spent look by look: after look k of 20, the share (k / 20)³ of alpha
is spent (K. Lan, D. DeMets 1983, Discrete sequential boundaries for clinical trials, Biometrika 70(3): 659-663; the
power family of K. Kim, D. DeMets 1987, Biometrika 74(1): 149-154). Most of it is left for late looks, where many small
losses have come together.

The walk that is left is integrated look after look (P. Armitage, C. McPherson, B. Rowe 1969, Repeated significance
tests on accumulating data, Journal of the Royal Statistical Society A 132(2): 235-244). How much two looks correlate is
measured, not assumed: all looks share their queries, and scores end at 0 and 1, so what one change moved the next one
often moves back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.student import NORMAL

LOOKS = 20
"""Alpha lasts for this many accepted changes: a release with more of them can pin a new anchor."""
SPENDING = 3
"""The power of the share of looks that is the share of alpha."""
STEP = 1 / 10
"""Distance of the points of the grid, in standard errors."""
FAR = 8.5
"""Nothing is farther out than this many standard errors."""
ENDING = (3 / 8, 7 / 6, 23 / 24)
"""Weights of the points beside the boundary (Gregory), so that the sum is the integral to the fourth order."""
CLOSEST = 0.995
"""The highest correlation of two looks: the grid has no finer steps, and a lower correlation asks for more."""


def correlation_of_looks(one: float, other: float, step: float) -> float:
    """The correlation of two looks whose spreads from the anchor are known, and that of the step between them."""
    product = 2 * one * other
    return min(1.0, max(0.0, (one * one + other * other - step * step) / product)) if product else 0.0


def levels_of_looks(correlations: Sequence[float], alpha: float) -> tuple[float, ...]:
    """The one-sided level at which each look is tested; ``correlations`` are those of each look with the next.

    Without any there is one look. With more than 20 looks alpha lasts for all of them.
    """
    return _integrate_levels(tuple(min(CLOSEST, max(0.0, correlation)) for correlation in correlations), alpha)


@lru_cache
def _integrate_levels(correlations: tuple[float, ...], alpha: float) -> tuple[float, ...]:
    lasting = max(LOOKS, len(correlations) + 1)
    levels = [alpha / lasting**SPENDING]
    bound = -NORMAL.inv_cdf(levels[0])
    points, masses = _make_grid_below(bound, _normal_density)
    for look, correlation in enumerate(correlations, 2):
        spend = alpha * (look**SPENDING - (look - 1) ** SPENDING) / lasting**SPENDING
        left = math.sqrt(1 - correlation * correlation)
        bound = _find_bound(points * correlation, masses, left, spend)
        levels.append(0.5 * math.erfc(bound / math.sqrt(2)))
        points, masses = _make_grid_below(bound, _make_density_one_look_later(points * correlation, masses, left))
    return tuple(levels)


def _make_grid_below(bound: float, density: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Points below a bound, and the share of the walk near each."""
    points = bound - np.arange(math.ceil((bound + FAR) / STEP), dtype=np.float64) * STEP
    weights = np.full(points.size, STEP)
    weights[: len(ENDING)] *= ENDING
    return points, density(points) * weights


def _make_density_one_look_later(centres: Floats, masses: Floats, left: float) -> Callable[[Floats], Floats]:
    def density(points: Floats) -> Floats:
        return _normal_density((points[:, None] - centres[None, :]) / left) @ masses / left

    return density


def _find_bound(centres: Floats, masses: Floats, left: float, spend: float) -> float:
    """The bound that ``spend`` of the walk exceeds; found by halves, because that always ends."""
    low, high = -FAR, FAR
    scale = left * math.sqrt(2)
    while high - low > 1e-7:
        middle = (low + high) / 2
        beyond = [math.erfc(distance) for distance in ((middle - centres) / scale).tolist()]
        low, high = (middle, high) if 0.5 * float(masses @ np.array(beyond)) > spend else (low, middle)
    return high


def _normal_density(values: Floats) -> Floats:
    return np.exp(-0.5 * values * values) / math.sqrt(2 * math.pi)
