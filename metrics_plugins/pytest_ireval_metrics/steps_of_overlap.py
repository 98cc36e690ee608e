"""The arithmetic of Compat, line by line: how alike the first documents of a ranking and of the best one are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, listing, steps_of
from pytest_ireval_metrics.arithmetic import shared

Integers = NDArray[np.int64]


def compatibility_steps(judged: JudgedRankings, *, p: float, normalize: bool) -> Steps:
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
