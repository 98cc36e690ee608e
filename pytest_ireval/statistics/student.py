"""Student's t and the beta distribution: the share below a value, and the value with a share below it.

Written by hand, because importing SciPy takes as long as a small gate. Tests compare both with SciPy over a grid.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

NORMAL = NormalDist()
MANY = 100
"""From so many degrees of freedom on a series gives quantiles of t within 2e-11."""


def t_share_below(t: float, df: float) -> float:
    """The share of a t distribution below ``t``; small shares have all their digits, too."""
    if math.isnan(t):
        return math.nan
    square = t * t / df
    if math.isinf(square):
        return float(t > 0)
    tail = 0.5 * _beta_share(1 / (1 + square), square / (1 + square), df / 2, 0.5)
    return tail if t < 0 else 1 - tail


@lru_cache(maxsize=1024)
def t_quantile(share: float, df: float) -> float:
    """The value with ``share`` of a t distribution below it, for shares between 0 and 1."""
    if df >= MANY:
        return _quantile_by_series(NORMAL.inv_cdf(share), df)
    tails = 2 * min(share, 1 - share)
    if tails == 1:
        return 0.0
    if tails < 0.5:
        x = beta_quantile(tails, df / 2, 0.5)
        square = (1 - x) / x
    else:  # there x is near 1, and 1 - x would lose digits
        x = beta_quantile(1 - tails, 0.5, df / 2)
        square = x / (1 - x)
    return math.copysign(math.sqrt(df * square), share - 0.5)


def _quantile_by_series(z: float, df: float) -> float:
    """Fisher and Cornish's series (Abramowitz and Stegun 1964, 26.7.5), from the quantile of a normal distribution."""
    z2 = z * z
    terms = (
        (z2 + 1) * z / 4,
        ((5 * z2 + 16) * z2 + 3) * z / 96,
        (((3 * z2 + 19) * z2 + 17) * z2 - 15) * z / 384,
        ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) * z / 92160,
    )
    return z + math.fsum(term / df**power for power, term in enumerate(terms, 1))


def beta_quantile(share: float, a: float, b: float) -> float:
    """The value with ``share`` of a beta distribution below it: Newton's method, kept between two bounds."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(200):
        left = _beta_share(x, 1 - x, a, b) - share
        low, high = (low, x) if left > 0 else (x, high)
        front = _beta_front(x, 1 - x, a, b)
        newton = x - left * x * (1 - x) / front if front > 1e-250 else low  # too far out for a tangent
        following = newton if low < newton < high else (low + high) / 2
        if abs(following - x) <= 1e-14 * x:
            break
        x = following
    return x


def _beta_share(x: float, rest: float, a: float, b: float) -> float:
    """The share of a beta distribution below ``x``, where ``rest`` is 1 - x (26.5.8: the end where it converges)."""
    if not x or not rest:
        return float(not rest)
    if x * (a + b + 2) < a + 1:
        return _beta_front(x, rest, a, b) / a * _continued_fraction(x, a, b)
    return 1.0 - _beta_front(x, rest, a, b) / b * _continued_fraction(rest, b, a)


def _beta_front(x: float, rest: float, a: float, b: float) -> float:
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(logarithm)


def _continued_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz."""
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
