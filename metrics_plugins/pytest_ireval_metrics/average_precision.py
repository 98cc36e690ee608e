"""Average precision, interpolated precision, and metrics made for judgments that are known to be incomplete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, MetricError, Param, Steps, listing, metric, ratio, steps_of
from pytest_ireval_metrics.sets_and_ranks import found_columns, relevance_facts
from pytest_ireval_metrics.vocabulary import (
    Denominator,
    Depth,
    Floats,
    Rel,
    Rounding,
    condensable_metric,
    found_within,
    listed_as,
    quotient,
    relevance_metric,
    shared_steps,
    shown_number,
    total,
)


def _average_precision_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, columns, adds = _precisions(judged, settings)
    return shared_steps(listed, columns, adds, divisor_within(listed, settings), relevance_facts(listed, settings))


def _precisions(judged: JudgedRankings, settings: Mapping[str, Any]) -> tuple[Listing, dict[str, Any], Floats]:
    """The list, its columns, and the precision at each relevant document."""
    listed, rel = listed_as(judged, settings), settings["rel"]
    columns, relevant = found_columns(listed, rel), listed.relevant(rel)
    adds = np.where(relevant, columns["precision"], 0.0)
    return listed, {**columns, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}, adds


def divisor_within(listed: Listing, settings: Mapping[str, Any]) -> int:
    """R, or min(R, k) if the settings say so."""
    count = listed.relevant_count(settings["rel"])
    cutoff = settings.get("cutoff")
    return min(count, cutoff) if settings.get("denominator") == "min" and cutoff is not None else count


def _yaap_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, columns, adds = _precisions(judged, settings)
    whole = float(adds.sum())
    missing = max(listed.relevant_count(settings["rel"]) - whole, 0.0)
    return steps_of(
        listed,
        columns,
        arithmetic=f"log((1 + {shown_number(whole)}) / (1 + {shown_number(missing)}))",
        value=log((1 + whole) / (1 + missing)),
        facts=[*relevance_facts(listed, settings), "YAAP = log((1 + s) / (1 + R - s)), s being the sum"],
    )


def _gap_steps(judged: JudgedRankings, *, thresholds: Mapping[float, float] | None, **settings: Any) -> Steps:
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
    return judged.sum(judged.relevant_so_far(rel) / judged.hits.rank, found_within(judged, rel, cutoff))


def divisor_of(judged: JudgedRankings, rel: float, denominator: str, cutoff: int | None) -> NDArray[np.int64]:
    """Per query, the number of relevant documents; at most the cutoff for the denominator ``min``."""
    count = judged.relevant_count(rel)
    return np.minimum(count, cutoff) if denominator == "min" and cutoff is not None else count


@relevance_metric(
    name="AP", steps=_average_precision_steps, spellings={"MAP": {}, "map_cut_{cutoff}": {}, "average_precision": {}}
)
def average_precision(
    judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, denominator: Denominator = "R"
) -> Floats:
    """Mean, over all relevant documents, of the precision at their ranks.

    Formula: AP = (1/R) sum of P@rank(d) over the relevant documents d retrieved (within the cutoff)
    Reference: trec_eval map and map_cut; NTCIR divides by min(R, k), which is denominator='min'.
    Example: AP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    return ratio(_sum_of_precisions(judged, cutoff, rel), divisor_of(judged, rel, denominator, cutoff))


