"""The arithmetic of interpolated precision, line by line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, steps_of
from pytest_ireval_metrics.arithmetic import quotient, total
from pytest_ireval_metrics.recall_levels import LEVELS, needed_documents
from pytest_ireval_metrics.steps_of_precision import found_columns, listed_as, relevance_facts

Floats = NDArray[np.float64]


class Peak(NamedTuple):
    """The highest precision from a level of recall on: documents needed, found, and its rank (0: nowhere)."""

    needed: int
    found: int
    rank: int


def iprec_steps(judged: JudgedRankings, *, recall: float, **settings: Any) -> Steps:
    """The highest precision from the level of recall on."""
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


def iprec_average_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The eleven levels of recall, and the highest precision from each on."""
    listed = listed_as(judged, settings)
    peaks = _peaks(listed, LEVELS, settings)
    curve = np.array([peak.found / peak.rank if peak.rank else 0.0 for peak in peaks])
    levels = {
        "recall": np.array(LEVELS),
        "needed": np.array([peak.needed for peak in peaks]),
        "rank": np.array([peak.rank or np.nan for peak in peaks]),
        "precision": curve,
    }
    return steps_of(
        listed,
        found_columns(listed, settings["rel"]),
        arithmetic=f"({total(curve)}) / {len(LEVELS)}",
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
    for needed in needed_documents(wanted, settings["rounding"]).tolist():
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
