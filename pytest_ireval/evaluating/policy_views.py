"""Judged rankings under the policies: the order of equal scores, the depth, and unjudged documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, MetricError, Problem, raised
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.judged import Floats, Hits, Integers, JudgedRankings, Mask, ratio
from pytest_ireval.retrieval.views import condensed, cut_to_depth, only
from pytest_ireval.text_table import counted

BY_JUDGMENTS = ("pessimistic", "optimistic")
"""Ties that are ordered by judgments."""
ONE_BY_ONE = {"documents", "fields", "judgments", "subtopics", "preferences", "reference", "unjudged"}
"""Needs of metrics that distinguish documents of the same grade."""
STEPS = (6, 24, 120, 720)
"""Queries with similar numbers of orders are tried together; a query with more orders than the last is not tried."""
ALL_ROWS = 200_000
"""Queries are tried without the others only if orders of all of them would make more rows."""
TRIED_ROWS = 4_000_000
"""This many rows are made of all orders together: about a second."""


class Extreme(NamedTuple):
    """Rankings with equal scores in the best or in the worst order for a metric, all documents included.

    ``proven`` marks the queries for which no other order is better, or worse.
    """

    judged: JudgedRankings
    proven: Mask


def as_told(judged: JudgedRankings, policies: Policies, origin: str, metric: Metric | None = None) -> JudgedRankings:
    """Equal scores in the chosen order, cut at the depth, and without unjudged documents if the policies ask for that.

    The best and the worst order are those of the ``metric``; without one, relevant documents come first, or last.
    """
    if policies.ties in BY_JUDGMENTS:
        best = policies.ties == "optimistic"
        if metric is not None:
            judged = extreme(judged, metric, policies, best=best).judged
        elif tied(judged).any():
            judged = reordered(judged, best_first=best)
    judged = shortened(judged, policies)
    found = tied(judged)
    if policies.ties == "error" and found.any():
        queries = [judged.queries[i] for i in np.unique(judged.hits.query[found]).tolist()]
        complaint = (
            f"judged documents share their score with others in {len(queries)} of {counted(judged.count, 'query')}, "
            f"and ties are an error: {some(queries)}"
        )
        suggestion = 'ties="trec" (command line: --ties trec) puts equal scores in order of document ids'
        raise InputError(Problem(complaint, place=origin, suggestion=suggestion))
    return judged


def tied(judged: JudgedRankings) -> Mask:
    """True for hits that share their score with another document."""
    return judged.hits.tied_from < judged.hits.tied_to


def any_ties(judged: JudgedRankings, metric: Metric) -> bool:
    """True if equal scores can matter to a metric: those of judged documents, or of any that it uses."""
    documents = judged.documents if metric.needs & ONE_BY_ONE else None
    return bool(tied(judged).any() or (documents is not None and (documents.tied_from < documents.tied_to).any()))


def shortened(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies ask for that."""
    if policies.depth is not None:
        judged = cut_to_depth(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged


def extreme(judged: JudgedRankings, metric: Metric, policies: Policies, *, best: bool) -> Extreme:
    """Equal scores in the best or the worst order for a metric; of one without a direction, the highest or lowest.

    The metric knows the order (``tie_order``), or all orders are tried where there are few enough.
    """
    proven = np.ones(judged.count, bool)
    if not any_ties(judged, metric):
        return Extreme(judged, proven)
    worth = worth_of(metric, judged)
    if worth is not None:
        same = ("tied", _pattern(worth, judged), best)
        ranked = judged.remember(same, lambda: _with_ranks(judged, _ranks_by_worth(judged, worth, best_first=best)))
        return Extreme(ranked, proven)
    if metric.unit != "query" or "sessions" in metric.needs:
        return Extreme(reordered(judged, best_first=best), np.zeros(judged.count, bool))
    key = ("tied", str(metric), policies.depth, policies.unjudged, best)
    return judged.remember(key, lambda: _Search(judged, metric, policies, best).found())


def worth_of(metric: Metric, judged: JudgedRankings) -> _Worth | None:
    """The worth of documents of equal scores to the metric; None if it has no ``tie_order``."""
    grades = np.append(np.unique(judged.hits.grade), np.nan)
    try:
        known = None if metric.tie_order is None else metric.tie_order(grades, **metric.settings)
    except Exception as error:  # whatever a plugin's code raises, the message names it
        problem = raised("its tie_order", error, f"the metric comes from {metric.source}")
        raise MetricError(replace(problem, place=str(metric))) from error
    if known is None:
        return None
    values = np.asarray(known, np.float64)
    if values.shape != grades.shape or np.isnan(values).any():
        wanted = "its tie_order must return one number for each grade and one for an unjudged document, or None"
        raise MetricError(Problem(wanted, place=str(metric), suggestion=f"the metric comes from {metric.source}"))

    def worth(grade: Floats) -> Floats:
        found: Floats = values[np.searchsorted(grades, grade)]  # NaN is found in the last place
        return found

    return worth


def _pattern(worth: _Worth, judged: JudgedRankings) -> tuple[int, ...]:
    """The key of an order: the sequence of grades and unjudged documents; equal keys give equal orders."""
    grade = np.append(np.unique(judged.hits.grade), np.nan)
    _, place = np.unique(worth(grade), return_inverse=True)
    return tuple(place.tolist())


class _Search:
    """Looks for the best or the worst order of each query by trying them."""

    def __init__(self, judged: JudgedRankings, metric: Metric, policies: Policies, best: bool) -> None:
        self.judged, self.metric, self.policies = judged, metric, policies
        self.best_first = best
        self.sign = 1.0 if best == (metric.direction != "lower") else -1.0
        self.one_by_one = bool(metric.needs & ONE_BY_ONE)

    def found(self) -> Extreme:
        """The best of all orders of each query, or of a few where there are too many."""
        orders = self._orders(self.judged)
        query = np.repeat(np.arange(self.judged.count), self._rows(self.judged))
        ranks = _ranks_by_worth(self.judged, _by_grade, best_first=self.best_first)
        best = self._values(self.judged, ranks)
        for other in (_ranks_by_worth(self.judged, _by_grade, best_first=not self.best_first), orders.as_they_stand):
            values = self._values(self.judged, other)
            better = values > best
            ranks, best = np.where(better[query], other, ranks), np.where(better, values, best)
        proven = orders.count <= 1
        for some_queries in self._parts(orders.count):
            mask = np.zeros(self.judged.count, bool)
            mask[some_queries] = True
            count = np.where(mask, orders.count, 1).astype(np.int64)
            together = query.size * int(count.max()) <= ALL_ROWS
            if not together and "alone_or_together" in self.metric.not_promised:
                continue  # its value of a query depends on the others
            looked = np.ones(mask.size, bool) if together else mask
            chosen, now = mask[query], looked[query]
            found = self._best_ranks(only(self.judged, looked), count[looked], ranks[now], best[looked])
            ranks[chosen] = found[chosen[now]]
            proven |= mask
        return Extreme(_with_ranks(self.judged, ranks), proven)

    def _orders(self, judged: JudgedRankings) -> _Orders:
        return _all_orders(judged, most=STEPS[-1], depth=self.policies.depth, one_by_one=self.one_by_one)

    def _rows(self, judged: JudgedRankings) -> Integers:
        return np.diff(judged.first if judged.documents is None else judged.documents.first)

    def _values(self, judged: JudgedRankings, ranks: Integers) -> Floats:
        """The values, higher for a better order."""
        return self.sign * score(self.metric, shortened(_with_ranks(judged, ranks), self.policies)).values

    def _parts(self, count: Floats) -> Iterator[Integers]:
        """Queries whose orders can be tried within the budget, those with similar numbers of orders together."""
        rows, budget, least = self._rows(self.judged), TRIED_ROWS, 1
        for most in STEPS:
            here = np.flatnonzero((count > least) & (count <= most))
            within = np.cumsum(rows[here]) * most <= budget
            budget -= int(rows[here[within]].sum()) * most
            least = most
            if within.any():
                yield here[within]

    def _best_ranks(self, judged: JudgedRankings, count: Integers, ranks: Integers, best: Floats) -> Integers:
        """The ranks of all orders that are best; ``ranks`` where none has a better value than these."""
        orders = self._orders(judged)
        number = np.full(judged.count, -1)
        for tried in range(int(count.max())):
            values = self._values(judged, orders.ranks(np.minimum(tried, count - 1)))
            better = values > best
            number, best = np.where(better, tried, number), np.where(better, values, best)
        query = np.repeat(np.arange(judged.count), self._rows(judged))
        return np.where((number >= 0)[query], orders.ranks(np.maximum(number, 0)), ranks)


_Worth = Callable[[Floats], Floats]
"""The worth of documents by their grades, which are NaN for unjudged documents."""


def _by_grade(grade: Floats) -> Floats:
    """Relevant documents first, by grade; then unjudged ones; then those judged not relevant."""
    return np.where(np.isnan(grade), 0.0, np.where(grade > 0, grade, grade - 1))


def reordered(judged: JudgedRankings, *, best_first: bool, worth: _Worth = _by_grade) -> JudgedRankings:
    """Equal scores in the order of the documents' worth: the highest first, or last."""
    ranks = _ranks_by_worth(judged, worth, best_first=best_first)
    reference = judged.reference and reordered(judged.reference, best_first=best_first, worth=worth)
    return replace(_with_ranks(judged, ranks), reference=reference)


def _ranks_by_worth(judged: JudgedRankings, worth: _Worth, *, best_first: bool) -> Integers:
    """New ranks of all documents, or of the hits where the documents are not kept."""
    if judged.documents is None:
        return _ranks_of_hits(judged.hits, worth, best_first)
    documents = judged.documents
    query, grade = documents.query, documents.grade
    sign = -1 if best_first else 1
    kind = _kind(worth, grade, best_first)
    order = np.lexsort((sign * np.nan_to_num(grade), sign * worth(grade), kind, documents.tied_from, query))
    ranks = np.empty(order.size, np.int64)
    ranks[order] = np.arange(order.size) - documents.first[query] + 1
    return ranks


def _with_ranks(judged: JudgedRankings, ranks: Integers) -> JudgedRankings:
    """The rankings with their documents, or hits, at new ranks among their equals."""
    hits, documents = judged.hits, judged.documents
    if documents is not None:
        order = np.lexsort((ranks, documents.query))
        ranks = ranks[~np.isnan(documents.grade)]
        documents = documents.at(order, documents.first)
    moved = np.lexsort((ranks, hits.query))
    return replace(judged, hits=hits.at(moved)._replace(rank=ranks[moved]), documents=documents, _memory={})


def _ranks_of_hits(hits: Hits, worth: _Worth, best_first: bool) -> Integers:
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


def _kind(worth: _Worth, grade: Floats, best_first: bool) -> Integers:
    """0 for documents before unjudged ones of the same score, 1 for unjudged ones, 2 for those after them."""
    value, unjudged = worth(grade), worth(np.array([np.nan]))[0]
    in_front = value > unjudged if best_first else value < unjudged
    return np.where(np.isnan(grade), 1, np.where(in_front, 0, 2))


@dataclass(frozen=True, eq=False)
class _Orders:
    """All orders of equal scores, numbered for each query from 0.

    Two orders that put the same grades at the same ranks are one, unless documents count one by one.
    """

    judged: JudgedRankings
    count: Floats
    """The number of orders of each query; a query with more than the requested number has no other order here."""
    rows: Integers
    """Documents, or hits, that can move."""
    start: Integers
    """For each such row, the begin of its group's places in ``places``."""
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


def _all_orders(judged: JudgedRankings, *, most: int, depth: int | None, one_by_one: bool) -> _Orders:
    """All orders of queries that have at most ``most``; groups below the ``depth`` are left unchanged."""
    query, grade, _, tied_from, tied_to = _entries(judged)
    moving = np.flatnonzero((tied_from < tied_to) & (depth is None or tied_from <= (depth or 0)))
    key = np.column_stack((query[moving], tied_from[moving]))
    new_group = np.ones(moving.size, bool)
    new_group[1:] = (key[1:] != key[:-1]).any(axis=1)
    begin = np.flatnonzero(new_group)
    groups = [rows for rows in np.split(moving, begin[1:]) if rows.size]  # one empty group where nothing can move
    kinds = [_kinds(grade[rows], int(tied_to[rows[0]] - tied_from[rows[0]]) + 1, one_by_one) for rows in groups]
    count = np.ones(judged.count)
    for rows, kind in zip(groups, kinds, strict=True):
        count[query[rows[0]]] *= _number_of_orders(kind)
    few = count <= most
    stride = np.ones(judged.count)
    parts: list[tuple[Integers, Integers, Integers, Floats, Floats]] = []
    places: list[Integers] = [np.zeros(0, np.int64)]
    total = 0
    for rows, kind in zip(groups, kinds, strict=True):
        of = query[rows[0]]
        if not few[of]:
            continue
        table = _places(kind)
        order = np.lexsort((np.arange(rows.size), np.nan_to_num(grade[rows], nan=np.inf))) if not one_by_one else None
        mine = rows if order is None else rows[order]
        start, width = total + np.arange(rows.size), np.full(rows.size, table.shape[1])
        parts.append((mine, start, width, np.full(rows.size, float(table.shape[0])), np.full(rows.size, stride[of])))
        stride[of] *= table.shape[0]
        places.append(table.ravel())
        total += table.size
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64)] * 5
    found, start, width, size, strides = joined
    return _Orders(judged, count, found, start, width, size, strides, np.concatenate(places))


