"""Judgments and rankings from Python objects: mappings, lists, rows and data frames, as the arrays files give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.from_tables import judgments_of_table, queries_of_table, rankings_of_table
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments, Subtopics, judgments_of, numbered
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.ranked_lists import rankings_of_lists
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.tables import Table, column_for
from pytest_ireval.retrieval.values import Named, Unfit, id_of, number_of, whole


def judgments_from(source: Any, *, grades: str = "integer", origin: str = "judgments") -> Judgments:
    """Judgments from a table, or any of the forms that :func:`~pytest_ireval.evaluating.evaluation.evaluate` takes."""
    table = as_table(source, origin)
    if table is not None:
        return judgments_of_table(table, grades)
    with _named(origin):
        rows = _graded_rows(source, origin)
        queries = {name: i for i, name in enumerate(dict.fromkeys(query for query, _, _ in rows))}
        query = np.array([queries[name] for name, _, _ in rows], np.int64)
        grade = np.array([_grade(g, grades, name, document) for name, document, g in rows], np.float64)
    subtopics = _subtopics(rows) if any(isinstance(g, Mapping) for _, _, g in rows) else None
    documents = Ids.of([document for _, document, _ in rows])
    return judgments_of(
        list(queries), query, documents, grade + 0.0, origin=origin, place=numbered(origin), subtopics=subtopics
    )


def rankings_from(source: Any, depth: int | None = None, *, by_id: bool = True, origin: str = "rankings") -> Rankings:
    """Rankings from a table, or any of the forms that ``evaluate`` takes; a list of ids scores -position."""
    table = as_table(source, origin)
    if table is not None:
        return rankings_of_table(table, depth, by_id=by_id)
    with _named(origin):
        lists = _ranked_lists(source, origin)
    return rankings_of_lists(lists, origin, depth, by_id=by_id)


def queries_from(source: Any, *, origin: str = "queries") -> Queries:
    """Queries from ``{id: text}``, rows as dictionaries with ``id`` and ``text``, or a data frame with such columns."""
    table = as_table(source, origin)
    if table is not None:
        return queries_of_table(table)
    if isinstance(source, Mapping):
        rows = [
            {"id": query, **(said if isinstance(said, Mapping) else {"text": said})} for query, said in source.items()
        ]
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes):
        rows = list(source)
    else:
        raise _unfit(origin, f"{type(source).__name__} is no kind of {origin}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise _unfit(origin, f"row {number} is {row!r}, not a dictionary with id and text")
    names = dict.fromkeys(name for row in rows for name in row)
    return queries_of_table(Table({name: [row.get(name) for row in rows] for name in names}, origin, numbered(origin)))


def as_table(source: Any, origin: str) -> Table | None:
    """A table, or a data frame as one; None for what has no named columns."""
    if isinstance(source, Table) or source is None:
        return source
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return Table({name: list(source[name]) for name in source.columns}, origin, numbered(origin))
    return None


def _graded_rows(source: Any, origin: str) -> list[tuple[str, str, Any]]:
    if isinstance(source, Mapping):
        _refuse_text_and_number(source, origin)
        for query, documents in source.items():
            if not isinstance(documents, Mapping):
                raise _unfit(origin, f"judgments of query {query!r} are {type(documents).__name__}, not a mapping")
            if not documents:
                raise _unfit(origin, f"query {query!r} has no judgments; leave it out, or judge a document")
        return [
            (id_of(query), id_of(document), grade)
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
        return {id_of(query): _ranked(query, ranking, origin) for query, ranking in source.items()}
    lists: dict[str, list[tuple[str, float]]] = {}
    for query, document, score in _rows(source, "score", origin):
        lists.setdefault(query, []).append((document, _score(score, query, document)))
    return lists


def _ranked(query: Any, ranking: Any, origin: str) -> list[tuple[str, float]]:
    """One query's documents with scores."""
    if isinstance(ranking, Mapping):
        return [(id_of(d), _score(score, query, d)) for d, score in ranking.items()]
    if isinstance(ranking, str | bytes | set | frozenset) or not isinstance(ranking, Iterable):
        raise _unfit(origin, f"the ranking of query {query!r} is {type(ranking).__name__}, not a list or a mapping")
    entries = list(ranking)
    if any(isinstance(entry, tuple | list) for entry in entries):
        return [_pair(query, entry, origin) for entry in entries]
    return [(id_of(document), -float(position)) for position, document in enumerate(entries)]


def _pair(query: Any, entry: Any, origin: str) -> tuple[str, float]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise _unfit(origin, f"the ranking of query {query!r} holds {entry!r}, which is no pair (document, score)")
    return id_of(entry[0]), _score(entry[1], query, entry[0])


def _rows(source: Any, value: str, origin: str) -> list[tuple[str, str, Any]]:
    """(query, document, value) from rows in that order or with such names."""
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise _unfit(origin, f"{type(source).__name__} is no kind of {origin}")
    return [_row(row, value, number, origin) for number, row in enumerate(source, 1)]


def _row(row: Any, value: str, number: int, origin: str) -> tuple[str, str, Any]:
    fields = getattr(row, "_fields", None)
    if fields is not None:
        names = [column_for(fields, kind, origin) for kind in ("query", "document", value)]
        row = [getattr(row, name) for name in names]
    if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
        raise _unfit(origin, f"row {number} is {row!r}, not (query, document, {value})")
    return id_of(row[0]), id_of(row[1]), row[2]


def _score(value: Any, query: Any, document: Any) -> float:
    return number_of(value, Named("score", document, query))


def _grade(value: Any, grades: str, query: str, document: str) -> float:
    """A grade; the highest of all subtopics where there are such."""
    if isinstance(value, Mapping):
        if any(isinstance(grade, Mapping) for grade in value.values()):
            raise Unfit(f"{Named('grade', document, query)} is {value!r}, too deep")
        return max((_grade(grade, grades, query, document) for grade in value.values()), default=0.0)
    what = Named("grade", document, query)
    number = number_of(value, what)
    return whole(number, value, what) if grades == "integer" else number


@contextmanager
def _named(origin: str) -> Iterator[None]:
    """Turn what is wrong with a value into an error that says where it came from."""
    try:
        yield
    except Unfit as unfit:
        raise InputError(Problem(str(unfit), place=origin, suggestion=unfit.suggestion)) from None


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


def _unfit(origin: str, complaint: str) -> InputError:
    return InputError(Problem(complaint, place=origin))
