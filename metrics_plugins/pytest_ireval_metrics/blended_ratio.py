"""The blended ratio, which compares documents found and their gain with the best list, and its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Literal

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, condensed, metric, ratio
from pytest_ireval_metrics.average_precision import divisor_of
from pytest_ireval_metrics.cumulated_gain import BestGains, best_order
from pytest_ireval_metrics.gains import by_relevant_gain, gain_of, gain_range
from pytest_ireval_metrics.steps_of_blended_ratio import (
    awp_steps,
    ncu_steps,
    o_measure_steps,
    p_measure_steps,
    p_plus_steps,
    q_steps,
    r_measure_steps,
)
from pytest_ireval_metrics.vocabulary import Denominator, Depth, Floats, Gains, Integers, JudgedOnly, Mask, Rel, summed

_Beta = Annotated[float, Param("how much grades count: with 0 only the number of documents does", low=0)]

_ratio_metric = partial(metric, range=gain_range)


def _collected(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> Floats:
    """For each hit, the gain of the relevant documents at its rank and above."""
    return judged.running(np.where(judged.relevant(rel), gain_of(judged.hits.grade, "linear", gains), 0.0))


def _best_of_relevant(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> BestGains:
    def make() -> BestGains:
        grade = judged.ideal.grade
        gain = np.where(grade >= rel, gain_of(grade, "linear", gains), 0.0)
        return best_order(judged.ideal.query, gain, judged.count)

    return judged.remember_ideal(("best relevant", rel, tuple((gains or {}).items())), make)


def _best_so_far(best: BestGains, query: Integers, rank: Integers) -> Floats:
    """The gain that the best order has collected at each (query, rank)."""
    total = summed(best.gain)
    reached = np.minimum(best.first[query] + rank, best.first[query + 1])
    so_far: Floats = total[reached] - total[best.first[query]]
    return so_far


def _blended_ratio(judged: JudgedRankings, rel: float, beta: float, gains: Mapping[float, float] | None) -> Floats:
    """For each hit, (beta cg + count) / (beta cg* + rank)."""
    hits = judged.hits
    best = _best_so_far(_best_of_relevant(judged, rel, gains), hits.query, hits.rank)
    return ratio(beta * _collected(judged, rel, gains) + judged.relevant_so_far(rel), beta * best + hits.rank)


def _relevant_hits(judged: JudgedRankings, rel: float, cutoff: int | None) -> Mask:
    relevant = judged.relevant(rel)
    return relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff)


@_ratio_metric(name="OMeasure", tie_order=by_relevant_gain, steps=o_measure_steps, spellings={"O_measure": {}})
def o_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: _Beta = 1,
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
    first = _relevant_hits(judged, rel, cutoff) & (judged.relevant_so_far(rel) == 1)
    return judged.sum(_blended_ratio(judged, rel, beta, gains), first)


@_ratio_metric(
    name="PMeasure",
    not_promised={
        "promotion_never_harms": "documents that the best document passes come after it, where the metric does not look"
    },
    steps=p_measure_steps,
    spellings={"P_measure": {}},
)
def p_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: _Beta = 1,
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
    stop = _preferred_rank(judged, _relevant_hits(judged, rel, cutoff))
    return judged.sum(_blended_ratio(judged, rel, beta, gains), judged.hits.rank == stop[judged.hits.query])


@_ratio_metric(
    name="PPlus",
    not_promised={
        "promotion_never_harms": "documents that the best document passes come after it, where the metric does not look"
    },
    steps=p_plus_steps,
    spellings={"P_plus": {}, "PPlusMeasure": {}},
)
def p_plus(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: _Beta = 1,
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
    counts = _relevant_hits(judged, rel, cutoff)
    counts = counts & (judged.hits.rank <= _preferred_rank(judged, counts)[judged.hits.query])
    return ratio(judged.sum(_blended_ratio(judged, rel, beta, gains), counts), judged.sum(counts))


def _preferred_rank(judged: JudgedRankings, among: Mask) -> Integers:
    """Per query, the first rank of the best grade among these hits; 0 if there are none."""
    query, grade, rank = judged.hits.query[among], judged.hits.grade[among], judged.hits.rank[among]
    order = np.lexsort((rank, -grade, query))
    first = np.r_[True, query[1:] != query[:-1]][: query.size]  # sorted by query before and after
    preferred = np.zeros(judged.count, np.int64)
    preferred[query[first]] = rank[order][first]
    return preferred


@_ratio_metric(name="RMeasure", tie_order=by_relevant_gain, steps=r_measure_steps, spellings={"R_measure": {}})
def r_measure(
    judged: JudgedRankings, *, beta: _Beta = 1, rel: Rel = 1, gains: Gains = None, judged_only: JudgedOnly = False
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
    best = _best_so_far(_best_of_relevant(judged, rel, gains), query, count)
    return ratio(beta * gain + judged.sum(counts), beta * best + count)


@_ratio_metric(name="Q", tie_order=by_relevant_gain, steps=q_steps, spellings={"Q_measure": {}})
def q_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Annotated[float, Param("how much grades count: 0 is average precision", low=0)] = 1,
    rel: Rel = 1,
    gains: Gains = None,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Average precision with a blended ratio in place of precision: documents found and their gain, against the best.

    Formula: Q = (1/R) sum over relevant retrieved d at rank r of (beta cg(r) + count(r)) / (beta cg*(r) + r)
    Reference: T. Sakai, On the reliability of information retrieval metrics based on graded relevance, IPM 43, 2007.
    Example: Q of 0 3 | 1 = ((3 + 1) / (4 + 2)) / 2 = 0.3333
    """
    judged = condensed(judged) if judged_only else judged
    blended = _blended_ratio(judged, rel, beta, gains)
    return ratio(judged.sum(blended, _relevant_hits(judged, rel, cutoff)), divisor_of(judged, rel, denominator, cutoff))


