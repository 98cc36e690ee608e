"""Rank correlation with the reference: how alike the order of two lists is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from pytest_ireval import JudgedRankings, Param, list_ranking, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.agreement import pair_lists
from pytest_ireval_metrics.vocabulary import Depth, Floats, Integers, Mask, format_number, sum_prefixes

if TYPE_CHECKING:
    from pytest_ireval import Steps

Missing = Annotated[
    Literal["last", "ignore"],
    Param(
        "a document that one list lacks: last puts it below that list, together with the others that it lacks; "
        "ignore compares only the documents that both lists have"
    ),
]
Ties = Annotated[
    Literal["a", "b"],
    Param("pairs of documents that one list lacks: a counts them as neither agreeing nor not, b leaves them out"),
]
ApTies = Annotated[
    Literal["a", "b"],
    Param(
        "a takes the reference for the truth: only its documents count, and the value is the mean over all orders of "
        "those that the list lacks; b treats both lists alike"
    ),
]
correlation_metric = partial(metric, needs=("documents", "reference"), no_relevant=None, range=(-1, 1))


class _ComparedLists(NamedTuple):
    """The documents of both lists, by query and own rank.

    ``own`` and ``other`` are ranks; documents that a list lacks come after its last one, in the order of the other
    list. ``lacks`` and ``other_lacks`` are 1 for these. ``above`` counts the documents that are above in both lists.
    ``size``, ``missing`` and ``other_missing`` count the documents of a query, and those that each list lacks.
    """

    query: Integers
    own: Integers
    other: Integers
    lacks: Integers
    other_lacks: Integers
    above: Integers
    size: Integers
    missing: Integers
    other_missing: Integers
    equal: Floats
    """Per query, 1 for two equal lists, 0 for others: the value where there is no correlation."""

    def sum(self, values: Floats | Integers) -> Floats:
        """Per query, the sum of values of the documents."""
        return np.bincount(self.query, values, minlength=self.size.size).astype(np.float64)

    @property
    def agrees(self) -> Integers:
        """For each document, the number of others whose order to it is the same in both lists, without ties."""
        tied = self.lacks * (self.missing - 1)[self.query] + self.other_lacks * (self.other_missing - 1)[self.query]
        return self._ordered_alike - tied

    @property
    def differs(self) -> Integers:
        """For each document, the number of others whose order to it is the opposite."""
        return self.size[self.query] - 1 - self._ordered_alike

    @property
    def _ordered_alike(self) -> Integers:
        return 2 * self.above + self.size[self.query] - self.own - self.other + 1

    def turned(self) -> _ComparedLists:
        """The same with the two lists exchanged."""
        order = np.lexsort((self.other, self.query))
        return self._replace(
            own=self.other[order],
            other=self.own[order],
            lacks=self.other_lacks[order],
            other_lacks=self.lacks[order],
            above=self.above[order],
            missing=self.other_missing,
            other_missing=self.missing,
        )


def _compare_lists(judged: JudgedRankings, cutoff: int | None, missing: str) -> _ComparedLists:
    return judged.remember(("compared", cutoff, missing), lambda: _join_lists(judged, cutoff, missing))


def _join_lists(judged: JudgedRankings, cutoff: int | None, missing: str) -> _ComparedLists:
    both, count = pair_lists(judged), judged.count
    depth = np.iinfo(np.int64).max if cutoff is None else cutoff
    query = np.repeat(np.arange(count), both.length)
    own = np.arange(query.size) - (np.cumsum(both.length) - both.length)[query] + 1
    within = own <= depth
    other = np.where(judged.rank_in_reference <= depth, judged.rank_in_reference, 0)
    query, own, other = query[within], own[within], other[within]
    length, other_length = np.minimum(both.length, depth), np.minimum(both.other_length, depth)
    equal = (length == other_length) & (np.bincount(query[own == other], minlength=count) == length)
    if missing != "last":
        query, own, other = query[other > 0], own[other > 0], other[other > 0]
    if missing != "ignore":
        only_there = np.ones(int(other_length.sum()), bool)
        first = np.cumsum(other_length) - other_length
        only_there[(first[query] + other - 1)[other > 0]] = False
        rows = np.flatnonzero(only_there)
        added = np.repeat(np.arange(count), other_length)[rows]
        query, own = np.concatenate((query, added)), np.concatenate((own, np.zeros(rows.size, np.int64)))
        other = np.concatenate((other, rows - first[added] + 1))
    order = np.lexsort((np.where(own > 0, own, other), own == 0, query))
    query, own, other = query[order], own[order], other[order]
    size = np.bincount(query, minlength=count)
    rank = np.arange(query.size) - (np.cumsum(size) - size)[query] + 1
    other_rank = np.empty(query.size, np.int64)
    other_rank[np.lexsort((np.where(other > 0, other, own), other == 0, query))] = rank
    lacks, other_lacks = (own == 0).astype(np.int64), (other == 0).astype(np.int64)
    return _ComparedLists(
        query=query,
        own=rank,
        other=other_rank,
        lacks=lacks,
        other_lacks=other_lacks,
        above=_count_above(query, other_rank),
        size=size,
        missing=np.bincount(query, lacks, minlength=count).astype(np.int64),
        other_missing=np.bincount(query, other_lacks, minlength=count).astype(np.int64),
        equal=equal.astype(np.float64),
    )


def _count_above(query: Integers, other: Integers) -> Integers:
    """For each document, the number of those of its query that come before it both here and by ``other``.

    Bit by bit, from the highest: of ranks with equal higher bits, those with a 0 are above those with a 1.
    """
    order, count = np.arange(query.size), np.zeros(query.size, np.int64)
    bits = int(other.max(initial=0)).bit_length()
    for bit in range(bits - 1, -1, -1):
        one = other[order] >> bit & 1
        group = query[order] << bits | other[order] >> bit + 1
        first = np.flatnonzero(np.diff(group, prepend=-1))
        zeros = np.concatenate((np.zeros(1, np.int64), np.cumsum(1 - one)))
        count[order] += one * (zeros[1:] - np.repeat(zeros[first], np.diff(first, append=query.size)))
        order = order[np.argsort(group << 1 | one, kind="stable")]
    return count


def _make_steps(
    judged: JudgedRankings, settings: Mapping[str, Any], text: str, value: float, facts: Sequence[str]
) -> Steps:
    found = _compare_lists(judged, settings["cutoff"], settings["missing"])
    listed = list_ranking(judged, settings["cutoff"])
    other = judged.rank_in_reference[: listed.rank.size].astype(np.float64)
    empty = "there is no correlation: the value is 1 for equal lists, else 0"
    defined = text != ""
    return make_steps(
        listed,
        {"in reference": np.where(other > 0, other, np.nan)},
        arithmetic=text if defined else format_number(float(found.equal[0])),
        value=value,
        facts=[*facts, *([] if defined else [empty])],
        second_title=f"the {found.size[0]} documents that are compared; those that a list lacks have no rank there",
        second_table={
            "rank": np.where(found.lacks == 0, found.own, np.nan),
            "in reference": np.where(found.other_lacks == 0, found.other, np.nan),
            "agrees": found.agrees,
            "differs": found.differs,
        },
    )


AGREES = "agrees, differs: the number of other documents in the same, and in the opposite order to it in both lists"


def _fill_undefined(values: Floats, found: _ComparedLists, where: Mask) -> Floats:
    """Values where there is a correlation, rounding off; elsewhere 1 for equal lists, and 0."""
    return np.where(where, np.clip(np.where(found.equal > 0, 1.0, values), -1, 1), found.equal)


class _PairCounts(NamedTuple):
    """Per query, numbers of pairs of documents: agreeing less differing ones, and those that each list orders."""

    net: Floats
    ordered: Floats
    other_ordered: Floats
    whole: Floats


def _count_pairs(found: _ComparedLists) -> _PairCounts:
    whole, lacking, other_lacking = (
        number * (number - 1) / 2 for number in (found.size, found.missing, found.other_missing)
    )
    return _PairCounts(found.sum(found.agrees - found.differs) / 2, whole - lacking, whole - other_lacking, whole)


@correlation_metric(name="KendallTau")
def kendall_tau(judged: JudgedRankings, *, cutoff: Depth = None, missing: Missing = "last", ties: Ties = "b") -> Floats:
    """Pairs of documents in the same order as in the reference, less those in the opposite order, as a share.

    Formula: KendallTau = (C - D) / sqrt(n_1 n_2), with C pairs in the same order in both lists, D in the opposite one,
        n_1 and n_2 pairs that each list orders; ties='a': (C - D) / all pairs; 1 for equal lists, 0 where undefined
    Reference: M. Kendall, A new measure of rank correlation, Biometrika 30, 1938; missing='last' as R. Fagin,
        R. Kumar, D. Sivakumar, Comparing top k lists, 2003, see them.
    Example: KendallTau of a b c against b a d = (4 - 2) / (6 * 6)^0.5 = 0.3333
    """
    found = _compare_lists(judged, cutoff, missing)
    net, ordered, other_ordered, whole = _count_pairs(found)
    among = whole if ties == "a" else np.sqrt(ordered * other_ordered)
    return _fill_undefined(ratio(net, among), found, among > 0)


@steps_for(kendall_tau)
def _kendall_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    found = _compare_lists(judged, settings["cutoff"], settings["missing"])
    net, ordered, other_ordered, whole = (float(each[0]) for each in _count_pairs(found))
    below = f"{whole:.0f}" if settings["ties"] == "a" else f"({ordered:.0f} * {other_ordered:.0f})^0.5"
    text = f"{net:.0f} / {below}" if (whole if settings["ties"] == "a" else ordered * other_ordered) else ""
    value = float(kendall_tau.batch(judged, **settings)[0])
    said = "of all pairs" if settings["ties"] == "a" else "of the pairs that each list orders"
    return _make_steps(judged, settings, text, value, [AGREES, f"agreeing less differing pairs, as a share {said}"])


def _describe_pairs(missing: str) -> str:
    """The documents that are compared with the reference as the truth: what it lacks has no place in it."""
    return "ignore" if missing == "ignore" else "reference"


def _count_strictly_above(found: _ComparedLists) -> Integers:
    """For each document, the documents above in both lists; among those that a list lacks, none is above another."""
    seen, seen_there = (found.size - each for each in (found.missing, found.other_missing))
    tied = found.lacks * (found.own - seen[found.query] - 1)
    tied += found.other_lacks * (found.other - seen_there[found.query] - 1)
    above: Integers = found.above - tied
    return above


def _compare_one_way(found: _ComparedLists) -> tuple[Floats, Mask]:
    """Per query, tau AP down the own list with ties as in version b; and where it is defined."""
    seen = found.size - found.missing
    before = np.where(found.lacks > 0, seen[found.query], found.own - 1)
    among = np.where(seen > 0, found.size - 1, 0)
    value = 2 * ratio(found.sum(ratio(_count_strictly_above(found), before)), among) - 1
    return value, (among > 0) & (found.other_missing < found.size)


def _expect_above(found: _ComparedLists) -> Floats:
    """Per query, the sum of shares of documents above that belong there; over all orders of those that are missing."""
    harmonic = sum_prefixes(1 / np.arange(1, int(found.size.max(initial=0)) + 1))
    seen, lacking = found.size - found.missing, found.missing
    most = np.maximum(found.size - 1, 0)
    mean = ratio(harmonic[most] - harmonic[np.maximum(seen - 1, 0)], lacking) * (seen > 0)
    share = np.where(found.lacks > 0, mean[found.query], ratio(np.ones(found.own.size), found.own - 1))
    inside = (np.maximum(lacking - 1, 0) - seen * (harmonic[most] - harmonic[seen])) / 2
    return found.sum(_count_strictly_above(found) * share) + np.where(lacking > 0, inside, 0.0)


@correlation_metric(name="TauAP")
def tau_ap(judged: JudgedRankings, *, cutoff: Depth = None, missing: Missing = "last", ties: ApTies = "a") -> Floats:
    """Rank correlation with the reference in which differences at the top of the list count most.

    Formula: TauAP = 2 / (n - 1) sum over ranks i from 2 of C_i / (i - 1) - 1, with n documents of the reference, and
        C_i of them above rank i here and there; the mean over all orders of those that the list lacks. ties='b': the
        mean of both directions, documents that a list lacks are all at the rank of the first of them; 1 for equal
        lists, 0 where undefined
    Reference: E. Yilmaz, J. Aslam, S. Robertson, A new rank correlation coefficient for information retrieval, SIGIR
        2008, where the reference is the truth, as in ireval stress, reliability and agreement; J. Urbano, M. Marrero,
        The treatment of ties in AP correlation, ICTIR 2017, where this is version a, and both lists are alike in b.
    Example: TauAP of b c a against a b c = 2/2 * (1/1 + 0/2) - 1 = 0.0
    """
    if ties == "a":
        found = _compare_lists(judged, cutoff, _describe_pairs(missing))
        return _fill_undefined(2 * ratio(_expect_above(found), found.size - 1) - 1, found, found.size > 1)
    found = _compare_lists(judged, cutoff, missing)
    (one, defined), (other, _) = _compare_one_way(found), _compare_one_way(found.turned())
    return _fill_undefined((one + other) / 2, found, defined)


@steps_for(tau_ap)
def _ap_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    missing, ties = settings["missing"], settings["ties"]
    value = float(tau_ap.batch(judged, **settings)[0])
    if ties == "a":
        found = _compare_lists(judged, settings["cutoff"], _describe_pairs(missing))
        total, size = float(_expect_above(found)[0]), int(found.size[0])
        text = f"2 / {size - 1} * {format_number(total)} - 1" if size > 1 else ""
        facts = [f"summed over the {size} documents that the reference has: the share of those above that belong there"]
        return _make_steps(judged, settings, text, value, facts)
    found = _compare_lists(judged, settings["cutoff"], missing)
    (one, defined), (other, _) = ((each[0] for each in _compare_one_way(way)) for way in (found, found.turned()))
    text = f"({format_number(float(one))} + {format_number(float(other))}) / 2" if defined else ""
    return _make_steps(judged, settings, text, value, ["the mean of both ways: down this list, and down the reference"])


def _compute_places(found: _ComparedLists) -> tuple[Floats, Floats]:
    """Own and other ranks less their mean; documents that a list lacks share the mean of the ranks below it."""
    middle = (found.size + 1)[found.query] / 2
    pairs = ((found.own, found.lacks, found.missing), (found.other, found.other_lacks, found.other_missing))
    return tuple(  # type: ignore[return-value]  # two of them
        np.where(lacks > 0, (found.size - (missing - 1) / 2)[found.query], rank) - middle
        for rank, lacks, missing in pairs
    )


def _compute_moments(found: _ComparedLists) -> tuple[Floats, Floats, Floats]:
    own, other = _compute_places(found)
    return found.sum(own * other), found.sum(own * own), found.sum(other * other)


@correlation_metric(name="SpearmanRho")
def spearman_rho(judged: JudgedRankings, *, cutoff: Depth = None, missing: Missing = "last") -> Floats:
    """Correlation of ranks with those in the reference: long moves of a document count more than short ones.

    Formula: SpearmanRho = sum of x y / sqrt(sum of x^2 * sum of y^2), with x and y the ranks of a document in both
        lists, less the mean; documents that a list lacks share the mean of the ranks below it; 1 for equal lists, 0
        where undefined
    Reference: C. Spearman, The proof and measurement of association between two things, 1904.
    Example: SpearmanRho of a b c against b a c = (0 + 0 + 1) / (2 * 2)^0.5 = 0.5
    """
    found = _compare_lists(judged, cutoff, missing)
    together, own, other = _compute_moments(found)
    return _fill_undefined(ratio(together, np.sqrt(own * other)), found, own * other > 0)


@steps_for(spearman_rho)
def _spearman_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    together, own, other = (float(each[0]) for each in _compute_moments(_compare_lists(judged, **settings)))
    text = f"{format_number(together)} / ({format_number(own)} * {format_number(other)})^0.5" if own * other else ""
    facts = ["sums over documents of the products of both ranks, and of each rank squared, all less the mean rank"]
    return _make_steps(judged, settings, text, float(spearman_rho.batch(judged, **settings)[0]), facts)


def _weigh_pairs(found: _ComparedLists) -> tuple[Floats, Floats, Floats]:
    """Per query, weighted: agreeing less differing pairs, and the pairs that each list orders."""
    orders = found.size[found.query] - 1 - found.lacks * (found.missing - 1)[found.query]
    other_orders = found.size[found.query] - 1 - found.other_lacks * (found.other_missing - 1)[found.query]
    net, own, other = (
        np.array([found.sum(each / rank) for rank in (found.own, found.other)])
        for each in (found.agrees - found.differs, orders, other_orders)
    )
    return net, own, other


@correlation_metric(name="WeightedTau")
def weighted_tau(judged: JudgedRankings, *, cutoff: Depth = None, missing: Missing = "last") -> Floats:
    """Kendall's tau in which each document of a pair weighs 1 / rank, so that the first documents count most.

    Formula: WeightedTau = mean, over weights by the ranks of either list, of (C - D) / sqrt(n_1 n_2) as in KendallTau,
        with the sum of the weights 1 / rank of both documents for each pair; 1 for equal lists, 0 where undefined
    Reference: S. Vigna, A weighted correlation index for rankings with ties, WWW 2015; scipy.stats.weightedtau.
    Example: WeightedTau of a b c against b a c = (4/3 + 5/6 - 3/2) / (11/3) = 0.1818
    """
    found = _compare_lists(judged, cutoff, missing)
    net, own, other = _weigh_pairs(found)
    return _fill_undefined(ratio(net, np.sqrt(own * other)).mean(axis=0), found, (np.minimum(*(own * other)) > 0))


@steps_for(weighted_tau)
def _weighted_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    ways = [each[:, 0].tolist() for each in _weigh_pairs(_compare_lists(judged, **settings))]
    parts = [
        f"{format_number(net)} / ({format_number(own)} * {format_number(other)})^0.5"
        for net, own, other in zip(*ways, strict=True)
        if own * other
    ]
    text = f"({' + '.join(parts)}) / 2" if parts else ""
    facts = [AGREES, "agreeing less differing documents / rank, as a share; by the ranks here, and by those there"]
    return _make_steps(judged, settings, text, float(weighted_tau.batch(judged, **settings)[0]), facts)
