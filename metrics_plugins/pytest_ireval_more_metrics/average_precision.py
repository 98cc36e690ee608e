"""Kin of average precision: geometric means, graded readers, and judgments that are a sample."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, MetricError, Param, list_ranking, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.average_precision import (
    average_precision,
    average_precision_steps,
    bpref,
    bpref_steps,
    is_not_relevant,
    list_precisions,
    sum_precisions,
)
from pytest_ireval_metrics.sets_and_ranks import describe_relevance
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    Rel,
    condensable_metric,
    format_number,
    list_as_scored,
    make_sum_steps,
    relevance_metric,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


Thresholds = Annotated[
    dict[float, float] | None,
    Param(
        "how likely a reader takes each grade for the least that she calls relevant, as {1: 0.5, 2: 0.5}; "
        "unless given, each as likely as the other"
    ),
]


@relevance_metric(name="GMAP", aggregate="geometric", spellings={"gm_map": {}, "gm_ap": {}})
def geometric_map(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMAP = exp of the mean of log(max(AP, 0.00001)); for one query it is AP
    Reference: S. Robertson, On GMAP: and other transformations, CIKM 2006; trec_eval gm_map.
    Example: GMAP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    return average_precision.batch(judged, cutoff=None, rel=rel, denominator="R", judged_only=False)


steps_for(geometric_map)(average_precision_steps)


@relevance_metric(name="YAAP", range=(-np.inf, np.inf), no_relevant=None)
def yet_another_average_precision(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision on a scale that can be averaged over easy and hard queries alike; below 0 for most.

    Formula: YAAP = log((1 + s) / (1 + R - s)), where s is the sum of P@rank(d) over relevant retrieved d, so AP times R
    Reference: S. Robertson, On Smoothing Average Precision, ECIR 2012; trec_eval 10 yaap.
    Example: YAAP of 1 0 1 = log((1 + 5/3) / (1 + 2 - 5/3)) = log(2) = 0.6931
    """
    total = sum_precisions(judged, None, rel)
    odds: Floats = (1 + total) / (1 + np.maximum(judged.relevant_count(rel) - total, 0.0))
    return np.log(odds).astype(np.float64)


@steps_for(yet_another_average_precision)
def _yaap_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, columns, adds = list_precisions(judged, settings)
    whole = float(adds.sum())
    missing = max(listed.relevant_count(settings["rel"]) - whole, 0.0)
    return make_steps(
        listed,
        columns,
        arithmetic=f"log((1 + {format_number(whole)}) / (1 + {format_number(missing)}))",
        value=log((1 + whole) / (1 + missing)),
        facts=[*describe_relevance(listed, settings), "YAAP = log((1 + s) / (1 + R - s)), s being the sum"],
    )


@condensable_metric(name="GAP")
def graded_average_precision(judged: JudgedRankings, *, cutoff: Depth = None, thresholds: Thresholds = None) -> Floats:
    """Average precision expected when readers differ in the grade from which on they call a document relevant.

    Formula: GAP = sum over ranks n of (1/n) sum over m <= n of t(min(grade_m, grade_n)), divided by the sum of t(grade)
        over all judged documents, where t(g) is the probability of a threshold of g or less
    Reference: S. Robertson, E. Kanoulas, E. Yilmaz, Extending average precision to graded relevance judgments,
        SIGIR 2010. With two grades it is AP.
    Example: GAP of 1 0 2 | 1 = (1 + (1 + 2)/3) / 4 = 0.5
    """
    hits = judged.hits
    taken = _compute_share_of_readers(hits.grade, thresholds)
    agreed = _sum_shared(judged, taken) / hits.rank
    best = np.bincount(
        judged.ideal.query, _compute_share_of_readers(judged.ideal.grade, thresholds), minlength=judged.count
    )
    return ratio(judged.sum(agreed, None if cutoff is None else hits.rank <= cutoff), best)


@steps_for(graded_average_precision)
def _gap_steps(judged: JudgedRankings, *, thresholds: Mapping[float, float] | None, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    readers = np.where(listed.judged, _compute_share_of_readers(listed.grade, thresholds), 0.0)
    agreed = np.array([np.minimum(readers[: i + 1], readers[i]).sum() for i in range(readers.size)])
    adds = agreed / listed.rank
    best = float(_compute_share_of_readers(listed.ideal, thresholds).sum())
    columns = {"readers": readers, "agreed": agreed, "adds": adds, "sum": np.cumsum(adds)}
    facts = [
        f"readers: how many call a document relevant (all judged documents together: {format_number(best)})",
        "agreed: readers shared with the documents above, and its own; adds = agreed / rank",
    ]
    return make_sum_steps(listed, columns, adds, best, facts)


def _compute_share_of_readers(grade: Floats, thresholds: Mapping[float, float] | None) -> Floats:
    """The readers who call a document of each grade relevant, up to a factor."""
    if thresholds is None:
        return np.maximum(grade, 0.0)
    if min(thresholds.values()) < 0:
        raise MetricError("thresholds are probabilities, which are not below 0")
    taken = np.zeros(grade.size)
    for threshold, chance in thresholds.items():
        taken += chance * (grade >= threshold)
    return taken


def _sum_shared(judged: JudgedRankings, value: Floats) -> Floats:
    """For each hit, the sum of min(value, its own value) over this and the higher hits of its query.

    The values of a query are steps; each step adds its height for every hit so far that reaches it.
    """
    step, height = _count_levels(judged, value)
    total = np.zeros(value.size)
    for number in range(1, int(step.max(initial=0)) + 1):
        reached = step >= number
        so_far = judged.running(reached.astype(np.int64))
        total += np.where(reached, height[judged.hits.query, number - 1] * so_far, 0.0)
    return total


def _count_levels(judged: JudgedRankings, value: Floats) -> tuple[NDArray[np.int64], Floats]:
    query = judged.hits.query
    order = np.lexsort((value, query))
    sorted_query, sorted_value = query[order], value[order]
    start = np.r_[True, sorted_query[1:] != sorted_query[:-1]][: order.size]
    before = np.where(start, 0.0, np.r_[0.0, sorted_value[:-1]][: order.size])
    higher = sorted_value > before
    count = np.cumsum(higher)
    sorted_step = count - np.r_[0, count][judged.first[:-1]][sorted_query]
    step = np.zeros(order.size, np.int64)
    step[order] = sorted_step
    height = np.zeros((judged.count, int(sorted_step.max(initial=0))))
    height[sorted_query[higher], sorted_step[higher] - 1] = (sorted_value - before)[higher]
    return step, height


_EPSILON = 1e-5
"""Keeps inferred precision defined before anything is judged; the value trec_eval uses."""


@metric(name="GMBpref", binary=True, aggregate="geometric", spellings={"gm_bpref": {}})
def geometric_bpref(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Bpref, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMBpref = exp of the mean of log(max(Bpref, 0.00001)); for one query it is Bpref
    Reference: trec_eval gm_bpref.
    Example: GMBpref of 1 0 1 0 0 1 | 1 = (1 + (1 - 1/3) + (1 - 3/3)) / 4 = 0.4167
    """
    return bpref.batch(judged, rel=rel, denominator="min")


steps_for(geometric_bpref)(bpref_steps)


@metric(
    name="infAP",
    binary=True,
    not_promised={"promotion_never_harms": "a grade below 0 is pooled, not judged: such a document may be relevant"},
)
def inferred_ap(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision inferred from a judged sample: documents with a grade below 0 are pooled but not judged.

    Formula: infAP = (1/R) sum over relevant d at rank k of 1/k + (k-1)/k * (p/(k-1)) * (r + e)/(r + n + 2e); above d
        stand p pooled documents, of which r are relevant and n not, and e = 0.00001
    Reference: E. Yilmaz, J. A. Aslam, Estimating Average Precision with Incomplete and Imperfect Judgments,
        CIKM 2006; trec_eval infAP.
    Example: infAP of 1 0 0 1 = (1 + (1/4 + 3/4 * 3/3 * 1/3)) / 2 = 0.75
    """
    hits = judged.hits
    relevant = judged.relevant(rel)
    above_relevant = judged.relevant_so_far(rel) - 1
    above_other = judged.running(is_not_relevant(hits.grade, rel).astype(np.int64))
    above_pooled = above_relevant + judged.running((hits.grade < rel).astype(np.int64))
    chance = (above_relevant + _EPSILON) / (above_relevant + above_other + 2 * _EPSILON)
    inferred = np.where(hits.rank == 1, 1.0, (1.0 + above_pooled * chance) / hits.rank)
    return ratio(judged.sum(inferred, relevant), judged.relevant_count(rel))


@steps_for(inferred_ap)
def _inferred_ap_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    listed = list_ranking(judged)
    relevant = listed.relevant(rel)
    found: NDArray[np.int64] = np.cumsum(relevant) - relevant
    refused = np.cumsum(listed.judged & is_not_relevant(listed.grade, rel))
    pooled = found + np.cumsum(listed.judged & (listed.grade < rel))
    chance = (found + _EPSILON) / (found + refused + 2 * _EPSILON)
    adds = np.where(relevant, (1 + pooled * chance) / listed.rank, 0.0)
    count = listed.relevant_count(rel)
    shown = {"pooled": pooled, "found": found, "not": refused, "chance": chance, "adds": adds}
    columns = {name: np.where(relevant, column, np.nan) for name, column in shown.items()}
    facts = [
        f"R = {count} documents are relevant (grade {rel:g} or more)",
        "pooled, found, not: documents above (grades below 0 are pooled, not judged)",
        "chance = (found + e) / (found + not + 2e), e = 0.00001",
        "adds = (1 + pooled * chance) / rank",
    ]
    return make_sum_steps(listed, {**columns, "sum": np.cumsum(adds)}, adds, count, facts)
