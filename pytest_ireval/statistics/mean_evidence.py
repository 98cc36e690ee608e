"""The evidence of paired differences on their mean: its bounds, a fall, and a fall by less than a margin.

Two one-sided statements, each with its own error: "it is worse" (``p_worse``) and "it did not fall by the margin"
(``p_safe``). Both may be true. If neither is, these queries are not enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.estimate import Counts, Estimate, Weighting, estimated, weighting
from pytest_ireval.statistics.sign_flip import sign_flip
from pytest_ireval.statistics.student import shares_below, t_quantile

FEW_CHANGED = 20
"""Up to this many changed units the exact sign flip must agree, too: a t test needs large numbers."""


class MeanEvidence(NamedTuple):
    """The evidence of differences (above 0 is better) on their mean.

    ``changed`` counts the queries that differ, ``effective`` the number of equally weighted ones of this worth. ``sd``
    is the spread (n - 1), with weights that of their influence; ``low`` and ``high`` are one-sided bounds, NaN below
    two queries. ``p_worse`` is the chance of such a fall if there were none, the largest of the t test's, Hall's and,
    where few queries changed, the exact sign flip's; 1 below five queries or where nothing changed. ``p_safe`` is the
    chance of so small a fall if it were the margin, the larger of the t test's and Hall's; 0 where nothing changed,
    otherwise 1 below five queries or without a margin. Weighted queries count by their effective number.

    A unit is a query, or a cluster of queries that were drawn together. ``units`` counts them, ``moved`` those whose
    sum is not 0, ``degrees`` are the degrees of freedom. ``sd`` is always per query: the spread that queries drawn one
    by one would have with the same standard error.
    """

    queries: int
    changed: int
    effective: float
    mean: float
    sd: float
    standard_error: float
    low: float
    high: float
    p_worse: float
    p_safe: float
    units: int = 0
    moved: int = 0
    degrees: float = 0.0


def mean_evidence(
    differences: Floats,
    margins: Floats | float | None = None,
    *,
    alpha: float = 0.05,
    weights: Floats | None = None,
    clusters: Counts | None = None,
) -> MeanEvidence:
    """The evidence of one comparison; bounds are at ``alpha`` each. ``clusters`` numbers queries drawn together.

    ``margins`` is the allowed fall of the mean: a number, or one for each query, whose mean it then is. The share
    0.02 of each query's baseline value is the margin "2% of the baseline mean", and the noise of that mean counts.
    """
    rows = np.asarray(differences, dtype=np.float64)[None, :]
    return mean_evidences(rows, margins, alpha=alpha, weights=weights, clusters=clusters)[0]


def mean_evidences(
    rows: Floats,
    margins: Floats | float | None = None,
    *,
    alpha: float = 0.05,
    weights: Floats | None = None,
    clusters: Counts | None = None,
) -> list[MeanEvidence]:
    """The evidence of many comparisons of the same queries, a row each; ``margins`` may have a row for each, too."""
    rows = np.where(np.abs(rows) < TIE, 0.0, rows)
    weigh = weighting(weights, rows.shape[1], clusters)
    allowed = None if margins is None else np.broadcast_to(np.asarray(margins, dtype=np.float64), rows.shape)
    counted = rows[:, weigh.counted]
    sample = estimated(counted, weigh)
    changed = np.count_nonzero(counted, axis=1)
    columns = (
        sample.mean,
        sample.sd,
        sample.error,
        *_bounds(sample, alpha),
        _p_worse(counted, changed, sample, weigh),
        _p_safe(counted, changed, None if allowed is None else allowed[:, weigh.counted], weigh),
        np.full(len(rows), sample.units),
        np.count_nonzero(weigh.sums(counted), axis=1),
        np.full(len(rows), float(sample.degrees)),
    )
    figures = zip(*(column.tolist() for column in columns), strict=True)
    return [
        MeanEvidence(sample.queries, many, weigh.effective, *row)
        for many, row in zip(changed.tolist(), figures, strict=True)
    ]


def _bounds(sample: Estimate, alpha: float) -> tuple[Floats, Floats]:
    """The one-sided bounds of each mean."""
    half = sample.error * t_quantile(1 - alpha, sample.degrees) if sample.units > 1 else sample.error
    return sample.mean - half, sample.mean + half


def _p_worse(rows: Floats, changed: Counts, sample: Estimate, weigh: Weighting) -> Floats:
    """For each row the chance of such a fall if there were none."""
    if weigh.worth < FEWEST:
        return np.ones(len(rows))
    found, sums = p_below(sample), weigh.sums(rows)
    for place in np.flatnonzero(np.count_nonzero(sums, axis=1) <= FEW_CHANGED).tolist():
        found[place] = max(found[place], sign_flip(sums[place]).p_lower)
    found[changed == 0] = 1.0
    return found


def _p_safe(rows: Floats, changed: Counts, allowed: Floats | None, weigh: Weighting) -> Floats:
    """For each row the chance of so small a fall if it were the margin."""
    if not rows.shape[1]:
        return np.ones(len(rows))  # without queries there is no evidence that nothing changed
    if allowed is None or weigh.worth < FEWEST:
        return np.where(changed == 0, 0.0, 1.0)
    return np.where(changed == 0, 0.0, p_above(estimated(_shifted(rows, allowed), weigh)))


def _shifted(rows: Floats, by: Floats) -> Floats:
    """``rows + by``, exactly 0 where rounding alone keeps the two from cancelling."""
    found: Floats = rows + by
    size = np.maximum(np.abs(rows), np.abs(by)).max(axis=1, initial=0.0, keepdims=True)
    found[np.abs(found) < TIE * size] = 0.0
    return found


FEWEST = 5
"""Fewer queries show nothing: four agree by chance once in 16 times."""


def p_below(sample: Estimate) -> Floats:
    """For each row the chance of a mean this low or lower if the true one were 0: the larger of both tests' p."""
    return shares_below(np.maximum(sample.t, sample.corrected), sample.degrees)


def p_above(sample: Estimate) -> Floats:
    """For each row the chance of a mean this high or higher if the true one were 0: the larger of both tests' p."""
    return shares_below(-np.minimum(sample.t, sample.corrected), sample.degrees)


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
    """The evidence that the mean moved by less than ``margins``: a number, or the mean of one for each query."""
    row = np.asarray(differences, dtype=np.float64)[None, :]
    row = np.where(np.abs(row) < TIE, 0.0, row)
    weigh = weighting(weights, row.shape[1], clusters)
    allowed = np.broadcast_to(np.asarray(margins, dtype=np.float64), row.shape)[:, weigh.counted]
    row = row[:, weigh.counted]
    changed = np.count_nonzero(row, axis=1)
    if not changed[0] and row.size:
        return Equivalence(0.0, 1.0)
    if weigh.worth < FEWEST:
        return Equivalence(1.0, 1.0)
    above_low = p_above(estimated(_shifted(row, allowed), weigh))
    below_high = p_above(estimated(_shifted(-row, allowed), weigh))
    fell, rose = (_p_worse(side, changed, estimated(side, weigh), weigh) for side in (row, -row))
    return Equivalence(float(np.maximum(above_low, below_high)[0]), float(min(1.0, 2 * min(fell[0], rose[0]))))
