"""Metrics that add up what documents are worth: CG, DCG, IDCG and nDCG."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, condensed, metric, ratio
from pytest_ireval_metrics.gains import by_gain, by_nothing, discount_at, gain_of, gain_range
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Cutoff, Depth, Discount, Gain, Gains, JudgedOnly, LogBase

Floats = NDArray[np.float64]


class BestGains(NamedTuple):
    """Gains of documents in the best order, sorted by query; ``first`` says where each query begins."""

    query: NDArray[np.int64]
    rank: NDArray[np.int64]
    gain: Floats
    first: NDArray[np.int64]


def best_order(query: NDArray[np.int64], gain: Floats, count: int) -> BestGains:
    """The positive gains of each of ``count`` queries, highest first."""
    worth = gain > 0
    query, gain = query[worth], gain[worth]
    order = np.lexsort((-gain, query))
    query = query[order]
    first = np.searchsorted(query, np.arange(count + 1))
    return BestGains(query, np.arange(query.size) - first[query] + 1, gain[order], first)


def best_of_judged(judged: JudgedRankings, gain: str, gains: Mapping[float, float] | None) -> BestGains:
    """The best order of all judged documents; made once for all metrics and views with these gains."""
    key = ("best", gain, tuple((gains or {}).items()))
    return judged.remember_ideal(
        key, lambda: best_order(judged.ideal.query, gain_of(judged.ideal.grade, gain, gains), judged.count)
    )


def discounted(
    query: NDArray[np.int64],
    rank: NDArray[np.int64],
    gain: Floats,
    count: int,
    cutoff: int | None,
    discount: str,
    log_base: float,
) -> Floats:
    """Per query, the sum of discounted gains within the cutoff."""
    if cutoff is not None:
        within = rank <= cutoff
        query, rank, gain = query[within], rank[within], gain[within]
    return np.bincount(query, gain / discount_at(rank, discount, log_base), minlength=count).astype(np.float64)


def _dcg_range(settings: Mapping[str, Any]) -> tuple[float, float]:
    return gain_range(settings, np.inf)


def _ideal_of_judged(settings: Mapping[str, Any]) -> bool:
    """With the ideal of what was retrieved, each side has its own."""
    return bool(settings["ideal"] == "judged")


def _ndcg_range(settings: Mapping[str, Any]) -> tuple[float, float]:
    return gain_range(settings, 1.0)


def _by_gain_over_judged(grade: Floats, *, ideal: str, **settings: Any) -> Floats | None:
    """With the ideal of what was retrieved, what a depth cuts off changes the ideal, too: there is no such order."""
    return by_gain(grade, **settings) if ideal == "judged" else None


@metric(
    name="CG",
    tie_order=by_gain,
    steps=steps_in("gains", "cumulated_gain_steps"),
    range=_dcg_range,
    no_relevant=None,
    additive=True,
)
def cumulated_gain(
    judged: JudgedRankings,
    *,
    cutoff: Cutoff,
    gain: Gain = "linear",
    gains: Gains = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """What the first documents are worth together, wherever among them they stand.

    Formula: CG@k = sum of gain(grade) at ranks 1 to k
    Reference: K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20, 2002.
    Example: CG@5 of 5 2 4 0 1 = 5 + 2 + 4 + 0 + 1 = 12
    """
    judged = condensed(judged) if judged_only else judged
    return judged.sum(gain_of(judged.hits.grade, gain, gains), judged.hits.rank <= cutoff)


@metric(
    name="DCG",
    tie_order=by_gain,
    steps=steps_in("gains", "dcg_steps"),
    range=_dcg_range,
    no_relevant=None,
    additive=True,
    spellings={"dcg_cut_{cutoff}": {}, "dcg_{gains}": {}, "dcg_burges": {"gain": "exp"}},
)
def dcg(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    log_base: LogBase = 2,
    gains: Gains = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """What the documents are worth together, those further down less.

    Formula: DCG@k = sum over ranks i = 1 to k of gain(grade_i) / log2(i + 1)
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002 (discount='jarvelin'); C. Burges et al., 2005 (gain='exp').
    Example: DCG@4 of 3 0 0 2 = 3/1 + 2/2.3219 = 3.8614
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    gain_at = gain_of(hits.grade, gain, gains)
    return discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)


@metric(
    name="IDCG",
    tie_order=by_nothing,
    steps=steps_in("gains", "ideal_dcg_steps"),
    range=_dcg_range,
    direction="neither",
    no_relevant=None,
    spellings={"ideal_dcg": {}, "ideal_dcg_{gains}": {}},
)
def ideal_dcg(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    log_base: LogBase = 2,
    gains: Gains = None,
) -> Floats:
    """The highest DCG there could be, which is a fact of the judgments and not of the ranking.

    Formula: IDCG@k = DCG@k of the judged documents sorted by gain
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002; trec_eval 10 ideal_dcg.
    Example: IDCG@2 of 0 3 | 2 = 3/1 + 2/1.585 = 4.2619
    """
    best = best_of_judged(judged, gain, gains)
    return discounted(*best[:3], judged.count, cutoff, discount, log_base)


@metric(
    name="nDCG",
    tie_order=_by_gain_over_judged,
    steps=steps_in("gains", "ndcg_steps"),
    range=_ndcg_range,
    no_relevant=None,
    additive=_ideal_of_judged,
    spellings={"ndcg_cut_{cutoff}": {}, "ndcg_{gains}": {}, "ndcg_burges": {"gain": "exp"}},
)
def ndcg(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    gain: Gain = "linear",
    discount: Discount = "log2",
    log_base: LogBase = 2,
    gains: Gains = None,
    ideal: Annotated[
        Literal["judged", "retrieved"],
        Param(
            "what the best order is made of: all judged documents, or only those retrieved "
            "(two rankings of one query then have different ideals: do not compare them)"
        ),
    ] = "judged",
    judged_only: JudgedOnly = False,
) -> Floats:
    """DCG as a share of the DCG of the best order of all judged documents.

    Formula: nDCG@k = DCG@k / DCG@k of the judged documents sorted by gain
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002; trec_eval ndcg and ndcg_cut.
    Example: nDCG@3 of 0 3 | 2 = (3/1.585) / (3/1 + 2/1.585) = 0.4441
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    gain_at = gain_of(hits.grade, gain, gains)
    reached = discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)
    if ideal == "retrieved":
        best = best_order(hits.query, gain_at, judged.count)
    else:
        best = best_of_judged(judged, gain, gains)
    return ratio(reached, discounted(*best[:3], judged.count, cutoff, discount, log_base))


METRICS = [cumulated_gain, dcg, ideal_dcg, ndcg]
