"""Judgments and rankings from Python objects: mappings, lists, rows and data frames, as the arrays files give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_ireval.errors import InputError, Problem, did_you_mean
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments, Places, Subtopics, judgments_of
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.retrieval.scan.chunk import joined
from pytest_ireval.retrieval.scan.kept import first_rows
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.tokens import BadLines, Span
from pytest_ireval.retrieval.scan.words import keys_of, mixed

COLUMN_NAMES = {
    "query": ("query", "query_id", "qid", "q_id", "query-id"),
    "document": ("document", "document_id", "doc_id", "docid", "docno", "doc", "corpus-id"),
    "grade": ("grade", "relevance", "rel", "label", "rating"),
    "score": ("score", "sim", "similarity"),
}


def judgments_from(source: Any, *, grades: str = "integer", origin: str = "judgments") -> Judgments:
    """Judgments from any of the forms that :func:`~pytest_ireval.evaluation.evaluate` takes."""
    rows = _graded_rows(source, origin)
    queries = {name: i for i, name in enumerate(dict.fromkeys(query for query, _, _ in rows))}
    query = np.array([queries[name] for name, _, _ in rows], np.int64)
    grade = np.array([_grade(g, grades, name, document, origin) for name, document, g in rows], np.float64)
    subtopics = _subtopics(rows) if any(isinstance(g, Mapping) for _, _, g in rows) else None
    documents = Ids.of([document for _, document, _ in rows])
    return judgments_of(list(queries), query, documents, grade + 0.0, Places(origin), subtopics)


def rankings_from(source: Any, depth: int | None = None, *, by_id: bool = True, origin: str = "rankings") -> Rankings:
    """Rankings from any of the forms that ``evaluate`` takes; a list of ids scores -position."""
    lists = _ranked_lists(source, origin)
    filled = {query: documents for query, documents in lists.items() if documents}
    empty = [query for query, documents in lists.items() if not documents]
    if not filled:
        return rankings_of([], origin, empty)
    lines = _lines(filled)
    try:
        return rankings_of([first_rows(lines, depth, by_id=by_id)], origin, empty)
    except BadLines as bad:
        more = [f"… and {bad.more} more"] if bad.more else []
        raise InputError(*(Problem(complaint, place=origin) for _, complaint in bad.complaints), *more) from None


def _graded_rows(source: Any, origin: str) -> list[tuple[str, str, Any]]:
    if isinstance(source, Mapping):
        _refuse_text_and_number(source, origin)
        for query, documents in source.items():
            if not isinstance(documents, Mapping):
                raise _unfit(origin, f"judgments of query {query!r} are {type(documents).__name__}, not a mapping")
            if not documents:
                raise _unfit(origin, f"query {query!r} has no judgments; leave it out, or judge a document")
        return [
            (_id(query, origin), _id(document, origin), grade)
            for query, documents in source.items()
            for document, grade in documents.items()
        ]
    return _rows(source, "grade", origin)


def _refuse_text_and_number(source: Mapping[Any, Any], origin: str) -> None:
    for query in source:
        if not isinstance(query, str) and str(query) in source:
            raise _unfit(origin, f"query {str(query)!r} is there twice, as text and as a number")


def _ranked_lists(source: Any, origin: str) -> dict[str, list[tuple[str, float]]]:
    if isinstance(source, Mapping):
        _refuse_text_and_number(source, origin)
        return {_id(query, origin): _ranked(query, ranking, origin) for query, ranking in source.items()}
    lists: dict[str, list[tuple[str, float]]] = {}
    for query, document, score in _rows(source, "score", origin):
        lists.setdefault(query, []).append((document, _score(score, query, document, origin)))
    return lists


def _ranked(query: Any, ranking: Any, origin: str) -> list[tuple[str, float]]:
    """One query's documents with scores."""
    if isinstance(ranking, Mapping):
        return [(_id(d, origin), _score(score, query, d, origin)) for d, score in ranking.items()]
    if isinstance(ranking, str | bytes | set | frozenset) or not isinstance(ranking, Iterable):
        raise _unfit(origin, f"the ranking of query {query!r} is {type(ranking).__name__}, not a list or a mapping")
    entries = list(ranking)
    if any(isinstance(entry, tuple | list) for entry in entries):
        return [_pair(query, entry, origin) for entry in entries]
    return [(_id(document, origin), -float(position)) for position, document in enumerate(entries)]


def _pair(query: Any, entry: Any, origin: str) -> tuple[str, float]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise _unfit(origin, f"the ranking of query {query!r} holds {entry!r}, which is no pair (document, score)")
    return _id(entry[0], origin), _score(entry[1], query, entry[0], origin)


