"""Metrics of relevant and not relevant documents: precision, recall and their kin."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, condensed, metric, ratio
from pytest_ireval_metrics.gains import by_relevance
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Beta, Cutoff, Depth, JudgedOnly, Rel, Relative

Floats = NDArray[np.float64]


def relevant_within(judged: JudgedRankings, cutoff: int | None, rel: float) -> Floats:
    """Per query, how many relevant documents stand within the cutoff."""
    relevant = judged.relevant(rel)
    return judged.sum(relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff))


def _harmonic(precision: Floats, recall: Floats, beta: float) -> Floats:
    """The weighted harmonic mean of precision and recall; 0 where both are 0."""
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)


@metric(
    name="P",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "precision_steps"),
    spellings={"Precision": {}, "P_{cutoff}": {}, "precision_{cutoff}": {}},
    reference="trec_eval P",
    additive=True,
)
def precision(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Share of the first documents that are relevant.

    Formula: P@k = #(relevant documents at ranks 1 to k) / k
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979. The divisor is k even if fewer are retrieved.
    Example: P@5 of 1 0 0 1 0 = 2/5 = 0.4
    """
    judged = condensed(judged) if judged_only else judged
    return relevant_within(judged, cutoff, rel) / cutoff


@metric(
    name="R",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "recall_steps"),
    spellings={"Recall": {}, "recall_{cutoff}": {}},
    additive=True,
)
def recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Share of the relevant documents that are among the first.

    Formula: R@k = #(relevant documents at ranks 1 to k) / R
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979.
    Example: R@3 of 1 0 0 1 | 1 1 = 1/4 = 0.25
    """
    judged = condensed(judged) if judged_only else judged
    return ratio(relevant_within(judged, cutoff, rel), judged.relevant_count(rel))


@metric(
    name="CappedR",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "capped_recall_steps"),
    spellings={"R_cap": {}, "recall_cap_{cutoff}": {}, "relative_P_{cutoff}": {}},
    additive=True,
)
def capped_recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Share of the relevant documents that could be among the first which are; precision to rank R, recall from there.

    Formula: CappedR@k = #(relevant documents at ranks 1 to k) / min(R, k)
    Reference: N. Thakur et al., BEIR, 2021 (capped recall); trec_eval relative_P, the same figure.
    Example: CappedR@3 of 1 0 0 1 | 1 1 = 1/3 = 0.3333
    """
    judged = condensed(judged) if judged_only else judged
    return ratio(relevant_within(judged, cutoff, rel), np.minimum(judged.relevant_count(rel), cutoff))


@metric(
    name="F",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "f_steps"),
    spellings={"F1": {"beta": 1}},
    additive=True,
)
def f_at_cutoff(
    judged: JudgedRankings, *, cutoff: Cutoff, beta: Beta = 1, rel: Rel = 1, judged_only: JudgedOnly = False
) -> Floats:
    """Harmonic mean of precision and recall of the first documents.

    Formula: F(beta)@k = (1 + beta^2) P@k R@k / (beta^2 P@k + R@k)
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979.
    Example: F@2 of 1 0 | 1 = 2 * 1/2 * 1/2 / (1/2 + 1/2) = 0.5
    """
    judged = condensed(judged) if judged_only else judged
    found = relevant_within(judged, cutoff, rel)
    return _harmonic(found / cutoff, ratio(found, judged.relevant_count(rel)), beta)


@metric(
    name="SetP",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "set_precision_steps"),
    spellings={"set_P": {}, "SetRelP": {"relative": True}, "set_relative_P": {"relative": True}},
)
def set_precision(
    judged: JudgedRankings, *, rel: Rel = 1, relative: Relative = False, judged_only: JudgedOnly = False
) -> Floats:
    """Share of all retrieved documents that are relevant.

    Formula: SetP = #(relevant retrieved) / n; with relative=True the divisor is min(n, R), the most there could be
    Reference: trec_eval set_P and set_relative_P.
    Example: SetP of 1 0 0 1 = 2/4 = 0.5
    """
    judged = condensed(judged) if judged_only else judged
    divisor = judged.retrieved
    if relative:
        divisor = np.minimum(divisor, judged.relevant_count(rel))
    return ratio(relevant_within(judged, None, rel), divisor)


