"""Counts of what was judged and retrieved, shares of them, and metrics that weigh relevant documents against others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

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
from pytest_ireval_metrics.sets_and_ranks import count_found, describe_relevance, make_found_columns
from pytest_ireval_metrics.vocabulary import AnyRel, Cutoff, Depth, Floats, Rel, format_number, make_sum_steps

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _make_count_steps(listed: Listing, counts: Floats, facts: list[str]) -> Steps:
    whole = float(counts.sum())
    so_far = {"so far": np.cumsum(counts)}
    return make_steps(listed, so_far, arithmetic=format_number(whole), value=whole, facts=facts, shares=counts)


def _make_share_steps(listed: Listing, counts: Floats, among: int, what: str) -> Steps:
    facts = [f"{what} = {among} places count"]
    return make_sum_steps(listed, {"so far": np.cumsum(counts)}, counts, among, facts, terms=False)


_number_metric = partial(metric, range=(0, np.inf), aggregate="sum", direction="neither")


@metric(
    name="NumQ",
    aggregate="sum",
    direction="neither",
    no_relevant=None,
    not_promised={"tells_rankings_apart": "it counts queries, whatever their rankings are"},
    spellings={"num_q": {}},
)
def queries(judged: JudgedRankings) -> Floats:
    """Number of queries that count.

    Formula: NumQ = 1 for each query
    Reference: trec_eval num_q; ir_measures NumQ.
    Example: NumQ of 1 0 = 1
    """
    return np.ones(judged.count)


@steps_for(queries)
def _number_of_queries_steps(judged: JudgedRankings) -> Steps:
    return make_steps(list_ranking(judged), {}, arithmetic="1", value=1.0)


@_number_metric(name="NumRet", no_relevant=None, spellings={"num_ret": {}})
def retrieved(judged: JudgedRankings, *, rel: AnyRel = None) -> Floats:
    """Number of retrieved documents; with rel, of those of that grade or above.

    Formula: NumRet = n
    Reference: trec_eval num_ret.
    Example: NumRet of 1 0 0 1 0 = 5
    """
    return judged.retrieved.astype(np.float64) if rel is None else count_found(judged, None, rel)


@steps_for(retrieved)
def _number_retrieved_steps(judged: JudgedRankings, *, rel: float | None) -> Steps:
    listed = list_ranking(judged)
    if rel is None:
        return _make_count_steps(listed, np.ones(listed.rank.size), [f"n = {listed.retrieved} documents are retrieved"])
    return _number_found_steps(judged, rel=rel)


@_number_metric(name="NumRel", spellings={"num_rel": {}})
def relevant(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Number of relevant documents, retrieved or not.

    Formula: NumRel = R
    Reference: trec_eval num_rel.
    Example: NumRel of 1 0 0 1 | 1 = 3
    """
    return judged.relevant_count(rel).astype(np.float64)


@steps_for(relevant)
def _number_relevant_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    listed = list_ranking(judged)
    count = listed.relevant_count(rel)
    facts = describe_relevance(listed, {"rel": rel})
    return make_steps(
        listed, make_found_columns(listed, rel), arithmetic=format_number(count), value=count, facts=facts
    )


