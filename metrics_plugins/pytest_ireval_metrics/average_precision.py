"""Average precision, interpolated precision, and bpref for judgments that are known to be incomplete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import (
    JudgedRankings,
    Listing,
    MetricError,
    Param,
    list_ranking,
    make_steps,
    metric,
    ratio,
    steps_for,
)
from pytest_ireval_metrics.sets_and_ranks import describe_relevance, make_found_columns
from pytest_ireval_metrics.vocabulary import (
    Denominator,
    Depth,
    Floats,
    Rel,
    Rounding,
    format_quotient,
    format_sum,
    list_as_scored,
    make_sum_steps,
    mark_found,
    relevance_metric,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


def list_precisions(judged: JudgedRankings, settings: Mapping[str, Any]) -> tuple[Listing, dict[str, Any], Floats]:
    """The list, its columns, and the precision at each relevant document."""
    listed, rel = list_as_scored(judged, settings), settings["rel"]
    columns, relevant = make_found_columns(listed, rel), listed.relevant(rel)
    adds = np.where(relevant, columns["precision"], 0.0)
    return listed, {**columns, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}, adds


def find_divisor(listed: Listing, settings: Mapping[str, Any]) -> int:
    """R, or min(R, k) if the settings say so."""
    count = listed.relevant_count(settings["rel"])
    cutoff = settings.get("cutoff")
    return min(count, cutoff) if settings.get("denominator") == "min" and cutoff is not None else count


def sum_precisions(judged: JudgedRankings, cutoff: int | None, rel: float) -> Floats:
    """Per query, the precisions at the ranks of relevant documents within the cutoff, added up."""
    return judged.sum(judged.relevant_so_far(rel) / judged.hits.rank, mark_found(judged, rel, cutoff))


def compute_divisors(judged: JudgedRankings, rel: float, denominator: str, cutoff: int | None) -> NDArray[np.int64]:
    """Per query, the number of relevant documents; at most the cutoff for the denominator ``min``."""
    count = judged.relevant_count(rel)
    return np.minimum(count, cutoff) if denominator == "min" and cutoff is not None else count


@relevance_metric(name="AP", spellings={"MAP": {}, "map_cut_{cutoff}": {}, "average_precision": {}})
def average_precision(
    judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, denominator: Denominator = "R"
) -> Floats:
    """Mean, over all relevant documents, of the precision at their ranks.

    Formula: AP = (1/R) sum of P@rank(d) over the relevant documents d retrieved (within the cutoff)
    Reference: trec_eval map and map_cut; NTCIR divides by min(R, k), which is denominator='min'.
    Example: AP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    return ratio(sum_precisions(judged, cutoff, rel), compute_divisors(judged, rel, denominator, cutoff))


