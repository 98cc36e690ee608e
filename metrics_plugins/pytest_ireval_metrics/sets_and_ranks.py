"""Metrics of relevant and not relevant documents: precision, recall and their kin."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.vocabulary import (
    Beta,
    Cutoff,
    Depth,
    Floats,
    Rel,
    Relative,
    format_number,
    format_quotient,
    list_as_scored,
    make_sum_steps,
    mark_found,
    relevance_metric,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

Closing = tuple[str, float]


def describe_relevance(listed: Listing, settings: Mapping[str, Any]) -> list[str]:
    """The numbers that everything is based on: R, n, the cutoff, and whether unjudged documents were left out."""
    rel = settings["rel"]
    facts = [
        f"R = {listed.relevant_count(rel)} documents are relevant (grade {rel:g} or more)",
        f"n = {listed.retrieved} documents are retrieved",
    ]
    if settings.get("cutoff"):
        facts.append(f"k = {settings['cutoff']}, the cutoff")
    if settings.get("judged_only"):
        facts.append("documents without a judgment are left out first; ranks are those of the others")
    return facts


def make_found_columns(listed: Listing, rel: float) -> dict[str, NDArray[Any]]:
    """Relevant documents so far, with precision and recall, at every rank."""
    found = np.cumsum(listed.relevant(rel))
    count = listed.relevant_count(rel)
    recall = found / count if count else np.zeros(found.size)
    return {"found": found, "precision": found / listed.rank, "recall": recall}


class Counts(NamedTuple):
    """Relevant documents found, all relevant ones (R) and all retrieved ones (n), with the metric's settings."""

    found: int
    relevant: int
    retrieved: int
    settings: Mapping[str, Any]


def make_count_steps(closing: Callable[[Counts], Closing]) -> Callable[..., Steps]:
    """Steps of a metric of three counts; each found document has an equal share."""

    def steps(judged: JudgedRankings, **settings: Any) -> Steps:
        listed = list_as_scored(judged, settings)
        relevant = listed.relevant(settings["rel"])
        found = int(relevant.sum())
        count = listed.relevant_count(settings["rel"])
        text, value = closing(Counts(found, count, listed.retrieved, settings))
        columns = make_found_columns(listed, settings["rel"])
        shares = relevant * (value / found if found else 0.0)
        facts = describe_relevance(listed, settings)
        return make_steps(listed, columns, arithmetic=text, value=value, facts=facts, shares=shares)

    return steps


def _close_f(counts: Counts) -> Closing:
    """F of the documents down to the cutoff, or of all that were retrieved."""
    precision = format_quotient(counts.found, counts.settings.get("cutoff", counts.retrieved))
    recall = format_quotient(counts.found, counts.relevant)
    weight = counts.settings["beta"] ** 2
    below = weight * precision[1] + recall[1]
    value = (1 + weight) * precision[1] * recall[1] / below if below else 0.0
    p, r = f"({precision[0]})", f"({recall[0]})"
    factor = "" if weight == 1 else f"{format_number(weight)} * "
    text = f"{format_number(1 + weight)} * {p} * {r} / ({factor}{p} + {r})"
    return (text if below else f"({text} counts as 0)"), value


def _close_set_precision(counts: Counts) -> Closing:
    relative = counts.settings.get("relative")
    return format_quotient(counts.found, min(counts.retrieved, counts.relevant) if relative else counts.retrieved)


_precision_steps = make_count_steps(lambda counts: format_quotient(counts.found, counts.settings["cutoff"]))
_recall_steps = make_count_steps(lambda counts: format_quotient(counts.found, counts.relevant))
_f_steps = make_count_steps(_close_f)
_set_precision_steps = make_count_steps(_close_set_precision)


def _show_first_relevant(closing: Callable[[int], Closing], judged: JudgedRankings, **settings: Any) -> Steps:
    """Steps of a metric that looks only at the first relevant document."""
    listed = list_as_scored(judged, settings)
    relevant = listed.relevant(settings["rel"])
    first = relevant & (np.cumsum(relevant) == 1)
    rank = int(listed.rank[first].sum())
    text, value = closing(rank)
    where = f"the first relevant document is at rank {rank}" if rank else "no relevant document is there"
    facts = [*describe_relevance(listed, settings), where]
    found = {"found": np.cumsum(relevant)}
    return make_steps(listed, found, arithmetic=text, value=value, facts=facts, shares=first * value)


