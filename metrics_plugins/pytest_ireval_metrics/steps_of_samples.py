"""The arithmetic of metrics for incomplete judgments, line by line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Steps, listing, steps_of
from pytest_ireval_metrics.arithmetic import shared

EPSILON = 1e-5


def bpref_steps(judged: JudgedRankings, *, rel: float, denominator: str = "min") -> Steps:
    """For each relevant document, how few that are judged not relevant stand above it."""
    listed = listing(judged)
    relevant = listed.relevant(rel)
    count = listed.relevant_count(rel)
    others = int(np.count_nonzero((listed.ideal >= 0) & (listed.ideal < rel)))
    above = np.cumsum(listed.judged & (listed.grade >= 0) & (listed.grade < rel))
    against = count if denominator == "R" else min(count, others)
    adds = np.where(relevant, 1 - np.minimum(above, count) / against if against else 1.0, 0.0)
    text, value = shared(adds, count)
    divides = "R" if denominator == "R" else "min(R, N)"
    return steps_of(
        listed,
        {"N above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)},
        arithmetic=text,
        value=value,
        facts=[
            f"R = {count} documents are relevant (grade {rel:g} or more), N = {others} judged not relevant",
            f"adds = 1 - min(N above, R) / {divides} where a document is relevant",
        ],
        shares=adds / max(1, count),
    )


def inferred_ap_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """For each relevant document, the precision at its rank that the judged sample makes likely."""
    listed = listing(judged)
    relevant = listed.relevant(rel)
    found: NDArray[np.int64] = np.cumsum(relevant) - relevant
    refused = np.cumsum(listed.judged & (listed.grade >= 0) & (listed.grade < rel))
    pooled = found + np.cumsum(listed.judged & (listed.grade < rel))
    chance = (found + EPSILON) / (found + refused + 2 * EPSILON)
    adds = np.where(relevant, (1 + pooled * chance) / listed.rank, 0.0)
    count = listed.relevant_count(rel)
    text, value = shared(adds, count)
    shown = {"pooled": pooled, "found": found, "not": refused, "chance": chance, "adds": adds}
    return steps_of(
        listed,
        {
            **{name: np.where(relevant, column, np.nan) for name, column in shown.items()},
            "sum": np.cumsum(adds),
        },
        arithmetic=text,
        value=value,
        facts=[
            f"R = {count} documents are relevant (grade {rel:g} or more)",
            "pooled, found, not: documents above (grades below 0 are pooled, not judged)",
            "chance = (found + e) / (found + not + 2e), e = 0.00001",
            "adds = (1 + pooled * chance) / rank",
        ],
        shares=adds / max(1, count),
    )
