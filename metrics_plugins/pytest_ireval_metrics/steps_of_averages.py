"""The arithmetic of average precision and what was made of it, line by line."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, steps_of
from pytest_ireval_metrics.arithmetic import shared, shown_number
from pytest_ireval_metrics.steps_of_precision import found_columns, listed_as, relevance_facts

Floats = NDArray[np.float64]


def average_precision_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Precision where a relevant document stands, added up and divided by R."""
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    columns = found_columns(listed, settings["rel"])
    adds = np.where(relevant, columns["precision"], 0.0)
    divisor = divisor_within(listed, settings)
    text, value = shared(adds, divisor)
    return steps_of(
        listed,
        {**columns, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)},
        arithmetic=text,
        value=value,
        facts=relevance_facts(listed, settings),
        shares=adds / max(1, divisor),
    )


def divisor_within(listed: Listing, settings: Mapping[str, Any]) -> int:
    """R, or min(R, k) if the settings say so."""
    count = listed.relevant_count(settings["rel"])
    cutoff = settings.get("cutoff")
    return min(count, cutoff) if settings.get("denominator") == "min" and cutoff is not None else count


def yaap_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """The precisions of relevant documents added up, as odds against what is missing."""
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


def gap_steps(judged: JudgedRankings, *, thresholds: Mapping[float, float] | None, **settings: Any) -> Steps:
    """Precision expected at each rank when readers differ, added up and divided by the readers of all documents."""
    listed = listed_as(judged, settings)
    readers = np.where(listed.judged, _readers(listed.grade, thresholds), 0.0)
    agreed = np.array([np.minimum(readers[: i + 1], readers[i]).sum() for i in range(readers.size)])
    adds = agreed / listed.rank
    best = float(_readers(listed.ideal, thresholds).sum())
    text, value = shared(adds, best)
    return steps_of(
        listed,
        {"readers": readers, "agreed": agreed, "adds": adds, "sum": np.cumsum(adds)},
        arithmetic=text,
        value=value,
        facts=[
            f"readers: how many call a document relevant (all judged documents together: {shown_number(best)})",
            "agreed: readers shared with the documents above, and its own; adds = agreed / rank",
        ],
        shares=adds / best if best else np.zeros(adds.size),
    )


def _readers(grade: Floats, thresholds: Mapping[float, float] | None) -> Floats:
    if thresholds is None:
        return np.maximum(grade, 0.0)
    return np.array([sum(chance for threshold, chance in thresholds.items() if g >= threshold) for g in grade.tolist()])
