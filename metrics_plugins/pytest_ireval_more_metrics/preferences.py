"""Preferences: which of two rankings serves more users better, and whether a ranking follows preferences of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from pytest_ireval import JudgedRankings, MetricError, Param, list_ranking, make_steps, metric, ratio, steps_for
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    Integers,
    Rel,
    compute_discount,
    format_number,
    format_quotient,
    sum_prefixes,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

NOWHERE = 2**62
"""The rank of a document that is not retrieved."""

Levels = Annotated[
    Literal["uniform", "inverse", "log2"],
    Param("the weight of users who want i relevant documents: all the same, 1 / i, or 1 / log2(i + 1)"),
]
Graded = Annotated[
    bool, Param("compare the documents of each grade from rel on, together with those of higher grades, instead of all")
]

preference_metric = partial(metric, needs=("reference",), range=(-1, 1))


class _Levels(NamedTuple):
    """For each query, the ranks of its first, second, … relevant document, here and in the reference.

    Levels that neither list reaches are left out. ``relevant`` counts the relevant documents of a query.
    """

    query: Integers
    level: Integers
    rank: Integers
    other_rank: Integers
    relevant: Integers

    @property
    def better(self) -> Floats:
        """1 where this list has that many relevant documents sooner, -1 where the reference has."""
        sooner: Floats = np.sign(self.other_rank - self.rank).astype(np.float64)
        return sooner


def _compare_levels(judged: JudgedRankings, rel: float) -> _Levels:
    reference = judged.reference
    if reference is None:
        raise MetricError("there is no other ranking to compare with")
    found = [side.hits.at(side.hits.grade >= rel) for side in (judged, reference)]
    counts = [np.bincount(hits.query, minlength=judged.count) for hits in found]
    reached = np.maximum(*counts)
    first = np.cumsum(reached) - reached
    query = np.repeat(np.arange(judged.count), reached)
    rank, other_rank = np.full(query.size, NOWHERE), np.full(query.size, NOWHERE)
    for ranks, hits, count in zip((rank, other_rank), found, counts, strict=True):
        ranks[first[hits.query] + np.arange(hits.query.size) - (np.cumsum(count) - count)[hits.query]] = hits.rank
    relevant = np.bincount(judged.ideal.query[judged.ideal.grade >= rel], minlength=judged.count)
    return _Levels(query, np.arange(query.size) - first[query] + 1, rank, other_rank, relevant)


def _weigh_levels(levels: str, most: int) -> Floats:
    number = np.arange(1, most + 1)
    if levels == "uniform":
        return np.ones(most)
    return 1.0 / (number if levels == "inverse" else compute_discount(number, "log2", 2))


def _apply_weights(found: _Levels, levels: str) -> tuple[Floats, Floats]:
    """The part of each level, and the sum of all weights of each query."""
    weight = _weigh_levels(levels, int(found.relevant.max(initial=0)))
    return weight[found.level - 1] * found.better, sum_prefixes(weight)[found.relevant]


def _list_thresholds(judged: JudgedRankings, rel: float, graded: bool) -> list[tuple[float, Integers]]:
    """Grades from which documents are compared, each with the number of relevant documents of the queries that have it.

    A query without that grade has 0.
    """
    if not graded:
        return [(rel, judged.relevant_count(rel))]
    grades = np.unique(judged.ideal.grade[judged.ideal.grade >= rel]).tolist()
    has = [np.bincount(judged.ideal.query[judged.ideal.grade == grade], minlength=judged.count) for grade in grades]
    return [
        (grade, np.where(there > 0, judged.relevant_count(grade), 0)) for grade, there in zip(grades, has, strict=True)
    ]


def _make_level_columns(found: _Levels, grade: Floats, adds: Floats) -> dict[str, Any]:
    ranks = [np.where(rank == NOWHERE, np.nan, rank) for rank in (found.rank, found.other_rank)]
    return {
        "from grade": grade,
        "i": found.level,
        "rank": ranks[0],
        "in reference": ranks[1],
        "better": found.better,
        "adds": adds,
    }


def _make_level_steps(
    judged: JudgedRankings, rel: float, text: str, value: float, facts: Sequence[str], table: Mapping[str, Any]
) -> Steps:
    listed = list_ranking(judged)
    found = listed.relevant(rel)
    columns = {"i": np.where(found, np.cumsum(found), np.nan)}
    return make_steps(
        listed,
        columns,
        arithmetic=text,
        value=value,
        facts=facts,
        second_title="the i-th relevant document of both lists",
        second_table=table or None,
    )


@preference_metric(
    name="RPP",
    spellings={"invrpp": {"levels": "inverse"}, "dcgrpp": {"levels": "log2"}, "recall_paired_preference": {}},
)
def rpp(judged: JudgedRankings, *, rel: Rel = 1, levels: Levels = "uniform", graded: Graded = False) -> Floats:
    """Recall-paired preference: users who find what they want sooner than in the reference, less those who do later.

    Formula: RPP = sum over i = 1 to R of w_i sign(rank there - rank here of the i-th relevant document) / sum of w_i; a
        document that a list lacks is below all others; graded=True: the mean over the grades g from rel on that a query
        has, weighted by the documents of grade g and above, which are the relevant ones
    Reference: F. Diaz, A. Ferraro, Offline retrieval evaluation without evaluation metrics, SIGIR 2022.
    Example: RPP of - a b against a - - = (-1 + 1) / 2 = 0.0
    """
    total, among = np.zeros(judged.count), np.zeros(judged.count)
    for grade, relevant in _list_thresholds(judged, rel, graded):
        found = _compare_levels(judged, grade)
        adds, weights = _apply_weights(found, levels)
        total += relevant * ratio(np.bincount(found.query, adds, minlength=judged.count), weights)
        among += relevant
    return ratio(total, among)


@steps_for(rpp)
def _rpp_steps(judged: JudgedRankings, *, rel: float, levels: str, graded: bool) -> Steps:
    parts, columns, size = [], [], 0
    for grade, relevant in _list_thresholds(judged, rel, graded):
        found = _compare_levels(judged, grade)
        adds, among = _apply_weights(found, levels)
        if relevant[0]:
            value = float(adds.sum() / among[0])
            size += int(relevant[0])
            parts.append(f"{relevant[0]} * {format_number(value)}")
            columns.append(_make_level_columns(found, np.full(adds.size, grade), adds / among[0]))
    value = float(rpp.batch(judged, rel=rel, levels=levels, graded=graded)[0])
    text = f"({' + '.join(parts)}) / {size}" if size else "0"
    table = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]} if columns else {}
    weights = {"uniform": "the same weight", "inverse": "weight 1 / i", "log2": "weight 1 / log2(i + 1)"}[levels]
    facts = [
        f"users who want i relevant documents have {weights}",
        "better: 1 where this list has them sooner, -1 where the reference has; adds: their share of the weight",
    ]
    return _make_level_steps(judged, rel, text, value, facts, table)


def _find_deciding(judged: JudgedRankings, rel: float, *, last: bool) -> tuple[_Levels, Integers]:
    """The levels; of each query, the row of the first or the last one at which the two lists differ."""
    found = _compare_levels(judged, rel)
    rows = np.flatnonzero(found.better)
    queries = found.query[rows]
    chosen = np.flatnonzero(np.diff(queries, append=-1) if last else np.diff(queries, prepend=-1))
    return found, rows[chosen]


def _show_lexical(last: bool, judged: JudgedRankings, *, rel: float, reciprocal: bool = False) -> Steps:
    found, rows = _find_deciding(judged, rel, last=last)
    adds = np.zeros(found.level.size)
    adds[rows] = _compute_size(found, rows, reciprocal)
    text = format_number(float(adds.sum()))
    if reciprocal and rows.size:
        text = " - ".join(
            "0" if rank == NOWHERE else f"1 / {rank}" for rank in (found.rank[rows[0]], found.other_rank[rows[0]])
        )
    facts = [
        f"the {'last' if last else 'first'} i at which both lists differ decides; better: 1 where this one is sooner"
    ]
    table = _make_level_columns(found, np.full(adds.size, rel), adds)
    return _make_level_steps(judged, rel, text, float(adds.sum()), facts, table)


def _compute_size(found: _Levels, rows: Integers, reciprocal: bool) -> Floats:
    if not reciprocal:
        return found.better[rows]
    here, there = (np.where(rank[rows] == NOWHERE, 0.0, 1.0 / rank[rows]) for rank in (found.rank, found.other_rank))
    return here - there


@preference_metric(name="LexiRecall")
def lexi_recall(judged: JudgedRankings, *, rel: Rel = 1) -> Floats:
    """The better list for users who want every relevant document: 1 if it is this one, -1 if it is the reference.

    Formula: LexiRecall = sign(rank there - rank here of the i-th relevant document) for the greatest i at which both
        lists differ; 0 if there is none; a document that a list lacks is below all others
    Reference: F. Diaz, M. Ekstrand, B. Mitra, Recall, robustness, and lexicographic evaluation, TORS 2025.
    Example: LexiRecall of - a b against a - - b = sign(4 - 3) = 1.0
    """
    found, rows = _find_deciding(judged, rel, last=True)
    return np.bincount(found.query[rows], found.better[rows], minlength=judged.count).astype(np.float64)


steps_for(lexi_recall)(partial(_show_lexical, True))


@preference_metric(name="LexiPrecision", spellings={"rrlexiprecision": {"reciprocal": True}})
def lexi_precision(
    judged: JudgedRankings,
    *,
    rel: Rel = 1,
    reciprocal: Annotated[
        bool, Param("the difference 1 / rank here - 1 / rank there of that document instead of its sign")
    ] = False,
) -> Floats:
    """The better list for users who want one relevant document, then two: 1 if it is this one, -1 if the reference.

    Formula: LexiPrecision = sign(rank there - rank here of the i-th relevant document) for the least i at which both
        lists differ; 0 if there is none; a document that a list lacks is below all others
    Reference: F. Diaz, Best-case retrieval evaluation: improving the sensitivity of reciprocal rank with lexicographic
        precision, EVIA 2023.
    Example: LexiPrecision of - a b against a - - b = sign(1 - 2) = -1.0
    """
    found, rows = _find_deciding(judged, rel, last=False)
    size = _compute_size(found, rows, reciprocal)
    return np.bincount(found.query[rows], size, minlength=judged.count).astype(np.float64)


steps_for(lexi_precision)(partial(_show_lexical, False))


Weighted = Annotated[bool, Param("count each preference as often as its support or weight says")]


class _Kept(NamedTuple):
    """Per query, its preferences: all, those about one of the first documents, and those of them that are followed."""

    all: Floats
    about: Floats
    kept: Floats


def _read_weight(pair: tuple[str, str], weighted: bool) -> float:
    """The times that a preference counts; one without a weight counts once."""
    return float(getattr(pair, "weight", 1.0)) if weighted else 1.0


def _count_kept(judged: JudgedRankings, cutoff: int | None, weighted: bool) -> _Kept:
    if judged.documents is None or judged.preferences is None:
        raise MetricError("there are no preferences")
    counts = np.zeros((3, judged.count))
    for i, query in enumerate(judged.queries):
        pairs = judged.preferences.get(query, ())
        rows = judged.documents.of(i)
        size = (rows.stop - rows.start) if cutoff is None else min(cutoff, rows.stop - rows.start)
        ranks = {document: r for r, document in enumerate(judged.documents.ids.texts(np.arange(rows.start, rows.stop)))}
        places = [
            (ranks.get(pair[0], NOWHERE), ranks.get(pair[1], NOWHERE), _read_weight(pair, weighted)) for pair in pairs
        ]
        about = [(better < worse, weight) for better, worse, weight in places if min(better, worse) < size]
        kept = sum(weight for follows, weight in about if follows)
        counts[:, i] = sum(weight for *_, weight in places), sum(weight for _, weight in about), kept
    return _Kept(*counts)


def _show_kept(of: str, judged: JudgedRankings, *, cutoff: int | None, weighted: bool) -> Steps:
    listed, found = list_ranking(judged, cutoff), _count_kept(judged, cutoff, weighted)
    pairs = [] if judged.preferences is None else [*judged.preferences.get(judged.queries[0], ())]
    whole = {document: rank for rank, document in enumerate(list_ranking(judged).documents, 1)}
    kept, missed = dict.fromkeys(listed.documents, 0.0), dict.fromkeys(listed.documents, 0.0)
    for pair in pairs:
        better, worse = pair
        here = better if whole.get(better, NOWHERE) < whole.get(worse, NOWHERE) else worse
        if here in kept:
            (kept if here == better else missed)[here] += _read_weight(pair, weighted)
    among = (found.all if of == "all" else found.about)[0]
    text, value = format_quotient(float(found.kept[0]), float(among))
    followed = np.array([*kept.values()], np.float64)
    wrong = np.array([*missed.values()], np.float64)
    shares = followed / (among or 1)
    if of == "difference":
        missing = float(found.about[0] - found.kept[0])
        value = (float(found.kept[0]) - missing) / float(among) if among else 0.0
        text = f"({format_number(found.kept[0])} - {format_number(missing)}) / {format_number(among)}" if among else "0"
        shares = (followed - wrong) / (among or 1)
    return make_steps(
        listed,
        {"follows": followed, "misses": wrong},
        arithmetic=text,
        value=value,
        facts=[
            f"{format_number(found.all[0])} preferences, "
            f"{format_number(found.about[0])} of them about a listed document",
            "follows, misses: preferences between the document and one below it or not retrieved",
        ],
        shares=shares,
    )


judges_metric = partial(metric, needs=("documents", "preferences"), no_relevant=None)


@judges_metric(name="PPref")
def preference_precision(judged: JudgedRankings, *, cutoff: Depth = None, weighted: Weighted = False) -> Floats:
    """Precision of preferences: the share of judged preferences about the first documents that the ranking follows.

    Formula: PPref@k = preferences with the better document above the other one / preferences of which at least one
        document is at ranks 1 to k; a document that was not retrieved is below all others
    Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais, Here or there: preference judgments for relevance,
        ECIR 2008.
    Example: PPref@1 of b a c preferring a b, b c, a c = 1/2 = 0.5
    """
    found = _count_kept(judged, cutoff, weighted)
    return ratio(found.kept, found.about)


steps_for(preference_precision)(partial(_show_kept, "about"))


@judges_metric(name="RPref")
def preference_recall(judged: JudgedRankings, *, cutoff: Depth = None, weighted: Weighted = False) -> Floats:
    """Recall of preferences: the share of all judged preferences that the first documents follow.

    Formula: RPref@k = preferences of which the better document is at ranks 1 to k and above the other one / all
        preferences; a document that was not retrieved is below all others
    Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais, ECIR 2008.
    Example: RPref@1 of b a c preferring a b, b c, a c = 1/3 = 0.3333
    """
    found = _count_kept(judged, cutoff, weighted)
    return ratio(found.kept, found.all)


steps_for(preference_recall)(partial(_show_kept, "all"))


@judges_metric(
    name="TauPref",
    range=(-1, 1),
    not_promised={
        "promotion_never_harms": "a document that rises above the cutoff adds preferences that the ranking contradicts"
    },
)
def preference_tau(judged: JudgedRankings, *, cutoff: Depth = None, weighted: Weighted = False) -> Floats:
    """Tau of preferences: those about the first documents that the ranking follows, less those that it contradicts.

    Formula: TauPref@k = (preferences with the better document above the other one - those with it below) / preferences
        of which at least one document is at ranks 1 to k = 2 PPref@k - 1; 0 without such preferences; a document that
        was not retrieved is below all others
    Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais, ECIR 2008, for preferences; M. Kendall 1938, A new
        measure of rank correlation, Biometrika 30.
    Example: TauPref@1 of b a c preferring a b, b c, a c = (1 - 1)/2 = 0.0
    """
    found = _count_kept(judged, cutoff, weighted)
    return ratio(2 * found.kept - found.about, found.about)


steps_for(preference_tau)(partial(_show_kept, "difference"))
