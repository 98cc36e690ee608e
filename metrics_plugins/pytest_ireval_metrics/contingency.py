"""Metrics that weigh relevant documents against others: FallOut, Utility and Accuracy."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, MetricError, Param, Steps, condensed, listing, metric, ratio, steps_of
from pytest_ireval_metrics.gains import by_relevance
from pytest_ireval_metrics.sets_and_ranks import listed_as, relevance_facts, relevant_within
from pytest_ireval_metrics.vocabulary import Cutoff, Depth, Floats, JudgedOnly, Rel, quotient, shown_number


def _fall_out_steps(judged: JudgedRankings, *, cutoff: int, rel: float) -> Steps:
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


def _utility_steps(judged: JudgedRankings, *, hit: float, noise: float, miss: float, rest: float, rel: float) -> Steps:
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


def _accuracy_steps(judged: JudgedRankings, **settings: Any) -> Steps:
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


def _shown(judged: JudgedRankings, cutoff: int | None) -> NDArray[np.int64]:
    """Per query, how many documents the reader sees."""
    return judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)


@metric(
    name="FallOut",
    tie_order=by_relevance,
    binary=True,
    steps=_fall_out_steps,
    direction="lower",
    no_relevant=None,
    empty=0.0,
    needs=("collection",),
    spellings={"fallout": {}},
)
def fall_out(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the collection's documents that are not relevant and yet stand among the first.

    Formula: FallOut@k = #(documents at ranks 1 to k that are not relevant, judged or not) / (N - R)
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979. N is the size of the collection. A system
        that returns nothing has 0, the best there is: pair it with recall.
    Example: FallOut@4 of 1 0 - 0 | 1 in a collection of 1000 = 3 / (1000 - 2) = 0.003
    """
    others = _shown(judged, cutoff) - relevant_within(judged, cutoff, rel)
    return ratio(others, (judged.collection or 0) - judged.relevant_count(rel))


def _by_worth(
    grade: Floats, *, hit: float, noise: float, miss: float, rest: float, rel: float, **_: Any
) -> Floats | None:
    """Known where showing a relevant document gains and showing another one loses, or the reverse."""
    gained, lost = hit - miss, noise - rest
    if gained >= 0 >= lost:
        return by_relevance(grade, rel=rel)
    return -by_relevance(grade, rel=rel) if gained <= 0 <= lost else None


@metric(
    name="Utility",
    tie_order=_by_worth,
    binary=True,
    not_promised={"perfect_is_best": "where noise is worth something, the longest list is best"},
    steps=_utility_steps,
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
    """What all retrieved documents are worth together, and what those that were left out cost.

    Formula: Utility = hit a + noise (n - a) + miss (R - a) + rest (N - n - R + a), where a relevant ones are retrieved
    Reference: D. D. Lewis, Evaluating and optimizing autonomous text classification systems, SIGIR 1995;
        trec_eval utility.
    Example: Utility(miss=-0.5) of 1 0 0 1 1 | 1 = 3 - 2 - 0.5 = 0.5
    """
    found, retrieved, relevant = relevant_within(judged, None, rel), judged.retrieved, judged.relevant_count(rel)
    worth = hit * found + noise * (retrieved - found) + miss * (relevant - found)
    if not rest:
        return worth
    if judged.collection is None:
        raise MetricError(
            f"with rest={rest:g} it needs collection=N (command line: --collection N), "
            "the number of documents there are to find"
        )
    return worth + rest * (judged.collection - retrieved - relevant + found)


@metric(
    name="Accuracy",
    binary=True,
    not_promised={"promotion_never_harms": "a document that enters at the cutoff ranks below all others"},
    steps=_accuracy_steps,
)
def accuracy(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """The share of pairs of retrieved documents in which the relevant one is above the other one.

    Formula: Accuracy = 1 - sum over relevant d of #(not relevant above d) / (a b), where a of the documents at ranks 1
        to k are relevant and b are not; 1 if b = 0, and 0 if a = 0
    Reference: ir_measures Accuracy, which leaves queries with a = 0 out. It says nothing of documents not retrieved.
    Example: Accuracy of 0 1 - 1 = 1 - (1 + 2) / (2 * 2) = 0.25
    """
    judged = condensed(judged) if judged_only else judged
    counts = judged.relevant(rel)
    if cutoff is not None:
        counts = counts & (judged.hits.rank <= cutoff)
    found = judged.sum(counts)
    pairs = found * (_shown(judged, cutoff) - found)
    misplaced = judged.sum(judged.hits.rank - judged.relevant_so_far(rel), counts)
    return np.where(found > 0, 1.0 - ratio(misplaced, pairs), 0.0)


METRICS = [fall_out, utility, accuracy]
