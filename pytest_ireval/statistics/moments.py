"""Mean, spread and skew of each row: the same in every order of a row, and at every scale of its numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats


class Moments(NamedTuple):
    """Of rows of equal length; an array has an entry for each row, NaN where so few numbers have none.

    ``sd`` is that of a sample (n - 1). ``t`` is the mean in standard errors, 0 where the mean is 0. ``skew`` is the
    third moment of the standardised numbers (n), 0 where all are the same.
    """

    size: int
    mean: Floats
    sd: Floats
    skew: Floats
    t: Floats


def moments(rows: Floats) -> Moments:
    """What is known of each row."""
    count, size = rows.shape
    undefined = np.full(count, np.nan)
    if not size:
        return Moments(size, undefined, undefined, undefined, undefined)
    exponent = np.frexp(np.abs(rows).max(axis=1))[1]
    scaled = np.ldexp(rows, -exponent[:, None])  # by powers of two: no square overflows or vanishes, no digit is lost
    mean = np.array([math.fsum(row.tolist()) for row in scaled]) / size
    if size == 1:
        return Moments(size, np.ldexp(mean, exponent), undefined, undefined, undefined)
    sd, skew = _sd_and_skew(scaled - mean[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / sd * math.sqrt(size))
    with np.errstate(over="ignore"):  # what is no number is infinite
        return Moments(size, np.ldexp(mean, exponent), np.ldexp(sd, exponent), skew, t)


def _sd_and_skew(deviations: Floats) -> tuple[Floats, Floats]:
    """Of deviations that are at most about 1; where rounding alone is left of them, both are 0."""
    size = deviations.shape[1]
    squares = deviations * deviations
    second = squares.sum(axis=1)
    second[np.ptp(deviations, axis=1) < TIE] = 0.0
    third = (squares * deviations).sum(axis=1) / size
    sigma = np.sqrt(second / size)
    skew = np.divide(third, sigma**3, out=np.zeros_like(third), where=sigma > 0)
    return np.sqrt(second / (size - 1)), skew
