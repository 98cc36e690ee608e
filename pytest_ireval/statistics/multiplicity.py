"""Corrections for testing many things at once: p-values that keep the chance of any false alarm at its level."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import Floats


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family; NaN, a test that could not be made, is none of the family."""
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    factor = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted
