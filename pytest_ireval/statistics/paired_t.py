"""The paired t test: whether a mean difference can be chance, for many comparisons at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats


class PairedT(NamedTuple):
    """What the t test says of each comparison; all arrays have one entry a comparison, NaN where nothing is defined.

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
    from scipy.special import stdtr, stdtrit

    queries = differences.shape[0]
    mean, sd, scale = _mean_and_sd(differences)
    error = sd / np.sqrt(max(queries, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, error * 0, mean / error)
    df = queries - 1
    half = error * stdtrit(df, 1 - alpha / 2) if df > 0 else error
    lower, higher = (stdtr(df, t), stdtr(df, -t)) if df > 0 else (t, t)
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
