"""How alike two rankings of a query are; what anybody judged does not matter."""

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, MetricError, Param, metric, ratio
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Cutoff

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@metric(
    name="RBO",
    needs=("documents", "reference"),
    no_relevant=None,
    steps=steps_in("agreement", "rank_biased_overlap_steps"),
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
) -> Floats:
    """Rank-biased overlap with the reference: how alike both lists are at every depth, the first depths first.

    Formula: RBO = (1-p) (sum of p^(d-1) X_d / d for d = 1 to l + sum of p^(d-1) X_s (d - s) / (s d) for d = s+1 to l)
        + p^l ((X_l - X_s) / l + X_s / s), with X_d the documents that the first d of both lists have in common, s and l
        the lengths of the shorter and the longer list; 1 for two empty lists, 0 for one
    Reference: W. Webber, A. Moffat, J. Zobel, A similarity measure for indefinite rankings, TOIS 28, 2010
        (extrapolated, equation 32).
    Example: RBO(p=0.5) of a b against b a = 0.5 * (0/1 + 0.5 * 2/2) + 0.5^2 * 2/2 = 0.5
    """
    both = lists_of(judged)
    short, long = np.minimum(both.length, both.other_length), np.maximum(both.length, both.other_length)
    weight = (1 - p) * np.power(p, np.arange(int(long.max(initial=0))))
    weights, weights_by_depth = _summed(weight), _summed(weight / np.arange(1, weight.size + 1))
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


@metric(
    name="Overlap",
    needs=("documents", "reference"),
    no_relevant=None,
    steps=steps_in("agreement", "overlap_steps"),
)
def overlap(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the first documents that the reference has among its first, too.

    Formula: Overlap@k = #(documents among the first k of both lists) / min(k, length of the longer list);
        1 for two empty lists
    Reference: the intersection that R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, 2003, start from.
    Example: Overlap@3 of a b c d against b e a = 2/3 = 0.6667
    """
    both = lists_of(judged)
    longer = np.minimum(np.maximum(both.length, both.other_length), cutoff)
    return np.where(longer == 0, 1.0, ratio(both.common(_within(both, cutoff)), longer))


@metric(
    name="Jaccard",
    needs=("documents", "reference"),
    no_relevant=None,
    steps=steps_in("agreement", "jaccard_steps"),
)
def jaccard(judged: JudgedRankings, *, cutoff: Cutoff) -> Floats:
    """Share of the documents that either list has among its first which both have.

    Formula: Jaccard@k = #(documents among the first k of both lists) / #(documents among the first k of either);
        1 for two empty lists
    Reference: P. Jaccard, The distribution of the flora in the alpine zone, New Phytologist 11, 1912.
    Example: Jaccard@3 of a b c d against b e a = 2/4 = 0.5
    """
    both = lists_of(judged)
    common = both.common(_within(both, cutoff))
    either = np.minimum(both.length, cutoff) + np.minimum(both.other_length, cutoff) - common
    return np.where(either == 0, 1.0, ratio(common, either))


class Both(NamedTuple):
    """Per query the lengths of both lists; of each document that both have, its query and its ranks."""

    length: Integers
    other_length: Integers
    query: Integers
    rank: Integers
    other_rank: Integers

    def common(self, where: NDArray[np.bool_] | None = None) -> Integers:
        """Per query, how many documents both lists have; those that are marked."""
        return np.bincount(self.query if where is None else self.query[where], minlength=self.length.size)


def lists_of(judged: JudgedRankings) -> Both:
    """The list of each query beside that of the reference."""
    ours, theirs = judged.documents, judged.reference and judged.reference.documents
    if ours is None or theirs is None:
        raise MetricError("needs the documents of both rankings")
    length = np.diff(ours.first)
    query = np.repeat(np.arange(judged.count), length)
    rank = np.arange(query.size) - ours.first[query] + 1
    other_rank = judged.rank_in_reference
    common = other_rank > 0
    return Both(length, np.diff(theirs.first), query[common], rank[common], other_rank[common])


def _within(both: Both, cutoff: int) -> NDArray[np.bool_]:
    return (both.rank <= cutoff) & (both.other_rank <= cutoff)


def _summed(values: Floats) -> Floats:
    """The sum of the first 0, 1, 2 … values."""
    return np.concatenate((np.zeros(1), np.cumsum(values)))


METRICS = [rank_biased_overlap, overlap, jaccard]
