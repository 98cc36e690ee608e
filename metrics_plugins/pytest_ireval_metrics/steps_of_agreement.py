"""The arithmetic of RBO, Overlap and Jaccard, line by line: which documents the reference has, and where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Steps, listing, steps_of
from pytest_ireval_metrics.agreement import lists_of
from pytest_ireval_metrics.arithmetic import quotient, shown_number

Floats = NDArray[np.float64]


def rank_biased_overlap_steps(judged: JudgedRankings, *, p: float) -> Steps:
    """What each common document adds from the depth on at which both lists have it, and beyond both lists."""
    both, listed = lists_of(judged), listing(judged)
    short, long = sorted((int(both.length[0]), int(both.other_length[0])))
    weight = (1 - p) * np.power(p, np.arange(long))
    weights = np.concatenate((np.zeros(1), np.cumsum(weight)))
    by_depth = np.concatenate((np.zeros(1), np.cumsum(weight / np.arange(1, long + 1))))
    other = judged.rank_in_reference
    there = other > 0
    depth = np.where(there, np.maximum(listed.rank, other), 1)
    early = there & (depth <= short)
    share = 1 / max(short, 1)
    seen = np.where(there, by_depth[long] - by_depth[depth - 1], 0)
    unseen = np.where(early, share * (weights[long] - weights[short]) - by_depth[long] + by_depth[short], 0)
    beyond = np.where(there, p**long * np.where(early, share, 1 / max(long, 1)), 0)
    adds = seen + unseen + beyond
    parts = [float(part.sum()) for part in (seen, unseen, beyond)]
    return _steps(
        judged,
        listed,
        adds,
        {"common": np.array([np.count_nonzero(there & (depth <= rank)) for rank in listed.rank.tolist()])},
        " + ".join(map(shown_number, parts)),
        sum(parts),
        [
            f"the lists have {both.length[0]} and {both.other_length[0]} documents, "
            f"{int(np.count_nonzero(there))} in common; p = {p:g}",
            "common: documents that both lists have down to that rank",
            "summed: down to the end of the longer list as far as seen, where the shorter one has ended, "
            "and below both as it went on so far",
        ],
    )


def overlap_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    """Which of the first documents the reference has among its first."""
    both = lists_of(judged)
    longer = min(cutoff, max(int(both.length[0]), int(both.other_length[0])))
    return _of_sets(judged, cutoff, longer, f"{longer} documents in the longer of both lists, down to rank {cutoff}")


def jaccard_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    """The same, divided by the documents that either list has."""
    both = lists_of(judged)
    common = np.count_nonzero((both.rank <= cutoff) & (both.other_rank <= cutoff))
    either = min(cutoff, int(both.length[0])) + min(cutoff, int(both.other_length[0])) - int(common)
    return _of_sets(judged, cutoff, either, f"{either} documents in either list, down to rank {cutoff}")


def _of_sets(judged: JudgedRankings, cutoff: int, size: int, fact: str) -> Steps:
    """A count of common documents, divided by ``size``."""
    listed = listing(judged, cutoff)
    other = judged.rank_in_reference[: listed.rank.size]
    common = (other > 0) & (other <= cutoff)
    text, value = quotient(float(np.count_nonzero(common)), float(size))
    return _steps(judged, listed, common / max(size, 1), {}, text, value, [fact])


def _steps(
    judged: JudgedRankings,
    listed: Listing,
    adds: Floats,
    columns: dict[str, NDArray[np.int64]],
    text: str,
    value: float,
    facts: list[str],
) -> Steps:
    """Steps with the rank in the reference; two empty lists are alike without any arithmetic."""
    other = judged.rank_in_reference[: listed.rank.size].astype(np.float64)
    both = lists_of(judged)
    empty = not both.length[0] and not both.other_length[0]
    return steps_of(
        listed,
        {"in reference": np.where(other > 0, other, np.nan), **columns, "adds": np.where(other > 0, adds, np.nan)},
        arithmetic="1" if empty else text,
        value=1.0 if empty else value,
        facts=["both lists are empty", *facts] if empty else facts,
        shares=None if empty else adds,
    )
