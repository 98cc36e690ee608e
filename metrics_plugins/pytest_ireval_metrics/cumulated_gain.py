"""Metrics that add up what documents are worth: CG, DCG and nDCG; nDCG averaged over ranks, and G."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, Steps, metric, ratio, steps_of
from pytest_ireval_metrics.sets_and_ranks import relevance_facts
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Depth,
    Discount,
    Floats,
    Gain,
    Gains,
    Integers,
    LogBase,
    Rel,
    condensable_metric,
    discount_at,
    gain_of,
    gain_range,
    listed_as,
    quotient,
    relevance_metric,
    seen_with,
    shared,
    shared_steps,
    shown_number,
    summed,
    total,
)

Columns = dict[str, NDArray[Any]]


def _cumulated_gain_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    gain = gains_in(listed, settings)
    return shared_steps(listed, {"gain": gain, "sum": np.cumsum(gain)}, gain, None, gain_facts(listed, settings))


def _dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    columns = _discounted(listed.rank, gains_in(listed, settings), settings)
    return shared_steps(listed, columns, columns["discounted"], None, gain_facts(listed, settings))


def _ideal_dcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    ideal = _best_order(judged, listed, {"ideal": "judged", **settings})
    adds = ideal["discounted"]
    return steps_of(
        listed,
        {"gain": gains_in(listed, settings)},
        arithmetic=total(adds),
        value=adds.sum(),
        facts=gain_facts(listed, settings),
        beside=("the best order of all judged documents", ideal),
    )


def _ndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    columns = _discounted(listed.rank, gains_in(listed, settings), settings)
    ideal = _best_order(judged, listed, settings)
    best, facts = float(ideal["discounted"].sum()), gain_facts(listed, settings)
    what = "all judged documents" if settings["ideal"] == "judged" else "the judged documents that were retrieved"
    beside = (f"the best order of {what}", ideal)
    return shared_steps(listed, columns, columns["discounted"], best, facts, terms=False, beside=beside)


def gains_in(listed: Listing, settings: Mapping[str, Any]) -> Floats:
    """The gain of each listed document; unjudged documents have none."""
    gain = gain_of(listed.grade, settings.get("gain", "linear"), settings["gains"])
    return np.where(listed.judged, gain, 0.0)


def gain_facts(listed: Listing, settings: Mapping[str, Any]) -> list[str]:
    """Facts of the list, and of the way from grades to gains."""
    facts = [f"{listed.ideal.size} documents are judged, {listed.retrieved} retrieved"]
    if settings.get("cutoff"):
        facts.append(f"k = {settings['cutoff']}, the cutoff")
    if settings.get("gain") == "exp":
        facts.append("gain = 2^grade - 1")
    if settings["gains"]:
        worth = ", ".join(
            f"{shown_number(g)} for grade {shown_number(grade)}" for grade, g in settings["gains"].items()
        )
        facts.append(f"gains as given: {worth}")
    if settings.get("judged_only"):
        facts.append("documents without a judgment are left out first; ranks are those of the others")
    return facts


def _discounted(rank: NDArray[np.int64], gain: Floats, settings: Mapping[str, Any]) -> Columns:
    discount = discount_at(rank, settings["discount"], settings["log_base"])
    return {"gain": gain, "discount": discount, "discounted": gain / discount, "sum": np.cumsum(gain / discount)}


def _best_order(judged: JudgedRankings, listed: Listing, settings: Mapping[str, Any]) -> Columns:
    """The documents of the best order that are worth something, down to the cutoff."""
    if settings["ideal"] == "judged":
        grade = listed.ideal
    else:
        whole = listed_as(judged, {**settings, "cutoff": None})
        grade = whole.grade[whole.judged]
    gain = gain_of(grade, settings["gain"], settings["gains"])
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0][: settings["cutoff"]]
    rank = np.arange(1, order.size + 1)
    return {"rank": rank, "grade": grade[order], **_discounted(rank, gain[order], settings)}


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


@condensable_metric(name="CG", steps=_cumulated_gain_steps, range=_dcg_range, no_relevant=None, additive=True)
def cumulated_gain(judged: JudgedRankings, *, cutoff: Cutoff, gain: Gain = "linear", gains: Gains = None) -> Floats:
    """Sum of the gains of the first documents, whatever their order.

    Formula: CG@k = sum of gain(grade) at ranks 1 to k
    Reference: K. Järvelin, J. Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20, 2002.
    Example: CG@5 of 5 2 4 0 1 = 5 + 2 + 4 + 0 + 1 = 12
    """
    return judged.sum(gain_of(judged.hits.grade, gain, gains), judged.hits.rank <= cutoff)


@condensable_metric(
    name="DCG",
    steps=_dcg_steps,
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
    gain_at = gain_of(hits.grade, gain, gains)
    return discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)


@metric(
    name="IDCG",
    steps=_ideal_dcg_steps,
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
    best = best_of_judged(judged, gain, gains)
    return discounted(*best[:3], judged.count, cutoff, discount, log_base)


@condensable_metric(
    name="nDCG",
    steps=_ndcg_steps,
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
    gain_at = gain_of(hits.grade, gain, gains)
    reached = discounted(hits.query, hits.rank, gain_at, judged.count, cutoff, discount, log_base)
    retrieved = ideal == "retrieved"
    best = best_order(hits.query, gain_at, judged.count) if retrieved else best_of_judged(judged, gain, gains)
    return ratio(reached, discounted(*best[:3], judged.count, cutoff, discount, log_base))


def _curves(judged: JudgedRankings, settings: dict[str, Any]) -> tuple[Listing, Floats, _Cumulated]:
    """The list, the gain of each document, and its DCG beside that of the best order."""
    listed = listed_as(judged, settings)
    return listed, gains_in(listed, settings), _Cumulated(seen_with(judged, settings), settings["gains"])


def _ndcg_rel_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, gain, dcg = _curves(judged, settings)
    count, relevant = dcg.best.gain.size, gain > 0
    adds = np.where(relevant, dcg.ndcg(listed.rank), 0.0)
    missed = count - int(relevant.sum())
    last = np.array([max(listed.retrieved, count)])
    end, best = float(dcg.ndcg(last)[0]), float(dcg.best_at(last)[0])
    discounted = gain / np.log2(listed.rank + 1.0)
    behind = discounted / best * missed if best else np.zeros(listed.rank.size)
    text = f"({total(adds)} + {missed} * {shown_number(end)}) / {count}" if count else quotient(0, 0)[0]
    return steps_of(
        listed,
        {
            "gain": gain,
            "DCG": np.cumsum(discounted),
            "best": dcg.best_at(listed.rank),
            "nDCG": dcg.ndcg(listed.rank),
            "adds": np.where(relevant, adds, np.nan),
        },
        arithmetic=text,
        value=(float(adds.sum()) + missed * end) / max(1, count),
        facts=[
            *gain_facts(listed, settings),
            f"{missed} of {count} relevant documents are missed; each adds nDCG of the whole list, {shown_number(end)}",
        ],
        shares=(adds + behind) / max(1, count),
    )


def _rndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, gain, dcg = _curves(judged, settings)
    best, count = dcg.best.gain, dcg.best.gain.size
    ends = [i + 1 for i in range(count) if i + 1 == count or best[i] != best[i + 1]]
    ranks = np.array([*ends, *([listed.retrieved] if listed.retrieved > count + 1 and count else [])], np.int64)
    found, discounted = dcg.ndcg(ranks), gain / np.log2(listed.rank + 1.0)
    text, value = shared(found, ranks.size)
    shares = np.zeros(listed.rank.size)
    for rank, whole in zip(ranks.tolist(), dcg.best_at(ranks).tolist(), strict=True):
        shares += np.where(listed.rank <= rank, discounted, 0.0) / whole / ranks.size
    return steps_of(
        listed,
        {"gain": gain, "discounted": discounted, "DCG": np.cumsum(discounted)},
        arithmetic=text,
        value=value,
        facts=gain_facts(listed, settings),
        shares=shares,
        beside=("ranks that count", {"rank": ranks, "DCG": dcg.at(ranks), "best": dcg.best_at(ranks), "nDCG": found}),
    )


def _g_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    gain, best = gains_in(listed, settings), best_of_judged(judged, "linear", settings["gains"]).gain
    cost = summed(np.maximum(best, 1.0))[np.minimum(listed.rank, best.size)] + np.maximum(listed.rank - best.size, 0)
    cumulated = np.cumsum(gain)
    adds = gain / np.log2(2 + cost - cumulated)
    columns = {"gain": gain, "cg": cumulated, "cost": cost, "adds": adds, "sum": np.cumsum(adds)}
    facts = [*gain_facts(listed, settings), "adds = gain / log2(2 + cost - cg)"]
    return shared_steps(listed, columns, adds, float(best.sum()), facts)


def _bing_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    above = np.cumsum(~relevant)
    adds = np.where(relevant, 1 / np.log2(2.0 + above), 0.0)
    columns = {"others above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    facts = [*relevance_facts(listed, settings), "adds = 1 / log2(2 + others above) where a document is relevant"]
    return shared_steps(listed, columns, adds, listed.relevant_count(settings["rel"]), facts)


def _accumulated(values: Floats, first: Integers) -> Floats:
    """The sum of each value and those before it in its part; parts begin at ``first``, which ends with the size."""
    total, start, length, k = values.copy(), first[:-1], np.diff(first), 1
    while (rows := start[length > k]).size:
        total[rows + k] += total[rows + k - 1]
        start, length, k = rows, length[length > k], k + 1
    return total


def reached(values: Floats, first: Integers, query: Integers | int, count: Integers) -> Floats:
    """Of sums made by :func:`_accumulated`, those after ``count`` values of each query (of all, if there are fewer)."""
    last = np.minimum(first[query] + count, first[query + 1]) - 1
    return np.where(last >= first[query], np.r_[values, 0.0][last], 0.0)


def _hits_above(judged: JudgedRankings, query: Integers | int, rank: Integers) -> Integers:
    """The number of judged documents at each rank of a query and above."""
    widest = int(max(judged.retrieved.max(initial=0), rank.max(initial=0))) + 1
    place = np.searchsorted(judged.hits.query * widest + judged.hits.rank, query * widest + rank, side="right")
    return place - judged.first[query]


class _Cumulated:
    """DCG at any rank, of rankings and of the best order."""

    def __init__(self, judged: JudgedRankings, gains: Mapping[float, float] | None) -> None:
        self.judged = judged
        self.best: BestGains = best_of_judged(judged, "linear", gains)
        self.gain = gain_of(judged.hits.grade, "linear", gains)
        self.sums = judged.running(self.gain / discount_at(judged.hits.rank, "log2", 2))
        self.best_sums = _accumulated(self.best.gain / discount_at(self.best.rank, "log2", 2), self.best.first)

    def at(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """DCG at each rank of a query."""
        return reached(self.sums, self.judged.first, query, _hits_above(self.judged, query, rank))

    def best_at(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """DCG of the best order at each rank of a query."""
        return reached(self.best_sums, self.best.first, query, rank)

    def ndcg(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """NDCG at each rank of a query."""
        return ratio(self.at(rank, query), self.best_at(rank, query))


@condensable_metric(
    name="nDCGRel",
    steps=_ndcg_rel_steps,
    range=gain_range,
    no_relevant=None,
    spellings={"ndcg_rel": {}, "ndcg_rel_{gains}": {}},
)
def ndcg_at_relevant(judged: JudgedRankings, *, gains: Gains = None) -> Floats:
    """NDCG averaged over the ranks of relevant documents; those not retrieved count with nDCG of the whole list.

    Formula: nDCGRel = (1/R) (sum over relevant retrieved d of nDCG@rank(d) + #(relevant not retrieved) nDCG), where
        relevant is what has a gain above 0
    Reference: trec_eval ndcg_rel, an experiment of C. Buckley.
    Example: nDCGRel of 0 2 | 1 = ((2/1.585) / (2 + 1/1.585) * 2) / 2 = 0.4796
    """
    dcg, query = _Cumulated(judged, gains), np.arange(judged.count)
    relevant = dcg.gain > 0
    count = np.diff(dcg.best.first)
    at_relevant = judged.sum(dcg.ndcg(judged.hits.rank, judged.hits.query), relevant)
    at_the_end = (count - judged.sum(relevant)) * dcg.ndcg(np.maximum(judged.retrieved, count), query)
    return ratio(at_relevant + at_the_end, count)


@condensable_metric(
    name="RnDCG", steps=_rndcg_steps, range=gain_range, no_relevant=None, spellings={"Rndcg_{gains}": {}}
)
def ndcg_at_levels(judged: JudgedRankings, *, gains: Gains = None) -> Floats:
    """NDCG averaged over the ranks at which the best list comes to a lower gain, and the end of a longer list.

    Formula: RnDCG = mean of nDCG@k, k being for each gain above 0 the number of documents of at least that gain, and of
        nDCG if more than one document is retrieved beyond the last k
    Reference: trec_eval Rndcg, an experiment of C. Buckley.
    Example: RnDCG of 1 2 0 = (1/2 + (1 + 2/1.585) / (2 + 1/1.585)) / 2 = 0.6799
    """
    dcg, all_queries = _Cumulated(judged, gains), np.arange(judged.count)
    best, count = dcg.best, np.diff(dcg.best.first)
    ends = np.r_[(best.gain[1:] != best.gain[:-1]) | (best.query[1:] != best.query[:-1]), True][: best.gain.size]
    query, rank = best.query[ends], best.rank[ends]
    total = np.bincount(query, dcg.ndcg(rank, query), minlength=judged.count)
    levels = np.bincount(query, minlength=judged.count)
    longer = (judged.retrieved > count + 1) & (count > 0)
    at_the_end = np.where(longer, dcg.ndcg(judged.retrieved, all_queries), 0.0)
    return ratio(total + at_the_end, levels + longer)


@condensable_metric(name="G", steps=_g_steps, range=gain_range, no_relevant=None, spellings={"G_{gains}": {}})
def normalised_gain(judged: JudgedRankings, *, gains: Gains = None) -> Floats:
    """Gain discounted by what was lost on the way and not by rank: a document behind good ones keeps its worth.

    Formula: G = sum over retrieved d at rank r of gain(d) / log2(2 + cost(r) - cg(r)), divided by the sum of all gains
        above 0; cost(r) adds up the gains of the best list to rank r, each no less than 1, and 1 for a rank beyond it
    Reference: trec_eval G, an experiment of C. Buckley, 2008.
    Example: G of 0 2 | 1 = (2 / log2(2 + 3 - 2)) / 3 = 0.4206
    """
    hits, best = judged.hits, best_of_judged(judged, "linear", gains)
    count = np.diff(best.first)
    gain = gain_of(hits.grade, "linear", gains)
    costs = _accumulated(np.maximum(best.gain, 1.0), best.first)
    cost = reached(costs, best.first, hits.query, hits.rank) + np.maximum(hits.rank - count[hits.query], 0)
    worth = gain / np.log2(2 + cost - judged.running(gain))
    return ratio(judged.sum(worth), np.bincount(best.query, best.gain, minlength=judged.count))


@relevance_metric(name="binG", steps=_bing_steps)
def binary_gain(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Mean, over all relevant documents, of a discount that counts the documents above that are not relevant.

    Formula: binG = (1/R) sum over relevant retrieved d of 1 / log2(2 + #(not relevant above d, judged or not))
    Reference: trec_eval binG, an experiment of C. Buckley, 2008.
    Example: binG of 1 0 1 = (1 + 1/log2(3)) / 2 = 0.8155
    """
    above = judged.hits.rank - judged.relevant_so_far(rel)
    return ratio(judged.sum(1.0 / np.log2(2.0 + above), judged.relevant(rel)), judged.relevant_count(rel))
