"""Student's t, the paired t test, and the drops that a number of queries can show.

Written by hand, because importing SciPy takes as long as a small gate and these few functions are all of it that is
needed; tests compare each with SciPy. Quantiles from 100 degrees of freedom on are the series of Fisher and Cornish
(Abramowitz and Stegun 1964, 26.7.5), which is right to 2e-11. Below they are, as all shares are, those of the
incomplete beta function by its continued fraction (26.5.8), right to 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, stdev
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats

MANY = 100
"""Degrees of freedom from which on the series are used."""
FEW = 50
"""Values for which plain Python is faster than arrays."""
LARGE = 50
"""The series of the ratio of gamma functions is exact from here on."""

NORMAL = NormalDist()


@lru_cache(maxsize=1024)
def t_quantile(share: float, df: float) -> float:
    """The value with ``share`` of a t distribution below it."""
    if df < MANY:
        return _exact_quantile(share, df)
    z = NORMAL.inv_cdf(share)
    z2 = z * z
    terms = (
        (z2 + 1) * z / 4,
        ((5 * z2 + 16) * z2 + 3) * z / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def _exact_quantile(share: float, df: float) -> float:
    """The quantile from that of ``df / (df + t²)``, or of its complement: whichever is small."""
    if not 0 < share < 1:
        return math.copysign(math.inf, share - 0.5) if share in (0, 1) else math.nan
    tails = 2 * min(share, 1 - share)
    if tails == 1:
        return 0.0
    if tails < 0.5:
        x = quantile(tails, df / 2, 0.5)
        square = (1 - x) / x
    else:
        x = quantile(1 - tails, 0.5, df / 2)
        square = x / (1 - x)
    return math.copysign(math.sqrt(df * square), share - 0.5)


def shares_below(values: Floats, df: float) -> Floats:
    """For each value the share of a t distribution below it; even the smallest shares are right."""
    if values.size <= FEW:
        return np.array([_share_below(value, df) for value in values.ravel().tolist()]).reshape(values.shape)
    found = np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))
    with np.errstate(over="ignore"):
        square, a = values * values / df, df / 2
    far = np.isfinite(square) & (square * (a + 1) > 1.5)
    near = np.isfinite(square) & ~far
    tail = _front(square[far], a, np) / a * _fraction(1 / (1 + square[far]), a, 0.5)
    found[far] = np.where(values[far] < 0, tail, 1 - tail)
    middle = _front(square[near], a, np) * 2 * _fraction(square[near] / (1 + square[near]), 0.5, a)
    found[near] = 0.5 + np.copysign(middle, values[near])
    return found


def _share_below(t: float, df: float) -> float:
    """Half the incomplete beta function of ``df / (df + t²)``, taken from the end where its fraction converges."""
    a, square = df / 2, t * t / df
    if not math.isfinite(square):
        return math.nan if math.isnan(t) else float(t > 0)
    if square * (a + 1) > 1.5:
        tail = _front(square, a, math) / a * _fraction(1 / (1 + square), a, 0.5)
        return float(tail if t < 0 else 1 - tail)
    return 0.5 + math.copysign(_front(square, a, math) * 2 * _fraction(square / (1 + square), 0.5, a), t)


def _front(square: Any, a: float, library: Any) -> Any:
    found = 0.5 * library.exp(_log_gammas(a) - a * library.log1p(square)) / math.sqrt(math.pi)
    return found * library.sqrt(square / (1 + square))


def _log_gammas(a: float) -> float:
    """``log(gamma(a + 1/2) / gamma(a))``: subtracting two logarithms would cost digits."""
    steps = 1.0
    while a < LARGE:
        steps, a = steps * a / (a + 0.5), a + 1
    series = (1 / 8 - (1 / 192 - (1 / 640 - 17 / 14336 / a**2) / a**2) / a**2) / a
    return math.log(steps) + 0.5 * math.log(a) - series


def _fraction(x: Any, a: float, b: float) -> Any:
    """The continued fraction of the incomplete beta function, by Lentz; ``x`` is below ``(a + 1) / (a + b + 2)``.

    ``x`` is a number or an array.
    """
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value = value * c * d
        off = abs(c * d - 1)
        if off < 1e-15 if isinstance(off, float) else not (off >= 1e-15).any():
            break
    return value


def share_below(x: float, a: float, b: float) -> float:
    """The share of the beta distribution below ``x``, which is neither 0 nor 1."""
    if x * (a + b + 2) < a + 1:
        return float(math.exp(_log_front(x, a, b)) / a * _fraction(x, a, b))
    return float(1.0 - math.exp(_log_front(x, a, b)) / b * _fraction(1 - x, b, a))


def quantile(share: float, a: float, b: float) -> float:
    """The value with ``share`` of the beta distribution below it."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        left = share_below(x, a, b) - share
        low, high = (low, x) if left > 0 else (x, high)
        front = math.exp(_log_front(x, a, b))
        newton = x - left * x * (1 - x) / front if front > 1e-250 else low  # too far out for a tangent
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - x) <= 1e-14 * x:
            break
        x = following
    return x


def _log_front(x: float, a: float, b: float) -> float:
    """The logarithm of ``x^a (1 - x)^b / B(a, b)``."""
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)


class Limits(NamedTuple):
    """The lower and the upper limit."""

    low: float
    high: float


