"""The beta distribution: shares by a continued fraction (Abramowitz and Stegun 1964, 26.5.8), quantiles by Newton.

Importing SciPy for them would take longer than all evidence of a suite; tests compare with it.
"""

from __future__ import annotations

import math


def fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz; ``x`` is below ``(a + 1) / (a + b + 2)``."""
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, value = 1.0, d
    for m in range(1, 10_000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


def share_below(x: float, a: float, b: float) -> float:
    """The share of the distribution that lies below ``x``, which is neither 0 nor 1."""
    if x * (a + b + 2) < a + 1:
        return math.exp(_log_front(x, a, b)) / a * fraction(x, a, b)
    return 1.0 - math.exp(_log_front(x, a, b)) / b * fraction(1 - x, b, a)


def quantile(share: float, a: float, b: float) -> float:
    """The value that ``share`` of the distribution lies below."""
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
