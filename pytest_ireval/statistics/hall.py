"""Hall's correction: what the t of a skewed sample would be without its skew, to be looked up in Student's table.

P. Hall 1992, On the removal of skewness by transformation, Journal of the Royal Statistical Society B 54(1): 221-228.
"""

from __future__ import annotations

import math

import numpy as np

from pytest_ireval.statistics.differences import Floats


def hall_t(t: Floats, skew: Floats, size: int) -> Floats:
    """The corrected ``t`` of samples of ``size`` numbers; it grows with ``t``, and without skew it is nearly ``t``.

    With the biased spread of Hall's paper: T + g T² / 3√n + g² T³ / 27n + g / 6√n.
    """
    root = math.sqrt(size)
    own = np.where(np.isfinite(t), t, 0.0) * math.sqrt(size / (size - 1))
    bend = skew * own / (3 * root)
    corrected: Floats = own * (1 + bend + bend * bend / 3) + skew / (6 * root)
    return np.where(np.isfinite(t), corrected, t)
