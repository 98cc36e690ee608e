"""The nDCG averaged over ranks, and gains discounted by what was lost on the way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_ireval import JudgedRankings, Listing, make_steps, ratio, steps_for
from pytest_ireval_metrics.cumulated_gain import BestGains, compute_gains, describe_gains, order_judged
from pytest_ireval_metrics.sets_and_ranks import describe_relevance
from pytest_ireval_metrics.vocabulary import (
    Floats,
    Gains,
    Integers,
    Rel,
    compute_discount,
    compute_gain,
    condensable_metric,
    condense_if_asked,
    format_mean,
    format_number,
    format_quotient,
    format_sum,
    gain_range,
    list_as_scored,
    make_sum_steps,
    relevance_metric,
    sum_prefixes,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _make_curves(judged: JudgedRankings, settings: dict[str, Any]) -> tuple[Listing, Floats, _Cumulated]:
    """The list, the gain of each document, and its DCG beside that of the best order."""
    listed = list_as_scored(judged, settings)
    return listed, compute_gains(listed, settings), _Cumulated(condense_if_asked(judged, settings), settings["gains"])


def _accumulate(values: Floats, first: Integers) -> Floats:
    """The sum of each value and those before it in its part; parts begin at ``first``, which ends with the size."""
    total, start, length, k = values.copy(), first[:-1], np.diff(first), 1
    while (rows := start[length > k]).size:
        total[rows + k] += total[rows + k - 1]
        start, length, k = rows, length[length > k], k + 1
    return total


def read_accumulated(values: Floats, first: Integers, query: Integers | int, count: Integers) -> Floats:
    """Of sums made by :func:`_accumulated`, those after ``count`` values of each query (of all, if there are fewer)."""
    last = np.minimum(first[query] + count, first[query + 1]) - 1
    return np.where(last >= first[query], np.r_[values, 0.0][last], 0.0)


def _count_hits_above(judged: JudgedRankings, query: Integers | int, rank: Integers) -> Integers:
    """The number of judged documents at each rank of a query and above."""
    widest = int(max(judged.retrieved.max(initial=0), rank.max(initial=0))) + 1
    place = np.searchsorted(judged.hits.query * widest + judged.hits.rank, query * widest + rank, side="right")
    return place - judged.first[query]


class _Cumulated:
    """DCG at any rank, of rankings and of the best order."""

    def __init__(self, judged: JudgedRankings, gains: Mapping[float, float] | None) -> None:
        self.judged = judged
        self.best: BestGains = order_judged(judged, "linear", gains)
        self.gain = compute_gain(judged.hits.grade, "linear", gains)
        self.sums = judged.running(self.gain / compute_discount(judged.hits.rank, "log2", 2))
        self.best_sums = _accumulate(self.best.gain / compute_discount(self.best.rank, "log2", 2), self.best.first)

    def at(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """DCG at each rank of a query."""
        return read_accumulated(self.sums, self.judged.first, query, _count_hits_above(self.judged, query, rank))

    def best_at(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """DCG of the best order at each rank of a query."""
        return read_accumulated(self.best_sums, self.best.first, query, rank)

    def ndcg(self, rank: Integers, query: Integers | int = 0) -> Floats:
        """NDCG at each rank of a query."""
        return ratio(self.at(rank, query), self.best_at(rank, query))


@condensable_metric(
    name="nDCGRel", range=gain_range, no_relevant=None, spellings={"ndcg_rel": {}, "ndcg_rel_{gains}": {}}
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


@steps_for(ndcg_at_relevant)
def _ndcg_rel_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, gain, dcg = _make_curves(judged, settings)
    count, relevant = dcg.best.gain.size, gain > 0
    adds = np.where(relevant, dcg.ndcg(listed.rank), 0.0)
    missed = count - int(relevant.sum())
    last = np.array([max(listed.retrieved, count)])
    end, best = float(dcg.ndcg(last)[0]), float(dcg.best_at(last)[0])
    discounted = gain / np.log2(listed.rank + 1.0)
    behind = discounted / best * missed if best else np.zeros(listed.rank.size)
    text = f"({format_sum(adds)} + {missed} * {format_number(end)}) / {count}" if count else format_quotient(0, 0)[0]
    return make_steps(
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
            *describe_gains(listed, settings),
            f"{missed} of {count} relevant documents are missed; each adds nDCG of the whole list, "
            f"{format_number(end)}",
        ],
        shares=(adds + behind) / max(1, count),
    )


@condensable_metric(name="RnDCG", range=gain_range, no_relevant=None, spellings={"Rndcg_{gains}": {}})
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


@steps_for(ndcg_at_levels)
def _rndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed, gain, dcg = _make_curves(judged, settings)
    best, count = dcg.best.gain, dcg.best.gain.size
    ends = [i + 1 for i in range(count) if i + 1 == count or best[i] != best[i + 1]]
    ranks = np.array([*ends, *([listed.retrieved] if listed.retrieved > count + 1 and count else [])], np.int64)
    found, discounted = dcg.ndcg(ranks), gain / np.log2(listed.rank + 1.0)
    text, value = format_mean(found, ranks.size)
    shares = np.zeros(listed.rank.size)
    for rank, whole in zip(ranks.tolist(), dcg.best_at(ranks).tolist(), strict=True):
        shares += np.where(listed.rank <= rank, discounted, 0.0) / whole / ranks.size
    return make_steps(
        listed,
        {"gain": gain, "discounted": discounted, "DCG": np.cumsum(discounted)},
        arithmetic=text,
        value=value,
        facts=describe_gains(listed, settings),
        shares=shares,
        second_title="ranks that count",
        second_table={"rank": ranks, "DCG": dcg.at(ranks), "best": dcg.best_at(ranks), "nDCG": found},
    )


@condensable_metric(name="G", range=gain_range, no_relevant=None, spellings={"G_{gains}": {}})
def normalised_gain(judged: JudgedRankings, *, gains: Gains = None) -> Floats:
    """Gain discounted by what was lost on the way and not by rank: a document behind good ones keeps its worth.

    Formula: G = sum over retrieved d at rank r of gain(d) / log2(2 + cost(r) - cg(r)), divided by the sum of all gains
        above 0; cost(r) adds up the gains of the best list to rank r, each no less than 1, and 1 for a rank beyond it
    Reference: trec_eval G, an experiment of C. Buckley, 2008.
    Example: G of 0 2 | 1 = (2 / log2(2 + 3 - 2)) / 3 = 0.4206
    """
    hits, best = judged.hits, order_judged(judged, "linear", gains)
    count = np.diff(best.first)
    gain = compute_gain(hits.grade, "linear", gains)
    costs = _accumulate(np.maximum(best.gain, 1.0), best.first)
    cost = read_accumulated(costs, best.first, hits.query, hits.rank) + np.maximum(hits.rank - count[hits.query], 0)
    worth = gain / np.log2(2 + cost - judged.running(gain))
    return ratio(judged.sum(worth), np.bincount(best.query, best.gain, minlength=judged.count))


@steps_for(normalised_gain)
def _g_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    gain, best = compute_gains(listed, settings), order_judged(judged, "linear", settings["gains"]).gain
    cost = sum_prefixes(np.maximum(best, 1.0))[np.minimum(listed.rank, best.size)] + np.maximum(
        listed.rank - best.size, 0
    )
    cumulated = np.cumsum(gain)
    adds = gain / np.log2(2 + cost - cumulated)
    columns = {"gain": gain, "cg": cumulated, "cost": cost, "adds": adds, "sum": np.cumsum(adds)}
    facts = [*describe_gains(listed, settings), "adds = gain / log2(2 + cost - cg)"]
    return make_sum_steps(listed, columns, adds, float(best.sum()), facts)


@relevance_metric(name="binG")
def binary_gain(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """Mean, over all relevant documents, of a discount that counts the documents above that are not relevant.

    Formula: binG = (1/R) sum over relevant retrieved d of 1 / log2(2 + #(not relevant above d, judged or not))
    Reference: trec_eval binG, an experiment of C. Buckley, 2008.
    Example: binG of 1 0 1 = (1 + 1/log2(3)) / 2 = 0.8155
    """
    above = judged.hits.rank - judged.relevant_so_far(rel)
    return ratio(judged.sum(1.0 / np.log2(2.0 + above), judged.relevant(rel)), judged.relevant_count(rel))


@steps_for(binary_gain)
def _bing_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    relevant = listed.relevant(settings["rel"])
    above = np.cumsum(~relevant)
    adds = np.where(relevant, 1 / np.log2(2.0 + above), 0.0)
    columns = {"others above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)}
    facts = [*describe_relevance(listed, settings), "adds = 1 / log2(2 + others above) where a document is relevant"]
    return make_sum_steps(listed, columns, adds, listed.relevant_count(settings["rel"]), facts)
