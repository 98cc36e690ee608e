"""Metrics made for judgments that are known to be incomplete."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, Steps, listing, metric, ratio
from pytest_ireval_metrics.gains import by_relevance
from pytest_ireval_metrics.vocabulary import Floats, Rel, shared_steps


def _bpref_steps(judged: JudgedRankings, *, rel: float, denominator: str = "min") -> Steps:
    """For each relevant document, a part that falls with each document judged not relevant above it."""
    listed = listing(judged)
    relevant = listed.relevant(rel)
    count = listed.relevant_count(rel)
    others = int(np.count_nonzero(_not_relevant(listed.ideal, rel)))
    above = np.cumsum(listed.judged & _not_relevant(listed.grade, rel))
    against = count if denominator == "R" else min(count, others)
    adds = np.where(relevant, 1 - np.minimum(above, count) / against if against else 1.0, 0.0)
    divides = "R" if denominator == "R" else "min(R, N)"
    columns = {"N above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    facts = [
        f"R = {count} documents are relevant (grade {rel:g} or more), N = {others} judged not relevant",
        f"adds = 1 - min(N above, R) / {divides} where a document is relevant",
    ]
    return shared_steps(listed, columns, adds, count, facts)


def _inferred_ap_steps(judged: JudgedRankings, *, rel: float) -> Steps:
    """For each relevant document, the precision at its rank that is likely by the judged sample."""
    listed = listing(judged)
    relevant = listed.relevant(rel)
    found: NDArray[np.int64] = np.cumsum(relevant) - relevant
    refused = np.cumsum(listed.judged & _not_relevant(listed.grade, rel))
    pooled = found + np.cumsum(listed.judged & (listed.grade < rel))
    chance = (found + _EPSILON) / (found + refused + 2 * _EPSILON)
    adds = np.where(relevant, (1 + pooled * chance) / listed.rank, 0.0)
    count = listed.relevant_count(rel)
    shown = {"pooled": pooled, "found": found, "not": refused, "chance": chance, "adds": adds}
    columns = {name: np.where(relevant, column, np.nan) for name, column in shown.items()}
    facts = [
        f"R = {count} documents are relevant (grade {rel:g} or more)",
        "pooled, found, not: documents above (grades below 0 are pooled, not judged)",
        "chance = (found + e) / (found + not + 2e), e = 0.00001",
        "adds = (1 + pooled * chance) / rank",
    ]
    return shared_steps(listed, {**columns, "sum": np.cumsum(adds)}, adds, count, facts)


_EPSILON = 1e-5
"""Keeps inferred precision defined before anything is judged; the value trec_eval uses."""


def _not_relevant(grade: Floats, rel: float) -> NDArray[np.bool_]:
    """Judged, and judged not relevant; grades below 0 mark documents that were pooled but not judged."""
    return (grade >= 0) & (grade < rel)


def _preferences_kept(judged: JudgedRankings, rel: float, denominator: str) -> Floats:
    """Per query, how seldom a document judged not relevant is above a relevant one."""
    hits, count = judged.hits, judged.relevant_count(rel)
    others = judged.remember_ideal(
        ("not relevant", rel),
        lambda: np.bincount(judged.ideal.query[_not_relevant(judged.ideal.grade, rel)], minlength=judged.count),
    )
    above = judged.running(_not_relevant(hits.grade, rel).astype(np.int64))
    against = count if denominator == "R" else np.minimum(count, others)
    share = ratio(np.minimum(above, count[hits.query]), against[hits.query])
    return ratio(judged.sum(1.0 - share, judged.relevant(rel)), count)


def _sampled_relevance(grade: Floats, *, rel: float, **_: Any) -> Floats:
    """Relevant documents, then those that are not judged, pooled or not, then those that are judged not relevant."""
    return np.where(grade < min(0.0, rel), 0.5, by_relevance(grade, rel=rel))


@metric(name="Bpref", tie_order=_sampled_relevance, binary=True, steps=_bpref_steps)
def bpref(
    judged: JudgedRankings,
    *,
    rel: Rel = 1,
    denominator: Annotated[
        Literal["min", "R"], Param("what misplaced documents are counted against: min(R, N), or R (bpref_R)")
    ] = "min",
) -> Floats:
    """Of the judged documents that are not relevant, how few rank above relevant ones; unjudged ones do not matter.

    Formula: Bpref = (1/R) sum over relevant retrieved d of 1 - min(#(judged not relevant above d), R) / min(R, N)
    Reference: C. Buckley, E. M. Voorhees, Retrieval Evaluation with Incomplete Information, SIGIR 2004; trec_eval.
    Example: Bpref of 1 0 1 0 0 1 | 1 = (1 + (1 - 1/3) + (1 - 3/3)) / 4 = 0.4167
    """
    return _preferences_kept(judged, rel, denominator)


@metric(
    name="GMBpref",
    tie_order=_sampled_relevance,
    binary=True,
    steps=_bpref_steps,
    aggregate="geometric",
    spellings={"gm_bpref": {}},
)
def geometric_bpref(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Bpref, summed up by the geometric mean: a gain on a bad query weighs as much as on a good one.

    Formula: GMBpref = exp of the mean of log(max(Bpref, 0.00001)); for one query it is Bpref
    Reference: trec_eval gm_bpref.
    Example: GMBpref of 1 0 1 0 0 1 | 1 = (1 + (1 - 1/3) + (1 - 3/3)) / 4 = 0.4167
    """
    return _preferences_kept(judged, rel, "min")


@metric(
    name="infAP",
    binary=True,
    steps=_inferred_ap_steps,
    not_promised={"promotion_never_harms": "a grade below 0 is pooled, not judged: such a document may be relevant"},
)
def inferred_ap(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Average precision inferred from a judged sample: documents with a grade below 0 are pooled but not judged.

    Formula: infAP = (1/R) sum over relevant d at rank k of 1/k + (k-1)/k * (p/(k-1)) * (r + e)/(r + n + 2e); above d
        stand p pooled documents, of which r are relevant and n not, and e = 0.00001
    Reference: E. Yilmaz, J. A. Aslam, Estimating Average Precision with Incomplete and Imperfect Judgments,
        CIKM 2006; trec_eval infAP.
    Example: infAP of 1 0 0 1 = (1 + (1/4 + 3/4 * 3/3 * 1/3)) / 2 = 0.75
    """
    hits = judged.hits
    relevant = judged.relevant(rel)
    above_relevant = judged.relevant_so_far(rel) - 1
    above_other = judged.running(_not_relevant(hits.grade, rel).astype(np.int64))
    above_pooled = above_relevant + judged.running((hits.grade < rel).astype(np.int64))
    chance = (above_relevant + _EPSILON) / (above_relevant + above_other + 2 * _EPSILON)
    inferred = np.where(hits.rank == 1, 1.0, (1.0 + above_pooled * chance) / hits.rank)
    return ratio(judged.sum(inferred, relevant), judged.relevant_count(rel))


METRICS = [bpref, geometric_bpref, inferred_ap]
