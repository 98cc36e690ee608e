"""How far out a mean must lie to be a fall when it is looked at again and again: the constant for so many looks.

Versions that are compared with one anchor walk at random as long as nothing is lost. The constant is the number of
standard errors that a walk with equal steps leaves, at any of its looks, in 5% of cases (S. Pocock 1977, Group
sequential methods in the design and analysis of clinical trials, Biometrika 64(2): 191-199, here on one side). What is
left of the walk is integrated look after look (P. Armitage, C. McPherson, B. Rowe 1969, Repeated significance tests on
accumulating data, Journal of the Royal Statistical Society A 132(2): 235-244).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.statistics.student import NORMAL

STEP = 1 / 20
"""Distance of the points of the grid, in standard deviations of one step of the walk."""

FAR = 8.5
"""Nothing is farther out than this many standard deviations."""

ENDING = (3 / 8, 7 / 6, 23 / 24)
"""Weights of the points beside the boundary (Gregory), so that the sum is the integral to the fourth order."""


@lru_cache
def looks_constant(looks: int) -> float:
    """The constant; for one look it is that of the plain one-sided test, 1.645."""
    one, two = NORMAL.inv_cdf(1 - LEVEL), NORMAL.inv_cdf(1 - LEVEL / looks)
    if looks == 1:
        return one
    one_left, two_left = (chance_to_leave(each, looks) - LEVEL for each in (one, two))
    while abs(one - two) > 1e-9 and one_left != two_left:
        one, one_left, two = two, two_left, two - two_left * (two - one) / (two_left - one_left)
        two_left = chance_to_leave(two, looks) - LEVEL
    return two


def chance_to_leave(constant: float, looks: int) -> float:
    """The chance that a walk is, at one of its looks, more than so many of its standard deviations above 0."""
    below = np.arange(math.ceil((constant + FAR) * math.sqrt(looks) / STEP), dtype=np.float64) * STEP
    weights = np.full(below.size, STEP)
    weights[: len(ENDING)] *= ENDING
    density = _normal(constant - below)
    reach = math.ceil(FAR / STEP)
    moves = np.arange(-reach, reach + 1, dtype=np.float64) * STEP
    for look in range(2, looks + 1):
        rise = constant * (math.sqrt(look) - math.sqrt(look - 1))
        density = np.convolve(density * weights, _normal(rise - moves))[reach:-reach]
    return 1.0 - float(density @ weights)


def _normal(values: Floats) -> Floats:
    found: Floats = np.exp(-0.5 * values * values) / math.sqrt(2 * math.pi)
    return found
