"""The input of metrics: rankings joined with judgments, as flat arrays over all queries."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Floats, Integers, Mask, compute_ranks, number_groups
from pytest_ireval.data.judgments import Ideal, Judgments, Subtopics
from pytest_ireval.data.scan import CollidingIdsError, Ids, PairIndex
from pytest_ireval.errors import InputError, MetricError

T = TypeVar("T")


class Hits(NamedTuple):
    """The judged documents that were retrieved, sorted by query and rank; one entry each.

    ``query`` is a position in the queries, ``rank`` starts at 1, ``judgment`` is the row in the judgments;
    ``tied_from`` and ``tied_to`` are the first and last rank that share the document's ``score``.
    """

    query: Integers
    rank: Integers
    grade: Floats
    judgment: Integers
    score: Floats
    tied_from: Integers
    tied_to: Integers

    def at(self, rows: NDArray[Any]) -> Hits:
        """Some of them: row numbers, or a mask."""
        return Hits(*(column[rows] for column in self))


class Documents(NamedTuple):
    """Retrieved documents, judged or not; those of query i are rows ``first[i]`` to ``first[i + 1]``, by rank.

    ``grade`` is NaN where a document is not judged.
    """

    first: Integers
    ids: Ids
    score: Floats
    grade: Floats
    tied_from: Integers
    tied_to: Integers

    @property
    def query(self) -> Integers:
        """The position of its query in the queries."""
        return number_groups(self.first)

    @property
    def rank(self) -> Integers:
        """Its rank, from 1."""
        return compute_ranks(self.first)

    def of(self, query: int) -> slice:
        """The rows of one query."""
        return slice(int(self.first[query]), int(self.first[query + 1]))

    def at(self, rows: Integers, first: Integers) -> Documents:
        """The documents of some rows; ``first`` has the begins of the queries among them."""
        return Documents(
            first, self.ids.take(rows), self.score[rows], self.grade[rows], self.tied_from[rows], self.tied_to[rows]
        )


class Unretrieved(NamedTuple):
    """The judged documents that were not retrieved, by query and grade descending; one entry each."""

    query: Integers
    ids: Ids
    grade: Floats


class Sessions(NamedTuple):
    """Sessions by name; for each query its session (-1: none) and its position there (from 1)."""

    names: tuple[str, ...]
    session: Integers
    position: Integers


@dataclass(eq=False)
class JudgedRankings:
    """Judged rankings of ``count`` queries. Per query: ``retrieved`` documents; ``present``: True if it was ranked.

    Parts that only some metrics need are None unless they were given.
    """

    queries: tuple[str, ...]
    retrieved: Integers
    present: Mask
    hits: Hits
    ideal: Ideal
    highest_grade: float
    """The top of the scale, or else the highest grade of the whole judgments."""
    documents: Documents | None = None
    collection: int | None = None
    """The number of documents in the collection."""
    judgments: Judgments | None = None
    """Their rows are ``hits.judgment`` and ``ideal.judgment``: ids, and facts about a judgment."""
    subtopics: Subtopics | None = None
    fields: Mapping[str, Mapping[str, Any]] | None = None
    sessions: Sessions | None = None
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None
    timings: Floats | None = None
    query_texts: tuple[str, ...] | None = None
    columns: Mapping[str, tuple[str, ...]] | None = None
    """Other columns of the queries file."""
    reference: JudgedRankings | None = None
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _memory_of_ideal: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    _judgments: Judgments | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Make all arrays read-only: a metric that writes to them would change the values of others."""
        parts = (self.retrieved, self.present, *self.hits, *self.ideal, self.timings)
        _freeze((*parts, *(self.documents or ()), *(self.sessions or ()), *(self.subtopics or ())))

    @property
    def count(self) -> int:
        """The number of queries."""
        return len(self.queries)

    @cached_property
    def first(self) -> Integers:
        """Hits of query i are rows ``first[i]`` to ``first[i + 1]``."""
        return _freeze(np.searchsorted(self.hits.query, np.arange(self.count + 1)))

    @cached_property
    def first_ideal(self) -> Integers:
        """The same for the rows of ``ideal``."""
        return _freeze(np.searchsorted(self.ideal.query, np.arange(self.count + 1)))

    @cached_property
    def rank_in_reference(self) -> Integers:
        """For each row of ``documents`` its rank in the reference's ranking of that query; 0 if it is missing there.

        For metrics that need ``documents`` and ``reference``.
        """
        reference = self.reference
        if self.documents is None or reference is None or reference.documents is None:
            raise MetricError("rank_in_reference is available only for metrics with needs=('documents', 'reference')")
        if reference.queries != self.queries:
            raise MetricError("the reference has other queries")
        return _freeze(find_ranks(reference.documents, self.documents))

    @cached_property
    def unretrieved(self) -> Unretrieved | None:
        """The judged documents that are not among the hits, for metrics that need ``unretrieved``."""
        if self._judgments is None:
            return None
        left = np.ones(len(self._judgments), bool)
        left[self.hits.judgment] = False
        rows = self.ideal.judgment
        there = np.flatnonzero((rows >= 0) & left[rows])
        documents = self._judgments.documents.take(rows[there])
        return Unretrieved(_freeze(self.ideal.query[there]), documents, _freeze(self.ideal.grade[there]))

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of ``make``, made once and shared by several metrics."""
        return _remember(self._memory, key, make)

    def remember_ideal(self, key: Hashable, make: Callable[[], T]) -> T:
        """The same for a value that depends on ``ideal`` alone: other views of the rankings share it."""
        return _remember(self._memory_of_ideal, key, make)

    def sum(self, values: NDArray[Any], where: Mask | None = None) -> Floats:
        """Per query, the sum of values of its hits; 0 without hits."""
        numbers = values.astype(np.float64, copy=False) if where is None else np.where(where, values, 0.0)
        total = np.zeros(self.count)
        filled = self.first[1:] > self.first[:-1]
        if filled.any():
            total[filled] = np.add.reduceat(numbers, self.first[:-1][filled])
        return total

    def running(self, values: NDArray[Any]) -> NDArray[Any]:
        """For each hit, the sum of values of this and the higher hits of its query."""
        if values.dtype.kind == "f":
            return self._accumulate(values, np.add)
        total: NDArray[Any] = np.cumsum(values)
        before = np.concatenate((np.zeros(1, total.dtype), total))[self.first[:-1]]
        so_far: NDArray[Any] = total - before[self.hits.query]
        return so_far

    def running_product(self, values: Floats) -> Floats:
        """For each hit, the product of values of this and the higher hits of its query."""
        return self._accumulate(values, np.multiply)

    def _accumulate(self, values: Floats, combine: Callable[..., Floats]) -> Floats:
        """Accumulate within queries, the k-th hits of all queries at once: each query's arithmetic is its own."""
        result = values.astype(np.float64)
        count = np.diff(self.first)
        start = self.first[:-1]
        k = 1
        while (rows := start[count > k]).size:
            result[rows + k] = combine(result[rows + k - 1], result[rows + k])
            start, count, k = rows, count[count > k], k + 1
        return result

    def relevant(self, rel: float | None = 1) -> Mask:
        """A mask of the relevant hits: grade ``rel`` or more; None: any grade above 0."""
        return self.remember(("relevant", rel), lambda: is_relevant(self.hits.grade, rel))

    def relevant_so_far(self, rel: float | None = 1) -> Integers:
        """For each hit, the number of relevant documents at its rank or above."""
        return self.remember(("so far", rel), lambda: self.running(self.relevant(rel).astype(np.int64)))

    def relevant_count(self, rel: float | None = 1) -> Integers:
        """Per query, the number of relevant documents, retrieved or not."""
        return self.remember_ideal(
            ("count", rel),
            lambda: np.bincount(self.ideal.query[is_relevant(self.ideal.grade, rel)], minlength=self.count),
        )

    def top(self, cutoff: int) -> Floats:
        """A matrix, a row per query: the grades at ranks 1 to ``cutoff``, 0 without a judged document."""
        matrix = np.zeros((self.count, cutoff))
        rows = self.hits.rank <= cutoff
        matrix[self.hits.query[rows], self.hits.rank[rows] - 1] = self.hits.grade[rows]
        return matrix


