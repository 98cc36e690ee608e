"""Metrics that take the blended ratio where one reader stops: OMeasure, PMeasure, PPlus, and RMeasure at rank R."""

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, condensed, metric, ratio
from pytest_ireval_metrics.blended_ratio import (
    Beta,
    best_of_relevant,
    best_so_far,
    blended_range,
    blended_ratio,
    relevant_hits,
)
from pytest_ireval_metrics.gains import by_relevant_gain, gain_of
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Depth, Gains, JudgedOnly, Rel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@metric(
    name="OMeasure",
    tie_order=by_relevant_gain,
    steps=steps_in("blended_ratio", "o_measure_steps"),
    range=blended_range,
    spellings={"O_measure": {}},
)
def o_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Beta = 1,
    rel: Rel = 1,
    gains: Gains = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """The blended ratio at the first relevant document, for readers who want one document: RR that looks at grades.

    Formula: O = (beta cg(r) + 1) / (beta cg*(r) + r) at the rank r of the first relevant document
    Reference: T. Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ 2007.
    Example: OMeasure of 0 1 3 = (1 + 1) / (4 + 2) = 0.3333
    """
    judged = condensed(judged) if judged_only else judged
    first = relevant_hits(judged, rel, cutoff) & (judged.relevant_so_far(rel) == 1)
    return judged.sum(blended_ratio(judged, rel, beta, gains), first)


@metric(
    name="PMeasure",
    not_promised={"promotion_never_harms": "what the best document passes stands behind it, where nobody looks"},
    steps=steps_in("blended_ratio", "p_measure_steps"),
    range=blended_range,
    spellings={"P_measure": {}},
)
def p_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Beta = 1,
    rel: Rel = 1,
    gains: Gains = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """The blended ratio at the preferred rank, the first of the best grade retrieved, for readers who want the best.

    Formula: P = (beta cg(r) + count(r)) / (beta cg*(r) + r) at the rank r of the first of the best documents retrieved
    Reference: T. Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ 2007.
    Example: PMeasure of 1 3 0 3 = (4 + 2) / (6 + 2) = 0.75
    """
    judged = condensed(judged) if judged_only else judged
    stop = _preferred_rank(judged, relevant_hits(judged, rel, cutoff))
    return judged.sum(blended_ratio(judged, rel, beta, gains), judged.hits.rank == stop[judged.hits.query])


@metric(
    name="PPlus",
    not_promised={"promotion_never_harms": "what the best document passes stands behind it, where nobody looks"},
    steps=steps_in("blended_ratio", "p_plus_steps"),
    range=blended_range,
    spellings={"P_plus": {}, "PPlusMeasure": {}},
)
def p_plus(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Beta = 1,
    rel: Rel = 1,
    gains: Gains = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """The blended ratio averaged over the relevant documents down to the preferred rank.

    Formula: P+ = (1/count(p)) sum over relevant d at rank r <= p of (beta cg(r) + count(r)) / (beta cg*(r) + r),
        where p is the rank of the first of the best documents retrieved
    Reference: T. Sakai, Bootstrap-based comparisons of IR metrics for finding one relevant document, AIRS 2006.
    Example: PPlus of 1 3 0 3 = ((1 + 1) / (3 + 1) + (4 + 2) / (6 + 2)) / 2 = 0.625
    """
    judged = condensed(judged) if judged_only else judged
    counts = relevant_hits(judged, rel, cutoff)
    counts = counts & (judged.hits.rank <= _preferred_rank(judged, counts)[judged.hits.query])
    return ratio(judged.sum(blended_ratio(judged, rel, beta, gains), counts), judged.sum(counts))


def _preferred_rank(judged: JudgedRankings, among: Mask) -> Integers:
    """Per query, the first rank of the best grade among these hits; 0 if there are none."""
    query, grade, rank = judged.hits.query[among], judged.hits.grade[among], judged.hits.rank[among]
    order = np.lexsort((rank, -grade, query))
    first = np.r_[True, query[1:] != query[:-1]][: query.size]  # sorted by query before and after
    preferred = np.zeros(judged.count, np.int64)
    preferred[query[first]] = rank[order][first]
    return preferred


@metric(
    name="RMeasure",
    tie_order=by_relevant_gain,
    steps=steps_in("blended_ratio", "r_measure_steps"),
    range=blended_range,
    spellings={"R_measure": {}},
)
def r_measure(
    judged: JudgedRankings, *, beta: Beta = 1, rel: Rel = 1, gains: Gains = None, judged_only: JudgedOnly = False
) -> Floats:
    """The blended ratio at rank R: Rprec that looks at grades.

    Formula: R-measure = (beta cg(R) + count(R)) / (beta cg*(R) + R)
    Reference: T. Sakai, New performance metrics based on multigrade relevance, NTCIR-4, 2004.
    Example: RMeasure of 0 3 1 | 1 = (3 + 1 + 2) / (5 + 3) = 0.75
    """
    judged = condensed(judged) if judged_only else judged
    count, query = judged.relevant_count(rel), np.arange(judged.count)
    counts = judged.relevant(rel) & (judged.hits.rank <= count[judged.hits.query])
    gain = judged.sum(gain_of(judged.hits.grade, "linear", gains), counts)
    best = best_so_far(best_of_relevant(judged, rel, gains), query, count)
    return ratio(beta * gain + judged.sum(counts), beta * best + count)


METRICS = [o_measure, p_measure, p_plus, r_measure]
