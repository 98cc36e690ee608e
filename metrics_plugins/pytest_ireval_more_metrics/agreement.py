"""Agreement of a ranking with the best one there could be, and with another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, list_ranking, metric, ratio, steps_for
from pytest_ireval_metrics.agreement import is_within, make_list_steps, make_set_steps, pair_lists
from pytest_ireval_metrics.vocabulary import (
    Cutoff,
    Floats,
    Integers,
    Persistence,
    format_quotient,
    make_sum_steps,
    sum_prefixes,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _list_ideal_ranks(listed: Listing, good: NDArray[np.bool_]) -> Integers:
    """The rank of each good document in the best ranking: by grade, then as ranked; others get 1, which is not used."""
    ranks = np.ones(listed.rank.size, np.int64)
    for i in np.flatnonzero(good).tolist():
        better = np.count_nonzero(listed.ideal > listed.grade[i])
        ranks[i] = 1 + better + np.count_nonzero(good[:i] & (listed.grade[:i] == listed.grade[i]))
    return ranks


@metric(name="Compat", spellings={"compatibility": {}})
def compatibility(
    judged: JudgedRankings,
    *,
    p: Persistence = 0.95,
    normalize: Annotated[
        bool, Param("divide by the agreement of the best ranking with itself, which is short of 1 if it is shorter")
    ] = True,
) -> Floats:
    """Rank-biased overlap with the best ranking there could be: how alike the first documents are, at every depth.

    Formula: Compat = RBO(ranking, ideal) / RBO(ideal, ideal), with RBO = sum of p^(i-1) #(common to both first i) / i
        for i = 1 to depth, divided by the sum of p^(i-1); the ideal has documents of a grade above 0, best first, equal
        ones as they are ranked; depth is the length of the longer one
    Reference: C. L. A. Clarke, A. Vtyurina, M. D. Smucker, Assessing top-k preferences, TOIS 39, 2021.
    Example: Compat(p=0.5) of 0 1 = (0.5 * 1/2) / (1 + 0.5 * 1/2) = 0.2
    """
    depth, length = np.maximum(judged.retrieved, judged.relevant_count(None)), judged.relevant_count(None)
    weight = np.power(p, np.arange(int(depth.max(initial=0))))
    tail = sum_prefixes(weight / np.arange(1, weight.size + 1))
    good = judged.hits.grade > 0
    both_from = np.maximum(judged.hits.rank, _find_ideal_rank(judged))
    overlap = judged.sum(tail[np.where(good, depth[judged.hits.query], 0)] - tail[np.where(good, both_from - 1, 0)])
    if not normalize:
        return ratio(overlap, sum_prefixes(weight)[depth])
    ideal_rank_sum = sum_prefixes(tail)[length]  # of the sums below each rank of the ideal
    return ratio(overlap, length * tail[depth] - ideal_rank_sum)


@steps_for(compatibility)
def _compatibility_steps(judged: JudgedRankings, *, p: float, normalize: bool) -> Steps:
    listed = list_ranking(judged)
    good = listed.judged & (listed.grade > 0)
    size = int(np.count_nonzero(listed.ideal > 0))
    depth = np.arange(1, max(listed.retrieved, size) + 1)
    weight = np.power(p, depth - 1.0)
    below = sum_prefixes(weight / depth)
    ideal = _list_ideal_ranks(listed, good)
    both = np.maximum(listed.rank, ideal)
    adds = np.where(good, below[-1] - below[both - 1], 0.0)
    among = float((weight * np.minimum(depth, size) / depth).sum() if normalize else weight.sum())
    common = np.array([np.count_nonzero(good & (both <= rank)) for rank in listed.rank.tolist()])
    columns = {"best rank": np.where(good, ideal, np.nan), "common": common, "adds": np.where(good, adds, np.nan)}
    facts = [
        f"{size} documents have a grade above 0; both lists are compared down to depth {depth.size}",
        f"adds: p^(i - 1) / i for every depth i from both ranks on, p = {p:g}",
        "common: documents that both lists have down to that rank",
        f"divided by what the best ranking {'has in common with itself' if normalize else 'could have at most'}",
    ]
    return make_sum_steps(listed, columns, adds, among, facts)


def _find_ideal_rank(judged: JudgedRankings) -> Integers:
    """For each hit, its rank in the best ranking: by grade, then as retrieved, and what was not retrieved behind."""
    hits, ideal = judged.hits, judged.ideal
    grades = np.unique(ideal.grade)
    worse = grades.size - 1 - np.searchsorted(grades, hits.grade)
    key = hits.query * grades.size + worse
    better = (
        np.searchsorted(ideal.query * grades.size + grades.size - 1 - np.searchsorted(grades, ideal.grade), key)
        - judged.first_ideal[hits.query]
    )
    order = np.argsort(key, kind="stable")  # hits of a query come by rank
    among_equals = np.zeros(key.size, np.int64)
    among_equals[order] = np.arange(key.size) - np.searchsorted(key[order], key[order])
    return better + among_equals + 1


@metric(name="AverageOverlap", needs=("documents", "reference"), no_relevant=None)
def average_overlap(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Mean, over the depths down to the cutoff, of the share of documents that both lists have down to that depth.

    Formula: AverageOverlap@k = (1/l) sum of X_d / d for d = 1 to l, with X_d documents among the first d of both lists,
        l = min(k, length of the longer list); 1 for two empty lists
    Reference: S. Wu, F. Crestani, Methods for ranking information retrieval systems without relevance judgments, SAC
        2003; R. Fagin, R. Kumar, D. Sivakumar, 2003.
    Example: AverageOverlap@2 of a b against b a = (0/1 + 2/2) / 2 = 0.5
    """
    both = pair_lists(judged)
    longer = np.minimum(np.maximum(both.length, both.other_length), cutoff)
    there = is_within(both, cutoff)
    query, depth = both.query[there], np.maximum(both.rank, both.other_rank)[there]
    below = sum_prefixes(1 / np.arange(1.0, int(longer.max(initial=0)) + 1))
    found = np.bincount(query, below[longer[query]] - below[depth - 1], minlength=judged.count)
    return np.where(longer == 0, 1.0, ratio(found, longer))


