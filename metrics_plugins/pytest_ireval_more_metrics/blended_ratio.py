"""Metrics of the blended ratio beside Q and the R-measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, make_steps, ratio, steps_for
from pytest_ireval_metrics.average_precision import compute_divisors, find_divisor
from pytest_ireval_metrics.blended_ratio import (
    Blend,
    RatioBeta,
    blend_with_ideal,
    compute_blended_ratio,
    compute_collected_gain,
    describe_ratio,
    find_best_so_far,
    order_relevant,
    ratio_metric,
)
from pytest_ireval_metrics.sets_and_ranks import describe_relevance
from pytest_ireval_metrics.vocabulary import (
    Denominator,
    Depth,
    Floats,
    Gains,
    Integers,
    Mask,
    Rel,
    compute_gain,
    format_number,
    format_quotient,
    make_sum_steps,
    mark_found,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _make_steps_at(blend: Blend, row: Integers, settings: Mapping[str, Any], said: str) -> Steps:
    """The blended ratio at one row; relevant documents down to it make up its upper side."""
    listed = blend.listed
    text, value, shares = "0", 0.0, np.zeros(listed.rank.size)
    where = "no relevant document is there"
    if row.size:
        i = int(row[0])
        text, value = format_quotient(float(blend.above[i]), float(blend.below[i]))
        shares = np.where(listed.rank <= listed.rank[i], settings["beta"] * blend.gain + blend.relevant, 0.0)
        shares = shares / blend.below[i]
        where = f"{said} {listed.rank[i]}"
    columns, facts = blend.columns(blend.ratio), describe_ratio(listed, settings, where)
    return make_steps(listed, columns, arithmetic=text, value=value, facts=facts, shares=shares)


@ratio_metric(name="AWP")
def average_weighted_precision(
    judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, gains: Gains = None, denominator: Denominator = "R"
) -> Floats:
    """Average precision with gains in place of documents: what was collected, against the best list of that length.

    Formula: AWP = (1/R) sum over relevant retrieved d at rank r of cg(r) / cg*(r)
    Reference: N. Kando et al., Information retrieval system evaluation using multi-grade relevance judgments, 2001.
        Below rank R, cg* grows no more, so that late documents cost nothing: Q corrects that.
    Example: AWP of 0 3 | 1 = (3 / 4) / 2 = 0.375
    """
    hits = judged.hits
    best = find_best_so_far(order_relevant(judged, rel, gains), hits.query, hits.rank)
    weighted = ratio(compute_collected_gain(judged, rel, gains), best)
    return ratio(
        judged.sum(weighted, mark_found(judged, rel, cutoff)), compute_divisors(judged, rel, denominator, cutoff)
    )


@steps_for(average_weighted_precision)
def _awp_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    adds = np.where(blend.relevant, ratio(blend.cumulated, blend.best), 0.0)
    facts = [*describe_relevance(blend.listed, settings), "ratio = cg / cg*"]
    return make_sum_steps(blend.listed, blend.columns(adds), adds, find_divisor(blend.listed, settings), facts)


@ratio_metric(name="OMeasure", spellings={"O_measure": {}})
def o_measure(
    judged: JudgedRankings, *, cutoff: Depth = None, beta: RatioBeta = 1, rel: Rel = 1, gains: Gains = None
) -> Floats:
    """The blended ratio at the first relevant document, for readers who want one document: RR that looks at grades.

    Formula: O = (beta cg(r) + 1) / (beta cg*(r) + r) at the rank r of the first relevant document
    Reference: T. Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ 2007.
    Example: OMeasure of 0 1 3 = (1 + 1) / (4 + 2) = 0.3333
    """
    first = mark_found(judged, rel, cutoff) & (judged.relevant_so_far(rel) == 1)
    return judged.sum(compute_blended_ratio(judged, rel, beta, gains), first)


@steps_for(o_measure)
def _o_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    return _make_steps_at(blend, np.flatnonzero(blend.relevant)[:1], settings, "the first relevant document is at rank")


@ratio_metric(
    name="PMeasure",
    not_promised={
        "promotion_never_harms": "documents that the best document passes come after it, where the metric does not look"
    },
    spellings={"P_measure": {}},
)
def p_measure(
    judged: JudgedRankings, *, cutoff: Depth = None, beta: RatioBeta = 1, rel: Rel = 1, gains: Gains = None
) -> Floats:
    """The blended ratio at the preferred rank, the first of the best grade retrieved, for readers who want the best.

    Formula: P = (beta cg(r) + count(r)) / (beta cg*(r) + r) at the rank r of the first of the best documents retrieved
    Reference: T. Sakai, On the properties of evaluation metrics for finding one highly relevant document, IPSJ 2007.
    Example: PMeasure of 1 3 0 3 = (4 + 2) / (6 + 2) = 0.75
    """
    stop = _find_preferred_rank(judged, mark_found(judged, rel, cutoff))
    return judged.sum(compute_blended_ratio(judged, rel, beta, gains), judged.hits.rank == stop[judged.hits.query])


@steps_for(p_measure)
def _p_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    return _make_steps_at(blend, blend.preferred, settings, "the first of the best documents is at rank")


@ratio_metric(
    name="PPlus",
    not_promised={
        "promotion_never_harms": "documents that the best document passes come after it, where the metric does not look"
    },
    spellings={"P_plus": {}, "PPlusMeasure": {}},
)
def p_plus(
    judged: JudgedRankings, *, cutoff: Depth = None, beta: RatioBeta = 1, rel: Rel = 1, gains: Gains = None
) -> Floats:
    """The blended ratio averaged over the relevant documents down to the preferred rank.

    Formula: P+ = (1/count(p)) sum over relevant d at rank r <= p of (beta cg(r) + count(r)) / (beta cg*(r) + r),
        where p is the rank of the first of the best documents retrieved
    Reference: T. Sakai, Bootstrap-based comparisons of IR metrics for finding one relevant document, AIRS 2006.
    Example: PPlus of 1 3 0 3 = ((1 + 1) / (3 + 1) + (4 + 2) / (6 + 2)) / 2 = 0.625
    """
    counts = mark_found(judged, rel, cutoff)
    counts = counts & (judged.hits.rank <= _find_preferred_rank(judged, counts)[judged.hits.query])
    return ratio(judged.sum(compute_blended_ratio(judged, rel, beta, gains), counts), judged.sum(counts))


@steps_for(p_plus)
def _p_plus_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    last = int(blend.preferred[0]) + 1 if blend.preferred.size else 0
    adds = np.where(blend.listed.rank <= last, blend.ratio, 0.0)
    facts = describe_ratio(
        blend.listed, settings, f"relevant documents count down to rank {last}, the first of the best"
    )
    return make_sum_steps(blend.listed, blend.columns(blend.ratio), adds, int(blend.relevant[:last].sum()), facts)


def _find_preferred_rank(judged: JudgedRankings, among: Mask) -> Integers:
    """Per query, the first rank of the best grade among these hits; 0 if there are none."""
    query, grade, rank = judged.hits.query[among], judged.hits.grade[among], judged.hits.rank[among]
    order = np.lexsort((rank, -grade, query))
    first = np.r_[True, query[1:] != query[:-1]][: query.size]  # sorted by query before and after
    preferred = np.zeros(judged.count, np.int64)
    preferred[query[first]] = rank[order][first]
    return preferred


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


@ratio_metric(
    name="NCU",
    not_promised={"promotion_never_harms": "readers who stop at the promoted document have collected less above it"},
)
def normalised_cumulative_utility(
    judged: JudgedRankings,
    *,
    stop: Stop = "graded",
    beta: RatioBeta = 1,
    gamma: Gamma = 0.95,
    rel: Rel = 1,
    gains: Gains = None,
    stops: Stops = None,
) -> Floats:
    """The blended ratio expected where readers stop; with beta=0 the precision expected there.

    Formula: NCU = sum over relevant retrieved d at rank r of p(d) (beta cg(r) + count(r)) / (beta cg*(r) + r), where
        p(d) is the share of readers who stop at d: in proportion to its gain (graded), to gamma^(count(r) - 1)
        (rank_biased), or 1/R (uniform, which is Q)
    Reference: T. Sakai, S. Robertson, Modelling a user population for designing information retrieval metrics,
        EVIA 2008: graded is NCUgu,BR, rank_biased NCUrb,BR, and with beta=0 NCUgu,P and NCUrb,P.
    Example: NCU of 1 3 0 = 1/4 * (1 + 1)/(3 + 1) + 3/4 * (4 + 2)/(4 + 2) = 0.875
    """
    relevant = judged.relevant(rel)
    settings = {"stop": stop, "gamma": gamma, "rel": rel, "gains": gains, "stops": stops}
    stopping, all_readers = _distribute_readers(judged, judged.hits.grade, judged.relevant_so_far(rel), settings)
    return ratio(judged.sum(stopping * compute_blended_ratio(judged, rel, beta, gains), relevant), all_readers)


@steps_for(normalised_cumulative_utility)
def _ncu_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    stopping, everybody = _distribute_readers(judged, blend.listed.grade, blend.found, settings)
    columns = {**blend.columns(blend.ratio), "readers": np.where(blend.relevant, stopping, np.nan)}
    fact = f"of {format_number(everybody[0])} readers, the number that stops at each; times ratio, added up"
    adds = blend.ratio * stopping
    return make_sum_steps(
        blend.listed, columns, adds, float(everybody[0]), describe_ratio(blend.listed, settings, fact)
    )


def _distribute_readers(
    judged: JudgedRankings, grade: Floats, so_far: Integers, settings: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """The readers who stop at documents of these grades, with ``so_far`` relevant ones, and all readers of a query."""
    rel, gamma, stops = settings["rel"], settings["gamma"], settings["stops"] or settings["gains"]
    count = judged.relevant_count(rel)
    if settings["stop"] == "uniform":
        return np.ones(grade.size), count.astype(np.float64)
    if settings["stop"] == "rank_biased":
        total = count if gamma == 1 else (1 - gamma**count) / (1 - gamma)
        return np.power(gamma, so_far - 1.0), np.asarray(total, np.float64)
    if stops and min(stops.values()) < 0:
        raise MetricError("a share of readers is not below 0: give stops where gains are below 0")
    ideal = judged.ideal
    willing = np.where(ideal.grade >= rel, compute_gain(ideal.grade, "linear", stops), 0.0)
    all_readers = np.bincount(ideal.query, willing, minlength=judged.count).astype(np.float64)
    return compute_gain(grade, "linear", stops), all_readers
