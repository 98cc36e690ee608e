"""The arithmetic of metrics of relevant and not relevant documents, line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, condensed, listing, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number

Floats = NDArray[np.float64]
Closing = tuple[str, float]


def listed_as(judged: JudgedRankings, settings: Mapping[str, Any], cutoff: int | None = None) -> Listing:
    """The list that a metric with these settings looks at."""
    seen = condensed(judged) if settings.get("judged_only") else judged
    return listing(seen, settings.get("cutoff") if cutoff is None else cutoff)


def relevance_facts(listed: Listing, settings: Mapping[str, Any]) -> list[str]:
    """What everything rests on: R, n, the cutoff, and whether unjudged documents were left out."""
    rel = settings["rel"]
    facts = [f"R = {listed.relevant_count(rel)} documents are relevant (grade {rel:g} or more)"]
    facts.append(f"n = {listed.retrieved} documents are retrieved")
    if settings.get("cutoff"):
        facts.append(f"k = {settings['cutoff']}, the cutoff")
    if settings.get("judged_only"):
        facts.append("documents without a judgment are left out first; ranks are those of the others")
    return facts


def found_columns(listed: Listing, rel: float) -> dict[str, NDArray[Any]]:
    """Relevant documents so far, with precision and recall, at every rank."""
    found = np.cumsum(listed.relevant(rel))
    count = listed.relevant_count(rel)
    recall = found / count if count else np.zeros(found.size)
    return {"found": found, "precision": found / listed.rank, "recall": recall}


def _steps_with(closing: Callable[[int, int, int, Mapping[str, Any]], Closing]) -> Callable[..., Steps]:
    """Steps of a metric of three numbers: relevant documents found, R and n; each found document has an equal share."""

    def steps(judged: JudgedRankings, **settings: Any) -> Steps:
        listed = listed_as(judged, settings)
        relevant = listed.relevant(settings["rel"])
        found = int(relevant.sum())
        text, value = closing(found, listed.relevant_count(settings["rel"]), listed.retrieved, settings)
        columns = found_columns(listed, settings["rel"])
        shares = relevant * (value / found if found else 0.0)
        facts = relevance_facts(listed, settings)
        return steps_of(listed, columns, arithmetic=text, value=value, facts=facts, shares=shares)

    return steps


def _set_ap(precision: Closing, recall: Closing) -> Closing:
    return f"({precision[0]}) * ({recall[0]})", precision[1] * recall[1]


def _f(precision: Closing, recall: Closing, beta: float) -> Closing:
    weight = beta**2
    below = weight * precision[1] + recall[1]
    value = (1 + weight) * precision[1] * recall[1] / below if below else 0.0
    p, r = f"({precision[0]})", f"({recall[0]})"
    factor = "" if weight == 1 else f"{shown_number(weight)} * "
    text = f"{shown_number(1 + weight)} * {p} * {r} / ({factor}{p} + {r})"
    return (text if below else f"({text} counts as 0)"), value


def _of_cutoff(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:  # noqa: ARG001 - as all
    return quotient(found, settings["cutoff"])


def _of_relevant(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:  # noqa: ARG001 - as all
    return quotient(found, count)


def _of_both(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:  # noqa: ARG001 - as all
    return quotient(found, min(count, settings["cutoff"]))


def _of_retrieved(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:
    return quotient(found, min(retrieved, count) if settings.get("relative") else retrieved)


def _balanced(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:
    """F of the documents down to the cutoff, or of all that were retrieved."""
    return _f(quotient(found, settings.get("cutoff", retrieved)), quotient(found, count), settings["beta"])


def _multiplied(found: int, count: int, retrieved: int, settings: Mapping[str, Any]) -> Closing:  # noqa: ARG001 - as all
    return _set_ap(quotient(found, retrieved), quotient(found, count))


precision_steps = _steps_with(_of_cutoff)
recall_steps = _steps_with(_of_relevant)
capped_recall_steps = _steps_with(_of_both)
f_steps = _steps_with(_balanced)
set_precision_steps = _steps_with(_of_retrieved)
set_ap_steps = _steps_with(_multiplied)


def success_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Whether anything is found; the first that is decides."""
    return _first_steps(judged, settings, lambda rank: ("1" if rank else "0", float(rank > 0)))


def reciprocal_rank_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """1 divided by the rank of the first relevant document."""
    return _first_steps(judged, settings, lambda rank: quotient(1, rank) if rank else ("0", 0.0))


def _first_steps(judged: JudgedRankings, settings: Mapping[str, Any], closing: Callable[[int], Closing]) -> Steps:
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    first = relevant & (np.cumsum(relevant) == 1)
    rank = int(listed.rank[first].sum())
    text, value = closing(rank)
    said = f"the first relevant document stands at rank {rank}" if rank else "no relevant document is there"
    facts = [*relevance_facts(listed, settings), said]
    found = {"found": np.cumsum(relevant)}
    return steps_of(listed, found, arithmetic=text, value=value, facts=facts, shares=first * value)


def r_precision_steps(judged: JudgedRankings, *, multiple: float, **settings: Any) -> Steps:
    """Precision at the rank R, or at a multiple of it."""
    count = listed_as(judged, settings).relevant_count(settings["rel"])
    rank = count if multiple == 1 else int(multiple * count + 0.9)
    listed = listed_as(judged, settings, cutoff=rank)
    relevant = listed.relevant(settings["rel"])
    text, value = quotient(int(relevant.sum()), rank)
    which = "R" if multiple == 1 else f"the whole part of {multiple:g} R + 0.9"
    facts = [*relevance_facts(listed, settings), f"ranks 1 to {rank} count, which is {which}"]
    columns = found_columns(listed, settings["rel"])
    return steps_of(listed, columns, arithmetic=text, value=value, facts=facts, shares=relevant / max(1, rank))
