"""The evidence of paired differences on their mean: its bounds, a fall, and a change by less than a margin.

The t test and Hall's test, which heeds skewed differences, must agree: the larger p counts. Where few queries changed,
the exact sign flip must agree that the mean fell, too.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.estimate import Counts, Estimate, Weighting, estimate_mean, weighting
from pytest_ireval.statistics.sign_flip import sign_flip
from pytest_ireval.statistics.student import t_quantile, t_share_below

FEW_CHANGED = 20
"""Up to this many changed units the exact sign flip must agree, too: a t test needs large numbers."""
FEWEST = 5
"""Fewer queries show nothing: four agree by chance once in 16 times."""


class MeanEvidence(NamedTuple):
    """The evidence of differences (above 0 is better) on their mean.

    ``changed`` counts the queries that differ, ``moved`` the units whose sum is not 0: a unit is a query, or a cluster
    of queries that were drawn together. ``effective`` is the number of equally weighted units of this worth. ``sd`` is
    the spread (n - 1), with weights that of their influence, and always per query: the spread that queries drawn one by
    one would have with the same standard error. ``low`` and ``high`` are one-sided bounds, NaN below two units.
    ``p_worse`` is the chance of such a fall if there were none, the largest of the tests; 1 below five units or where
    nothing changed. Weighted queries count by their effective number.
    """

    queries: int
    changed: int
    moved: int
    effective: float
    mean: float
    sd: float
    standard_error: float
    low: float
    high: float
    p_worse: float


def mean_evidence(
    differences: Floats, *, alpha: float = 0.05, weights: Floats | None = None, clusters: Counts | None = None
) -> MeanEvidence:
    """The evidence of one comparison; bounds are at ``alpha`` each. ``clusters`` numbers queries drawn together."""
    counted, weigh = _select_counted(differences, weights, clusters)
    sample = estimate_mean(counted, weigh)
    half = sample.error * t_quantile(1 - alpha, sample.degrees) if weigh.effective_size > 1 else math.nan
    return MeanEvidence(
        queries=counted.size,
        changed=int(np.count_nonzero(counted)),
        moved=int(np.count_nonzero(weigh.sums(counted))),
        effective=weigh.effective,
        mean=sample.mean,
        sd=sample.sd,
        standard_error=sample.error,
        low=sample.mean - half,
        high=sample.mean + half,
        p_worse=_compute_p_worse(counted, weigh, sample),
    )


class PairedT(NamedTuple):
    """The t test of one comparison; NaN where there are too few queries.

    ``sd`` is the standard deviation of the differences (n - 1), ``low`` and ``high`` bound the two-sided interval.
    """

    df: int
    mean: float
    sd: float
    standard_error: float
    t: float
    p: float
    low: float
    high: float


Alternative = Literal["two-sided", "greater", "less"]
"""What is tested of the mean of differences, as in SciPy: that it is not 0, greater than 0, or less than 0."""


def paired_t(differences: Floats, alpha: float = 0.05, alternative: Alternative = "two-sided") -> PairedT:
    """The test, with an interval of level ``1 - alpha``.

    Where no query differs, t is 0 and the two-sided p is 1. Where all differ by the same amount the spread is 0: t is
    infinite, p is 0 (of the other side 1) and the interval is that amount, which is the formula's limit and no evidence
    of its own.
    """
    sample = estimate_mean(differences, weighting(None, differences.size))
    df = differences.size - 1
    if df < 1:
        return PairedT(df, sample.mean, *[np.nan] * 6)
    half = sample.error * t_quantile(1 - alpha / 2, df)
    tail = {"two-sided": -abs(sample.t), "greater": -sample.t, "less": sample.t}[alternative]
    p = t_share_below(tail, df) * (2 if alternative == "two-sided" else 1)
    low, high = sample.mean - half, sample.mean + half
    return PairedT(df, sample.mean, sample.sd, sample.error, sample.t, p, low, high)


class Equivalence(NamedTuple):
    """``p`` is the chance to see so little if the mean had moved by the margin, the larger of both directions.

    It is 0 where nothing changed, otherwise 1 below five queries. ``p_moved`` is the two-sided chance of so much if the
    mean had not moved at all; 1 below five queries or where nothing changed.
    """

    p: float
    p_moved: float


def equivalence(
    differences: Floats, margins: Floats | float, *, weights: Floats | None = None, clusters: Counts | None = None
) -> Equivalence:
    """The evidence that the mean moved by less than ``margins``: a number, or the mean of one for each query.

    The share 0.02 of each query's baseline value is the margin "2% of the baseline mean", and the noise of that mean
    counts.
    """
    values, weigh = _select_counted(differences, weights, clusters)
    allowed = np.broadcast_to(np.asarray(margins, dtype=np.float64), differences.shape)[weigh.counted]
    fell, rose = (_compute_p_within(gains, allowed, weigh) for gains in (values, -values))
    p_moved = 2 * min(_compute_p_worse(gains, weigh, estimate_mean(gains, weigh)) for gains in (values, -values))
    return Equivalence(max(fell, rose), min(1.0, p_moved))


def p_of_fall_within(differences: Floats, margins: Floats | float, weights: Floats | None = None) -> float:
    """The chance of so small a fall of the mean if it were the margin."""
    values, weigh = _select_counted(differences, weights, None)
    allowed = np.broadcast_to(np.asarray(margins, dtype=np.float64), differences.shape)[weigh.counted]
    return _compute_p_within(values, allowed, weigh)


def _select_counted(differences: Floats, weights: Floats | None, clusters: Counts | None) -> tuple[Floats, Weighting]:
    """The differences of the queries with a weight, and how they are weighed."""
    values = np.asarray(differences, dtype=np.float64)
    weigh = weighting(weights, values.size, clusters)
    return np.where(np.abs(values) < TIE, 0.0, values)[weigh.counted], weigh


def _compute_p_worse(values: Floats, weigh: Weighting, sample: Estimate) -> float:
    """The chance of such a fall if there were none; ``sample`` is the estimate of these values."""
    if weigh.effective_size < FEWEST or not values.any():
        return 1.0
    p = p_below(sample)
    sums = weigh.sums(values)
    if np.count_nonzero(sums) <= FEW_CHANGED:
        p = max(p, sign_flip(sums).p_lower)
    return p


def _compute_p_within(values: Floats, allowed: Floats, weigh: Weighting) -> float:
    """The chance of so small a fall if it were the mean of ``allowed``."""
    if values.size and not values.any():
        return 0.0
    if weigh.effective_size < FEWEST:  # without queries there is no evidence that nothing changed
        return 1.0
    kept: Floats = values + allowed
    # Exactly 0 where rounding alone keeps the two from cancelling.
    kept[np.abs(kept) < TIE * np.maximum(np.abs(values), np.abs(allowed)).max()] = 0.0
    return p_above(estimate_mean(kept, weigh))


def p_below(sample: Estimate) -> float:
    """The chance of a mean this low or lower if the true one were 0: the larger of both tests' p."""
    return t_share_below(max(sample.t, sample.corrected), sample.degrees)


def p_above(sample: Estimate) -> float:
    """The chance of a mean this high or higher if the true one were 0: the larger of both tests' p."""
    return t_share_below(-min(sample.t, sample.corrected), sample.degrees)
