"""The mean of rows with its standard error, its skew and its degrees of freedom, however the queries were drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.weighting import Weighting, influence, means_of, summed


class Estimate(NamedTuple):
    """The mean of rows and what is known of its error; an array has an entry for each row.

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
        return influence(rows, weigh.shares)
    weighted = rows if weigh.shares is None else rows * weigh.shares
    mean = means_of(weighted)
    deviations = weighted - mean if weigh.shares is None else weighted - mean * weigh.shares
    found: Floats = summed(deviations, weigh.clusters, weigh.units) * (weigh.units / rows.shape[1])
    if weigh.leverage is not None:
        found = found * weigh.leverage
        found = found - means_of(found)
    return mean + found


def estimated(rows: Floats, weigh: Weighting) -> Estimate:
    """The mean of each row under such weights; ``rows`` has the queries that count."""
    if weigh.strata:
        return _combined(rows, weigh)
    sample = moments(_of_units(rows, weigh))
    error = sample.sd / math.sqrt(max(sample.size, 1))
    sd = sample.sd if weigh.clusters is None else error * math.sqrt(rows.shape[1])
    corrected = _hall_t(sample.t, sample.skew, sample.size) if sample.size > 1 else sample.t
    return Estimate(
        rows.shape[1],
        sample.size,
        sample.mean,
        sd,
        error,
        sample.skew,
        sample.t,
        corrected,
        weigh.degrees,
    )


class _Part(NamedTuple):
    """What one stratum adds: to the mean, to its variance with (n - 1) and with (n), to its third cumulant."""

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
    """Of several strata, or of a finite population, which is one stratum of which only a part was drawn."""
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
    """Of rows of equal length; an array has an entry for each row, NaN where so few numbers have none.

    ``sd`` is that of a sample (n - 1). ``t`` is the mean in standard errors, 0 where the mean is 0. ``skew`` is the
    third moment of the standardised numbers (n), 0 where all are the same.
    """

    size: int
    mean: Floats
    sd: Floats
    skew: Floats
    t: Floats


def moments(rows: Floats) -> _Moments:
    """What is known of each row."""
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
    """Of deviations that are at most about 1; where rounding alone is left of them, both are 0."""
    size = deviations.shape[1]
    squares = deviations * deviations
    second = squares.sum(axis=1)
    second[np.ptp(deviations, axis=1) < TIE] = 0.0
    third = (squares * deviations).sum(axis=1) / size
    sigma = np.sqrt(second / size)
    skew = np.divide(third, sigma**3, out=np.zeros_like(third), where=sigma > 0)
    return np.sqrt(second / (size - 1)), skew
