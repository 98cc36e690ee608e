"""Judgments: the grades that judges gave to documents for queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Floats, Integers, look_up
from pytest_ireval.data.scan import CollidingIdsError, Ids, PairIndex, order_by_ids
from pytest_ireval.data.tables import Place, place_by_number, renumber_places
from pytest_ireval.errors import InputError, Mistakes, Problem, quote

NOT_YET = np.zeros(0, np.int64)


class Subtopics(NamedTuple):
    """Grades of a document for the single subtopics of a query (judgments for diversity).

    ``row`` (judgment, sorted), ``subtopic`` (position in ``names``) and ``grade`` are arrays of one length, and so are
    ``query`` (a position in the queries) and ``document`` (a number that sorts documents by the bytes of their ids),
    which :func:`make_judgments` fills in.
    """

    names: tuple[str, ...]
    row: Integers
    subtopic: Integers
    grade: Floats
    query: Integers = NOT_YET
    document: Integers = NOT_YET

    def at(self, rows: NDArray[Any]) -> Subtopics:
        """Some of them: row numbers, or a mask."""
        return Subtopics(self.names, *(column[rows] for column in self[1:]))


class RepeatedJudgments(NamedTuple):
    """Rows of the source that say again what judgment ``row`` says, and so are left out.

    ``later`` are their numbers there, and ``place`` gives the place of one.
    """

    row: Integers
    later: Integers
    place: Place


class Ideal(NamedTuple):
    """All judged documents, retrieved or not, sorted by query and grade descending: the best ranking there could be.

    ``judgment`` is the row in the judgments; -1 for a label that is not among them.
    """

    query: Integers
    rank: Integers
    grade: Floats
    judgment: Integers

    def at(self, rows: NDArray[Any]) -> Ideal:
        """Some of them: row numbers, or a mask."""
        return Ideal(*(column[rows] for column in self))


@dataclass(eq=False)
class Judgments:
    """One row for each judged (query, document) pair, in the order they were given; made by :func:`make_judgments`.

    ``queries`` are the judged queries in order of appearance. ``query`` (a position in ``queries``), ``documents`` and
    ``grade`` have one entry a row, and so has each of ``columns``: other facts about a judgment (judge, date,
    guideline), as text. No pair occurs twice. ``index`` finds the row of a pair. ``origin`` is the source, for messages
    and reports; ``place`` gives the place of a row.
    """

    queries: tuple[str, ...]
    query: Integers
    documents: Ids
    grade: Floats
    index: PairIndex
    origin: str
    place: Place
    subtopics: Subtopics | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeated: RepeatedJudgments | None = None

    def __len__(self) -> int:
        return int(self.grade.size)

    def __getstate__(self) -> dict[str, Any]:
        """All but the file's lines, which another process does not have."""
        return {**self.__dict__, "place": place_by_number(self.origin), "repeated": None}

    @cached_property
    def position(self) -> dict[str, int]:
        """Query id to its position in ``queries``."""
        return dict(zip(self.queries, range(len(self.queries)), strict=True))

    @cached_property
    def highest_grade(self) -> float:
        """The highest grade of the whole judgments (0 when nothing is relevant)."""
        return max(0.0, float(self.grade.max())) if self.grade.size else 0.0

    @cached_property
    def ideal(self) -> Ideal:
        """All judged documents by query and grade descending."""
        order = np.lexsort((-self.grade, self.query))
        query = self.query[order]
        first = np.searchsorted(query, np.arange(len(self.queries)))
        return Ideal(query, np.arange(order.size) - first[query] + 1, self.grade[order], order)

    def number_queries(self, queries: Sequence[str]) -> Integers:
        """The position of each query; -1 for one that is not judged."""
        if queries == self.queries:  # in most suites
            return np.arange(len(queries))
        return look_up(queries, self.position)

    def order_by_ids(self) -> Integers:
        """The rows in an order that does not depend on the order in which they were given."""
        return order_by_ids(self.queries, self.query, self.documents)


def make_empty_judgments(queries: Sequence[str], origin: str) -> Judgments:
    """Judgments of these queries without any judged document, for metrics that need none."""
    none, documents = np.zeros(0, np.int64), Ids.of([])
    index, place = PairIndex(none, documents), place_by_number(origin)
    return Judgments(tuple(queries), none, documents, np.zeros(0), index, origin, place)