def _remember(memory: dict[Hashable, Any], key: Hashable, make: Callable[[], T]) -> T:
    if key not in memory:
        memory[key] = _freeze(make())
    found: T = memory[key]
    return found


def _freeze(value: T) -> T:
    """The value; arrays in it can no longer be written to."""
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return value


def is_relevant(grade: Floats, rel: float | None) -> Mask:
    """Grades from ``rel`` on; None: above 0."""
    return grade > 0 if rel is None else grade >= rel


def ratio(numerator: NDArray[Any], denominator: NDArray[Any]) -> Floats:
    """``numerator / denominator``, and 0 where the denominator is 0."""
    share = np.zeros(np.shape(denominator))
    np.divide(numerator, denominator, out=share, where=np.asarray(denominator) != 0)
    return share


def find_ranks(other: Documents, documents: Documents) -> Integers:
    """For each document its rank in the ``other`` ranking of its query; 0 if it is missing there.

    Both have the same queries in the same order. Equal lists need no search.
    """
    ranks, changed = documents.rank, _find_changed_queries(documents, other)
    rows = np.flatnonzero(changed[documents.query])
    if rows.size:
        there = np.flatnonzero(changed[other.query])
        try:
            index = PairIndex(other.query[there], other.ids.take(there))
        except CollidingIdsError:
            complaint = "its ids collide under all hash functions; were the ids constructed to collide?"
            raise InputError(f"the reference: {complaint}") from None
        found = index.find(documents.query[rows], documents.ids.take(rows))
        hits = np.flatnonzero(found >= 0)
        ranks[rows] = 0
        ranks[rows[hits]] = other.rank[there[found[hits]]]
    return ranks


def _find_changed_queries(documents: Documents, other: Documents) -> Mask:
    """A mask of the queries with another list."""
    lengths = np.diff(documents.first)
    changed: Mask = lengths != np.diff(other.first)
    query = documents.query
    rows = np.flatnonzero(~changed[query])
    theirs = rows - documents.first[query[rows]] + other.first[query[rows]]
    differ = rows[~documents.ids.equal(rows, other.ids, theirs)]
    changed[query[differ]] = True
    return changed
