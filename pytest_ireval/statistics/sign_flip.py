"""The exact sign-flip test: among all ways to swap the two scores of each query, the share as extreme as what was seen.

No draws are made: where the sums are few enough all patterns are counted, beyond that the distribution of the sum is
computed from its characteristic function, the product of cosines. Either way the same data give the same p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.flipped_sums import shares_reaching

COUNTED = 64
"""Up to so many changed queries it is tried to count all patterns."""

MOST_SUMS = 2**16
"""Given up where half of the queries have more different sums; 32 changed queries can always be counted."""

GRID = 10
"""Sums are equal when they agree to so many decimals, where the largest difference is 1."""


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
    higher, lower = _shares_reaching(sizes, np.array([total, -total]))
    tied = abs(total) <= TIE * float(sizes.sum())
    return SignFlip(changed.size, lower, higher, 1.0 if tied else min(1.0, 2 * min(lower, higher)))


def _shares_reaching(sizes: Floats, totals: Floats) -> tuple[float, float]:
    """For two totals, each the sum of some pattern, the share of sign patterns whose sum is at least as high."""
    counted = _counted(sizes, totals) if sizes.size <= COUNTED else None
    one, other = (shares_reaching(sizes, totals) if counted is None else counted).tolist()
    return one, other


def _counted(sizes: Floats, totals: Floats, most: int = MOST_SUMS) -> Floats | None:
    """The same by counting: the sums of two halves, every pair of which stands for patterns; None: too many sums."""
    halves = [_sums(half, most) for half in (sizes[0::2], sizes[1::2])]
    if halves[0] is None or halves[1] is None:
        return None
    (one, shares), (other, weights) = halves[0], halves[1]
    reaching = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # the share of the other half from each sum on
    slack = sizes.size * 10.0**-GRID
    begin = np.searchsorted(other, totals[:, None] - slack - one, side="left")
    found: Floats = np.minimum(reaching[begin] @ shares, 1.0)
    return found


def _sums(sizes: Floats, most: int) -> tuple[Floats, Floats] | None:
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
