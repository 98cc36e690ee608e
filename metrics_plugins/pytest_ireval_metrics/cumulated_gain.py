"""Metrics that add up what documents are worth: CG, DCG and nDCG."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Depth,
    Discount,
    Floats,
    Gain,
    Gains,
    LogBase,
    compute_discount,
    compute_gain,
    condensable_metric,
    format_number,
    format_sum,
    gain_range,
    list_as_scored,
    make_sum_steps,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

Columns = dict[str, NDArray[Any]]


def compute_gains(listed: Listing, settings: Mapping[str, Any]) -> Floats:
    """The gain of each listed document; unjudged documents have none."""
    gain = compute_gain(listed.grade, settings.get("gain", "linear"), settings["gains"])
    return np.where(listed.judged, gain, 0.0)


def describe_gains(listed: Listing, settings: Mapping[str, Any]) -> list[str]:
    """Facts of the list, and of the way from grades to gains."""
    facts = [f"{listed.ideal.size} documents are judged, {listed.retrieved} retrieved"]
    if settings.get("cutoff"):
        facts.append(f"k = {settings['cutoff']}, the cutoff")
    if settings.get("gain") == "exp":
        facts.append("gain = 2^grade - 1")
    if settings["gains"]:
        worth = ", ".join(
            f"{format_number(g)} for grade {format_number(grade)}" for grade, g in settings["gains"].items()
        )
        facts.append(f"gains as given: {worth}")
    if settings.get("judged_only"):
        facts.append("documents without a judgment are left out first; ranks are those of the others")
    return facts


def _make_discount_columns(rank: NDArray[np.int64], gain: Floats, settings: Mapping[str, Any]) -> Columns:
    discount = compute_discount(rank, settings["discount"], settings["log_base"])
    return {"gain": gain, "discount": discount, "discounted": gain / discount, "sum": np.cumsum(gain / discount)}


def _list_best_order(judged: JudgedRankings, listed: Listing, settings: Mapping[str, Any]) -> Columns:
    """The documents of the best order that are worth something, down to the cutoff."""
    if settings["ideal"] == "judged":
        grade = listed.ideal
    else:
        whole = list_as_scored(judged, {**settings, "cutoff": None})
        grade = whole.grade[whole.judged]
    gain = compute_gain(grade, settings["gain"], settings["gains"])
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0][: settings["cutoff"]]
    rank = np.arange(1, order.size + 1)
    return {"rank": rank, "grade": grade[order], **_make_discount_columns(rank, gain[order], settings)}


class BestGains(NamedTuple):
    """Gains of documents in the best order, sorted by query; ``first`` says where each query begins."""

    query: NDArray[np.int64]
    rank: NDArray[np.int64]
    gain: Floats
    first: NDArray[np.int64]


def order_by_gain(query: NDArray[np.int64], gain: Floats, count: int) -> BestGains:
    """The positive gains of each of ``count`` queries, highest first."""
    worth = gain > 0
    query, gain = query[worth], gain[worth]
    order = np.lexsort((-gain, query))
    query = query[order]
    first = np.searchsorted(query, np.arange(count + 1))
    return BestGains(query, np.arange(query.size) - first[query] + 1, gain[order], first)


def order_judged(judged: JudgedRankings, gain: str, gains: Mapping[float, float] | None) -> BestGains:
    """The best order of all judged documents; made once for all metrics and views with these gains."""
    key = ("best", gain, tuple((gains or {}).items()))
    return judged.remember_ideal(
        key, lambda: order_by_gain(judged.ideal.query, compute_gain(judged.ideal.grade, gain, gains), judged.count)
    )


def sum_discounted(
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
    return np.bincount(query, gain / compute_discount(rank, discount, log_base), minlength=count).astype(np.float64)


def _dcg_range(settings: Mapping[str, Any]) -> tuple[float, float]:
    return gain_range(settings, np.inf)


@condensable_metric(name="CG", range=_dcg_range, no_relevant=None, additive=True)
def cumulated_gain(judged: JudgedRankings, *, cutoff: Cutoff, gain: Gain = "linear", gains: Gains = None) -> Floats:
    """Sum of the gains of the first documents, whatever their order.

    Formula: CG@k = sum of gain(grade) at ranks 1 to k
    Reference: K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20, 2002.
    Example: CG@5 of 5 2 4 0 1 = 5 + 2 + 4 + 0 + 1 = 12
    """
    return judged.sum(compute_gain(judged.hits.grade, gain, gains), judged.hits.rank <= cutoff)


@steps_for(cumulated_gain)
def _cumulated_gain_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    gain = compute_gains(listed, settings)
    return make_sum_steps(listed, {"gain": gain, "sum": np.cumsum(gain)}, gain, None, describe_gains(listed, settings))


@condensable_metric(
    name="DCG",
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
) -> Floats:
    """Sum of the gains of the documents, each discounted by its rank.

    Formula: DCG@k = sum over ranks i = 1 to k of gain(grade_i) / log2(i + 1)
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002 (discount='jarvelin'); C. Burges et al., 2005 (gain='exp').
    Example: DCG@4 of 3 0 0 2 = 3/1 + 2/2.3219 = 3.8614
    """
    hits = judged.hits
    gain_at = compute_gain(hits.grade, gain, gains)
    return sum_discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)


@steps_for(dcg)
def _dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    columns = _make_discount_columns(listed.rank, compute_gains(listed, settings), settings)
    return make_sum_steps(listed, columns, columns["discounted"], None, describe_gains(listed, settings))


@metric(
    name="IDCG",
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
    """The highest possible DCG, which depends on the judgments only, not on the ranking.

    Formula: IDCG@k = DCG@k of the judged documents sorted by gain
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002; trec_eval 10 ideal_dcg.
    Example: IDCG@2 of 0 3 | 2 = 3/1 + 2/1.585 = 4.2619
    """
    best = order_judged(judged, gain, gains)
    return sum_discounted(*best[:3], judged.count, cutoff, discount, log_base)


@steps_for(ideal_dcg)
def _ideal_dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    ideal = _list_best_order(judged, listed, {"ideal": "judged", **settings})
    adds = ideal["discounted"]
    return make_steps(
        listed,
        {"gain": compute_gains(listed, settings)},
        arithmetic=format_sum(adds),
        value=adds.sum(),
        facts=describe_gains(listed, settings),
        second_title="the best order of all judged documents",
        second_table=ideal,
    )


@condensable_metric(
    name="nDCG",
    range=gain_range,
    no_relevant=None,
    additive=lambda settings: bool(settings["ideal"] == "judged"),  # else each side has its own ideal
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
) -> Floats:
    """DCG as a share of the DCG of the best order of all judged documents.

    Formula: nDCG@k = DCG@k / DCG@k of the judged documents sorted by gain
    Reference: K. Järvelin, J. Kekäläinen, TOIS 20, 2002; trec_eval ndcg and ndcg_cut.
    Example: nDCG@3 of 0 3 | 2 = (3/1.585) / (3/1 + 2/1.585) = 0.4441
    """
    hits = judged.hits
    gain_at = compute_gain(hits.grade, gain, gains)
    reached = sum_discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)
    retrieved = ideal == "retrieved"
    best = order_by_gain(hits.query, gain_at, judged.count) if retrieved else order_judged(judged, gain, gains)
    return ratio(reached, sum_discounted(*best[:3], judged.count, cutoff, discount, log_base))


@steps_for(ndcg)
def _ndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    columns = _make_discount_columns(listed.rank, compute_gains(listed, settings), settings)
    ideal = _list_best_order(judged, listed, settings)
    best, facts = float(ideal["discounted"].sum()), describe_gains(listed, settings)
    what = "all judged documents" if settings["ideal"] == "judged" else "the judged documents that were retrieved"
    return make_sum_steps(
        listed,
        columns,
        columns["discounted"],
        best,
        facts,
        terms=False,
        second_title=f"the best order of {what}",
        second_table=ideal,
    )
