"""How sums of many numbers with random signs are distributed: computed, not drawn.

The characteristic function of such a sum is the product of the cosines of its numbers. It is inverted (Gil-Pelaez)
for the sums of all numbers but a few, whose signs are enumerated: the largest, so that the rest is smooth even where
one query outweighs hundreds, or those that do not repeat, if they are few. Where the rest is a lattice (differences of
P@10 are tenths) it is asked for half a step below its next sum, where none lies, so that "at least" means what it says.

Errors: the step of the integral leaves out sums beyond ``BEYOND`` standard deviations, less than 1e-12 of all by
Hoeffding's bound; cutting the integral off is adding normal noise of 1/500 standard deviation, or less where the same
few numbers repeat and others tell their sums apart. The tests hold shares to 1e-5 of what counting gives. Shares below
``RELIABLE`` are given as Hoeffding's bound, so never as too small.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import TIE, Floats, Mask

LARGEST, RARE = 8, 10
"""So many of the largest numbers are enumerated, or at most so many that do not repeat."""

BEYOND = 7.6
"""Hoeffding: a sum lies farther out than this many standard deviations with a chance below 2·exp(-7.6²/2) = 6e-13."""

SMOOTHING, FINEST = 1 / 500, 1 / 20_000
"""Standard deviation of the noise that cuts the integral off, usual and least, in standard deviations of the sum."""

REPEATED = 4
"""A number that occurs so often makes sums cluster."""

NOTHING = 1e-14
"""A product of cosines below this contributes nothing, whatever the cosines still to come."""

RELIABLE = 1e-8
"""Smaller shares than this are lost in the errors of the integral."""

FACTORS = 16
ELEMENTS = 1 << 18
"""So many factors are multiplied, or so many cosines held, before the points where nothing is left are dropped."""


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
    """Which numbers do not repeat often."""
    _, place, counts = np.unique(np.round(sizes, 9), return_inverse=True, return_counts=True)
    rare: Mask = counts[place] < REPEATED
    return rare


def _sums(sizes: Floats) -> Floats:
    signs = 1.0 - 2.0 * ((np.arange(2**sizes.size)[:, None] >> np.arange(sizes.size)) & 1)
    sums: Floats = signs @ sizes
    return sums


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
    """A sixth of what the numbers that do not repeat spread the sums, between the usual noise and the least."""
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
        product = product * _product(at, values[part], counts[part])
        more = np.abs(product) > NOTHING
        at, product = at[more], product[more]
        first = part.stop
    return at, product


def _product(at: Floats, values: Floats, counts: NDArray[np.int64]) -> Floats:
    """The product over some values, each as often as it occurs."""
    cosines = np.cos(np.outer(at, values))
    repeated = counts > 1
    cosines[:, repeated] **= counts[repeated]
    found: Floats = cosines.prod(axis=1)
    return found
