"""The mean of rows with its standard error and its degrees of freedom, with weights and in clusters."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import TIE, Floats

Counts = NDArray[np.int64]
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
    """By cluster: the move of the mean without it, divided by that move if all clusters weighed the same."""

    @property
    def worth(self) -> int:
        """The effective number as a count: 1 if one query outweighs all others."""
        return round(self.effective)

    @property
    def degrees(self) -> float:
        """The degrees of freedom, by the effective number of units."""
        plain = self.clusters is None and self.shares is None
        return self.units - 1 if plain else self.effective - 1

    def sums(self, rows: Floats) -> Floats:
        """For each row the part of every unit in the mean, times a constant."""
        return summed(rows if self.shares is None else rows * self.shares, self.clusters, self.units)


def weighting(weights: Floats | None, queries: int, clusters: Counts | None = None) -> Weighting:
    """Return the weighting of a comparison; without weights all queries weigh the same.

    Queries with the same number in ``clusters`` were drawn together, as variants of one intent.
    """
    counted: Counts | slice = slice(None) if weights is None else np.flatnonzero(weights > 0)
    left = np.ones(queries) if weights is None else weights[counted]
    codes, units = _numbered(clusters, counted, left.size)
    if not left.size or left.min() == left.max():
        scaled, shares = np.ones(left.size), None
    else:
        scaled = left / left.max()  # so that no square overflows
        shares = scaled * (left.size / math.fsum(scaled.tolist()))
    worth = scaled if codes is None else np.bincount(codes, scaled, units).astype(np.float64, copy=False)
    leverage = None if codes is None else _leverage(worth)
    return Weighting(counted, shares, _effective(worth), codes, units, leverage)


def _leverage(worth: Floats) -> Floats | None:
    if worth.size < FEWEST_UNITS or np.ptp(worth) <= TIE * worth.max():
        return None
    others: Floats = 1 - worth / math.fsum(worth.tolist())
    return (1 - 1 / worth.size) / others


def _numbered(clusters: Counts | None, counted: Counts | slice, queries: int) -> tuple[Counts | None, int]:
    """The units of the queries, from 0 on; no numbers where each query is one."""
    if clusters is None:
        return None, queries
    different, codes = np.unique(clusters[counted], return_inverse=True)
    return (None, queries) if different.size == queries else (codes.astype(np.int64, copy=False), different.size)


def _effective(worth: Floats) -> float:
    """The number of units of equal weight that have the same worth."""
    if not worth.size or np.ptp(worth) <= TIE * worth.max():
        return float(worth.size)
    total = math.fsum(worth.tolist())
    return total * total / math.fsum((worth * worth).tolist())


class Estimate(NamedTuple):
    """The mean of rows and its error; an array has an entry for each row.

    ``sd`` is the spread that single queries would have if they were drawn one by one and had the same standard error.
    ``corrected`` is ``t`` after Hall's correction.
    """

    queries: int
    units: int
    mean: Floats
    sd: Floats
    error: Floats
    t: Floats
    corrected: Floats
    degrees: float


def estimated(rows: Floats, weigh: Weighting) -> Estimate:
    """The mean of each row under such weights; ``rows`` has the queries that count."""
    sample = _moments(_of_units(rows, weigh))
    error = sample.sd / math.sqrt(max(sample.size, 1))
    sd = sample.sd if weigh.clusters is None else error * math.sqrt(rows.shape[1])
    corrected = _hall_t(sample.t, sample.skew, sample.size) if sample.size > 1 else sample.t
    return Estimate(rows.shape[1], sample.size, sample.mean, sd, error, sample.t, corrected, weigh.degrees)


def _of_units(rows: Floats, weigh: Weighting) -> Floats:
    """For each row a value for every unit whose mean is the weighted mean: the linearised ratio of two totals.

    Clusters of unequal weight get the values of the jackknife, which leaves out one cluster after the other: the
    linearised ones are too small where few clusters weigh the most.
    """
    if weigh.clusters is None:
        return _influence(rows, weigh.shares)
    weighted = rows if weigh.shares is None else rows * weigh.shares
    mean = _means_of(weighted)
    deviations = weighted - mean if weigh.shares is None else weighted - mean * weigh.shares
    found: Floats = summed(deviations, weigh.clusters, weigh.units) * (weigh.units / rows.shape[1])
    if weigh.leverage is not None:
        found = found * weigh.leverage
        found = found - _means_of(found)
    return mean + found


def _influence(rows: Floats, shares: Floats | None) -> Floats:
    """For each row the values v with mean(v) = Σ w d / Σ w and var(v) / n = n / (n - 1) Σ w² (d - mean)² / (Σ w)²."""
    if shares is None:
        return rows
    mean = _means_of(rows * shares)
    return mean + shares * (rows - mean)


def _means_of(rows: Floats) -> Floats:
    """The mean of each row as a column; the order of a row does not change it."""
    found: Floats = np.array([math.fsum(row.tolist()) for row in rows])[:, None] / rows.shape[1]
    return found


def summed(rows: Floats, clusters: Counts | None, units: int) -> Floats:
    """The sum of each cluster; 0 where numbers cancel but for rounding."""
    if clusters is None:
        return rows
    order = np.argsort(clusters, kind="stable")
    first = np.searchsorted(clusters[order], np.arange(units))
    sorted_rows = rows[:, order]
    found: Floats = np.add.reduceat(sorted_rows, first, axis=1)
    found[np.abs(found) < TIE * np.add.reduceat(np.abs(sorted_rows), first, axis=1)] = 0.0
    return found


def _hall_t(t: Floats, skew: Floats, size: int) -> Floats:
    """The corrected ``t`` of samples of ``size`` numbers; it grows with ``t``, and without skew it is nearly ``t``.

    With the biased spread of Hall's paper: T + g T² / 3√n + g² T³ / 27n + g / 6√n.
    """
    root = math.sqrt(size)
    own = np.where(np.isfinite(t), t, 0.0) * math.sqrt(size / (size - 1))
    bend = skew * own / (3 * root)
    corrected: Floats = own * (1 + bend + bend * bend / 3) + skew / (6 * root)
    return np.where(np.isfinite(t), corrected, t)


class _Moments(NamedTuple):
    """The moments of rows of equal length; an array has an entry for each row, NaN if there are too few numbers.

    ``sd`` is that of a sample (n - 1). ``t`` is the mean in standard errors, 0 where the mean is 0. ``skew`` is the
    third moment of the standardised numbers (n), 0 where all are the same.
    """

    size: int
    mean: Floats
    sd: Floats
    skew: Floats
    t: Floats


def _moments(rows: Floats) -> _Moments:
    count, size = rows.shape
    undefined = np.full(count, np.nan)
    if not size:
        return _Moments(size, undefined, undefined, undefined, undefined)
    exponent = np.frexp(np.abs(rows).max(axis=1))[1]
    scaled = np.ldexp(rows, -exponent[:, None])  # by powers of two: no square overflows or vanishes, no digit is lost
    mean = np.array([math.fsum(row.tolist()) for row in scaled]) / size
    if size == 1:
        return _Moments(size, np.ldexp(mean, exponent), undefined, undefined, undefined)
    sd, skew = _sd_and_skew(scaled - mean[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / sd * math.sqrt(size))
    with np.errstate(over="ignore"):  # what is no number is infinite
        return _Moments(size, np.ldexp(mean, exponent), np.ldexp(sd, exponent), skew, t)


def _sd_and_skew(deviations: Floats) -> tuple[Floats, Floats]:
    """Both of deviations that are at most about 1; where only rounding is left of them, both are 0."""
    size = deviations.shape[1]
    squares = deviations * deviations
    second = squares.sum(axis=1)
    second[np.ptp(deviations, axis=1) < TIE] = 0.0
    third = (squares * deviations).sum(axis=1) / size
    sigma = np.sqrt(second / size)
    skew = np.divide(third, sigma**3, out=np.zeros_like(third), where=sigma > 0)
    return np.sqrt(second / (size - 1)), skew
