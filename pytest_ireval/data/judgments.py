"""Judgments: the grades that judges gave to documents for queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.ids import Ids
from pytest_ireval.data.scan.tokens import JudgedPairs, Offsets, mixed, repetitions
from pytest_ireval.errors import InputError, Mistakes, Problem, shown

MOST_SEEDS = 16

Place = Callable[[int], str]
"""A function that gives the place of a row in words."""


NOT_YET = np.zeros(0, np.int64)


class Subtopics(NamedTuple):
    """Grades of a document for the single subtopics of a query (judgments for diversity).

    ``row`` (judgment, sorted), ``subtopic`` (position in ``names``) and ``grade`` are arrays of one length, and so are
    ``query`` (a position in the queries) and ``document`` (a number that sorts documents by the bytes of their ids),
    which :func:`judgments_of` fills in.
    """

    names: tuple[str, ...]
    row: NDArray[np.int64]
    subtopic: NDArray[np.int64]
    grade: NDArray[np.float64]
    query: NDArray[np.int64] = NOT_YET
    document: NDArray[np.int64] = NOT_YET

    def at(self, rows: NDArray[Any]) -> Subtopics:
        """Some of them: row numbers, or a mask."""
        return Subtopics(self.names, *(column[rows] for column in self[1:]))


class PairTable(NamedTuple):
    """Finds judged pairs by key; ``seed`` goes into every key."""

    seed: int
    pairs: JudgedPairs


class Repeated(NamedTuple):
    """Rows that say again what another one says, and so are left out: ``later`` repeats judgment ``row``."""

    row: NDArray[np.int64]
    later: NDArray[np.int64]
    place: Place
    """Of a later row."""


class Ideal(NamedTuple):
    """All judged documents, retrieved or not, sorted by query and grade descending: the best ranking there could be.

    ``judgment`` is the row in the judgments; -1 for a label that is not among them.
    """

    query: NDArray[np.int64]
    rank: NDArray[np.int64]
    grade: NDArray[np.float64]
    judgment: NDArray[np.int64]

    def at(self, rows: NDArray[Any]) -> Ideal:
        """Some of them: row numbers, or a mask."""
        return Ideal(*(column[rows] for column in self))


@dataclass(frozen=True, eq=False)
class Judgments:
    """One row for each judged (query, document) pair, in the order they were given; made by :func:`judgments_of`.

    ``queries`` are the judged queries in order of appearance. ``query`` (int64, a position in ``queries``),
    ``documents`` and ``grade`` (float64) have one entry a row, and so has each of ``columns``: other facts about a
    judgment (judge, date, guideline), as text. No pair occurs twice. ``origin`` is the source, for messages and
    reports; ``place`` gives the place of a row.
    """

    queries: tuple[str, ...]
    query: NDArray[np.int64]
    documents: Ids
    grade: NDArray[np.float64]
    table: PairTable
    origin: str
    place: Place
    subtopics: Subtopics | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeated: Repeated | None = None

    def __len__(self) -> int:
        return int(self.grade.size)

    def __getstate__(self) -> dict[str, Any]:
        """All but the file's lines, which another process does not have."""
        return {**self.__dict__, "place": numbered(self.origin), "repeated": None}

    @cached_property
    def position(self) -> dict[bytes, int]:
        """Query id in UTF-8 to its position in ``queries``."""
        return {query.encode(): i for i, query in enumerate(self.queries)}

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


def no_judgments(queries: Sequence[str], origin: str) -> Judgments:
    """Judgments of these queries without any judged document, for metrics that need none."""
    none = np.zeros(0, np.int64)
    table = PairTable(0, JudgedPairs(Ids.of([]).keys()))
    return Judgments(tuple(queries), none, Ids.of([]), np.zeros(0), table, origin, numbered(origin))


def numbered(origin: str) -> Place:
    """The places of rows in a source without lines."""
    return partial(_numbered, origin)


def _numbered(origin: str, row: int) -> str:
    return f"{origin}, row {row + 1}"


