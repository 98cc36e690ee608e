"""The exact sign-flip test: among all ways to swap the two scores of each query, the share as extreme as what was seen.

No draws are made: up to ``ENUMERATED`` changed queries all patterns are counted, beyond that the distribution of the
sum is computed from its characteristic function, the product of cosines. Either way the same data give the same p.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.flipped_sums import shares_reaching

ENUMERATED = 30
"""So many changed queries are enumerated: two halves of 2**15 sums each, put together by a sorted search."""


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
    shares = _counted(sizes, totals) if sizes.size <= ENUMERATED else shares_reaching(sizes, totals)
    one, other = shares.tolist()
    return one, other


def _counted(sizes: Floats, totals: Floats) -> Floats:
    """The same by counting them all: the sums of two halves, every pair of which is one pattern."""
    one, other = _sums(sizes[0::2]), np.sort(_sums(sizes[1::2]))
    slack = TIE * float(sizes.sum())
    below = np.searchsorted(other, totals[:, None] - slack - one, side="left")
    shares: Floats = (other.size - below).sum(axis=1) / (one.size * other.size)
    return shares


def _sums(sizes: Floats) -> Floats:
    """The sums under all sign patterns."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate((sums - size, sums + size))
    return sums
