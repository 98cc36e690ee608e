"""Corrections of the p-values of a family of tests, so that the chance of any false alarm keeps its level."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import Floats


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values of one family; NaN, a test that could not be made, does not belong to it.

    S. Holm 1979, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6(2):
    65-70.
    """
    adjusted = np.full(p.shape, np.nan)
    made = np.flatnonzero(~np.isnan(p))
    order = made[np.argsort(p[made], kind="stable")]
    factor = np.arange(order.size, 0, -1)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factor * p[order]))
    return adjusted


def holm_factors(p: Floats) -> Floats:
    """What Holm's method multiplies each p of one family by.

    A p of 0, or one that ends at 1, does not tell its factor. It gets the largest one, the number of tests.
    """
    adjusted = holm(p)
    plain = (p > 0) & (adjusted < 1)
    return np.where(plain, adjusted / np.where(plain, p, 1.0), p.size)


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