@steps_for(average_overlap)
def _average_overlap_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    both, listed = pair_lists(judged), list_ranking(judged, cutoff)
    longer = min(cutoff, max(int(both.length[0]), int(both.other_length[0])))
    other = judged.rank_in_reference[: listed.rank.size]
    there = (other > 0) & (other <= cutoff)
    below = sum_prefixes(1 / np.arange(1.0, longer + 1))
    adds = np.where(there, below[longer] - below[np.where(there, np.maximum(listed.rank, other), 1) - 1], 0.0)
    text, value = format_quotient(float(adds.sum()), float(longer))
    facts = [f"adds: 1 / d for every depth d down to {longer} at which both lists have the document"]
    return make_list_steps(judged, listed, adds / max(longer, 1), {}, text, value, facts)


@metric(name="Jaccard", needs=("documents", "reference"), no_relevant=None)
def jaccard(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the documents that either list has among its first which both have.

    Formula: Jaccard@k = #(documents among the first k of both lists) / #(documents among the first k of either);
        1 for two empty lists
    Reference: P. Jaccard, The distribution of the flora in the alpine zone, New Phytologist 11, 1912.
    Example: Jaccard@3 of a b c d against b e a = 2/4 = 0.5
    """
    both = pair_lists(judged)
    common = both.common(is_within(both, cutoff))
    either = np.minimum(both.length, cutoff) + np.minimum(both.other_length, cutoff) - common
    return np.where(either == 0, 1.0, ratio(common, either))


@steps_for(jaccard)
def _jaccard_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    both = pair_lists(judged)
    common = np.count_nonzero((both.rank <= cutoff) & (both.other_rank <= cutoff))
    either = min(cutoff, int(both.length[0])) + min(cutoff, int(both.other_length[0])) - int(common)
    return make_set_steps(judged, cutoff, either, f"{either} documents in either list, down to rank {cutoff}")
