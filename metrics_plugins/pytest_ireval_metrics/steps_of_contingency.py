"""The arithmetic of metrics that weigh relevant documents against others, line by line."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_ireval import JudgedRankings, Steps, listing, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number
from pytest_ireval_metrics.steps_of_precision import listed_as, relevance_facts


def fall_out_steps(judged: JudgedRankings, *, cutoff: int, rel: float) -> Steps:
    """Documents that are not relevant, of all that there are."""
    listed = listing(judged, cutoff)
    others = ~listed.relevant(rel)
    among = (judged.collection or 0) - listed.relevant_count(rel)
    text, value = quotient(int(others.sum()), among)
    facts = relevance_facts(listed, {"rel": rel, "cutoff": cutoff})
    return steps_of(
        listed,
        {"not relevant": np.cumsum(others)},
        arithmetic=text,
        value=value,
        facts=[*facts, f"N = {judged.collection} documents are in the collection, N - R = {among} not relevant"],
        shares=others / among if among else np.zeros(others.size),
    )


def utility_steps(judged: JudgedRankings, *, hit: float, noise: float, miss: float, rest: float, rel: float) -> Steps:
    """What each retrieved document is worth, and what the others are."""
    listed = listing(judged)
    relevant, count = listed.relevant(rel), listed.relevant_count(rel)
    found = int(relevant.sum())
    cells = [(hit, found), (noise, listed.retrieved - found), (miss, count - found)]
    if rest:
        cells.append((rest, (judged.collection or 0) - listed.retrieved - count + found))
    worth = np.where(relevant, hit, noise)
    return steps_of(
        listed,
        {"worth": worth, "sum": np.cumsum(worth)},
        arithmetic=" + ".join(f"{weight:g} * {shown_number(size)}" for weight, size in cells),
        value=sum(weight * size for weight, size in cells),
        facts=[
            *relevance_facts(listed, {"rel": rel}),
            "worth times number: relevant retrieved, others retrieved, relevant missed" + (", the rest" * bool(rest)),
        ],
        shares=None if miss or rest else worth,
    )


def accuracy_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """For each relevant document, how many others stand above it."""
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    found, others = int(relevant.sum()), int((~relevant).sum())
    above = np.where(relevant, np.cumsum(~relevant), 0)
    pairs = found * others
    text = f"1 - {int(above.sum())} / {pairs}" if pairs else "1" if found else "0"
    right = np.where(relevant, (others - above) / others if others else 1.0, 0.0)
    return steps_of(
        listed,
        {"others above": np.where(relevant, above, np.nan), "so far": np.cumsum(above)},
        arithmetic=text,
        value=1 - int(above.sum()) / pairs if pairs else float(found > 0),
        facts=[
            *relevance_facts(listed, settings),
            f"{found} relevant and {others} other documents count, {pairs} pairs of both",
        ],
        shares=right / max(1, found),
    )