def _rows(source: Any, value: str, origin: str) -> list[tuple[str, str, Any]]:
    """(query, document, value) from a data frame, or from rows in that order or with such names."""
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        wanted = [_column(list(source.columns), kind, origin) for kind in ("query", "document", value)]
        columns = [list(source[name]) for name in wanted]
        return [(_id(q, origin), _id(d, origin), v) for q, d, v in zip(*columns, strict=True)]
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise _unfit(origin, f"{type(source).__name__} is no kind of {origin}")
    return [_row(row, value, number, origin) for number, row in enumerate(source, 1)]


def _row(row: Any, value: str, number: int, origin: str) -> tuple[str, str, Any]:
    fields = getattr(row, "_fields", None)
    if fields is not None:
        names = [_column(list(fields), kind, origin) for kind in ("query", "document", value)]
        row = [getattr(row, name) for name in names]
    if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
        raise _unfit(origin, f"row {number} is {row!r}, not (query, document, {value})")
    return _id(row[0], origin), _id(row[1], origin), row[2]


def _column(names: list[Any], kind: str, origin: str) -> str:
    for name in COLUMN_NAMES[kind]:
        if name in names:
            return name
    raise InputError(
        Problem(
            f"there is no column for the {kind}: the columns are {', '.join(map(repr, names))}",
            place=origin,
            suggestion=did_you_mean(kind, map(str, names)),
            allowed="one of " + ", ".join(COLUMN_NAMES[kind]),
        )
    )


def _id(value: Any, origin: str) -> str:
    """An id as text; whole numbers are written out."""
    if isinstance(value, str) and value and (value.isascii() or _has_utf8(value)):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    raise _unfit(origin, f"{value!r} is no id; ids are text (or whole numbers)")


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _number(value: Any, what: str, origin: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise _unfit(origin, f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        raise _unfit(origin, f"{what} is too large for a number") from None
    if not math.isfinite(number):
        raise _unfit(origin, f"{what} is {number!r}, not finite")
    return number


def _score(value: Any, query: Any, document: Any, origin: str) -> float:
    return _number(value, f"the score of document {document!r} for query {query!r}", origin)


def _grade(value: Any, grades: str, query: str, document: str, origin: str) -> float:
    """A grade; the highest of all subtopics where there are such."""
    if isinstance(value, Mapping):
        if any(isinstance(grade, Mapping) for grade in value.values()):
            raise _unfit(origin, f"the grade of document {document!r} for query {query!r} is {value!r}, too deep")
        return max((_grade(grade, grades, query, document, origin) for grade in value.values()), default=0.0)
    number = _number(value, f"the grade of document {document!r} for query {query!r}", origin)
    if grades == "integer" and not number.is_integer():
        raise InputError(
            Problem(
                f"the grade of document {document!r} for query {query!r} is {value!r}, not a whole number",
                place=origin,
                suggestion='fractional grades are read with grades="float"',
            )
        )
    return number


def _subtopics(rows: Sequence[tuple[str, str, Any]]) -> Subtopics:
    entries = [
        (i, subtopic, grade)
        for i, (_, _, grades) in enumerate(rows)
        for subtopic, grade in (grades.items() if isinstance(grades, Mapping) else [("", grades)])
    ]
    names = {name: i for i, name in enumerate(dict.fromkeys(subtopic for _, subtopic, _ in entries))}
    return Subtopics(
        tuple(map(str, names)),
        np.array([row for row, _, _ in entries], np.int64),
        np.array([names[subtopic] for _, subtopic, _ in entries], np.int64),
        np.array([float(grade) for _, _, grade in entries], np.float64),
    )


def _lines(lists: Mapping[str, Sequence[tuple[str, float]]]) -> Lines:
    queries = Ids.of(list(lists))
    chunk, start, end = joined([document.encode() for ranking in lists.values() for document, _ in ranking])
    score = np.array([score for ranking in lists.values() for _, score in ranking], np.float64)
    document = Span(start, end)
    return Lines(
        chunk=chunk,
        query_id=[query.encode() for query in lists],
        query_key=mixed(queries.keys()),
        first=np.cumsum([0, *(len(ranking) for ranking in lists.values())]),
        document=document,
        document_key=keys_of(chunk, document),
        score_text=document,
        score=score,
        inexact=np.zeros(score.size, bool),
    )


def _unfit(origin: str, complaint: str) -> InputError:
    return InputError(Problem(complaint, place=origin))
