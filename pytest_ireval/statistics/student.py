"""Student's t: from SciPy where there are few queries, from a series where there are many.

Importing SciPy takes as long as scoring thousands of queries. From 100 degrees of freedom on, the series of Fisher and
Cornish (Abramowitz and Stegun 1964, 26.7.5) is right to 2e-11, the normal approximation of the noncentral t (26.7.10)
to 6e-6 of its value, and the continued fraction of the incomplete beta function (26.5.8) to 1e-12 of it; tests compare
all with SciPy.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from pytest_ireval.statistics.beta import fraction
from pytest_ireval.statistics.differences import Floats

MANY = 100
"""Degrees of freedom from which on the series are used."""

NORMAL = NormalDist()


def t_quantile(share: float, df: float) -> float:
    """The value that ``share`` of a t distribution lies below."""
    if df < MANY:
        from scipy.special import stdtrit

        return float(stdtrit(df, share))
    z = NORMAL.inv_cdf(share)
    z2 = z * z
    terms = (
        (z2 + 1) * z / 4,
        ((5 * z2 + 16) * z2 + 3) * z / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def t_quantiles(share: float, df: Floats | float) -> Floats | float:
    """The same of several distributions."""
    if isinstance(df, np.ndarray):
        return np.array([t_quantile(share, each) for each in df.tolist()])
    return t_quantile(share, df)


def noncentrality(level: float, power: float, df: float) -> float:
    """How many standard errors a true mean must lie from 0 for a one-sided t test to find it so often."""
    critical = t_quantile(1 - level, df)
    if df < MANY:
        from scipy.special import nctdtrinc

        return float(nctdtrinc(df, 1 - power, critical))
    spread = math.sqrt(1 + critical * critical / (2 * df))
    return critical * (1 - 1 / (4 * df)) - NORMAL.inv_cdf(1 - power) * spread


def shares_below(values: Floats, df: Floats | float) -> Floats:
    """For each value the share of a t distribution that lies below it; small shares are right, however small.

    ``df`` is one number, or one for each value.
    """
    if isinstance(df, np.ndarray):
        pairs = zip(values.tolist(), df.tolist(), strict=True)
        return np.array([float(shares_below(np.array([value]), each)[0]) for value, each in pairs])
    if df < MANY:
        from scipy.special import stdtr

        found: Floats = stdtr(df, values)
        return found
    return np.array([_share_below(value, df) for value in values.tolist()])


def _share_below(t: float, df: float) -> float:
    """Half the incomplete beta function of ``df / (df + t²)``, taken from the end where its fraction converges."""
    a, square = df / 2, t * t / df
    if not math.isfinite(square):
        return math.nan if math.isnan(t) else float(t > 0)
    front = 0.5 * math.exp(_log_gammas(a) - a * math.log1p(square)) / math.sqrt(math.pi)
    front *= math.sqrt(square / (1 + square))
    if square * (a + 1) > 1.5:
        tail = front / a * fraction(1 / (1 + square), a, 0.5)
        return tail if t < 0 else 1 - tail
    middle = front * 2 * fraction(square / (1 + square), 0.5, a)
    return 0.5 + math.copysign(middle, t)


def _log_gammas(a: float) -> float:
    """``log(gamma(a + 1/2) / gamma(a))`` of a large number: subtracting two logarithms would cost digits."""
    return 0.5 * math.log(a) - (1 / 8 - (1 / 192 - (1 / 640 - 17 / 14336 / a**2) / a**2) / a**2) / a