@_ratio_metric(name="AWP", tie_order=by_relevant_gain, steps=awp_steps)
def average_weighted_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    rel: Rel = 1,
    gains: Gains = None,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Average precision with gains in place of documents: what was collected, against the best list of that length.

    Formula: AWP = (1/R) sum over relevant retrieved d at rank r of cg(r) / cg*(r)
    Reference: N. Kando et al., Information retrieval system evaluation using multi-grade relevance judgments, 2001.
        Below rank R, cg* grows no more, so that late documents cost nothing: Q corrects that.
    Example: AWP of 0 3 | 1 = (3 / 4) / 2 = 0.375
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    best = _best_so_far(_best_of_relevant(judged, rel, gains), hits.query, hits.rank)
    weighted = ratio(_collected(judged, rel, gains), best)
    return ratio(
        judged.sum(weighted, _relevant_hits(judged, rel, cutoff)), divisor_of(judged, rel, denominator, cutoff)
    )


Stop = Annotated[
    Literal["graded", "rank_biased", "uniform"],
    Param("at which relevant documents readers stop: more often at better ones, more often at early ones, or at all"),
]
Stops = Annotated[
    dict[float, float] | None,
    Param("for stop='graded', how many readers stop at a document of each grade; unless given, as many as its gain"),
]
Gamma = Annotated[
    float,
    Param(
        "for stop='rank_biased', how many readers stop at a relevant document for one that stops at the one before",
        above=0,
        high=1,
    ),
]


@_ratio_metric(
    name="NCU",
    not_promised={"promotion_never_harms": "readers who stop at the promoted document have collected less above it"},
    steps=ncu_steps,
)
def normalised_cumulative_utility(
    judged: JudgedRankings,
    *,
    stop: Stop = "graded",
    beta: _Beta = 1,
    gamma: Gamma = 0.95,
    rel: Rel = 1,
    gains: Gains = None,
    stops: Stops = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """The blended ratio expected where readers stop; with beta=0 the precision expected there.

    Formula: NCU = sum over relevant retrieved d at rank r of p(d) (beta cg(r) + count(r)) / (beta cg*(r) + r), where
        p(d) is the share of readers who stop at d: in proportion to its gain (graded), to gamma^(count(r) - 1)
        (rank_biased), or 1/R (uniform, which is Q)
    Reference: T. Sakai, S. Robertson, Modelling a user population for designing information retrieval metrics,
        EVIA 2008: graded is NCUgu,BR, rank_biased NCUrb,BR, and with beta=0 NCUgu,P and NCUrb,P.
    Example: NCU of 1 3 0 = 1/4 * (1 + 1)/(3 + 1) + 3/4 * (4 + 2)/(4 + 2) = 0.875
    """
    judged = condensed(judged) if judged_only else judged
    relevant = judged.relevant(rel)
    stopping, all_readers = _readers(judged, stop, rel, gamma, stops or gains)
    return ratio(judged.sum(stopping * _blended_ratio(judged, rel, beta, gains), relevant), all_readers)


def _readers(
    judged: JudgedRankings, stop: str, rel: float, gamma: float, stops: Mapping[float, float] | None
) -> tuple[Floats, Floats]:
    """The readers who stop at each hit, and all readers of each query."""
    count = judged.relevant_count(rel)
    if stop == "uniform":
        return np.ones(judged.hits.rank.size, np.float64), count.astype(np.float64)
    if stop == "rank_biased":
        total = count if gamma == 1 else (1 - gamma**count) / (1 - gamma)
        return np.power(gamma, judged.relevant_so_far(rel) - 1.0), np.asarray(total, np.float64)
    if stops and min(stops.values()) < 0:
        raise MetricError("a share of readers is not below 0: give stops where gains are below 0")
    ideal = judged.ideal
    willing = np.where(ideal.grade >= rel, gain_of(ideal.grade, "linear", stops), 0.0)
    all_readers = np.bincount(ideal.query, willing, minlength=judged.count).astype(np.float64)
    return gain_of(judged.hits.grade, "linear", stops), all_readers


METRICS = [
    q_measure,
    average_weighted_precision,
    o_measure,
    p_measure,
    p_plus,
    r_measure,
    normalised_cumulative_utility,
]