def _entries(judged: JudgedRankings) -> tuple[Integers, Floats, Integers, Integers, Integers]:
    """Query, grade, rank and span of all documents, or of the hits where the documents are not kept."""
    hits, documents = judged.hits, judged.documents
    if documents is None:
        return hits.query, hits.grade, hits.rank, hits.tied_from, hits.tied_to
    return documents.query, documents.grade, documents.rank, documents.tied_from, documents.tied_to


Kinds = tuple[int, ...]


def _kinds(grade: Floats, size: int, one_by_one: bool) -> Kinds:
    """The kinds of the documents of a group of equal scores, sorted; unjudged ones come last."""
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
    return np.argsort(orders, axis=1, kind="stable").astype(np.int64)


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


LEVELS = tuple(i / 10 for i in range(11))
ALMOST = 1e-9
"""Recall times R that is this close to a whole number is that number."""


class _Found(NamedTuple):
    """The relevant documents that were retrieved, by query and rank; those of query i begin at ``first[i]``."""

    first: Integers
    rank: Integers
    so_far: Integers
    """The number of relevant ones at this rank or above."""
    relevant: Integers
    """Per query, the number of relevant documents, retrieved or not."""


def found_in(judged: JudgedRankings, rel: float) -> _Found:
    """The retrieved documents with a grade of ``rel`` or more."""
    rows = judged.relevant(rel)
    query = judged.hits.query[rows]
    first = np.searchsorted(query, np.arange(judged.count + 1))
    so_far = np.arange(query.size) - first[query] + 1
    return _Found(first, judged.hits.rank[rows], so_far, judged.relevant_count(rel))


def interpolated(found: _Found) -> Floats:
    """A row for each query: the best precision at recall 0, 0.1 … 1 or any higher one; 0 where it is never reached."""
    precision = np.append(found.so_far / found.rank, 0.0)
    begin, end = found.first[:-1], found.first[1:]
    levels = np.zeros((begin.size, len(LEVELS)))
    for column, level in enumerate(LEVELS):
        needed = np.maximum(np.ceil(level * found.relevant - ALMOST).astype(np.int64), 1)
        reached = np.flatnonzero(begin + needed <= end)
        if reached.size:
            bounds = np.column_stack((begin + needed - 1, end))[reached].ravel()
            levels[reached, column] = np.maximum.reduceat(precision, bounds)[::2]
    return levels


def ranked_by_r(found: _Found) -> Floats:
    """Per query, precision at the rank that equals the number of relevant documents; 0 without any."""
    query = np.repeat(np.arange(found.relevant.size), np.diff(found.first))
    early = found.rank <= found.relevant[query]
    return ratio(np.bincount(query[early], minlength=found.relevant.size), found.relevant)
