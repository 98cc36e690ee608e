"""Weights, clusters and strata of queries: what each query counts, and which queries are one unit of chance."""

from __future__ import annotations

import math
import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import TIE, Floats

Counts = NDArray[np.int64]
FEWEST_UNITS = 2
"""One unit alone says nothing of how much units differ."""


class Sampling(NamedTuple):
    """How queries were drawn. Each array of queries has an entry for every query.

    Queries with the same number in ``clusters`` were drawn together, as variants of one intent. ``strata`` are places
    in ``shares``, the share of the population that each stratum is known to have. ``left`` is the share of the
    population that was not drawn: one number, or one for each stratum; 0 means that these queries are all there are.
    """

    clusters: Counts | None = None
    strata: Counts | None = None
    shares: Floats | None = None
    left: Floats | float = 1.0


class Stratum(NamedTuple):
    """One stratum: its share of the population, its places among the queries that count, and their weights."""

    share: float
    places: Counts | slice
    within: Weighting
    left: float


class Weighting(NamedTuple):
    """``counted`` are the places of the queries whose weight is not 0, ``shares`` their weights with mean 1.

    ``shares`` is None where all weigh the same. ``effective`` is how many equally weighted units are worth as much. A
    unit is a query, or a cluster of queries: ``clusters`` has the number of the unit of each query, from 0 to
    ``units`` - 1, and is None where each query is a unit. ``strata`` is empty where the units are one plain sample.
    ``lone`` are the strata, by their place in ``Sampling.shares``, that have too few units.
    """

    counted: Counts | slice
    shares: Floats | None
    effective: float
    clusters: Counts | None = None
    units: int = 0
    strata: tuple[Stratum, ...] = ()
    lone: tuple[int, ...] = ()
    leverage: Floats | None = None
    """How much farther the mean moves without a cluster than it would if all clusters weighed the same."""

    @property
    def worth(self) -> int:
        """The same as a count: one query that outweighs all others is one query. A whole population is enough."""
        return sys.maxsize if self.exact else round(self.effective)

    @property
    def exact(self) -> bool:
        """Whether these queries are the whole population, so that nothing is left to chance."""
        return bool(self.strata) and all(stratum.left == 0 for stratum in self.strata)

    @property
    def degrees(self) -> float:
        """The degrees of freedom of one plain sample: those of as many units of equal weight as these are worth."""
        plain = self.clusters is None and self.shares is None
        return self.units - 1 if plain else self.effective - 1

    def sums(self, rows: Floats) -> Floats:
        """For each row what every unit adds to the mean, times a constant."""
        return summed(rows if self.shares is None else rows * self.shares, self.clusters, self.units)


def weighting(weights: Floats | None, queries: int, sampling: Sampling | None = None) -> Weighting:
    """The weights as they are used; without any, all queries weigh the same."""
    if sampling is None or (sampling.clusters is None and sampling.strata is None and np.all(sampling.left == 1)):
        return _plain(weights, queries)
    if sampling.strata is None or sampling.shares is None:
        found = _plain(weights, queries, sampling.clusters)
        left = float(np.max(sampling.left))
        return found if left == 1 else found._replace(strata=(Stratum(1.0, slice(None), found, left),))
    return _stratified(weights, queries, sampling, sampling.strata, sampling.shares)


def _plain(weights: Floats | None, queries: int, clusters: Counts | None = None) -> Weighting:
    counted: Counts | slice = slice(None) if weights is None else np.flatnonzero(weights > 0)
    left = np.ones(queries) if weights is None else weights[counted]
    codes, units = _numbered(clusters, counted, left.size)
    if not left.size or left.min() == left.max():
        scaled, shares = np.ones(left.size), None
    else:
        scaled = left / left.max()  # so that no square overflows
        shares = scaled * (left.size / math.fsum(scaled.tolist()))
    worth = _totals(scaled, codes, units)
    leverage = None if codes is None else _leverage(worth)
    return Weighting(counted, shares, _effective(worth), codes, units, leverage=leverage)


def _totals(worth: Floats, codes: Counts | None, units: int) -> Floats:
    if codes is None:
        return worth
    found: Floats = np.bincount(codes, worth, units).astype(np.float64, copy=False)
    return found


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
    """How many units of equal weight are worth as much."""
    if not worth.size or np.ptp(worth) <= TIE * worth.max():
        return float(worth.size)
    total = math.fsum(worth.tolist())
    return total * total / math.fsum((worth * worth).tolist())


def _stratified(weights: Floats | None, queries: int, sampling: Sampling, strata: Counts, shares: Floats) -> Weighting:
    """Within a stratum queries count by their weights; the strata count by their shares."""
    counting = shares[strata] > 0
    counted: Counts = np.flatnonzero(counting if weights is None else counting & (weights > 0))
    own = None if weights is None else weights[counted]
    codes, units = _numbered(sampling.clusters, counted, counted.size)
    remaining = np.broadcast_to(np.asarray(sampling.left, dtype=np.float64), shares.shape)
    found, lone, design = [], [], np.zeros(counted.size)
    total = math.fsum(shares.tolist())
    for number in np.flatnonzero(shares > 0).tolist():
        places: Counts = np.flatnonzero(strata[counted] == number)
        inside = None if codes is None else codes[places]
        within = _plain(None if own is None else own[places], places.size, inside)
        if within.units < FEWEST_UNITS and (remaining[number] or not within.units):
            lone.append(number)
        if places.size:
            each = np.ones(places.size) if within.shares is None else within.shares
            design[places] = each * (float(shares[number]) / total * counted.size / places.size)
            found.append(Stratum(float(shares[number]) / total, places, within, float(remaining[number])))
    if len(found) == 1 and found[0].left == 1 and not lone:
        return _plain(weights, queries, sampling.clusters)
    effective = _effective(_totals(design, codes, units))
    return Weighting(counted, design, effective, codes, units, tuple(found), tuple(lone))


def influence(rows: Floats, shares: Floats | None) -> Floats:
    """For each row the values v with mean(v) = Σ w d / Σ w and var(v) / n = n / (n - 1) Σ w² (d - mean)² / (Σ w)²."""
    if shares is None:
        return rows
    mean = means_of(rows * shares)
    found: Floats = mean + shares * (rows - mean)
    return found


def means_of(rows: Floats) -> Floats:
    """The mean of each row as a column; the order of a row does not change it."""
    found: Floats = np.array([math.fsum(row.tolist()) for row in rows])[:, None] / rows.shape[1]
    return found


def summed(rows: Floats, clusters: Counts | None, units: int) -> Floats:
    """The sum of each cluster; what is left of numbers that cancel is 0."""
    if clusters is None:
        return rows
    order = np.argsort(clusters, kind="stable")
    first = np.searchsorted(clusters[order], np.arange(units))
    sorted_rows = rows[:, order]
    found: Floats = np.add.reduceat(sorted_rows, first, axis=1)
    found[np.abs(found) < TIE * np.add.reduceat(np.abs(sorted_rows), first, axis=1)] = 0.0
    return found
