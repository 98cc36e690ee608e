"""Sets and pairs: capped recall, average precision of a set, fall-out, and the share of pairs in the right order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, list_ranking, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.sets_and_ranks import Closing, Counts, count_found, describe_relevance, make_count_steps
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Depth,
    Floats,
    Rel,
    condensable_metric,
    format_quotient,
    list_as_scored,
    make_sum_steps,
    mark_found,
    relevance_metric,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _close_set_ap(counts: Counts) -> Closing:
    precision, recall = format_quotient(counts.found, counts.retrieved), format_quotient(counts.found, counts.relevant)
    return f"({precision[0]}) * ({recall[0]})", precision[1] * recall[1]


_capped_recall_steps = make_count_steps(
    lambda counts: format_quotient(counts.found, min(counts.relevant, counts.settings["cutoff"]))
)
_set_ap_steps = make_count_steps(_close_set_ap)


@relevance_metric(
    name="CappedR", spellings={"R_cap": {}, "recall_cap_{cutoff}": {}, "relative_P_{cutoff}": {}}, additive=True
)
def capped_recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that could be among the first which are; precision to rank R, recall from there.

    Formula: CappedR@k = #(relevant documents at ranks 1 to k) / min(R, k)
    Reference: N. Thakur et al., BEIR, 2021 (capped recall); trec_eval relative_P, the same figure.
    Example: CappedR@3 of 1 0 0 1 | 1 1 = 1/3 = 0.3333
    """
    return ratio(count_found(judged, cutoff, rel), np.minimum(judged.relevant_count(rel), cutoff))


steps_for(capped_recall)(_capped_recall_steps)


@relevance_metric(name="SetAP", spellings={"set_map": {}})
def set_ap(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision of a set without order: precision times recall of all retrieved documents.

    Formula: SetAP = SetP SetR
    Reference: trec_eval set_map; ir_measures SetAP.
    Example: SetAP of 1 0 0 1 | 1 1 = 2/4 * 2/4 = 0.25
    """
    found = count_found(judged, None, rel)
    return ratio(found * found, judged.retrieved * judged.relevant_count(rel))


steps_for(set_ap)(_set_ap_steps)


def _count_shown_documents(judged: JudgedRankings, cutoff: int | None) -> NDArray[np.int64]:
    """Per query, the number of documents that the reader sees."""
    return judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)


@metric(
    name="FallOut",
    direction="lower",
    no_relevant=None,
    empty=0.0,
    needs=("collection",),
    spellings={"fallout": {}},
    binary=True,
)
def fall_out(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the collection's documents that are not relevant, yet among the first.

    Formula: FallOut@k = #(documents at ranks 1 to k that are not relevant, judged or not) / (N - R)
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979. N is the size of the collection. A system
        that returns nothing has 0, the best there is: pair it with recall.
    Example: FallOut@4 of 1 0 - 0 | 1 in a collection of 1000 = 3 / (1000 - 2) = 0.003
    """
    others = _count_shown_documents(judged, cutoff) - count_found(judged, cutoff, rel)
    return ratio(others, (judged.collection or 0) - judged.relevant_count(rel))


@steps_for(fall_out)
def _fall_out_steps(judged: JudgedRankings, *, cutoff: int, rel: float) -> Steps:
    listed = list_ranking(judged, cutoff)
    others = (~listed.relevant(rel)).astype(np.float64)
    among = (judged.collection or 0) - listed.relevant_count(rel)
    facts = describe_relevance(listed, {"rel": rel, "cutoff": cutoff})
    facts.append(f"N = {judged.collection} documents are in the collection, N - R = {among} not relevant")
    return make_sum_steps(listed, {"not relevant": np.cumsum(others)}, others, among, facts, terms=False)


@condensable_metric(
    name="Accuracy",
    binary=True,
    not_promised={"promotion_never_harms": "a document that enters at the cutoff ranks below all others"},
)
def accuracy(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """The share of pairs of retrieved documents in which the relevant one is above the other one.

    Formula: Accuracy = 1 - sum over relevant d of #(not relevant above d) / (a b), where a of the documents at ranks 1
        to k are relevant and b are not; 1 if b = 0, and 0 if a = 0
    Reference: ir_measures Accuracy, which leaves queries with a = 0 out. It says nothing of documents not retrieved.
    Example: Accuracy of 0 1 - 1 = 1 - (1 + 2) / (2 * 2) = 0.25
    """
    counts = mark_found(judged, rel, cutoff)
    found = judged.sum(counts)
    pairs = found * (_count_shown_documents(judged, cutoff) - found)
    misplaced = judged.sum(judged.hits.rank - judged.relevant_so_far(rel), counts)
    return np.where(found > 0, 1.0 - ratio(misplaced, pairs), 0.0)


@steps_for(accuracy)
def _accuracy_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    relevant = listed.relevant(settings["rel"])
    found, others = int(relevant.sum()), int((~relevant).sum())
    above = np.where(relevant, np.cumsum(~relevant), 0)
    pairs = found * others
    text = f"1 - {int(above.sum())} / {pairs}" if pairs else "1" if found else "0"
    right = np.where(relevant, (others - above) / others if others else 1.0, 0.0)
    return make_steps(
        listed,
        {"others above": np.where(relevant, above, np.nan), "so far": np.cumsum(above)},
        arithmetic=text,
        value=1 - int(above.sum()) / pairs if pairs else float(found > 0),
        facts=[
            *describe_relevance(listed, settings),
            f"{found} relevant and {others} other documents count, {pairs} pairs of both",
        ],
        shares=right / max(1, found),
    )
