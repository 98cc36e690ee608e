"""Compat: how far a ranking agrees with the best one there could be."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, Steps, listing, metric, ratio, steps_of
from pytest_ireval_metrics.vocabulary import Floats, Integers, Persistence, shared


def _compatibility_steps(judged: JudgedRankings, *, p: float, normalize: bool) -> Steps:
    """What each relevant document adds from the depth on at which both rankings have it."""
    listed = listing(judged)
    good = listed.judged & (listed.grade > 0)
    size = int(np.count_nonzero(listed.ideal > 0))
    depth = np.arange(1, max(listed.retrieved, size) + 1)
    weight = np.power(p, depth - 1.0)
    below = np.concatenate((np.zeros(1), np.cumsum(weight / depth)))
    ideal = _ideal_ranks(listed, good)
    both = np.maximum(listed.rank, ideal)
    adds = np.where(good, below[-1] - below[both - 1], 0.0)
    among = float((weight * np.minimum(depth, size) / depth).sum() if normalize else weight.sum())
    text, value = shared(adds, among)
    common = np.array([np.count_nonzero(good & (both <= rank)) for rank in listed.rank.tolist()])
    return steps_of(
        listed,
        {"best rank": np.where(good, ideal, np.nan), "common": common, "adds": np.where(good, adds, np.nan)},
        arithmetic=text,
        value=value,
        facts=[
            f"{size} documents have a grade above 0; both lists are compared down to depth {depth.size}",
            f"adds: p^(i - 1) / i for every depth i from both ranks on, p = {p:g}",
            "common: documents that both lists have down to that rank",
            f"divided by what the best ranking {'has in common with itself' if normalize else 'could have at most'}",
        ],
        shares=adds / among if among else np.zeros(adds.size),
    )


def _ideal_ranks(listed: Listing, good: NDArray[np.bool_]) -> Integers:
    """The rank of each document in the best ranking: by grade, then as ranked; 1 for others, where nobody looks."""
    ranks = np.ones(listed.rank.size, np.int64)
    for i in np.flatnonzero(good).tolist():
        better = np.count_nonzero(listed.ideal > listed.grade[i])
        ranks[i] = 1 + better + np.count_nonzero(good[:i] & (listed.grade[:i] == listed.grade[i]))
    return ranks


@metric(name="Compat", steps=_compatibility_steps, spellings={"compatibility": {}})
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
    tail = _summed(weight / np.arange(1, weight.size + 1))
    good = judged.hits.grade > 0
    both_from = np.maximum(judged.hits.rank, _ideal_rank(judged))
    overlap = judged.sum(tail[np.where(good, depth[judged.hits.query], 0)] - tail[np.where(good, both_from - 1, 0)])
    if not normalize:
        return ratio(overlap, _summed(weight)[depth])
    ideal_rank_sum = _summed(tail)[length]  # of the sums below each rank of the ideal
    return ratio(overlap, length * tail[depth] - ideal_rank_sum)


def _summed(values: Floats) -> Floats:
    """The sum of the first 0, 1, 2 … values."""
    return np.concatenate((np.zeros(1), np.cumsum(values)))


def _ideal_rank(judged: JudgedRankings) -> Integers:
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


METRICS = [compatibility]