@metric(
    name="SetR",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "recall_steps"),
    spellings={"set_recall": {}},
    additive=True,
)
def set_recall(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that were retrieved at all.

    Formula: SetR = #(relevant retrieved) / R
    Reference: trec_eval set_recall. It is 1 for a system that returns everything: pair it with a metric of the top.
    Example: SetR of 1 0 0 1 | 1 1 = 2/4 = 0.5
    """
    return ratio(relevant_within(judged, None, rel), judged.relevant_count(rel))


@metric(
    name="SetF",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "f_steps"),
    spellings={"set_F": {}, "set_F_{beta^2}": {}},
)
def set_f(judged: JudgedRankings, *, beta: Beta = 1, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Harmonic mean of precision and recall of all retrieved documents.

    Formula: SetF(beta) = (1 + beta^2) SetP SetR / (beta^2 SetP + SetR)
    Reference: C. J. van Rijsbergen, 1979. trec_eval's set_F.x takes x = beta^2: its set_F.4 is SetF(beta=2).
    Example: SetF of 1 0 0 1 0 | 1*18 = 2 * 0.4 * 0.1 / (0.4 + 0.1) = 0.16
    """
    judged = condensed(judged) if judged_only else judged
    found = relevant_within(judged, None, rel)
    return _harmonic(ratio(found, judged.retrieved), ratio(found, judged.relevant_count(rel)), beta)


@metric(
    name="SetAP",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "set_ap_steps"),
    spellings={"set_map": {}},
)
def set_ap(judged: JudgedRankings, *, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Average precision of a set without order: precision times recall of all retrieved documents.

    Formula: SetAP = SetP SetR
    Reference: trec_eval set_map; ir_measures SetAP.
    Example: SetAP of 1 0 0 1 | 1 1 = 2/4 * 2/4 = 0.25
    """
    judged = condensed(judged) if judged_only else judged
    found = relevant_within(judged, None, rel)
    return ratio(found * found, judged.retrieved * judged.relevant_count(rel))


@metric(
    name="Success",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "success_steps"),
    spellings={"success_{cutoff}": {}, "hit": {}, "hit_rate": {}, "HitRate": {}},
)
def success(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """1 if a relevant document is among the first, else 0.

    Formula: Success@k = 1 if #(relevant documents at ranks 1 to k) > 0 else 0
    Reference: trec_eval success.
    Example: Success@3 of 0 0 1 = 1
    """
    judged = condensed(judged) if judged_only else judged
    return (relevant_within(judged, cutoff, rel) > 0).astype(np.float64)


@metric(
    name="RR",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "reciprocal_rank_steps"),
    spellings={"MRR": {}, "recip_rank": {}, "RR_{cutoff}": {}},
)
def reciprocal_rank(
    judged: JudgedRankings, *, cutoff: Depth = None, rel: Rel = 1, judged_only: JudgedOnly = False
) -> Floats:
    """One divided by the rank of the first relevant document.

    Formula: RR = 1 / min(rank of a relevant document); 0 if none is retrieved (within the cutoff)
    Reference: P. B. Kantor, E. M. Voorhees, The TREC-5 Confusion Track, Information Retrieval 2, 2000.
    Example: RR of 0 0 1 1 = 1/3 = 0.3333
    """
    judged = condensed(judged) if judged_only else judged
    first = judged.relevant(rel) & (judged.relevant_so_far(rel) == 1)
    if cutoff is not None:
        first &= judged.hits.rank <= cutoff
    return judged.sum(1.0 / judged.hits.rank, first)


@metric(
    name="Rprec",
    tie_order=by_relevance,
    binary=True,
    steps=steps_in("precision", "r_precision_steps"),
    spellings={"Rprec_mult_{multiple}": {}},
)
def r_precision(
    judged: JudgedRankings,
    *,
    multiple: Annotated[float, Param("the rank as a multiple of R", above=0)] = 1,
    rel: Rel = 1,
    judged_only: JudgedOnly = False,
) -> Floats:
    """Precision at the rank R, where R is how many relevant documents there are; also the recall there.

    Formula: Rprec = #(relevant documents at ranks 1 to k) / k at k = R; with multiple, k is the whole part of
        multiple R + 0.9
    Reference: trec_eval Rprec and Rprec_mult.
    Example: Rprec of 1 0 0 1 0 | 1 1 1 = 2/5 = 0.4
    """
    judged = condensed(judged) if judged_only else judged
    count = judged.relevant_count(rel)
    rank = count if multiple == 1 else np.floor(multiple * count + 0.9)
    within = judged.hits.rank <= rank[judged.hits.query]
    return ratio(judged.sum(judged.relevant(rel) & within), rank)


METRICS = [
    precision,
    recall,
    capped_recall,
    f_at_cutoff,
    set_precision,
    set_recall,
    set_f,
    set_ap,
    success,
    reciprocal_rank,
    r_precision,
]
