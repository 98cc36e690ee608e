"""Metrics of relevant and not relevant documents: precision, recall and their kin."""

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, condensed, metric, ratio
from pytest_ireval_metrics.steps_of_precision import (
    average_precision_steps,
    f_steps,
    judged_steps,
    number_found_steps,
    number_relevant_steps,
    number_retrieved_steps,
    precision_steps,
    r_precision_steps,
    recall_steps,
    reciprocal_rank_steps,
    set_precision_steps,
    success_steps,
)
from pytest_ireval_metrics.vocabulary import AnyRel, Beta, Cutoff, Denominator, Depth, JudgedOnly, Rel, Relative

Floats = NDArray[np.float64]


def relevant_within(judged: JudgedRankings, cutoff: int | None, rel: float) -> Floats:
    """Per query, how many relevant documents stand within the cutoff."""
    relevant = judged.relevant(rel)
    return judged.sum(relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff))


def harmonic(precision: Floats, recall: Floats, beta: float) -> Floats:
    """The weighted harmonic mean of precision and recall; 0 where both are 0."""
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)


@metric(
    name="P",
    steps=precision_steps,
    spellings={"Precision": {}, "P_{cutoff}": {}, "precision_{cutoff}": {}},
    reference="trec_eval P",
)
def precision(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Share of the first documents that are relevant.

    Formula: P@k = #(relevant documents at ranks 1 to k) / k
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979. The divisor is k even if fewer are retrieved.
    Example: P@5 of 1 0 0 1 0 = 2/5 = 0.4
    """
    judged = condensed(judged) if judged_only else judged
    return relevant_within(judged, cutoff, rel) / cutoff


@metric(name="R", steps=recall_steps, spellings={"Recall": {}, "recall_{cutoff}": {}})
def recall(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Share of the relevant documents that are among the first.

    Formula: R@k = #(relevant documents at ranks 1 to k) / R
    Reference: C. J. van Rijsbergen, Information Retrieval, 2nd ed., 1979.
    Example: R@3 of 1 0 0 1 | 1 1 = 1/4 = 0.25
    """
    judged = condensed(judged) if judged_only else judged
    return ratio(relevant_within(judged, cutoff, rel), judged.relevant_count(rel))


@metric(name="F", steps=f_steps, spellings={"F1": {"beta": 1}})
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
    return harmonic(found / cutoff, ratio(found, judged.relevant_count(rel)), beta)


@metric(
    name="SetP",
    steps=set_precision_steps,
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


@metric(name="SetR", steps=recall_steps, spellings={"set_recall": {}})
def set_recall(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Share of the relevant documents that were retrieved at all.

    Formula: SetR = #(relevant retrieved) / R
    Reference: trec_eval set_recall. It is 1 for a system that returns everything: pair it with a metric of the top.
    Example: SetR of 1 0 0 1 | 1 1 = 2/4 = 0.5
    """
    return ratio(relevant_within(judged, None, rel), judged.relevant_count(rel))


@metric(name="SetF", steps=f_steps, spellings={"set_F": {}})
def set_f(judged: JudgedRankings, *, beta: Beta = 1, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Harmonic mean of precision and recall of all retrieved documents.

    Formula: SetF(beta) = (1 + beta^2) SetP SetR / (beta^2 SetP + SetR)
    Reference: C. J. van Rijsbergen, 1979. trec_eval's set_F.x takes x = beta^2: its set_F.4 is SetF(beta=2).
    Example: SetF of 1 0 0 1 0 | 1*18 = 2 * 0.4 * 0.1 / (0.4 + 0.1) = 0.16
    """
    judged = condensed(judged) if judged_only else judged
    found = relevant_within(judged, None, rel)
    return harmonic(ratio(found, judged.retrieved), ratio(found, judged.relevant_count(rel)), beta)


@metric(name="Success", steps=success_steps, spellings={"success_{cutoff}": {}, "hit_rate": {}, "HitRate": {}})
def success(judged: JudgedRankings, *, cutoff: Cutoff, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """1 if a relevant document is among the first, else 0.

    Formula: Success@k = 1 if #(relevant documents at ranks 1 to k) > 0 else 0
    Reference: trec_eval success.
    Example: Success@3 of 0 0 1 = 1
    """
    judged = condensed(judged) if judged_only else judged
    return (relevant_within(judged, cutoff, rel) > 0).astype(np.float64)


@metric(name="RR", steps=reciprocal_rank_steps, spellings={"MRR": {}, "recip_rank": {}, "RR_{cutoff}": {}})
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
    name="AP", steps=average_precision_steps, spellings={"MAP": {}, "map_cut_{cutoff}": {}, "average_precision": {}}
)
def average_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    rel: Rel = 1,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Mean, over all relevant documents, of the precision at their ranks.

    Formula: AP = (1/R) sum of P@rank(d) over the relevant documents d retrieved (within the cutoff)
    Reference: trec_eval map and map_cut; NTCIR divides by min(R, k), which is denominator='min'.
    Example: AP of 1 0 0 1 0 = (1/1 + 2/4) / 2 = 0.75
    """
    judged = condensed(judged) if judged_only else judged
    counts = judged.relevant(rel)
    if cutoff is not None:
        counts = counts & (judged.hits.rank <= cutoff)
    total = judged.sum(judged.relevant_so_far(rel) / judged.hits.rank, counts)
    return ratio(total, divisor_of(judged, rel, denominator, cutoff))


def divisor_of(judged: JudgedRankings, rel: float, denominator: str, cutoff: int | None) -> NDArray[np.int64]:
    """How many relevant documents there are, or could stand within the cutoff."""
    count = judged.relevant_count(rel)
    return np.minimum(count, cutoff) if denominator == "min" and cutoff is not None else count


@metric(name="Rprec", steps=r_precision_steps)
def r_precision(judged: JudgedRankings, *, rel: Rel = 1, judged_only: JudgedOnly = False) -> Floats:
    """Precision at the rank R, where R is how many relevant documents there are; also the recall there.

    Formula: Rprec = #(relevant documents at ranks 1 to R) / R
    Reference: trec_eval Rprec.
    Example: Rprec of 1 0 0 1 0 | 1 1 1 = 2/5 = 0.4
    """
    judged = condensed(judged) if judged_only else judged
    count = judged.relevant_count(rel)
    within = judged.hits.rank <= count[judged.hits.query]
    return ratio(judged.sum(judged.relevant(rel) & within), count)


@metric(
    name="NumRet",
    steps=number_retrieved_steps,
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
    steps=number_relevant_steps,
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


@metric(name="NumRelRet", steps=number_found_steps, range=(0, np.inf), aggregate="sum", spellings={"num_rel_ret": {}})
def relevant_retrieved(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """How many relevant documents were retrieved.

    Formula: NumRelRet = #(relevant retrieved)
    Reference: trec_eval num_rel_ret.
    Example: NumRelRet of 1 0 0 1 | 1 = 2
    """
    return relevant_within(judged, None, rel)


@metric(name="Judged", steps=judged_steps, no_relevant=None)
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


METRICS = [
    precision,
    recall,
    f_at_cutoff,
    set_precision,
    set_recall,
    set_f,
    success,
    reciprocal_rank,
    average_precision,
    r_precision,
    retrieved,
    relevant,
    relevant_retrieved,
    judged_share,
]