_success_steps = partial(_show_first_relevant, lambda rank: ("1" if rank else "0", float(rank > 0)))
_reciprocal_rank_steps = partial(_show_first_relevant, lambda rank: format_quotient(1, rank) if rank else ("0", 0.0))


def count_found(judged: JudgedRankings, cutoff: int | None, rel: float) -> Floats:
    """Per query, the number of relevant documents within the cutoff."""
    return judged.sum(mark_found(judged, rel, cutoff))


def _compute_f(precision: Floats, recall: Floats, beta: float) -> Floats:
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)


@relevance_metric(
    name="P",
    spellings={"Precision": {}, "P_{cutoff}": {}, "precision_{cutoff}": {}},
    reference="trec_eval P",
    additive=True,
)
def precision(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the first documents that are relevant.

    Formula: P@k = #(relevant documents at ranks 1 to k) / k
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979. The divisor is k even if fewer are retrieved.
    Example: P@5 of 1 0 0 1 0 = 2/5 = 0.4
    """
    return count_found(judged, cutoff, rel) / cutoff


steps_for(precision)(_precision_steps)


@relevance_metric(name="R", spellings={"Recall": {}, "recall_{cutoff}": {}}, additive=True)
def recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that are among the first.

    Formula: R@k = #(relevant documents at ranks 1 to k) / R
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979.
    Example: R@3 of 1 0 0 1 | 1 1 = 1/4 = 0.25
    """
    return ratio(count_found(judged, cutoff, rel), judged.relevant_count(rel))


steps_for(recall)(_recall_steps)


@relevance_metric(name="F", spellings={"F1": {"beta": 1}}, additive=True)
def f_at_cutoff(judged: JudgedRankings, *, cutoff: Cutoff, beta: Beta = 1, rel: Rel = 1) -> Floats:
    """Harmonic mean of precision and recall of the first documents.

    Formula: F(beta)@k = (1 + beta^2) P@k R@k / (beta^2 P@k + R@k)
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979.
    Example: F@2 of 1 0 | 1 = 2 * 1/2 * 1/2 / (1/2 + 1/2) = 0.5
    """
    found = count_found(judged, cutoff, rel)
    return _compute_f(found / cutoff, ratio(found, judged.relevant_count(rel)), beta)


steps_for(f_at_cutoff)(_f_steps)


@relevance_metric(
    name="SetP", spellings={"set_P": {}, "SetRelP": {"relative": True}, "set_relative_P": {"relative": True}}
)
def set_precision(judged: JudgedRankings, *, rel: Rel = 1, relative: Relative = False) -> Floats:
    """Share of all retrieved documents that are relevant.

    Formula: SetP = #(relevant retrieved) / n; with relative=True the divisor is min(n, R), the most there could be
    Reference: trec_eval set_P and set_relative_P.
    Example: SetP of 1 0 0 1 = 2/4 = 0.5
    """
    divisor = judged.retrieved
    if relative:
        divisor = np.minimum(divisor, judged.relevant_count(rel))
    return ratio(count_found(judged, None, rel), divisor)


steps_for(set_precision)(_set_precision_steps)


@metric(name="SetR", spellings={"set_recall": {}}, additive=True, binary=True)
def set_recall(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that were retrieved at all.

    Formula: SetR = #(relevant retrieved) / R
    Reference: trec_eval set_recall. It is 1 for a system that returns everything: pair it with a metric of the top.
    Example: SetR of 1 0 0 1 | 1 1 = 2/4 = 0.5
    """
    return ratio(count_found(judged, None, rel), judged.relevant_count(rel))


steps_for(set_recall)(_recall_steps)


def _take_root_of_beta(given: Mapping[str, Any]) -> dict[str, Any]:
    """The beta of ir_measures, which trec_eval takes for the square of beta."""
    return {**given, "beta": math.sqrt(given.get("beta", 1))}


@relevance_metric(
    name="SetF", spellings={"set_F": {}, "set_F_{beta^2}": {}}, dialects={"ir_measures": _take_root_of_beta}
)
def set_f(judged: JudgedRankings, *, beta: Beta = 1, rel: Rel = 1) -> Floats:
    """Harmonic mean of precision and recall of all retrieved documents.

    Formula: SetF(beta) = (1 + beta^2) SetP SetR / (beta^2 SetP + SetR)
    Reference: C. J. van Rijsbergen, 1979. trec_eval's set_F.x takes x = beta^2: its set_F.4 is SetF(beta=2).
    Example: SetF of 1 0 0 1 0 | 1*18 = 2 * 0.4 * 0.1 / (0.4 + 0.1) = 0.16
    """
    found = count_found(judged, None, rel)
    return _compute_f(ratio(found, judged.retrieved), ratio(found, judged.relevant_count(rel)), beta)


steps_for(set_f)(_f_steps)


@relevance_metric(name="Success", spellings={"success_{cutoff}": {}, "hit": {}, "hit_rate": {}, "HitRate": {}})
def success(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1) -> Floats:
    """1 if a relevant document is among the first, else 0.

    Formula: Success@k = 1 if #(relevant documents at ranks 1 to k) > 0 else 0
    Reference: trec_eval success.
    Example: Success@3 of 0 0 1 = 1
    """
    return (count_found(judged, cutoff, rel) > 0).astype(np.float64)


steps_for(success)(_success_steps)


@relevance_metric(name="RR", spellings={"MRR": {}, "recip_rank": {}, "RR_{cutoff}": {}})
def reciprocal_rank(judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1) -> Floats:
    """One divided by the rank of the first relevant document.

    Formula: RR = 1 / min(rank of a relevant document); 0 if none is retrieved (within the cutoff)
    Reference: P. B. Kantor, E. M. Voorhees, The TREC-5 Confusion Track, Information Retrieval 2, 2000.
    Example: RR of 0 0 1 1 = 1/3 = 0.3333
    """
    first = mark_found(judged, rel, cutoff) & (judged.relevant_so_far(rel) == 1)
    return judged.sum(1.0 / judged.hits.rank, first)


steps_for(reciprocal_rank)(_reciprocal_rank_steps)


@relevance_metric(name="Rprec", spellings={"Rprec_mult_{multiple}": {}})
def r_precision(
    judged: JudgedRankings,
    *,
    multiple: Annotated[float, Param("the rank as a multiple of R", above=0)] = 1,
    rel: Rel = 1,
) -> Floats:
    """Precision at the rank R, the number of relevant documents; the recall there is the same.

    Formula: Rprec = #(relevant documents at ranks 1 to k) / k at k = R; with multiple, k is the whole part of
        multiple R + 0.9
    Reference: trec_eval Rprec and Rprec_mult.
    Example: Rprec of 1 0 0 1 0 | 1 1 1 = 2/5 = 0.4
    """
    count = judged.relevant_count(rel)
    rank = count if multiple == 1 else np.floor(multiple * count + 0.9)
    within = judged.hits.rank <= rank[judged.hits.query]
    return ratio(judged.sum(judged.relevant(rel) & within), rank)


@steps_for(r_precision)
def _r_precision_steps(judged: JudgedRankings, *, multiple: float, **settings: Any) -> Steps:
    count = list_as_scored(judged, settings).relevant_count(settings["rel"])
    rank = count if multiple == 1 else int(multiple * count + 0.9)
    listed = list_as_scored(judged, settings, cutoff=rank)
    relevant = listed.relevant(settings["rel"]).astype(np.float64)
    which = "R" if multiple == 1 else f"the whole part of {multiple:g} R + 0.9"
    facts = [*describe_relevance(listed, settings), f"ranks 1 to {rank} count, which is {which}"]
    return make_sum_steps(listed, make_found_columns(listed, settings["rel"]), relevant, rank, facts, terms=False)
