"""Counts of what was judged and retrieved, and shares of judged documents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytest_ireval import JudgedRankings, Listing, Steps, listing, metric, ratio, steps_of
from pytest_ireval_metrics.gains import by_nothing, by_relevance
from pytest_ireval_metrics.sets_and_ranks import found_columns, relevance_facts, relevant_within
from pytest_ireval_metrics.vocabulary import AnyRel, Cutoff, Depth, Floats, Rel, quotient, shown_number


def _number_of_queries_steps(judged: JudgedRankings) -> Steps:
    """One query."""
    return steps_of(listing(judged), {}, arithmetic="1", value=1.0)


def _counting(listed: Listing, counts: Floats, facts: list[str]) -> Steps:
    """Documents that count, one by one."""
    whole = float(counts.sum())
    so_far = {"so far": np.cumsum(counts)}
    return steps_of(listed, so_far, arithmetic=shown_number(whole), value=whole, facts=facts, shares=counts)


def _number_retrieved_steps(judged: JudgedRankings, *, rel: float | None) -> Steps:
    """Retrieved documents, or those of a grade."""
    listed = listing(judged)
    if rel is None:
        return _counting(listed, np.ones(listed.rank.size), [f"n = {listed.retrieved} documents are retrieved"])
    return _number_found_steps(judged, rel=rel)


def _number_found_steps(judged: JudgedRankings, *, rel: float, cutoff: int | None = None) -> Steps:
    """Relevant documents that were retrieved."""
    listed = listing(judged, cutoff)
    facts = relevance_facts(listed, {"rel": rel, "cutoff": cutoff})
    return _counting(listed, listed.relevant(rel).astype(np.float64), facts)


def _number_refused_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """Documents that are judged not relevant."""
    listed = listing(judged)
    refused = listed.judged & (listed.grade >= 0) & (listed.grade < rel)
    return _counting(listed, refused.astype(np.float64), [f"grades from 0 on and below {rel:g} count"])


def _number_relevant_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """R, which no ranking changes."""
    listed = listing(judged)
    count = listed.relevant_count(rel)
    facts = relevance_facts(listed, {"rel": rel})
    return steps_of(listed, found_columns(listed, rel), arithmetic=shown_number(count), value=count, facts=facts)


def _judged_steps(judged: JudgedRankings, *, cutoff: int | None) -> Steps:
    """Judged documents, and their share."""
    listed = listing(judged, cutoff)
    return _share(listed, listed.judged.astype(np.float64), listed.rank.size, "min(k, n)")


def _unjudged_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    """Documents that nobody judged, and their share."""
    listed = listing(judged, cutoff)
    return _share(listed, (~listed.judged).astype(np.float64), cutoff, "k")


def _share(listed: Listing, counts: Floats, among: int, what: str) -> Steps:
    text, value = quotient(float(counts.sum()), among)
    facts = [f"{what} = {among} places count"]
    so_far = {"so far": np.cumsum(counts)}
    return steps_of(listed, so_far, arithmetic=text, value=value, facts=facts, shares=counts / max(1, among))


def _judged_first(grade: Floats, **_: Any) -> Floats:
    return (~np.isnan(grade)).astype(np.float64)


@metric(
    name="NumQ",
    tie_order=by_nothing,
    steps=_number_of_queries_steps,
    aggregate="sum",
    direction="neither",
    no_relevant=None,
    spellings={"num_q": {}},
)
def queries(judged: JudgedRankings) -> Floats:
    """How many queries count.

    Formula: NumQ = 1 for each query
    Reference: trec_eval num_q; ir_measures NumQ.
    Example: NumQ of 1 0 = 1
    """
    return np.ones(judged.count)


@metric(
    name="NumRet",
    steps=_number_retrieved_steps,
    range=(0, np.inf),
    aggregate="sum",
    direction="neither",
    no_relevant=None,
    spellings={"num_ret": {}},
)
def retrieved(judged: JudgedRankings, *, rel: AnyRel = None) -> Floats:
    """How many documents were retrieved; with rel, how many of that grade or above.

    Formula: NumRet = n
    Reference: trec_eval num_ret.
    Example: NumRet of 1 0 0 1 0 = 5
    """
    return judged.retrieved.astype(np.float64) if rel is None else relevant_within(judged, None, rel)


@metric(
    name="NumRel",
    tie_order=by_nothing,
    steps=_number_relevant_steps,
    range=(0, np.inf),
    aggregate="sum",
    direction="neither",
    spellings={"num_rel": {}},
)
def relevant(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """How many relevant documents there are, retrieved or not.

    Formula: NumRel = R
    Reference: trec_eval num_rel.
    Example: NumRel of 1 0 0 1 | 1 = 3
    """
    return judged.relevant_count(rel).astype(np.float64)


@metric(
    name="NumRelRet",
    tie_order=by_relevance,
    binary=True,
    steps=_number_found_steps,
    range=(0, np.inf),
    aggregate="sum",
    spellings={"num_rel_ret": {}, "hits": {}},
    additive=True,
)
def relevant_retrieved(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """How many relevant documents were retrieved (within the cutoff).

    Formula: NumRelRet = #(relevant retrieved)
    Reference: trec_eval num_rel_ret.
    Example: NumRelRet of 1 0 0 1 | 1 = 2
    """
    return relevant_within(judged, cutoff, rel)


@metric(name="Judged", tie_order=_judged_first, steps=_judged_steps, no_relevant=None)
def judged_share(judged: JudgedRankings, *, cutoff: Depth = None) -> Floats:
    """Share of the first documents that are judged, relevant or not.

    Formula: Judged@k = #(judged documents at ranks 1 to k) / min(k, n)
    Reference: ir_measures Judged. trec_eval's unj_k is about unjudged documents, and divides by k.
    Example: Judged@4 of 1 - 0 = 2/3 = 0.6667
    """
    hits = judged.hits
    within = hits.rank <= cutoff if cutoff is not None else np.ones(hits.rank.size, bool)
    size = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    return ratio(judged.sum(within), size)


@metric(
    name="NumNonRelRet",
    steps=_number_refused_steps,
    range=(0, np.inf),
    aggregate="sum",
    direction="neither",
    no_relevant=None,
    spellings={"num_nonrel_judged_ret": {}},
)
def not_relevant_retrieved(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """How many documents were retrieved that are judged not relevant; grades below 0 do not count.

    Formula: NumNonRelRet = #(retrieved with a grade from 0 on and below rel)
    Reference: trec_eval num_nonrel_judged_ret.
    Example: NumNonRelRet of 1 0 - 0 | 0 = 2
    """
    grade = judged.hits.grade
    return judged.sum((grade >= 0) & (grade < rel))


@metric(
    name="Unjudged",
    tie_order=_judged_first,
    steps=_unjudged_steps,
    direction="lower",
    no_relevant=None,
    empty=0.0,
    spellings={"unj_{cutoff}": {}},
)
def unjudged_share(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the first k places that hold a document without a judgment: places about which nothing is known.

    Formula: Unjudged@k = #(unjudged documents at ranks 1 to k) / k
    Reference: trec_eval 10 unj, which counts grades below 0 as unjudged, too. 1 - Judged@k divides by min(k, n).
    Example: Unjudged@4 of 1 - 0 = 1/4 = 0.25
    """
    shown = np.minimum(judged.retrieved, cutoff)
    return (shown - judged.sum(judged.hits.rank <= cutoff)) / cutoff


METRICS = [queries, retrieved, relevant, relevant_retrieved, not_relevant_retrieved, judged_share, unjudged_share]
