"""The orders that equal scores allow: by what documents are worth, or one by one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pytest_ireval.retrieval.judged import Documents, Floats, Hits, Integers, JudgedRankings

Worth = Callable[[Floats], Floats]
"""What documents are worth by their grades, NaN for a document without a judgment."""


def by_grade(grade: Floats) -> Floats:
    """Relevant documents first, by grade; then unjudged ones; then those judged not relevant."""
    return np.where(np.isnan(grade), 0.0, np.where(grade > 0, grade, grade - 1))


def reordered(judged: JudgedRankings, *, best_first: bool, worth: Worth = by_grade) -> JudgedRankings:
    """Equal scores in the order of what documents are worth: the most worth first, or last."""
    ranks = ranks_by_worth(judged, worth, best_first=best_first)
    reference = judged.reference and reordered(judged.reference, best_first=best_first, worth=worth)
    return replace(with_ranks(judged, ranks), reference=reference)


def ranks_by_worth(judged: JudgedRankings, worth: Worth, *, best_first: bool) -> Integers:
    """New ranks of all documents, or of the hits where the documents are not kept."""
    if judged.documents is None:
        return _ranks_of_hits(judged.hits, worth, best_first)
    documents = judged.documents
    query, grade = _queries(documents), documents.grade
    sign = -1 if best_first else 1
    kind = _kind(worth, grade, best_first)
    order = np.lexsort((sign * np.nan_to_num(grade), sign * worth(grade), kind, documents.tied_from, query))
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size) - documents.first[query] + 1
    return ranks


def with_ranks(judged: JudgedRankings, ranks: Integers) -> JudgedRankings:
    """The rankings with their documents, or hits, at new ranks among their equals."""
    hits, documents = judged.hits, judged.documents
    if documents is not None:
        query = _queries(documents)
        order = np.lexsort((ranks, query))
        ranks = ranks[~np.isnan(documents.grade)]
        documents = documents.at(order, documents.first)
    moved = np.lexsort((ranks, hits.query))
    return replace(judged, hits=hits.at(moved)._replace(rank=ranks[moved]), documents=documents, _memory={})


def _ranks_of_hits(hits: Hits, worth: Worth, best_first: bool) -> Integers:
    """New ranks inside each group of equal scores; unjudged documents fill what is left of it."""
    rows = np.flatnonzero(hits.tied_from < hits.tied_to)
    query, tied_from, grade = hits.query[rows], hits.tied_from[rows], hits.grade[rows]
    new_group = np.ones(rows.size, bool)
    new_group[1:] = (query[1:] != query[:-1]) | (tied_from[1:] != tied_from[:-1])
    first = np.flatnonzero(new_group)
    group = np.cumsum(new_group) - 1
    sign = -1 if best_first else 1
    kind = _kind(worth, grade, best_first)
    order = np.lexsort((sign * grade, sign * worth(grade), kind, group))
    place = np.arange(rows.size)
    in_front = place - first[group]
    behind = np.append(first[1:], rows.size)[group] - place - 1
    ranks = hits.rank.copy()
    ranks[rows[order]] = np.where(kind[order] == 0, tied_from + in_front, hits.tied_to[rows] - behind)
    return ranks


def _kind(worth: Worth, grade: Floats, best_first: bool) -> Integers:
    """0 for documents in front of unjudged ones of the same score, 1 for unjudged ones, 2 for those behind."""
    value, unjudged = worth(grade), worth(np.array([np.nan]))[0]
    in_front = value > unjudged if best_first else value < unjudged
    return np.where(np.isnan(grade), 1, np.where(in_front, 0, 2))


def _queries(documents: Documents) -> Integers:
    return np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))


@dataclass(frozen=True, eq=False)
class Orders:
    """All orders of equal scores, numbered for each query from 0.

    Two orders that put the same grades at the same ranks are one, unless documents count one by one.
    """

    judged: JudgedRankings
    count: Floats
    """How many there are of each query; a query with more than were asked for has no other order here."""
    rows: Integers
    """Documents, or hits, that can move."""
    start: Integers
    """Of each such row: where the places of its group begin in ``places``."""
    width: Integers
    size: Floats
    stride: Floats
    places: Integers

    @property
    def as_they_stand(self) -> Integers:
        """The ranks that documents have now."""
        return _entries(self.judged)[2]

    def ranks(self, number: Integers) -> Integers:
        """The ranks in one order of each query."""
        query, _, ranks, tied_from, _ = _entries(self.judged)
        own = number[query[self.rows]] // self.stride % self.size
        found = ranks.copy()
        found[self.rows] = tied_from[self.rows] + self.places[self.start + own.astype(np.int64) * self.width]
        return found


def all_orders(judged: JudgedRankings, *, most: int, depth: int | None, one_by_one: bool) -> Orders:
    """All orders of queries that have at most so ``many``; groups below the ``depth`` are left as they are."""
    query, grade, _, tied_from, tied_to = _entries(judged)
    moving = np.flatnonzero((tied_from < tied_to) & (depth is None or tied_from <= (depth or 0)))
    key = np.column_stack((query[moving], tied_from[moving]))
    new_group = np.ones(moving.size, bool)
    new_group[1:] = (key[1:] != key[:-1]).any(axis=1)
    begin = np.flatnonzero(new_group)
    groups = [moving[a:b] for a, b in zip(begin.tolist(), [*begin[1:].tolist(), moving.size], strict=True)]
    kinds = [_kinds(grade[rows], int(tied_to[rows[0]] - tied_from[rows[0]]) + 1, one_by_one) for rows in groups]
    count = np.ones(judged.count)
    for rows, kind in zip(groups, kinds, strict=True):
        count[query[rows[0]]] *= _number_of_orders(kind)
    few = count <= most
    stride = np.ones(judged.count)
    parts: list[tuple[Integers, Integers, Integers, Integers, Floats, Floats]] = []
    places: list[Integers] = [np.zeros(0, np.int64)]
    total = 0
    for rows, kind in zip(groups, kinds, strict=True):
        of = query[rows[0]]
        if not few[of]:
            continue
        table = _places(kind)
        order = np.lexsort((np.arange(rows.size), np.nan_to_num(grade[rows], nan=np.inf))) if not one_by_one else None
        mine = rows if order is None else rows[order]
        ones = np.ones(rows.size, np.int64)
        parts.append(
            (
                mine,
                total + np.arange(rows.size),
                ones * table.shape[1],
                ones * int(of),
                np.full(rows.size, float(table.shape[0])),
                np.full(rows.size, stride[of]),
            )
        )
        stride[of] *= table.shape[0]
        places.append(table.ravel())
        total += table.size
    columns = list(zip(*parts, strict=True))
    joined = [np.concatenate(column) for column in columns] or [np.zeros(0, np.int64)] * 6
    found, start, width, _, size, strides = joined
    return Orders(judged, count, found, start, width, size, strides, np.concatenate(places))


def _entries(judged: JudgedRankings) -> tuple[Integers, Floats, Integers, Integers, Integers]:
    """Query, grade, rank and span of all documents, or of the hits where the documents are not kept."""
    hits, documents = judged.hits, judged.documents
    if documents is None:
        return hits.query, hits.grade, hits.rank, hits.tied_from, hits.tied_to
    query = _queries(documents)
    ranks = np.arange(query.size) - documents.first[query] + 1
    return query, documents.grade, ranks, documents.tied_from, documents.tied_to


Kinds = tuple[int, ...]


def _kinds(grade: Floats, size: int, one_by_one: bool) -> Kinds:
    """Which documents of a group of equal scores are alike, sorted; unjudged ones come last."""
    if one_by_one:
        return tuple(range(size))
    _, kind = np.unique(np.nan_to_num(grade, nan=np.inf), return_inverse=True)
    known = sorted(kind.tolist())
    others = known[-1] if np.isnan(grade).any() else known[-1] + 1
    return (*known, *([others] * (size - len(known))))


def _number_of_orders(kinds: Kinds) -> int:
    number = math.factorial(len(kinds))
    for kind in set(kinds):
        number //= math.factorial(kinds.count(kind))
    return number


@lru_cache(maxsize=2000)
def _places(kinds: Kinds) -> Integers:
    """A row for each order: the place of every document of a group, from 0, sorted by kind."""
    orders = np.array(list(_distinct(list(kinds))), np.int64)
    places: Integers = np.argsort(orders, axis=1, kind="stable").astype(np.int64)
    return places


def _distinct(kinds: list[int]) -> list[list[int]]:
    """All different orders of some numbers."""
    if not kinds:
        return [[]]
    found = []
    for kind in sorted(set(kinds)):
        rest = kinds.copy()
        rest.remove(kind)
        found += [[kind, *order] for order in _distinct(rest)]
    return found
