"""The arithmetic of counts, and of shares of judged documents, line by line."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, listing, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number
from pytest_ireval_metrics.steps_of_precision import found_columns, relevance_facts

Floats = NDArray[np.float64]


def number_of_queries_steps(judged: JudgedRankings) -> Steps:
    """One query."""
    return steps_of(listing(judged), {}, arithmetic="1", value=1.0)


def _counting(listed: Listing, counts: Floats, facts: list[str]) -> Steps:
    """Documents that count, one by one."""
    whole = float(counts.sum())
    so_far = {"so far": np.cumsum(counts)}
    return steps_of(listed, so_far, arithmetic=shown_number(whole), value=whole, facts=facts, shares=counts)


def number_retrieved_steps(judged: JudgedRankings, *, rel: float | None) -> Steps:
    """Retrieved documents, or those of a grade."""
    listed = listing(judged)
    if rel is None:
        return _counting(listed, np.ones(listed.rank.size), [f"n = {listed.retrieved} documents are retrieved"])
    return number_found_steps(judged, rel=rel)


def number_found_steps(judged: JudgedRankings, *, rel: float, cutoff: int | None = None) -> Steps:
    """Relevant documents that were retrieved."""
    listed = listing(judged, cutoff)
    facts = relevance_facts(listed, {"rel": rel, "cutoff": cutoff})
    return _counting(listed, listed.relevant(rel).astype(np.float64), facts)


def number_refused_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """Documents that are judged not relevant."""
    listed = listing(judged)
    refused = listed.judged & (listed.grade >= 0) & (listed.grade < rel)
    return _counting(listed, refused.astype(np.float64), [f"grades from 0 on and below {rel:g} count"])


def number_relevant_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """R, which no ranking changes."""
    listed = listing(judged)
    count = listed.relevant_count(rel)
    facts = relevance_facts(listed, {"rel": rel})
    return steps_of(listed, found_columns(listed, rel), arithmetic=shown_number(count), value=count, facts=facts)


def judged_steps(judged: JudgedRankings, *, cutoff: int | None) -> Steps:
    """Judged documents, and their share."""
    listed = listing(judged, cutoff)
    return _share(listed, listed.judged.astype(np.float64), listed.rank.size, "min(k, n)")


def unjudged_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    """Documents that nobody judged, and their share."""
    listed = listing(judged, cutoff)
    return _share(listed, (~listed.judged).astype(np.float64), cutoff, "k")


def _share(listed: Listing, counts: Floats, among: int, what: str) -> Steps:
    text, value = quotient(float(counts.sum()), among)
    facts = [f"{what} = {among} places count"]
    so_far = {"so far": np.cumsum(counts)}
    return steps_of(listed, so_far, arithmetic=text, value=value, facts=facts, shares=counts / max(1, among))
