"""Agreement of a ranking with another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import (
    JudgedRankings,
    Listing,
    MetricError,
    Param,
    list_ranking,
    make_steps,
    metric,
    ratio,
    steps_for,
)
from pytest_ireval_metrics.vocabulary import Cutoff, Floats, Integers, format_number, format_quotient, sum_prefixes

if TYPE_CHECKING:
    from pytest_ireval import Steps


def _make_bound_steps(judged: JudgedRankings, listed: Listing, both: ListPairs, p: float, bound: str) -> Steps:
    """The part that the common documents are sure of, and what documents below both lists could add."""
    other = judged.rank_in_reference
    adds = np.where(other > 0, _sum_from_depth(np.maximum(listed.rank, other), p), 0.0)
    least, rest = float(adds.sum()), float(_compute_residual(both, p)[0])
    text = {"min": format_number(least), "residual": format_number(rest)}.get(
        bound, f"{format_number(least)} + {format_number(rest)}"
    )
    facts = ["adds: (1 - p) p^(d - 1) / d for every depth d at which both lists have the document, p = " + f"{p:g}"]
    if bound != "min":
        facts.append("the rest is what documents below the ends of both lists could add")
    value = {"min": least, "residual": rest}.get(bound, least + rest)
    return make_steps(
        listed,
        {"in reference": np.where(other > 0, other, np.nan), "adds": np.where(other > 0, adds, np.nan)},
        arithmetic=text,
        value=value,
        facts=facts,
        shares=adds if bound == "min" else None,
    )


def _sum_from_depth(depth: Integers, p: float) -> Floats:
    """The sum of (1 - p) p^(d - 1) / d for every d from ``depth`` on."""
    seen = sum_prefixes(np.power(p, np.arange(int(depth.max(initial=0)))) / np.arange(1, int(depth.max(initial=0)) + 1))
    whole = 1.0 if p == 0 else -np.log1p(-p) / p
    rest: Floats = (1 - p) * np.maximum(whole - seen[np.maximum(depth, 1) - 1], 0.0)
    return rest


def _compute_residual(both: ListPairs, p: float) -> Floats:
    """Per query, RBO if the lists went on as alike as they can, less RBO if they had nothing more in common."""
    common, one, other = both.common(), both.length, both.other_length
    last = one + other - common  # the first depth at which both could have all documents
    ends = sum(size * (_sum_from_depth(size + 1, p) - _sum_from_depth(last + 1, p)) for size in (one, other))
    weights = np.power(p, one) + np.power(p, other) - np.power(p, last)
    rest: Floats = np.maximum(weights - ends - common * _sum_from_depth(last + 1, p), 0.0)
    return rest


def make_set_steps(judged: JudgedRankings, cutoff: int, size: int, fact: str) -> Steps:
    """A count of common documents, divided by ``size``."""
    listed = list_ranking(judged, cutoff)
    other = judged.rank_in_reference[: listed.rank.size]
    common = (other > 0) & (other <= cutoff)
    text, value = format_quotient(float(np.count_nonzero(common)), float(size))
    return make_list_steps(judged, listed, common / max(size, 1), {}, text, value, [fact])


def make_list_steps(
    judged: JudgedRankings,
    listed: Listing,
    adds: Floats,
    columns: dict[str, NDArray[np.int64]],
    text: str,
    value: float,
    facts: list[str],
) -> Steps:
    """Steps with the rank in the reference beside each document; two empty lists have the value 1."""
    other = judged.rank_in_reference[: listed.rank.size].astype(np.float64)
    both = pair_lists(judged)
    empty = not both.length[0] and not both.other_length[0]
    return make_steps(
        listed,
        {"in reference": np.where(other > 0, other, np.nan), **columns, "adds": np.where(other > 0, adds, np.nan)},
        arithmetic="1" if empty else text,
        value=1.0 if empty else value,
        facts=["both lists are empty", *facts] if empty else facts,
        shares=None if empty else adds,
    )


@metric(
    name="RBO",
    needs=("documents", "reference"),
    no_relevant=None,
    by_arguments=lambda settings: {"direction": "neither" if settings["bound"] in ("max", "residual") else "higher"},
)
def rank_biased_overlap(
    judged: JudgedRankings,
    *,
    p: Annotated[
        float,
        Param(
            "the probability that a reader goes on to the next document",
            low=0,
            below=1,
            why="with p = 1 every depth counts the same, and there is no end of them",
        ),
    ] = 0.9,
    bound: Annotated[
        Literal["extrapolated", "min", "max", "residual"],
        Param(
            "extrapolated goes on below both lists as they are so far; min and max are the least and greatest values "
            "that longer lists could have, residual is max - min"
        ),
    ] = "extrapolated",
) -> Floats:
    """Rank-biased overlap with the reference: how alike both lists are at every depth, the first depths first.

    Formula: RBO = (1-p) (sum of p^(d-1) X_d / d for d = 1 to l + sum of p^(d-1) X_s (d - s) / (s d) for d = s+1 to l)
        + p^l ((X_l - X_s) / l + X_s / s), with X_d the documents that the first d of both lists have in common, s and l
        the lengths of the shorter and the longer list; 1 for two empty lists, 0 for one. bound='min': (1-p) sum of
        p^(d-1) X_d / d for every d from 1, where X_d = X_l from l on
    Reference: W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, TOIS 28, 2010
        (extrapolated: equation 32; min: 11; residual: 30).
    Example: RBO(p=0.5) of a b against b a = 0.5 * (0/1 + 0.5 * 2/2) + 0.5^2 * 2/2 = 0.5
    """
    both = pair_lists(judged)
    if bound != "extrapolated":
        depths = np.maximum(both.rank, both.other_rank)
        least = np.bincount(both.query, _sum_from_depth(depths, p), judged.count).astype(np.float64)
        return _compute_residual(both, p) + (least if bound == "max" else 0.0) if bound != "min" else least
    short, long = np.minimum(both.length, both.other_length), np.maximum(both.length, both.other_length)
    weight = (1 - p) * np.power(p, np.arange(int(long.max(initial=0))))
    weights, weights_by_depth = sum_prefixes(weight), sum_prefixes(weight / np.arange(1, weight.size + 1))
    depth = np.maximum(both.rank, both.other_rank)
    in_long, in_short = both.common(), both.common(depth <= short[both.query])
    at_every_depth = weights_by_depth[long[both.query]] - weights_by_depth[depth - 1]
    seen = np.bincount(both.query, at_every_depth, judged.count)
    share_of_short = ratio(in_short, short)
    unseen = share_of_short * (weights[long] - weights[short])
    unseen -= in_short * (weights_by_depth[long] - weights_by_depth[short])
    beyond = np.power(p, long) * (ratio(in_long - in_short, long) + share_of_short)
    equal = (short == long) & (both.common(both.rank == both.other_rank) == long)
    return np.where(equal, 1.0, np.where(short == 0, 0.0, seen + unseen + beyond))


@steps_for(rank_biased_overlap)
def _rank_biased_overlap_steps(judged: JudgedRankings, *, p: float, bound: str) -> Steps:
    """The part of each common document, from the depth at which both lists have it, and beyond both lists."""
    both, listed = pair_lists(judged), list_ranking(judged)
    if bound != "extrapolated":
        return _make_bound_steps(judged, listed, both, p, bound)
    short, long = sorted((int(both.length[0]), int(both.other_length[0])))
    weight = (1 - p) * np.power(p, np.arange(long))
    weights, by_depth = sum_prefixes(weight), sum_prefixes(weight / np.arange(1, long + 1))
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
    return make_list_steps(
        judged,
        listed,
        adds,
        {"common": np.array([np.count_nonzero(there & (depth <= rank)) for rank in listed.rank.tolist()])},
        " + ".join(map(format_number, parts)),
        sum(parts),
        [
            f"the lists have {both.length[0]} and {both.other_length[0]} documents, "
            f"{int(np.count_nonzero(there))} in common; p = {p:g}",
            "common: documents that both lists have down to that rank",
            "summed: down to the end of the longer list as far as seen, where the shorter one has ended, "
            "and below both as it went on so far",
        ],
    )


@metric(name="Overlap", needs=("documents", "reference"), no_relevant=None)
def overlap(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the first documents that the reference has among its first, too.

    Formula: Overlap@k = #(documents among the first k of both lists) / min(k, length of the longer list);
        1 for two empty lists
    Reference: the intersection that R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, 2003, start from.
    Example: Overlap@3 of a b c d against b e a = 2/3 = 0.6667
    """
    both = pair_lists(judged)
    longer = np.minimum(np.maximum(both.length, both.other_length), cutoff)
    return np.where(longer == 0, 1.0, ratio(both.common(is_within(both, cutoff)), longer))