def make_judgments(
    queries: Sequence[str],
    query: Integers,
    documents: Ids,
    grade: Floats,
    *,
    origin: str,
    place: Place,
    subtopics: Subtopics | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Judgments:
    """Judgments from columns. A pair judged twice with one grade is one judgment; with two grades it is an error."""
    if not query.size:
        raise InputError(Problem("it contains no judgments", place=origin))
    columns = columns or {}
    repeated = None
    index = _index_pairs(query, documents, origin)
    if index.repeated.later.size:
        first, later = index.repeated
        _refuse_conflicts(queries, query, documents, grade, place, first, later)
        pairs = zip(first.tolist(), later.tolist(), strict=True)
        same = np.array([all(each[a] == each[b] for each in columns.values()) for a, b in pairs], bool)
        rows = np.delete(np.arange(query.size), later)
        repeated = RepeatedJudgments(np.searchsorted(rows, first[same]), later[same], place)
        subtopics = subtopics and _renumber_subtopics(subtopics, rows, query.size)
        columns = {name: join_rows(values, first, later, rows) for name, values in columns.items()}
        query, documents, grade, place = query[rows], documents.copy(rows), grade[rows], renumber_places(place, rows)
        index = _index_pairs(query, documents, origin)
    if subtopics is not None:
        subtopics = _place_subtopics(subtopics, query, documents)
    return Judgments(tuple(queries), query, documents, grade, index, origin, place, subtopics, columns, repeated)


def _index_pairs(query: Integers, documents: Ids, origin: str) -> PairIndex:
    try:
        return PairIndex(query, documents)
    except CollidingIdsError:
        complaint = "its ids collide under all hash functions; were the ids constructed to collide?"
        raise InputError(Problem(complaint, place=origin)) from None


def drop_judgments(judgments: Judgments, rows: Integers) -> Judgments:
    """The judgments without some rows; all queries stay, also those without a judgment left."""
    kept = np.delete(np.arange(len(judgments)), rows)
    if not kept.size:
        return make_empty_judgments(judgments.queries, judgments.origin)
    return make_judgments(
        judgments.queries,
        judgments.query[kept],
        judgments.documents.copy(kept),
        judgments.grade[kept],
        origin=judgments.origin,
        place=renumber_places(judgments.place, kept),
        subtopics=judgments.subtopics and _renumber_subtopics(judgments.subtopics, kept, len(judgments)),
        columns={name: [values[row] for row in kept.tolist()] for name, values in judgments.columns.items()},
    )


def join_texts(values: Iterable[str]) -> str:
    """Different texts as one, each once; empty ones are left out."""
    return "; ".join(dict.fromkeys(filter(None, values)))


def join_rows(values: Sequence[str], first: Integers, later: Integers, kept: Integers) -> list[str]:
    """The texts of kept rows; ``later`` rows are joined to the ``first`` that they repeat."""
    texts: dict[int, list[str]] = {}
    for one, other in zip(first.tolist(), later.tolist(), strict=True):
        texts.setdefault(one, [values[one]]).append(values[other])
    return [join_texts(texts[row]) if row in texts else values[row] for row in kept.tolist()]


def _renumber_subtopics(subtopics: Subtopics, rows: Integers, count: int) -> Subtopics:
    """The subtopics of the judgments that are kept, under their new row numbers."""
    number = np.full(count, -1)
    number[rows] = np.arange(rows.size)
    kept = number[subtopics.row] >= 0
    return Subtopics(subtopics.names, number[subtopics.row[kept]], subtopics.subtopic[kept], subtopics.grade[kept])


def _place_subtopics(subtopics: Subtopics, query: Integers, documents: Ids) -> Subtopics:
    """The same with the query and the document of each."""
    ids = documents.tokens(np.arange(len(documents)))
    number = np.empty(len(ids), np.int64)
    number[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return subtopics._replace(query=query[subtopics.row], document=number[subtopics.row])


def _refuse_conflicts(
    queries: Sequence[str],
    query: Integers,
    documents: Ids,
    grade: Floats,
    place: Place,
    first: Integers,
    later: Integers,
) -> None:
    mistakes = Mistakes()
    remedy = (
        "keep one of them, merge the judges (ireval import --judges median), or read subtopics (format trec-diversity)"
    )
    conflicts = np.flatnonzero(grade[first] != grade[later]).tolist()
    for i in conflicts[: Mistakes.SHOWN]:
        a, b = int(first[i]), int(later[i])
        complaint = (
            f"document {quote(documents[b])} is judged twice for query {quote(queries[query[b]])}: "
            f"grade {grade[b]:g} here, grade {grade[a]:g} at {place(a)}"
        )
        mistakes.add(Problem(complaint, place=place(b), suggestion=remedy))
    mistakes.more(len(conflicts) - Mistakes.SHOWN)
    mistakes.refuse()
