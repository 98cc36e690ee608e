"""Interpolated precision: the best precision at or after a level of recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, Steps, condensed, steps_of
from pytest_ireval_metrics.gains import relevance_metric
from pytest_ireval_metrics.sets_and_ranks import found_columns, listed_as, relevance_facts
from pytest_ireval_metrics.vocabulary import Floats, JudgedOnly, Rel, Rounding, quotient, total


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
    """The eleven levels of recall, and the highest precision from each on."""
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
    judged_only: JudgedOnly = False,
) -> Floats:
    """The best precision at or after a level of recall; 0 if that recall is never reached.

    Formula: IPrec@r = max of P@rank(d) over relevant documents d retrieved with at least r R relevant ones up to them
    Reference: trec_eval 10 iprec_at_recall, where r R is rounded to the nearest whole number (version 9: mostly up).
    Example: IPrec@0.5 of 0 1 1 0 0 1 1 1 = 5/8 = 0.625
    """
    judged = condensed(judged) if judged_only else judged
    return _interpolated_precision(judged, recall, rel, rounding)


@relevance_metric(name="IPrecAvg", spellings={"11pt_avg": {}}, steps=_iprec_average_steps)
def iprec_average(
    judged: JudgedRankings, *, rel: Rel = 1, rounding: Rounding = "nearest", judged_only: JudgedOnly = False
) -> Floats:
    """Interpolated precision averaged over recall 0, 0.1, …, 1: the area under the eleven-point curve.

    Formula: IPrecAvg = (IPrec@0 + IPrec@0.1 + … + IPrec@1) / 11
    Reference: trec_eval 10 11pt_avg.
    Example: IPrecAvg of 0 1 1 0 0 1 1 1 0 0 = (5 * 2/3 + 6 * 5/8) / 11 = 0.6439
    """
    judged = condensed(judged) if judged_only else judged
    curve = [_interpolated_precision(judged, level, rel, rounding) for level in _LEVELS]
    average: Floats = np.array(curve).mean(axis=0)
    return average


METRICS = [iprec, iprec_average]


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
