"""Between which limits a share lies that was seen so many times out of so many."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The lower and the upper one."""

    low: float
    high: float


def share_limits(count: int, of: int, level: float = 0.95) -> Limits:
    """The interval of Clopper and Pearson, which holds the true share in at least ``level`` of cases."""
    from scipy.special import betaincinv

    if not 0 <= count <= of or not of:
        raise ValueError(f"{count} of {of} is no share")
    tail = (1 - level) / 2
    low = float(betaincinv(count, of - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, of - count, 1 - tail)) if count < of else 1.0
    return Limits(low, high)