@metric(name="NumRelRet", range=(0, np.inf), aggregate="sum", spellings={"num_rel_ret": {}}, additive=True, binary=True)
def relevant_retrieved(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """Number of relevant documents that were retrieved (within the cutoff).

    Formula: NumRelRet = #(relevant retrieved)
    Reference: trec_eval num_rel_ret.
    Example: NumRelRet of 1 0 0 1 | 1 = 2
    """
    return count_found(judged, cutoff, rel)


@steps_for(relevant_retrieved)
def _number_found_steps(judged: JudgedRankings, *, rel: float, cutoff: int | None = None) -> Steps:
    listed = list_ranking(judged, cutoff)
    facts = describe_relevance(listed, {"rel": rel, "cutoff": cutoff})
    return _make_count_steps(listed, listed.relevant(rel).astype(np.float64), facts)


@_number_metric(name="NumNonRelRet", no_relevant=None, spellings={"num_nonrel_judged_ret": {}})
def not_relevant_retrieved(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Number of retrieved documents that are judged not relevant; grades below 0 do not count.

    Formula: NumNonRelRet = #(retrieved with a grade from 0 on and below rel)
    Reference: trec_eval num_nonrel_judged_ret.
    Example: NumNonRelRet of 1 0 - 0 | 0 = 2
    """
    grade = judged.hits.grade
    return judged.sum((grade >= 0) & (grade < rel))


@steps_for(not_relevant_retrieved)
def _number_refused_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    listed = list_ranking(judged)
    refused = listed.judged & (listed.grade >= 0) & (listed.grade < rel)
    return _make_count_steps(listed, refused.astype(np.float64), [f"grades from 0 on and below {rel:g} count"])


@metric(name="Judged", no_relevant=None)
def judged_share(judged: JudgedRankings, *, cutoff: Depth = None) -> Floats:
    """Share of the first documents that are judged, relevant or not.

    Formula: Judged@k = #(judged documents at ranks 1 to k) / min(k, n)
    Reference: ir_measures Judged. trec_eval's unj_k is about unjudged documents, and divides by k.
    Example: Judged@4 of 1 - 0 = 2/3 = 0.6667
    """
    hits = judged.hits
    if cutoff is None:
        return ratio(judged.sum(np.ones(hits.rank.size, bool)), judged.retrieved)
    return ratio(judged.sum(hits.rank <= cutoff), np.minimum(judged.retrieved, cutoff))


@steps_for(judged_share)
def _judged_steps(judged: JudgedRankings, *, cutoff: int | None) -> Steps:
    listed = list_ranking(judged, cutoff)
    return _make_share_steps(listed, listed.judged.astype(np.float64), listed.rank.size, "min(k, n)")


@metric(name="Unjudged", direction="lower", no_relevant=None, empty=0.0, spellings={"unj_{cutoff}": {}})
def unjudged_share(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the first k places that hold a document without a judgment: places about which nothing is known.

    Formula: Unjudged@k = #(unjudged documents at ranks 1 to k) / k
    Reference: trec_eval 10 unj, which counts grades below 0 as unjudged, too. 1 - Judged@k divides by min(k, n).
    Example: Unjudged@4 of 1 - 0 = 1/4 = 0.25
    """
    shown = np.minimum(judged.retrieved, cutoff)
    return (shown - judged.sum(judged.hits.rank <= cutoff)) / cutoff


@steps_for(unjudged_share)
def _unjudged_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    listed = list_ranking(judged, cutoff)
    return _make_share_steps(listed, (~listed.judged).astype(np.float64), cutoff, "k")


@metric(
    name="Utility",
    binary=True,
    not_promised={"perfect_is_best": "where noise is worth something, the longest list is best"},
    range=(-np.inf, np.inf),
    no_relevant=None,
    spellings={"utility_{hit},{noise},{miss},{rest}": {}},
)
def utility(
    judged: JudgedRankings,
    *,
    hit: Annotated[float, Param("what a relevant document that is retrieved is worth")] = 1,
    noise: Annotated[float, Param("what any other document that is retrieved is worth")] = -1,
    miss: Annotated[float, Param("what a relevant document that is not retrieved is worth")] = 0,
    rest: Annotated[
        float, Param("what any other document of the collection is worth; but for 0, its size must be known")
    ] = 0,
    rel: Rel = 1,
) -> Floats:
    """Total worth of all retrieved documents, and of those that were left out.

    Formula: Utility = hit a + noise (n - a) + miss (R - a) + rest (N - n - R + a), where a relevant ones are retrieved
    Reference: D. D. Lewis, Evaluating and optimizing autonomous text classification systems, SIGIR 1995;
        trec_eval utility.
    Example: Utility(miss=-0.5) of 1 0 0 1 1 | 1 = 3 - 2 - 0.5 = 0.5
    """
    found, retrieved, relevant = count_found(judged, None, rel), judged.retrieved, judged.relevant_count(rel)
    worth = hit * found + noise * (retrieved - found) + miss * (relevant - found)
    if not rest:
        return worth
    if judged.collection is None:
        raise MetricError(
            f"with rest={rest:g} it needs SideData(collection=N) (command line: --collection N), "
            "the number of documents there are to find"
        )
    return worth + rest * (judged.collection - retrieved - relevant + found)


@steps_for(utility)
def _utility_steps(judged: JudgedRankings, *, hit: float, noise: float, miss: float, rest: float, rel: float) -> Steps:
    listed = list_ranking(judged)
    relevant, count = listed.relevant(rel), listed.relevant_count(rel)
    found = int(relevant.sum())
    cells = [(hit, found), (noise, listed.retrieved - found), (miss, count - found)]
    if rest:
        cells.append((rest, (judged.collection or 0) - listed.retrieved - count + found))
    worth = np.where(relevant, hit, noise)
    return make_steps(
        listed,
        {"worth": worth, "sum": np.cumsum(worth)},
        arithmetic=" + ".join(f"{weight:g} * {format_number(size)}" for weight, size in cells),
        value=sum(weight * size for weight, size in cells),
        facts=[
            *describe_relevance(listed, {"rel": rel}),
            "worth times number: relevant retrieved, others retrieved, relevant missed" + (", the rest" * bool(rest)),
        ],
        shares=None if miss or rest else worth,
    )


_WITH_AN_ANSWER = "it has a relevant document, or none judged"
_of_queries_without_answer = partial(metric, no_relevant=None, undefined=_WITH_AN_ANSWER)
_NEEDS_EMPTY = {"perfect_is_best": "the best list of such a query is empty"}


def _only_without_answer(judged: JudgedRankings, values: Floats, rel: float) -> Floats:
    """The values of queries that are judged and have no relevant document; the others have none."""
    return np.where(judged.relevant_count(rel) == 0, values, np.nan)


@_of_queries_without_answer(name="NoAnswer", not_promised=_NEEDS_EMPTY)
def no_answer(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Share of the queries without an answer that are answered with nothing; other queries do not count.

    Formula: NoAnswer = 1 if n = 0 else 0, for queries whose judgments have no relevant document
    Reference: NIL questions of the TREC QA tracks.
    Example: NoAnswer of 0 0 = 0
    """
    return _only_without_answer(judged, (judged.present & (judged.retrieved == 0)).astype(np.float64), rel)


@steps_for(no_answer)
def _no_answer_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    listed = list_ranking(judged)
    value = float(no_answer.batch(judged, rel=rel)[0])
    facts = [f"n = {listed.retrieved} documents are retrieved", *describe_relevance(listed, {"rel": rel})]
    return make_steps(listed, {}, arithmetic=format_number(value), value=value, facts=facts)


@_of_queries_without_answer(
    name="FalseAnswers",
    direction="lower",
    range=lambda settings: (0.0, float(settings["cutoff"])),
    not_promised=_NEEDS_EMPTY,
)
def false_answers(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Number of documents that a query without an answer shows; other queries do not count.

    Formula: FalseAnswers@k = min(k, n), for queries whose judgments have no relevant document
    Reference: the documents that a user looks through in vain.
    Example: FalseAnswers@3 of 0 - = 2
    """
    shown = np.where(judged.present, np.minimum(judged.retrieved, cutoff), cutoff).astype(np.float64)
    return _only_without_answer(judged, shown, rel)


@steps_for(false_answers)
def _false_answers_steps(judged: JudgedRankings, *, cutoff: int, rel: float) -> Steps:
    listed = list_ranking(judged, cutoff)
    value = float(false_answers.batch(judged, cutoff=cutoff, rel=rel)[0])
    facts = [f"n = {listed.retrieved} documents are retrieved", *describe_relevance(listed, {"rel": rel})]
    return make_steps(listed, {}, arithmetic=format_number(value), value=value, facts=facts)
