"""The mean of rows with its standard error, its skew and its degrees of freedom, for every kind of sample."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import TIE, Floats


class Estimate(NamedTuple):
    """The mean of rows and its error; an array has an entry for each row.

    ``sd`` is the spread that single queries would have if they were drawn one by one from an endless population and
    had the same standard error. ``left`` is the share of the variance that a finite population leaves. ``corrected``
    is ``t`` after Hall's correction.
    """

    queries: int
    units: int
    mean: Floats
    sd: Floats
    error: Floats
    skew: Floats
    t: Floats
    corrected: Floats
    degrees: Floats | float
    left: Floats | float = 1.0
    exact: bool = False


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


def estimated(rows: Floats, weigh: Weighting) -> Estimate:
    """The mean of each row under such weights; ``rows`` has the queries that count."""
    if weigh.strata:
        return _combined(rows, weigh)
    sample = moments(_of_units(rows, weigh))
    error = sample.sd / math.sqrt(max(sample.size, 1))
    sd = sample.sd if weigh.clusters is None else error * math.sqrt(rows.shape[1])
    corrected = _hall_t(sample.t, sample.skew, sample.size) if sample.size > 1 else sample.t
    return Estimate(rows.shape[1], sample.size, sample.mean, sd, error, sample.skew, sample.t, corrected, weigh.degrees)


class _Part(NamedTuple):
    """The parts of one stratum: of the mean, of its variance with (n - 1) and with (n), of its third cumulant."""

    mean: Floats
    variance: Floats
    biased: Floats
    third: Floats
    left: float
    degrees: float


def _parts(rows: Floats, weigh: Weighting, scale: Floats, samples: list[_Moments]) -> Iterator[_Part]:
    for stratum, sample in zip(weigh.strata, samples, strict=True):
        size = max(sample.size, 1)
        known = stratum.left == 0  # there is nothing to estimate
        spread = np.zeros(len(rows)) if known else stratum.share * sample.sd / scale
        skew = np.zeros(len(rows)) if known else sample.skew
        sigma = spread * math.sqrt((size - 1) / size)
        yield _Part(
            stratum.share * sample.mean,
            spread**2 / size,
            sigma**2 / size,
            skew * sigma**3 / size**2,
            stratum.left,
            max(stratum.within.degrees, 1.0),
        )


def _combined(rows: Floats, weigh: Weighting) -> Estimate:
    """The estimate of several strata, or of a finite population, which is one stratum drawn in part."""
    samples = [moments(_of_units(rows[:, each.places], each.within)) for each in weigh.strata]
    spreads = np.array(
        [each.share * np.nan_to_num(found.sd) for each, found in zip(weigh.strata, samples, strict=True)]
    )
    scale = np.where(spreads.max(axis=0) > 0, spreads.max(axis=0), 1.0)
    parts = list(_parts(rows, weigh, scale, samples))
    mean = np.array([math.fsum(each) for each in np.array([part.mean for part in parts]).T.tolist()])
    mean[np.abs(mean) < TIE * np.abs(rows).max(axis=1, initial=0.0)] = 0.0
    endless = sum((part.variance for part in parts), np.zeros(len(rows)))
    variance = sum((part.left * part.variance for part in parts), np.zeros(len(rows)))
    squares = sum(((part.left * part.variance) ** 2 / part.degrees for part in parts), np.zeros(len(rows)))
    many = float(max(1, weigh.units - len(parts)))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / (np.sqrt(variance) * scale))
        degrees = np.where(squares > 0, variance**2 / squares, many)  # Satterthwaite
        left = np.where(endless > 0, variance / endless, min(part.left for part in parts))
    corrected, skew = _corrected(mean / scale, t, parts, weigh.units)
    if len(parts) == 1:
        degrees = np.full(len(rows), parts[0].degrees)
    return Estimate(
        rows.shape[1],
        weigh.units,
        mean,
        np.sqrt(endless * rows.shape[1]) * scale,
        np.sqrt(variance) * scale,
        skew,
        t,
        corrected,
        degrees,
        left,
        weigh.exact,
    )


def _corrected(mean: Floats, t: Floats, parts: list[_Part], units: int) -> tuple[Floats, Floats]:
    """Hall's correction where a share of the population was drawn, and the skewness of the mean as that of one unit.

    Of a finite population both the skewness of the mean and its covariance with the estimated variance shrink, by
    different factors; where nothing shrinks and there is one stratum this is the plain correction.
    """
    variance = sum((part.left * part.biased for part in parts), np.zeros(mean.size))
    cumulant = sum((part.left * (2 * part.left - 1) * part.third for part in parts), np.zeros(mean.size))
    together = sum((part.left**2 * part.third for part in parts), np.zeros(mean.size))
    unit = np.where(variance > 0, variance, 1.0) ** 1.5
    own = np.where(variance > 0, mean / np.sqrt(np.where(variance > 0, variance, 1.0)), 0.0)
    bend, shift = (3 * together - cumulant) / unit / 6, cumulant / unit / 6
    turned = own + bend * own**2 + bend**2 * own**3 / 3 + shift
    endless = sum((part.biased for part in parts), np.zeros(mean.size))
    third = sum((part.third for part in parts), np.zeros(mean.size))
    skew = np.divide(third * math.sqrt(units), endless**1.5, out=np.zeros(mean.size), where=endless > 0)
    return np.where(np.isfinite(t) & (variance > 0), turned, t), skew


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


def moments(rows: Floats) -> _Moments:
    """The moments of each row."""
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


Counts = NDArray[np.int64]
FEWEST_UNITS = 2
"""One unit alone shows no spread."""


class Sampling(NamedTuple):
    """The way in which queries were drawn. Each array of queries has an entry for every query.

    Queries with the same number in ``clusters`` were drawn together, as variants of one intent. ``strata`` are places
    in ``shares``, the share of the population that each stratum is known to have. ``left`` is the share of the
    population that was not drawn: one number, or one for each stratum; 0 if these queries are the whole population.
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

    ``shares`` is None where all weigh the same. ``effective`` is the number of equally weighted units of this worth. A
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
    """By cluster: the move of the mean without it, divided by that move if all clusters weighed the same."""

    @property
    def worth(self) -> int:
        """The effective number as a count: 1 if one query outweighs all others. A whole population is enough."""
        return sys.maxsize if self.exact else round(self.effective)

    @property
    def exact(self) -> bool:
        """True if these queries are the whole population, so that nothing depends on chance."""
        return bool(self.strata) and all(stratum.left == 0 for stratum in self.strata)

    @property
    def degrees(self) -> float:
        """The degrees of freedom of one plain sample, by the effective number of its units."""
        plain = self.clusters is None and self.shares is None
        return self.units - 1 if plain else self.effective - 1

    def sums(self, rows: Floats) -> Floats:
        """For each row the part of every unit in the mean, times a constant."""
        return summed(rows if self.shares is None else rows * self.shares, self.clusters, self.units)


def weighting(weights: Floats | None, queries: int, sampling: Sampling | None = None) -> Weighting:
    """The weighting of a comparison; without weights all queries weigh the same."""
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
    return np.bincount(codes, worth, units).astype(np.float64, copy=False)


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