def judgments_of(
    queries: Sequence[str],
    query: NDArray[np.int64],
    documents: Ids,
    grade: NDArray[np.float64],
    *,
    origin: str,
    place: Place,
    subtopics: Subtopics | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
    repeated: Repeated | None = None,
) -> Judgments:
    """Judgments from columns. A pair judged twice with one grade is one judgment; with two grades it is an error."""
    if not query.size:
        raise InputError(Problem("it contains no judgments", place=origin))
    columns = columns or {}
    for seed in range(MOST_SEEDS):
        keys = documents.keys(seed) ^ mixed(Ids.of(queries).keys(seed))[query]
        pairs = JudgedPairs(keys)
        suspects = pairs.suspects()
        if not suspects.size:
            table = PairTable(seed, pairs)
            parts = subtopics and _placed(subtopics, query, documents)
            return Judgments(tuple(queries), query, documents, grade, table, origin, place, parts, columns, repeated)
        first, later = repetitions(documents.chunk, documents.span, query, suspects)
        if later.size:
            _refuse_conflicts(queries, query, documents, grade, place, first, later)
            rows = np.delete(np.arange(query.size), later)
            pairs_of_rows = zip(first.tolist(), later.tolist(), strict=True)
            same = np.array([all(each[a] == each[b] for each in columns.values()) for a, b in pairs_of_rows], bool)
            return judgments_of(
                queries,
                query[rows],
                documents.take(rows),
                grade[rows],
                origin=origin,
                place=moved(place, rows),
                subtopics=subtopics and _subtopics_of(subtopics, rows, query.size),
                columns={name: joined_rows(values, first, later, rows) for name, values in columns.items()},
                repeated=Repeated(np.searchsorted(rows, first[same]), later[same], place),
            )
    complaint = f"its ids collide under {MOST_SEEDS} hash functions; were the ids constructed to collide?"
    raise InputError(Problem(complaint, place=origin))


def drop_judgments(judgments: Judgments, rows: NDArray[np.int64]) -> Judgments:
    """The judgments without some rows; all queries stay, also those without a judgment left."""
    kept = np.delete(np.arange(len(judgments)), rows)
    if not kept.size:
        return no_judgments(judgments.queries, judgments.origin)
    return judgments_of(
        judgments.queries,
        judgments.query[kept],
        judgments.documents.take(kept),
        judgments.grade[kept],
        origin=judgments.origin,
        place=moved(judgments.place, kept),
        subtopics=judgments.subtopics and _subtopics_of(judgments.subtopics, kept, len(judgments)),
        columns={name: [values[row] for row in kept.tolist()] for name, values in judgments.columns.items()},
    )


def joined_texts(values: Iterable[str]) -> str:
    """Different texts as one, each once; empty ones are left out."""
    return "; ".join(dict.fromkeys(filter(None, values)))


def joined_rows(values: Sequence[str], first: Offsets, later: Offsets, kept: NDArray[np.int64]) -> list[str]:
    """The texts of kept rows; ``later`` rows are joined to the ``first`` that they repeat."""
    texts: dict[int, list[str]] = {}
    for one, other in zip(first.tolist(), later.tolist(), strict=True):
        texts.setdefault(one, [values[one]]).append(values[other])
    return [joined_texts(texts[row]) if row in texts else values[row] for row in kept.tolist()]


def moved(place: Place, rows: NDArray[np.int64]) -> Place:
    """The places of rows with new numbers."""
    return lambda row: place(int(rows[row]))


def _subtopics_of(subtopics: Subtopics, rows: NDArray[np.int64], count: int) -> Subtopics:
    """The subtopics of the judgments that are kept, under their new row numbers."""
    number = np.full(count, -1)
    number[rows] = np.arange(rows.size)
    kept = number[subtopics.row] >= 0
    return Subtopics(subtopics.names, number[subtopics.row[kept]], subtopics.subtopic[kept], subtopics.grade[kept])


def _placed(subtopics: Subtopics, query: NDArray[np.int64], documents: Ids) -> Subtopics:
    """The same with the query and the document of each."""
    ids = documents.chunk.tokens(*documents.span)
    number = np.empty(len(ids), np.int64)
    number[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return subtopics._replace(query=query[subtopics.row], document=number[subtopics.row])


def _refuse_conflicts(
    queries: Sequence[str],
    query: NDArray[np.int64],
    documents: Ids,
    grade: NDArray[np.float64],
    place: Place,
    first: Offsets,
    later: Offsets,
) -> None:
    mistakes = Mistakes()
    remedy = (
        "keep one of them, merge the judges (ireval import --judges median), or read subtopics (format trec-diversity)"
    )
    conflicts = np.flatnonzero(grade[first] != grade[later]).tolist()
    for i in conflicts[: Mistakes.SHOWN]:
        a, b = int(first[i]), int(later[i])
        complaint = (
            f"document {shown(documents[b])} is judged twice for query {shown(queries[query[b]])}: "
            f"grade {grade[b]:g} here, grade {grade[a]:g} at {place(a)}"
        )
        mistakes.add(Problem(complaint, place=place(b), suggestion=remedy))
    mistakes.more(len(conflicts) - Mistakes.SHOWN)
    mistakes.refuse()
