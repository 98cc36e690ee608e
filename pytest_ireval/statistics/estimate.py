"""The mean of differences with its standard error and its degrees of freedom, with weights and in clusters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import TIE, Floats

Counts = NDArray[np.int64]
FEW_BY_WEIGHT = 100
"""Weights that leave less than the worth of so many equal units are reported."""
FEWEST_UNITS = 2
"""One unit alone shows no spread."""


class Weighting(NamedTuple):
    """``counted`` are the places of the queries whose weight is not 0, ``shares`` their weights with mean 1.

    ``shares`` is None where all weigh the same. ``effective`` is the number of equally weighted units of this worth. A
    unit is a query, or a cluster of queries: ``clusters`` has the number of the unit of each query, from 0 to
    ``units`` - 1, and is None where each query is a unit.
    """

    counted: Counts | slice
    shares: Floats | None
    effective: float
    clusters: Counts | None = None
    units: int = 0
    leverage: Floats | None = None
    """By unit: the move of the mean without it, divided by that move if all units weighed the same; None if they do."""

    @property
    def effective_size(self) -> int:
        """The effective number as a count: 1 if one query outweighs all others."""
        return round(self.effective)

    @property
    def is_decided_by_few(self) -> bool:
        """True if few of the units hold most of the weight: tests of the mean err more often then."""
        return self.effective_size < min(FEW_BY_WEIGHT, self.units)

    @property
    def degrees(self) -> float:
        """The degrees of freedom, by the effective number of units."""
        plain = self.clusters is None and self.shares is None
        return self.units - 1 if plain else self.effective - 1

    def sums(self, values: Floats) -> Floats:
        """The part of every unit in the mean, times a constant."""
        weighted = values if self.shares is None else values * self.shares
        return weighted if self.clusters is None else sum_clusters(weighted, self.clusters, self.units)


def weighting(weights: Floats | None, queries: int, clusters: Counts | None = None) -> Weighting:
    """Return the weighting of a comparison; without weights all queries weigh the same.

    Queries with the same number in ``clusters`` were drawn together, as variants of one intent.
    """
    counted: Counts | slice = slice(None) if weights is None else np.flatnonzero(weights > 0)
    left = np.ones(queries) if weights is None else weights[counted]
    codes, units = _number_units(clusters, counted, left.size)
    if not left.size or left.min() == left.max():
        scaled, shares = np.ones(left.size), None
    else:
        scaled = left / left.max()  # so that no square overflows
        shares = scaled * (left.size / math.fsum(scaled.tolist()))
    worth = scaled if codes is None else np.bincount(codes, scaled, units).astype(np.float64, copy=False)
    return Weighting(counted, shares, _compute_effective_size(worth), codes, units, _compute_leverage(worth))


def _compute_leverage(worth: Floats) -> Floats | None:
    if worth.size < FEWEST_UNITS or np.ptp(worth) <= TIE * worth.max():
        return None
    others: Floats = np.maximum(1 - worth / math.fsum(worth.tolist()), TIE)  # not 0 where one weighs almost all
    return (1 - 1 / worth.size) / others


def _number_units(clusters: Counts | None, counted: Counts | slice, queries: int) -> tuple[Counts | None, int]:
    """The units of the queries, from 0 on; no numbers where each query is one."""
    if clusters is None:
        return None, queries
    different, codes = np.unique(clusters[counted], return_inverse=True)
    return (None, queries) if different.size == queries else (codes.astype(np.int64, copy=False), different.size)


def _compute_effective_size(worth: Floats) -> float:
    """The number of units of equal weight that have the same worth."""
    if not worth.size or np.ptp(worth) <= TIE * worth.max():
        return float(worth.size)
    total = math.fsum(worth.tolist())
    return total * total / math.fsum((worth * worth).tolist())


class Estimate(NamedTuple):
    """A mean and its error; NaN where there are too few units.

    ``sd`` is the spread (n - 1) that single queries would have if they were drawn one by one and had the same standard
    error. ``t`` is the mean in standard errors, 0 where the mean is 0; ``corrected`` is ``t`` after Hall's correction.
    """

    units: int
    mean: float
    sd: float
    error: float
    t: float
    corrected: float
    degrees: float


def estimate_mean(values: Floats, weigh: Weighting) -> Estimate:
    """The mean under such weights of the values of the queries that count."""
    units = _compute_unit_values(values, weigh)
    size = units.size
    if not size:
        return Estimate(size, math.nan, math.nan, math.nan, math.nan, math.nan, weigh.degrees)
    exponent = math.frexp(np.abs(units).max())[1]
    scaled = np.ldexp(units, -exponent)  # by powers of two: no square overflows or vanishes, no digit is lost
    mean = _mean(scaled)
    sd, skew = _compute_spread_and_skew(scaled - mean) if size > 1 else (math.nan, math.nan)
    t = mean / sd * math.sqrt(size) if sd else math.copysign(math.inf, mean)
    t = 0.0 if mean == 0 and size > 1 else t
    with np.errstate(over="ignore"):  # what is no number is infinite
        error = float(np.ldexp(sd, exponent)) / math.sqrt(size)
        spread = float(np.ldexp(sd, exponent)) if weigh.clusters is None else error * math.sqrt(values.size)
    corrected = _correct_for_skew(t, skew, size) if math.isfinite(t) else t
    return Estimate(size, float(np.ldexp(mean, exponent)), spread, error, t, corrected, weigh.degrees)


def _compute_unit_values(values: Floats, weigh: Weighting) -> Floats:
    """A value for every unit, so that their mean is the weighted mean: the linearised ratio of two totals.

    Units of unequal weight get the values of the jackknife, which leaves out one unit after the other: the linearised
    ones are too small where few units weigh the most.
    """
    if weigh.clusters is None and weigh.shares is None:
        return values
    shares = 1.0 if weigh.shares is None else weigh.shares
    weighted = values * shares
    mean = _mean(weighted)
    sums = weighted - mean * shares
    if weigh.clusters is not None:
        sums = sum_clusters(sums, weigh.clusters, weigh.units) * (weigh.units / values.size)
    if weigh.leverage is not None:
        sums = sums * weigh.leverage
        sums = sums - _mean(sums)
    return mean + sums


def _mean(values: Floats) -> float:
    """The mean; the order of the values does not change it."""
    return math.fsum(values.tolist()) / values.size if values.size else math.nan


def sum_clusters(values: Floats, clusters: Counts, units: int) -> Floats:
    """The sum of each cluster; 0 where numbers cancel but for rounding."""
    order = np.argsort(clusters, kind="stable")
    first = np.searchsorted(clusters[order], np.arange(units))
    sums: Floats = np.add.reduceat(values[order], first)
    sums[np.abs(sums) < TIE * np.add.reduceat(np.abs(values[order]), first)] = 0.0
    return sums


def _compute_spread_and_skew(deviations: Floats) -> tuple[float, float]:
    """The spread (n - 1) and the third standardised moment (n); where only rounding is left, both are 0."""
    if np.ptp(deviations) < TIE:
        return 0.0, 0.0
    squares = deviations * deviations
    second = float(squares.sum())
    third = float((squares * deviations).sum()) / deviations.size
    return math.sqrt(second / (deviations.size - 1)), third / math.sqrt(second / deviations.size) ** 3


def _correct_for_skew(t: float, skew: float, size: int) -> float:
    """Hall's ``t`` of samples of ``size`` numbers; it grows with ``t``, and without skew it is nearly ``t``.

    With the biased spread of Hall's paper: T + g T² / 3√n + g² T³ / 27n + g / 6√n.
    """
    root = math.sqrt(size)
    own = t * math.sqrt(size / (size - 1))
    bend = skew * own / (3 * root)
    return own * (1 + bend + bend * bend / 3) + skew / (6 * root)