@steps_for(average_precision)
def average_precision_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The precision at each relevant document; for the geometric mean, too."""
    listed, columns, adds = list_precisions(judged, settings)
    return make_sum_steps(listed, columns, adds, find_divisor(listed, settings), describe_relevance(listed, settings))


class Peak(NamedTuple):
    """The highest precision from a level of recall on: documents needed, found, and its rank (0: nowhere)."""

    needed: int
    found: int
    rank: int


def _find_peaks(listed: Listing, levels: Sequence[float], settings: Mapping[str, Any]) -> list[Peak]:
    relevant = listed.relevant(settings["rel"])
    found = np.cumsum(relevant)
    wanted = np.array(levels) * listed.relevant_count(settings["rel"])
    peaks = []
    for needed in _count_needed(wanted, settings["rounding"]).tolist():
        there = np.flatnonzero(relevant & (found >= needed))
        best = there[np.argmax(found[there] / listed.rank[there])] if there.size else None
        peaks.append(
            Peak(int(needed), 0, 0) if best is None else Peak(int(needed), int(found[best]), int(listed.rank[best]))
        )
    return peaks


def _compute_shares(listed: Listing, peaks: Sequence[Peak], settings: Mapping[str, Any]) -> Floats:
    """Precision at a rank is 1 / rank for each relevant document down to it."""
    shares = np.zeros(listed.rank.size)
    for peak in peaks:
        if peak.rank:
            shares += listed.relevant(settings["rel"]) * (listed.rank <= peak.rank) / peak.rank
    return shares / len(peaks)


def _interpolate_precision(judged: JudgedRankings, level: float, rel: float, rounding: str) -> Floats:
    """Per query, the highest precision where at least ``level`` of the relevant documents are found."""
    needed = _count_needed(level * judged.relevant_count(rel), rounding)
    relevant, so_far = judged.relevant(rel), judged.relevant_so_far(rel)
    reached = relevant & (so_far >= needed[judged.hits.query])
    best = np.zeros(judged.count)
    np.maximum.at(best, judged.hits.query[reached], so_far[reached] / judged.hits.rank[reached])
    return best


def _refuse_more_decimals(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """IPrec of ir_measures, whose levels have two decimals."""
    recall = given.get("recall", 0)
    if recall != round(recall, 2):
        raise MetricError(f"ir_measures rounds recall {recall} to two decimals: write IPrec@{round(recall, 2)}")
    return given


NEAREST = {"rounding": "nearest"}


@relevance_metric(
    name="IPrec",
    at="recall",
    spellings={"iprec_at_recall_{recall}": NEAREST},
    dialects={"ir_measures": _refuse_more_decimals},
)
def iprec(
    judged: JudgedRankings,
    *,
    recall: Annotated[float, Param("the level of recall", low=0, high=1)],
    rel: Rel = 1,
    rounding: Rounding = "up",
) -> Floats:
    """The best precision at or after a level of recall; 0 if that recall is never reached.

    Formula: IPrec@r = max of P@rank(d) over relevant documents d retrieved with at least r R relevant ones up to them
    Reference: C. D. Manning et al., Introduction to Information Retrieval, 2008, 8.4. trec_eval 10 rounds r R to the
        nearest whole number first: iprec_at_recall_0.40 is IPrec(rounding='nearest')@0.4.
    Example: IPrec@0.5 of 0 1 1 0 0 1 1 1 = 5/8 = 0.625
    """
    return _interpolate_precision(judged, recall, rel, rounding)


@steps_for(iprec)
def _iprec_steps(judged: JudgedRankings, *, recall: float, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    (peak,) = _find_peaks(listed, [recall], settings)
    text, value = format_quotient(peak.found, peak.rank) if peak.rank else ("0", 0.0)
    where = f"precision is highest at rank {peak.rank}" if peak.rank else "that is never reached"
    needs = f"recall {recall:g} needs {peak.needed} relevant documents; {where}"
    return make_steps(
        listed,
        make_found_columns(listed, settings["rel"]),
        arithmetic=text,
        value=value,
        facts=[*describe_relevance(listed, settings), needs],
        shares=_compute_shares(listed, [peak], settings),
    )


@relevance_metric(name="IPrecAvg", spellings={"11pt_avg": NEAREST})
def iprec_average(judged: JudgedRankings, *, rel: Rel = 1, rounding: Rounding = "up") -> Floats:
    """Interpolated precision averaged over recall 0, 0.1, …, 1: the mean of the points of the eleven-point curve.

    Formula: IPrecAvg = (IPrec@0 + IPrec@0.1 + … + IPrec@1) / 11
    Reference: C. D. Manning et al., Introduction to Information Retrieval, 2008, 8.4. 11pt_avg of trec_eval 10 is
        IPrecAvg(rounding='nearest').
    Example: IPrecAvg of 0 1 1 0 0 1 1 1 0 0 = (5 * 2/3 + 6 * 5/8) / 11 = 0.6439
    """
    curve = [_interpolate_precision(judged, level, rel, rounding) for level in _LEVELS]
    average: Floats = np.array(curve).mean(axis=0)
    return average


@steps_for(iprec_average)
def _iprec_average_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    peaks = _find_peaks(listed, _LEVELS, settings)
    curve = np.array([peak.found / peak.rank if peak.rank else 0.0 for peak in peaks])
    levels = {
        "recall": np.array(_LEVELS),
        "needed": np.array([peak.needed for peak in peaks]),
        "rank": np.array([peak.rank or np.nan for peak in peaks]),
        "precision": curve,
    }
    return make_steps(
        listed,
        make_found_columns(listed, settings["rel"]),
        arithmetic=f"({format_sum(curve)}) / {len(_LEVELS)}",
        value=float(curve.mean()),
        facts=describe_relevance(listed, settings),
        shares=_compute_shares(listed, peaks, settings),
        second_title="highest precision from each level of recall on",
        second_table=levels,
    )


_LEVELS = tuple(i / 10 for i in range(11))
ALMOST = 1e-9
"""Recall times R that is this close to a whole number is that number."""


def _count_needed(wanted: NDArray[np.floating[Any]], rounding: str) -> Floats:
    """The number of relevant documents that reaches a level of recall; ``wanted`` is recall times R."""
    if rounding == "up":
        rounded: Floats = np.ceil(wanted - ALMOST)
        return rounded
    below: Floats = np.floor(wanted)
    return below + (wanted - below >= 0.5)


def is_not_relevant(grade: Floats, rel: float) -> NDArray[np.bool_]:
    """Judged, and judged not relevant; grades below 0 mark documents that were pooled but not judged."""
    return (grade >= 0) & (grade < rel)


def _count_kept_preferences(judged: JudgedRankings, rel: float, denominator: str) -> Floats:
    """Per query, how seldom a document judged not relevant is above a relevant one."""
    hits, count = judged.hits, judged.relevant_count(rel)
    others = judged.remember_ideal(
        ("not relevant", rel),
        lambda: np.bincount(judged.ideal.query[is_not_relevant(judged.ideal.grade, rel)], minlength=judged.count),
    )
    above = judged.running(is_not_relevant(hits.grade, rel).astype(np.int64))
    against = count if denominator == "R" else np.minimum(count, others)
    share = ratio(np.minimum(above, count[hits.query]), against[hits.query])
    return ratio(judged.sum(1.0 - share, judged.relevant(rel)), count)


@metric(name="Bpref", binary=True)
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
    return _count_kept_preferences(judged, rel, denominator)


@steps_for(bpref)
def bpref_steps(judged: JudgedRankings, *, rel: float, denominator: str = "min") -> Steps:
    """What each relevant document loses by others above it; for the geometric mean, too."""
    listed = list_ranking(judged)
    relevant = listed.relevant(rel)
    count = listed.relevant_count(rel)
    others = int(np.count_nonzero(is_not_relevant(listed.ideal, rel)))
    above = np.cumsum(listed.judged & is_not_relevant(listed.grade, rel))
    against = count if denominator == "R" else min(count, others)
    adds = np.where(relevant, 1 - np.minimum(above, count) / against if against else 1.0, 0.0)
    divides = "R" if denominator == "R" else "min(R, N)"
    columns = {"N above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    facts = [
        f"R = {count} documents are relevant (grade {rel:g} or more), N = {others} judged not relevant",
        f"adds = 1 - min(N above, R) / {divides} where a document is relevant",
    ]
    return make_sum_steps(listed, columns, adds, count, facts)
