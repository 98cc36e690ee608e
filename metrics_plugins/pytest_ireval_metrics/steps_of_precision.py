"""The arithmetic of metrics of relevant and not relevant documents, line by line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, condensed, listing, steps_of
from pytest_ireval_metrics.arithmetic import number, quotient, shared

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


def steps_with(closing: Callable[[int, int, int, Mapping[str, Any]], Closing]) -> Callable[..., Steps]:
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


def _f(precision: Closing, recall: Closing, beta: float) -> Closing:
    weight = beta**2
    below = weight * precision[1] + recall[1]
    value = (1 + weight) * precision[1] * recall[1] / below if below else 0.0
    p, r = f"({precision[0]})", f"({recall[0]})"
    factor = "" if weight == 1 else f"{number(weight)} * "
    text = f"{number(1 + weight)} * {p} * {r} / ({factor}{p} + {r})"
    return (text if below else f"({text} counts as 0)"), value


def _plain(value: int) -> Closing:
    return str(value), float(value)


precision_steps = steps_with(lambda found, _R, _n, s: quotient(found, s["cutoff"]))  # noqa: N803 - as in formulas
recall_steps = steps_with(lambda found, R, _n, _s: quotient(found, R))  # noqa: N803 - as in formulas
f_steps = steps_with(  # P and R at the cutoff, or of all retrieved
    lambda found, R, n, s: _f(quotient(found, s.get("cutoff", n)), quotient(found, R), s["beta"])  # noqa: N803 - as above
)
set_precision_steps = steps_with(lambda found, R, n, s: quotient(found, min(n, R) if s["relative"] else n))  # noqa: N803 - as above
number_found_steps = steps_with(lambda found, _R, _n, _s: _plain(found))  # noqa: N803 - as above


def number_relevant_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """R, which no ranking changes."""
    listed = listing(judged)
    text, value = _plain(listed.relevant_count(rel))
    facts = relevance_facts(listed, {"rel": rel})
    return steps_of(listed, found_columns(listed, rel), arithmetic=text, value=value, facts=facts)


def number_retrieved_steps(judged: JudgedRankings, *, rel: float | None) -> Steps:
    """Retrieved documents, one by one."""
    listed = listing(judged)
    counts = np.ones(listed.rank.size) if rel is None else listed.relevant(rel).astype(np.float64)
    text, value = _plain(int(counts.sum()))
    return steps_of(listed, {"so far": np.cumsum(counts)}, arithmetic=text, value=value, shares=counts)


def judged_steps(judged: JudgedRankings, *, cutoff: int | None) -> Steps:
    """Judged documents, one by one."""
    listed = listing(judged, cutoff)
    text, value = quotient(int(listed.judged.sum()), listed.rank.size)
    shares = listed.judged / max(1, listed.rank.size)
    facts = [f"min(k, n) = {listed.rank.size} documents count"]
    so_far = {"judged": np.cumsum(listed.judged)}
    return steps_of(listed, so_far, arithmetic=text, value=value, facts=facts, shares=shares)


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


def r_precision_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Precision at the rank R."""
    count = listed_as(judged, settings).relevant_count(settings["rel"])
    listed = listed_as(judged, settings, cutoff=count)
    relevant = listed.relevant(settings["rel"])
    text, value = quotient(int(relevant.sum()), count)
    facts = [*relevance_facts(listed, settings), f"ranks 1 to R = {count} count"]
    columns = found_columns(listed, settings["rel"])
    return steps_of(listed, columns, arithmetic=text, value=value, facts=facts, shares=relevant / max(1, count))


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
    return min(count, cutoff) if settings["denominator"] == "min" and cutoff is not None else count
