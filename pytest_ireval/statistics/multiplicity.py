"""Corrections for testing many things at once: p-values that keep the chance of any false alarm at its level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.student import NORMAL

DRAWS = 1 << 13
"""Of correlated normal values."""


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


def holm_of_groups(p: Floats, groups: Sequence[Sequence[int]], worth: Sequence[float]) -> Floats:
    """Holm's adjusted p-values where tests of one group go together.

    ``groups`` are places in ``p``, each in one group; ``worth`` is the number of independent tests that each group is
    worth (:func:`worth_of_tests`). If that is the number of its tests, this is :func:`holm`.
    """
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    left, adjusted, highest = [len(group) for group in groups], np.full(p.shape, np.nan), 0.0
    factor = math.fsum(min(float(many), most) for many, most in zip(left, worth, strict=True))
    for place in np.argsort(p, kind="stable").tolist():
        highest = max(highest, min(1.0, factor * float(p[place])))
        adjusted[place] = highest
        group = group_of[place]
        factor -= min(float(left[group]), worth[group]) - min(left[group] - 1.0, worth[group])
        left[group] -= 1
    return adjusted


def worth_of_tests(rows: Floats, level: float) -> float:
    """The number of independent tests that the one-sided tests of some means are worth; queries in columns.

    That is the chance that the smallest p is below ``level``, in units of ``level``: a single-step max-T correction
    with the joint normal distribution of the means, whose correlations are those of the rows (T. Hothorn, F. Bretz,
    P. Westfall 2008, Simultaneous inference in general parametric models, Biometrical Journal 50(3): 346-363). Draws
    in which one of the tests is below the level are taken, each test in its turn, and each counts by how many are
    below it together: so a level of one in a million needs no more draws than one in twenty. Two standard errors of
    the draws are added.
    """
    moving = rows[np.ptp(rows, axis=1) > 0] if rows.size else rows[:0]
    still = len(rows) - len(moving)
    if len(moving) < 2:
        return float(len(rows))
    correlations = np.array(np.corrcoef(moving), np.float64, ndmin=2)
    values, vectors = np.linalg.eigh(correlations)
    free = _normal(len(moving)) @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    first = np.arange(len(free)) % len(moving)  # the test that is below the level in this draw
    rest = _beyond(level, len(free)) - free[np.arange(len(free)), first]
    shares = 1 / np.count_nonzero(free + correlations[first] * rest[:, None] >= NORMAL.inv_cdf(1 - level), axis=1)
    worth = len(moving) * (float(shares.mean()) + 2 * float(shares.std()) / math.sqrt(len(free)))
    return still + min(float(len(moving)), max(1.0, worth))


@lru_cache(maxsize=8)
def _beyond(level: float, draws: int) -> Floats:
    """Normal values above the quantile of the level, evenly over their distribution."""
    shares = (np.random.default_rng(1).permutation(draws) + 0.5) / draws
    return -np.array([NORMAL.inv_cdf(each) for each in (level * shares).tolist()])


@lru_cache(maxsize=8)
def _normal(columns: int) -> Floats:
    """Independent normal values, the same in every call."""
    return np.random.default_rng(0).standard_normal((DRAWS, columns))