@relevance_metric(
    name="GMAP", steps=_average_precision_steps, aggregate="geometric", spellings={"gm_map": {}, "gm_ap": {}}
)
def geometric_map(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMAP = exp of the mean of log(max(AP, 0.00001)); for one query it is AP
    Reference: S. Robertson, On GMAP: and other transformations, CIKM 2006; trec_eval gm_map.
    Example: GMAP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    return ratio(_sum_of_precisions(judged, None, rel), judged.relevant_count(rel))


@relevance_metric(name="YAAP", steps=_yaap_steps, range=(-np.inf, np.inf), no_relevant=None)
def yet_another_average_precision(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision on a scale that can be averaged over easy and hard queries alike; below 0 for most.

    Formula: YAAP = log((1 + s) / (1 + R - s)), where s is the sum of P@rank(d) over relevant retrieved d, so AP times R
    Reference: S. Robertson, On Smoothing Average Precision, ECIR 2012; trec_eval 10 yaap.
    Example: YAAP of 1 0 1 = log((1 + 5/3) / (1 + 2 - 5/3)) = log(2) = 0.6931
    """
    total = _sum_of_precisions(judged, None, rel)
    odds: Floats = (1 + total) / (1 + np.maximum(judged.relevant_count(rel) - total, 0.0))
    return np.log(odds).astype(np.float64)


@condensable_metric(name="GAP", steps=_gap_steps)
def graded_average_precision(judged: JudgedRankings, *, cutoff: Depth = None, thresholds: Thresholds = None) -> Floats:
    """Average precision expected when readers differ in the grade from which on they call a document relevant.

    Formula: GAP = sum over ranks n of (1/n) sum over m <= n of t(min(grade_m, grade_n)), divided by the sum of t(grade)
        over all judged documents, where t(g) is the probability of a threshold of g or less
    Reference: S. Robertson, E. Kanoulas, E. Yilmaz, Extending average precision to graded relevance judgments,
        SIGIR 2010. With two grades it is AP.
    Example: GAP of 1 0 2 | 1 = (1 + (1 + 2)/3) / 4 = 0.5
    """
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


class Peak(NamedTuple):
    """The highest precision from a level of recall on: documents needed, found, and its rank (0: nowhere)."""

    needed: int
    found: int
    rank: int


def _iprec_steps(judged: JudgedRankings, *, recall: float, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    (peak,) = _peaks(listed, [recall], settings)
    text, value = quotient(peak.found, peak.rank) if peak.rank else ("0", 0.0)
    where = f"precision is highest at rank {peak.rank}" if peak.rank else "that is never reached"
    needs = f"recall {recall:g} needs {peak.needed} relevant documents; {where}"
    return steps_of(
        listed,
        found_columns(listed, settings["rel"]),
        arithmetic=text,
        value=value,
        facts=[*relevance_facts(listed, settings), needs],
        shares=_shares(listed, [peak], settings),
    )


def _iprec_average_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    peaks = _peaks(listed, _LEVELS, settings)
    curve = np.array([peak.found / peak.rank if peak.rank else 0.0 for peak in peaks])
    levels = {
        "recall": np.array(_LEVELS),
        "needed": np.array([peak.needed for peak in peaks]),
        "rank": np.array([peak.rank or np.nan for peak in peaks]),
        "precision": curve,
    }
    return steps_of(
        listed,
        found_columns(listed, settings["rel"]),
        arithmetic=f"({total(curve)}) / {len(_LEVELS)}",
        value=float(curve.mean()),
        facts=relevance_facts(listed, settings),
        shares=_shares(listed, peaks, settings),
        beside=("highest precision from each level of recall on", levels),
    )


def _peaks(listed: Listing, levels: Sequence[float], settings: Mapping[str, Any]) -> list[Peak]:
    relevant = listed.relevant(settings["rel"])
    found = np.cumsum(relevant)
    wanted = np.array(levels) * listed.relevant_count(settings["rel"])
    peaks = []
    for needed in _needed_documents(wanted, settings["rounding"]).tolist():
        there = np.flatnonzero(relevant & (found >= needed))
        best = there[np.argmax(found[there] / listed.rank[there])] if there.size else None
        peaks.append(
            Peak(int(needed), 0, 0) if best is None else Peak(int(needed), int(found[best]), int(listed.rank[best]))
        )
    return peaks


def _shares(listed: Listing, peaks: Sequence[Peak], settings: Mapping[str, Any]) -> Floats:
    """Precision at a rank is 1 / rank for each relevant document down to it."""
    shares = np.zeros(listed.rank.size)
    for peak in peaks:
        if peak.rank:
            shares += listed.relevant(settings["rel"]) * (listed.rank <= peak.rank) / peak.rank
    return shares / len(peaks)


def _interpolated_precision(judged: JudgedRankings, level: float, rel: float, rounding: str) -> Floats:
    """Per query, the highest precision where at least ``level`` of the relevant documents are found."""
    needed = _needed_documents(level * judged.relevant_count(rel), rounding)
    relevant, so_far = judged.relevant(rel), judged.relevant_so_far(rel)
    reached = relevant & (so_far >= needed[judged.hits.query])
    best = np.zeros(judged.count)
    np.maximum.at(best, judged.hits.query[reached], so_far[reached] / judged.hits.rank[reached])
    return best


@relevance_metric(name="IPrec", at="recall", spellings={"iprec_at_recall_{recall}": {}}, steps=_iprec_steps)
def iprec(
    judged: JudgedRankings,
    *,
    recall: Annotated[float, Param("the level of recall", low=0, high=1)],
    rel: Rel = 1,
    rounding: Rounding = "nearest",
) -> Floats:
    """The best precision at or after a level of recall; 0 if that recall is never reached.

    Formula: IPrec@r = max of P@rank(d) over relevant documents d retrieved with at least r R relevant ones up to them
    Reference: trec_eval 10 iprec_at_recall, where r R is rounded to the nearest whole number (version 9: mostly up).
    Example: IPrec@0.5 of 0 1 1 0 0 1 1 1 = 5/8 = 0.625
    """
    return _interpolated_precision(judged, recall, rel, rounding)


@relevance_metric(name="IPrecAvg", spellings={"11pt_avg": {}}, steps=_iprec_average_steps)
def iprec_average(judged: JudgedRankings, *, rel: Rel = 1, rounding: Rounding = "nearest") -> Floats:
    """Interpolated precision averaged over recall 0, 0.1, …, 1: the area under the eleven-point curve.

    Formula: IPrecAvg = (IPrec@0 + IPrec@0.1 + … + IPrec@1) / 11
    Reference: trec_eval 10 11pt_avg.
    Example: IPrecAvg of 0 1 1 0 0 1 1 1 0 0 = (5 * 2/3 + 6 * 5/8) / 11 = 0.6439
    """
    curve = [_interpolated_precision(judged, level, rel, rounding) for level in _LEVELS]
    average: Floats = np.array(curve).mean(axis=0)
    return average


_LEVELS = tuple(i / 10 for i in range(11))
ALMOST = 1e-9
"""Recall times R that is this close to a whole number is that number."""


def _needed_documents(wanted: NDArray[np.floating[Any]], rounding: str) -> Floats:
    """The number of relevant documents that reaches a level of recall; ``wanted`` is recall times R."""
    if rounding == "up":
        rounded: Floats = np.ceil(wanted - ALMOST)
        return rounded
    below: Floats = np.floor(wanted)
    return below + (wanted - below >= 0.5)


def _bpref_steps(judged: JudgedRankings, *, rel: float, denominator: str = "min") -> Steps:
    listed = listing(judged)
    relevant = listed.relevant(rel)
    count = listed.relevant_count(rel)
    others = int(np.count_nonzero(_not_relevant(listed.ideal, rel)))
    above = np.cumsum(listed.judged & _not_relevant(listed.grade, rel))
    against = count if denominator == "R" else min(count, others)
    adds = np.where(relevant, 1 - np.minimum(above, count) / against if against else 1.0, 0.0)
    divides = "R" if denominator == "R" else "min(R, N)"
    columns = {"N above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    facts = [
        f"R = {count} documents are relevant (grade {rel:g} or more), N = {others} judged not relevant",
        f"adds = 1 - min(N above, R) / {divides} where a document is relevant",
    ]
    return shared_steps(listed, columns, adds, count, facts)


def _inferred_ap_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    listed = listing(judged)
    relevant = listed.relevant(rel)
    found: NDArray[np.int64] = np.cumsum(relevant) - relevant
    refused = np.cumsum(listed.judged & _not_relevant(listed.grade, rel))
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
    return shared_steps(listed, {**columns, "sum": np.cumsum(adds)}, adds, count, facts)


_EPSILON = 1e-5
"""Keeps inferred precision defined before anything is judged; the value trec_eval uses."""


def _not_relevant(grade: Floats, rel: float) -> NDArray[np.bool_]:
    """Judged, and judged not relevant; grades below 0 mark documents that were pooled but not judged."""
    return (grade >= 0) & (grade < rel)


def _preferences_kept(judged: JudgedRankings, rel: float, denominator: str) -> Floats:
    """Per query, how seldom a document judged not relevant is above a relevant one."""
    hits, count = judged.hits, judged.relevant_count(rel)
    others = judged.remember_ideal(
        ("not relevant", rel),
        lambda: np.bincount(judged.ideal.query[_not_relevant(judged.ideal.grade, rel)], minlength=judged.count),
    )
    above = judged.running(_not_relevant(hits.grade, rel).astype(np.int64))
    against = count if denominator == "R" else np.minimum(count, others)
    share = ratio(np.minimum(above, count[hits.query]), against[hits.query])
    return ratio(judged.sum(1.0 - share, judged.relevant(rel)), count)


@metric(name="Bpref", binary=True, steps=_bpref_steps)
def bpref(
    judged: JudgedRankings,
    *,
    rel: Rel = 1,
    denominator: Annotated[
        Literal["min", "R"], Param("what misplaced documents are counted against: min(R, N), or R (bpref_R)")
    ] = "min",
) -> Floats:
    """Of the judged documents that are not relevant, how few rank above relevant ones; unjudged ones do not matter.

    Formula: Bpref = (1/R) sum over relevant retrieved d of 1 - min(#(judged not relevant above d), R) / min(R, N)
    Reference: C. Buckley, E. M. Voorhees, Retrieval Evaluation with Incomplete Information, SIGIR 2004; trec_eval.
    Example: Bpref of 1 0 1 0 0 1 | 1 = (1 + (1 - 1/3) + (1 - 3/3)) / 4 = 0.4167
    """
    return _preferences_kept(judged, rel, denominator)


@metric(name="GMBpref", binary=True, steps=_bpref_steps, aggregate="geometric", spellings={"gm_bpref": {}})
def geometric_bpref(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Bpref, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMBpref = exp of the mean of log(max(Bpref, 0.00001)); for one query it is Bpref
    Reference: trec_eval gm_bpref.
    Example: GMBpref of 1 0 1 0 0 1 | 1 = (1 + (1 - 1/3) + (1 - 3/3)) / 4 = 0.4167
    """
    return _preferences_kept(judged, rel, "min")


@metric(
    name="infAP",
    binary=True,
    steps=_inferred_ap_steps,
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
    above_other = judged.running(_not_relevant(hits.grade, rel).astype(np.int64))
    above_pooled = above_relevant + judged.running((hits.grade < rel).astype(np.int64))
    chance = (above_relevant + _EPSILON) / (above_relevant + above_other + 2 * _EPSILON)
    inferred = np.where(hits.rank == 1, 1.0, (1.0 + above_pooled * chance) / hits.rank)
    return ratio(judged.sum(inferred, relevant), judged.relevant_count(rel))
