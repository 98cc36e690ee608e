"""Quantiles of Student's t: from SciPy where there are few queries, from a series where there are many.

Importing SciPy takes as long as scoring thousands of queries. From 100 degrees of freedom on, the series of Fisher and
Cornish (Abramowitz and Stegun 1964, 26.7.5) is right to 2e-11, and the normal approximation of the noncentral t
(26.7.10) to 6e-6 of its value; tests compare both with SciPy.
"""

from __future__ import annotations

import math
from statistics import NormalDist

MANY = 100
"""Degrees of freedom from which on the series are used."""

NORMAL = NormalDist()


def t_quantile(share: float, df: int) -> float:
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


def noncentrality(level: float, power: float, df: int) -> float:
    """How many standard errors a true mean must lie from 0 for a one-sided t test to find it so often."""
    critical = t_quantile(1 - level, df)
    if df < MANY:
        from scipy.special import nctdtrinc

        return float(nctdtrinc(df, 1 - power, critical))
    spread = math.sqrt(1 + critical * critical / (2 * df))
    return critical * (1 - 1 / (4 * df)) - NORMAL.inv_cdf(1 - power) * spread
