"""The arithmetic of metrics that set gain against the best list at many ranks, line by line."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, steps_of
from pytest_ireval_metrics.arithmetic import quotient, shared, shown_number, total
from pytest_ireval_metrics.gains import gain_of
from pytest_ireval_metrics.steps_of_gains import gain_facts, gains_in
from pytest_ireval_metrics.steps_of_precision import listed_as, relevance_facts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Cumulated(NamedTuple):
    """One list and its best order: gains, discounted gains and their running sums."""

    gain: Floats
    discounted: Floats
    sums: Floats
    best_gain: Floats
    best_sums: Floats

    def at(self, rank: Integers) -> Floats:
        """DCG at ranks, of the list."""
        return np.concatenate((np.zeros(1), self.sums))[np.minimum(rank, self.sums.size)]

    def best_at(self, rank: Integers) -> Floats:
        """DCG at ranks, of the best order."""
        return np.concatenate((np.zeros(1), self.best_sums))[np.minimum(rank, self.best_sums.size)]

    def ndcg(self, rank: Integers) -> Floats:
        """NDCG at ranks."""
        best = self.best_at(rank)
        return np.where(best > 0, self.at(rank) / np.where(best > 0, best, 1.0), 0.0)


def _cumulated(listed: Listing, settings: dict[str, Any]) -> Cumulated:
    gain = gains_in(listed, settings)
    best = gain_of(listed.ideal, "linear", settings["gains"])
    best = -np.sort(-best[best > 0])
    discounted = gain / np.log2(listed.rank + 1.0)
    return Cumulated(
        gain, discounted, np.cumsum(discounted), best, np.cumsum(best / np.log2(np.arange(best.size) + 2.0))
    )


def ndcg_rel_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """NDCG where a relevant document stands; those not retrieved count with nDCG of the whole list."""
    listed = listed_as(judged, settings)
    dcg = _cumulated(listed, settings)
    count, relevant = dcg.best_gain.size, dcg.gain > 0
    adds = np.where(relevant, dcg.ndcg(listed.rank), 0.0)
    missed = count - int(relevant.sum())
    last = np.array([max(listed.retrieved, count)])
    end, best = float(dcg.ndcg(last)[0]), float(dcg.best_at(last)[0])
    behind = dcg.discounted / best * missed if best else np.zeros(listed.rank.size)
    text, value = f"({total(adds)} + {missed} * {shown_number(end)}) / {count}", 0.0
    if count:
        value = (float(adds.sum()) + missed * end) / count
    return steps_of(
        listed,
        {
            "gain": dcg.gain,
            "DCG": dcg.sums,
            "best": dcg.best_at(listed.rank),
            "nDCG": dcg.ndcg(listed.rank),
            "adds": np.where(relevant, adds, np.nan),
        },
        arithmetic=text if count else quotient(0, 0)[0],
        value=value,
        facts=[
            *gain_facts(listed, settings),
            f"{missed} of {count} relevant documents are missed; each adds nDCG of the whole list, {shown_number(end)}",
        ],
        shares=(adds + behind) / max(1, count),
    )


def rndcg_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """NDCG at the ranks at which the best list comes to a lower gain, and at the end of a longer list."""
    listed = listed_as(judged, settings)
    dcg = _cumulated(listed, settings)
    best, count = dcg.best_gain, dcg.best_gain.size
    ends = [i + 1 for i in range(count) if i + 1 == count or best[i] != best[i + 1]]
    ranks = np.array([*ends, *([listed.retrieved] if listed.retrieved > count + 1 and count else [])], np.int64)
    found = dcg.ndcg(ranks)
    text, value = shared(found, ranks.size)
    shares = np.zeros(listed.rank.size)
    for rank, whole in zip(ranks.tolist(), dcg.best_at(ranks).tolist(), strict=True):
        shares += np.where(listed.rank <= rank, dcg.discounted, 0.0) / whole / ranks.size
    return steps_of(
        listed,
        {"gain": dcg.gain, "discounted": dcg.discounted, "DCG": dcg.sums},
        arithmetic=text,
        value=value,
        facts=gain_facts(listed, settings),
        shares=shares,
        beside=("ranks that count", {"rank": ranks, "DCG": dcg.at(ranks), "best": dcg.best_at(ranks), "nDCG": found}),
    )


def g_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """Gain discounted by what was lost on the way."""
    listed = listed_as(judged, settings)
    dcg = _cumulated(listed, settings)
    best, count = dcg.best_gain, dcg.best_gain.size
    costs = np.concatenate((np.zeros(1), np.cumsum(np.maximum(best, 1.0))))
    cost = costs[np.minimum(listed.rank, count)] + np.maximum(listed.rank - count, 0)
    cumulated = np.cumsum(dcg.gain)
    adds = dcg.gain / np.log2(2 + cost - cumulated)
    text, value = shared(adds, float(best.sum()))
    return steps_of(
        listed,
        {"gain": dcg.gain, "cg": cumulated, "cost": cost, "adds": adds, "sum": np.cumsum(adds)},
        arithmetic=text,
        value=value,
        facts=[*gain_facts(listed, settings), "adds = gain / log2(2 + cost - cg)"],
        shares=adds / best.sum() if count else np.zeros(adds.size),
    )


def bing_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    """A discount that counts the documents above that are not relevant."""
    listed = listed_as(judged, settings)
    relevant = listed.relevant(settings["rel"])
    above = np.cumsum(~relevant)
    adds = np.where(relevant, 1 / np.log2(2.0 + above), 0.0)
    count = listed.relevant_count(settings["rel"])
    text, value = shared(adds, count)
    return steps_of(
        listed,
        {"others above": above, "adds": np.where(relevant, adds, np.nan), "sum": np.cumsum(adds)},
        arithmetic=text,
        value=value,
        facts=[*relevance_facts(listed, settings), "adds = 1 / log2(2 + others above) where a document is relevant"],
        shares=adds / max(1, count),
    )