@steps_for(overlap)
def _overlap_steps(judged: JudgedRankings, *, cutoff: int) -> Steps:
    both = pair_lists(judged)
    longer = min(cutoff, max(int(both.length[0]), int(both.other_length[0])))
    return make_set_steps(
        judged, cutoff, longer, f"{longer} documents in the longer of both lists, down to rank {cutoff}"
    )


class ListPairs(NamedTuple):
    """Per query the lengths of both lists; of each document that both have, its query and its ranks."""

    length: Integers
    other_length: Integers
    query: Integers
    rank: Integers
    other_rank: Integers

    def common(self, where: NDArray[np.bool_] | None = None) -> Integers:
        """Per query, the number of documents that both lists have; of the marked ones, if any are marked."""
        return np.bincount(self.query if where is None else self.query[where], minlength=self.length.size)


def pair_lists(judged: JudgedRankings) -> ListPairs:
    """The list of each query beside that of the reference."""
    ours, theirs = judged.documents, judged.reference and judged.reference.documents
    if ours is None or theirs is None:
        raise MetricError("needs the documents of both rankings")
    other_rank = judged.rank_in_reference
    common = other_rank > 0
    return ListPairs(
        np.diff(ours.first), np.diff(theirs.first), ours.query[common], ours.rank[common], other_rank[common]
    )


def is_within(both: ListPairs, cutoff: int) -> NDArray[np.bool_]:
    """For each common document, whether both lists have it down to the cutoff."""
    return (both.rank <= cutoff) & (both.other_rank <= cutoff)