def share_limits(count: int, of: int, level: float = 0.95) -> Limits:
    """The interval of Clopper and Pearson, which contains the true share in at least ``level`` of cases."""
    if not 0 <= count <= of or not of:
        raise ValueError(f"{count} of {of} is not a share")
    tail = (1 - level) / 2
    low = quantile(tail, count, of - count + 1) if count else 0.0
    high = quantile(1 - tail, count + 1, of - count) if count < of else 1.0
    return Limits(low, high)


class PairedT(NamedTuple):
    """The t tests of some comparisons; all arrays have one entry a comparison, NaN where nothing is defined.

    ``sd`` is the standard deviation of the differences (n - 1), ``low`` and ``high`` bound the two-sided interval.
    ``p_lower`` is the chance of a mean this low or lower if there were no difference, ``p_higher`` of one this high or
    higher, ``p`` of one this far from 0 on either side.
    """

    queries: int
    df: int
    mean: Floats
    sd: Floats
    standard_error: Floats
    t: Floats
    p: Floats
    p_lower: Floats
    p_higher: Floats
    low: Floats
    high: Floats


def paired_t(differences: Floats, alpha: float = 0.05) -> PairedT:
    """The test for each column of ``differences`` (a row a query), with intervals of level ``1 - alpha``.

    Where no query differs, t is 0 and p is 1. Where all differ by the same amount the spread is 0: t is infinite, p is
    0 and the interval is that amount, which is the formula's limit and no evidence of its own. A single query has no
    spread: everything but its difference is NaN.
    """
    queries = differences.shape[0]
    mean, sd, scale = _mean_and_sd(differences)
    error = sd / np.sqrt(max(queries, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, error * 0, mean / error)
    df = queries - 1
    half = error * t_quantile(1 - alpha / 2, df) if df > 0 else error
    lower, higher = (shares_below(t, df), shares_below(-t, df)) if df > 0 else (t, t)
    p = np.minimum(2 * np.minimum(lower, higher), 1.0)
    with np.errstate(over="ignore"):  # what is no number is infinite
        mean, sd, error, low, high = (each * scale for each in (mean, sd, error, mean - half, mean + half))
    return PairedT(queries, df, mean, sd, error, t, p, lower, higher, low, high)


def _mean_and_sd(differences: Floats) -> tuple[Floats, Floats, Floats]:
    """Both of each column as multiples of its largest difference, so that no square overflows or vanishes; and that."""
    queries, comparisons = differences.shape
    undefined = np.full(comparisons, np.nan)
    if not queries:
        return undefined, undefined, undefined
    largest = np.abs(differences).max(axis=0)
    scale = np.where(largest > 0, largest, 1.0)
    scaled = differences / scale
    mean = scaled.mean(axis=0)
    if queries == 1:
        return mean, undefined, scale
    return mean, np.where(np.ptp(scaled, axis=0) < TIE, 0.0, scaled.std(axis=0, ddof=1)), scale


POWER = 0.80
LEVEL = 0.05
"""How often chance may turn a harmless change red; a lower and an upper bound at it are the 90% interval."""

MOST = 1e15
"""No test collection has more queries."""


def noncentrality(level: float, power: float, df: float) -> float:
    """The distance of a true mean from 0, in standard errors, at which a one-sided t test has about this power.

    It is the normal approximation of the noncentral t distribution (26.7.10): within 0.1% from 10 queries on, and near
    2.49 for many. Of fewer queries the normal distribution itself (2.49 for any number) would promise too much.
    """
    critical = t_quantile(1 - level, df)
    spread = math.sqrt(1 + critical * critical / (2 * df))
    return critical * (1 - 1 / (4 * df)) + NORMAL.inv_cdf(power) * spread


def resolution(sd: float, queries: int, level: float = LEVEL) -> float | None:
    """The smallest true drop of the mean that a one-sided t test shows in 80% of cases; None without spread.

    ``sd`` is the standard deviation of the differences, ``level`` that of the test.
    """
    if queries < 2 or not math.isfinite(sd):
        return None
    return noncentrality(level, POWER, queries - 1) * sd / math.sqrt(queries)


def false_alarm(tolerance: float, sd: float, queries: int) -> float | None:
    """The share of harmless changes of this spread whose mean falls by more than ``tolerance``; None without spread."""
    if queries < 2 or not math.isfinite(sd):
        return None
    error = sd / math.sqrt(queries)
    if error == 0:
        return 0.0
    return 0.5 * math.erfc(tolerance / error / math.sqrt(2))


def queries_needed(sd: float, drop: float, level: float = LEVEL) -> int | None:
    """The least number of queries of this spread with a resolution of ``drop`` or less; None if there is none."""
    if not (math.isfinite(sd) and drop > 0):
        return None
    errors = (NORMAL.inv_cdf(1 - level) + NORMAL.inv_cdf(POWER)) * sd / drop
    too_few = errors * errors  # of any number, by a few: t is wider than the normal distribution
    if too_few > MOST:
        return None
    needed = max(2, math.ceil(too_few))
    while (resolution(sd, needed, level) or 0.0) > drop:
        needed += 1
    return needed


LIKENESS = 0.95
"""The correlation of the values of two versions after a small change, assumed before the second is known."""


def likely_spread(values: Sequence[float]) -> float | None:
    """The likely standard deviation of the differences of two versions, from the values of one.

    None if there are fewer than two values, or all are alike.
    """
    if len(values) < 2:
        return None
    return stdev(values) * math.sqrt(2 * (1 - LIKENESS)) or None
