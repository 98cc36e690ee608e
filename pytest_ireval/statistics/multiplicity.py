"""Corrections of the p-values of a family of tests, so that the chance of any false alarm keeps its level."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import Floats


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family; NaN, a test that could not be made, does not belong to it."""
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    factor = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Adjusted p-values that keep the share of false alarms among all alarms; NaN does not belong to the family.

    They show which slices are worth a look; they do not block a change.
    """
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")][::-1]
    factor = order.size / np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted
