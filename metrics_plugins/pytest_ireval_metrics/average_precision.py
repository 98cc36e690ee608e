"""Average precision, and what was made of it: GMAP, YAAP and GAP."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, MetricError, Param, Steps, condensed, metric, ratio, steps_of
from pytest_ireval_metrics.gains import relevance_metric
from pytest_ireval_metrics.sets_and_ranks import found_columns, listed_as, relevance_facts
from pytest_ireval_metrics.vocabulary import Denominator, Depth, Floats, JudgedOnly, Rel, shared_steps, shown_number


def _average_precision_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    columns = found_columns(listed, settings["rel"])
    adds = np.where(relevant, columns["precision"], 0.0)
    columns |= {"adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    return shared_steps(listed, columns, adds, divisor_within(listed, settings), relevance_facts(listed, settings))


def divisor_within(listed: Listing, settings: Mapping[str, Any]) -> int:
    """R, or min(R, k) if the settings say so."""
    count = listed.relevant_count(settings["rel"])
    cutoff = settings.get("cutoff")
    return min(count, cutoff) if settings.get("denominator") == "min" and cutoff is not None else count


def _yaap_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The sum of the precisions at relevant documents, as odds against the missing rest."""
    listed = listed_as(judged, settings)
    relevant, count = listed.relevant(settings["rel"]), listed.relevant_count(settings["rel"])
    columns = found_columns(listed, settings["rel"])
    adds = np.where(relevant, columns["precision"], 0.0)
    whole = float(adds.sum())
    missing = max(count - whole, 0.0)
    return steps_of(
        listed,
        {**columns, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)},
        arithmetic=f"log((1 + {shown_number(whole)}) / (1 + {shown_number(missing)}))",
        value=log((1 + whole) / (1 + missing)),
        facts=[*relevance_facts(listed, settings), "YAAP = log((1 + s) / (1 + R - s)), s being the sum"],
    )


def _gap_steps(judged: JudgedRankings, *, thresholds: Mapping[float, float] | None, **settings: Any) -> Steps:
    """Precision expected at each rank when readers differ, added up and divided by the readers of all documents."""
    listed = listed_as(judged, settings)
    readers = np.where(listed.judged, _share_of_readers(listed.grade, thresholds), 0.0)
    agreed = np.array([np.minimum(readers[: i + 1], readers[i]).sum() for i in range(readers.size)])
    adds = agreed / listed.rank
    best = float(_share_of_readers(listed.ideal, thresholds).sum())
    columns = {"readers": readers, "agreed": agreed, "adds": adds, "sum": np.cumsum(adds)}
    facts = [
        f"readers: how many call a document relevant (all judged documents together: {shown_number(best)})",
        "agreed: readers shared with the documents above, and its own; adds = agreed / rank",
    ]
    return shared_steps(listed, columns, adds, best, facts)


Thresholds = Annotated[
    dict[float, float] | None,
    Param(
        "how likely a reader takes each grade for the least that she calls relevant, as {1: 0.5, 2: 0.5}; "
        "unless given, each as likely as the other"
    ),
]


def _sum_of_precisions(judged: JudgedRankings, cutoff: int | None, rel: float) -> Floats:
    """Per query, the precisions at the ranks of relevant documents within the cutoff, added up."""
    counts = judged.relevant(rel)
    if cutoff is not None:
        counts = counts & (judged.hits.rank <= cutoff)
    return judged.sum(judged.relevant_so_far(rel) / judged.hits.rank, counts)


def divisor_of(judged: JudgedRankings, rel: float, denominator: str, cutoff: int | None) -> NDArray[np.int64]:
    """Per query, the number of relevant documents; at most the cutoff for the denominator ``min``."""
    count = judged.relevant_count(rel)
    return np.minimum(count, cutoff) if denominator == "min" and cutoff is not None else count


@relevance_metric(
    name="AP", steps=_average_precision_steps, spellings={"MAP": {}, "map_cut_{cutoff}": {}, "average_precision": {}}
)
def average_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    rel: Rel = 1,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Mean, over all relevant documents, of the precision at their ranks.

    Formula: AP = (1/R) sum of P@rank(d) over the relevant documents d retrieved (within the cutoff)
    Reference: trec_eval map and map_cut; NTCIR divides by min(R, k), which is denominator='min'.
    Example: AP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    judged = condensed(judged) if judged_only else judged
    return ratio(_sum_of_precisions(judged, cutoff, rel), divisor_of(judged, rel, denominator, cutoff))


@relevance_metric(
    name="GMAP", steps=_average_precision_steps, aggregate="geometric", spellings={"gm_map": {}, "gm_ap": {}}
)
def geometric_map(judged: JudgedRankings, *, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Average precision, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMAP = exp of the mean of log(max(AP, 0.00001)); for one query it is AP
    Reference: S. Robertson, On GMAP: and other transformations, CIKM 2006; trec_eval gm_map.
    Example: GMAP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    judged = condensed(judged) if judged_only else judged
    return ratio(_sum_of_precisions(judged, None, rel), judged.relevant_count(rel))


@relevance_metric(name="YAAP", steps=_yaap_steps, range=(-np.inf, np.inf), no_relevant=None)
def yet_another_average_precision(judged: JudgedRankings, *, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Average precision on a scale that can be averaged over easy and hard queries alike; below 0 for most.

    Formula: YAAP = log((1 + s) / (1 + R - s)), where s is the sum of P@rank(d) over relevant retrieved d, so AP times R
    Reference: S. Robertson, On Smoothing Average Precision, ECIR 2012; trec_eval 10 yaap.
    Example: YAAP of 1 0 1 = log((1 + 5/3) / (1 + 2 - 5/3)) = log(2) = 0.6931
    """
    judged = condensed(judged) if judged_only else judged
    total = _sum_of_precisions(judged, None, rel)
    odds: Floats = (1 + total) / (1 + np.maximum(judged.relevant_count(rel) - total, 0.0))
    return np.log(odds).astype(np.float64)


def _by_share_of_readers(grade: Floats, *, thresholds: Thresholds = None, **_: Any) -> Floats:
    share = _share_of_readers(np.nan_to_num(grade), thresholds)
    return np.where(np.isnan(grade), 0.0, np.where(share > 0, share, share - 1.0))


@metric(name="GAP", tie_order=_by_share_of_readers, steps=_gap_steps)
def graded_average_precision(
    judged: JudgedRankings, *, cutoff: Depth = None, thresholds: Thresholds = None, judged_only: JudgedOnly = False
) -> Floats:
    """Average precision expected when readers differ in the grade from which on they call a document relevant.

    Formula: GAP = sum over ranks n of (1/n) sum over m <= n of t(min(grade_m, grade_n)), divided by the sum of t(grade)
        over all judged documents, where t(g) is the probability of a threshold of g or less
    Reference: S. Robertson, E. Kanoulas, E. Yilmaz, Extending average precision to graded relevance judgments,
        SIGIR 2010. With two grades it is AP.
    Example: GAP of 1 0 2 | 1 = (1 + (1 + 2)/3) / 4 = 0.5
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    taken = _share_of_readers(hits.grade, thresholds)
    agreed = _shared_so_far(judged, taken) / hits.rank
    best = np.bincount(judged.ideal.query, _share_of_readers(judged.ideal.grade, thresholds), minlength=judged.count)
    return ratio(judged.sum(agreed, None if cutoff is None else hits.rank <= cutoff), best)


def _share_of_readers(grade: Floats, thresholds: Mapping[float, float] | None) -> Floats:
    """The readers who call a document of each grade relevant, up to a factor."""
    if thresholds is None:
        return np.maximum(grade, 0.0)
    if min(thresholds.values()) < 0:
        raise MetricError("thresholds are probabilities, which are not below 0")
    taken = np.zeros(grade.size)
    for threshold, chance in thresholds.items():
        taken += chance * (grade >= threshold)
    return taken


def _shared_so_far(judged: JudgedRankings, value: Floats) -> Floats:
    """For each hit, the sum of min(value, its own value) over this and the higher hits of its query.

    The values of a query are steps; each step adds its height for every hit so far that reaches it.
    """
    step, height = _steps(judged, value)
    total = np.zeros(value.size)
    for number in range(1, int(step.max(initial=0)) + 1):
        reached = step >= number
        so_far = judged.running(reached.astype(np.int64))
        total += np.where(reached, height[judged.hits.query, number - 1] * so_far, 0.0)
    return total


def _steps(judged: JudgedRankings, value: Floats) -> tuple[NDArray[np.int64], Floats]:
    """For each hit, the number of its value among its query's distinct values above 0 (0: none); and their steps."""
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


METRICS = [average_precision, geometric_map, yet_another_average_precision, graded_average_precision]
