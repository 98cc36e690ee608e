"""Queries, judgments and rankings from tables, whatever file the tables came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments, Subtopics, joined_texts, judgments_of
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.ranked_lists import rankings_of_columns
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.tables import Table, column_for, grade_column, id_column, named
from pytest_ireval.retrieval.values import (
    Named,
    Unfit,
    cell_text,
    id_in,
    number_in,
    text_in,
    whole,
)

OWN = ("query", "document", "grade", "subtopic")
JUDGED_BY = ("judge", "date", "guideline")
"""Columns of judgments that are kept under these names, whatever the table calls them."""


def judgment_columns(table: Table) -> Table:
    """The same under our own names, grade last but for what is kept besides, which is text."""
    names = list(table.columns)
    if not table.rows:
        raise InputError(Problem("there are no judgments in it", place=table.origin))
    used = {kind: column_for(names, kind, table.origin) for kind in ("query", "document")}
    used["grade"] = grade_column(names, table.origin)
    if (subtopic := named(names, "subtopic")) is not None:
        used["subtopic"] = subtopic
    ours = {named(names, kind): kind for kind in JUDGED_BY}
    columns: dict[str, Sequence[Any]] = {kind: table.columns[name] for kind, name in used.items()}
    for kind in ("query", "document"):
        columns[kind] = [cell.strip() if isinstance(cell, str) else cell for cell in columns[kind]]
    for name in names:
        if name not in used.values():
            own = str(ours.get(name, name))
            columns[f"{own}_text" if own in columns else own] = [cell_text(value) for value in table.columns[name]]
    return Table(columns, table.origin, table.place)


def graded_rows(table: Table, grades: str = "integer") -> list[tuple[str, str, float]]:
    """Query, document and grade of every row, checked."""
    columns = [table.columns[name] for name in ("query", "document", "grade")]
    rows = list(_checked(table, columns, lambda q, d, g: (id_in(q), id_in(d), _grade(q, d, g, grades))))
    if not rows:
        raise InputError(Problem("there are no judgments in it", place=table.origin))
    return rows


def judgments_of_table(table: Table, grades: str = "integer") -> Judgments:
    """Judgments, one a row, whatever the columns are called."""
    return judgments_of_columns(judgment_columns(table), grades)


def judgments_of_columns(table: Table, grades: str = "integer") -> Judgments:
    """Judgments from columns under our own names; with subtopics, grades of the parts of a query."""
    rows = graded_rows(table, grades)
    if "subtopic" in table.columns:
        return _with_subtopics(table, rows, [cell_text(name) for name in table.columns["subtopic"]])
    code = {query: i for i, query in enumerate(dict.fromkeys(query for query, _, _ in rows))}
    return judgments_of(
        list(code),
        np.array([code[query] for query, _, _ in rows], np.int64),
        Ids.of([document for _, document, _ in rows]),
        np.array([grade for _, _, grade in rows], np.float64) + 0.0,
        origin=table.origin,
        place=table.place,
        columns=dict(_kept(table)),
    )


def _grade(query: Any, document: Any, value: Any, grades: str) -> float:
    what = Named("grade", document, query)
    number = number_in(value, what)
    return whole(number, value, what) if grades == "integer" else number


def _kept(table: Table) -> Iterator[tuple[str, Sequence[str]]]:
    """The columns that say more of a judgment than what it is."""
    yield from ((name, values) for name, values in table.columns.items() if name not in OWN)


def _with_subtopics(table: Table, rows: Sequence[tuple[str, str, float]], subtopics: Sequence[str]) -> Judgments:
    """One judgment a document, its grade the highest of its subtopics."""
    code: dict[str, int] = {}
    pair: dict[tuple[str, str], int] = {}
    name: dict[str, int] = {}
    first: dict[tuple[int, int], tuple[int, float]] = {}
    mistakes = Mistakes()
    for row, ((query, document, grade), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        code.setdefault(query, len(code))
        key = pair.setdefault((query, document), len(pair)), name.setdefault(subtopic, len(name))
        earlier, other = first.setdefault(key, (row, grade))
        if other != grade:
            mistakes.add(
                Problem(
                    f"document {shown(document)} is judged twice for subtopic {shown(subtopic)} of query "
                    f"{shown(query)}: grade {grade:g} here, grade {other:g} at {table.place(earlier)}",
                    place=table.place(row),
                )
            )
    mistakes.refuse()
    entries = sorted((row, subtopic, grade) for (row, subtopic), (_, grade) in first.items())
    highest = np.full(len(pair), -np.inf)
    of_row = np.array([row for row, _, _ in entries], np.int64)
    grades = np.array([grade for _, _, grade in entries], np.float64) + 0.0
    np.maximum.at(highest, of_row, grades)
    lines: list[list[int]] = [[] for _ in pair]
    for row, (query, document, _) in enumerate(rows):
        lines[pair[query, document]].append(row)
    return judgments_of(
        list(code),
        np.array([code[query] for query, _ in pair], np.int64),
        Ids.of([document for _, document in pair]),
        highest,
        origin=table.origin,
        place=lambda row: table.place(lines[row][0]),
        subtopics=Subtopics(tuple(name), of_row, np.array([s for _, s, _ in entries], np.int64), grades),
        columns={
            name: [joined_texts(values[row] for row in group) for group in lines] for name, values in _kept(table)
        },
    )


def rankings_of_table(table: Table, depth: int | None = None, *, by_id: bool = True) -> Rankings:
    """Rankings by score, descending; by rank where there are no scores."""
    names = list(table.columns)
    by_rank = named(names, "score") is None and named(names, "rank") is not None
    kinds = ("query", "document", "rank" if by_rank else "score")
    columns = [table.columns[column_for(names, kind, table.origin)] for kind in kinds]
    code: dict[str, int] = {}
    query: list[int] = []
    documents: list[str] = []
    scores: list[float] = []
    for name, document, number in _checked(table, columns, _ranked):
        query.append(code.setdefault(name, len(code)))
        documents.append(document)
        scores.append(-number if by_rank else number)
    if not code:
        raise InputError(Problem("there are no rankings in it", place=table.origin))
    return rankings_of_columns(
        list(code),
        np.array(query, np.int64),
        Ids.of(documents),
        np.array(scores, np.float64),
        table.origin,
        depth,
        by_id=by_id,
        place=table.place,
    )


def _ranked(query: Any, document: Any, score: Any) -> tuple[str, str, float]:
    return id_in(query), id_in(document), number_in(score, Named("score", document, query))


def queries_of_table(table: Table) -> Queries:
    """Queries, one a row; every column but id and text is kept."""
    names = list(table.columns)
    if not table.rows:
        raise InputError(Problem("there are no queries in it", place=table.origin))
    id_name = id_column(names, table.origin)
    others = [name for name in names if name != id_name]
    text_name = column_for(others, "text", table.origin) if named(others, "text") is not None else id_name
    rows = list(
        _checked(table, [table.columns[id_name], table.columns[text_name]], lambda q, t: (id_in(q), text_in(t)))
    )
    first: dict[str, int] = {}
    mistakes = Mistakes()
    for row, (query, _) in enumerate(rows):
        if first.setdefault(query, row) != row:
            complaint = f"query {shown(query)} is there twice, first at {table.place(first[query])}"
            mistakes.add(Problem(complaint, place=table.place(row)))
    mistakes.refuse()
    return Queries(
        ids=tuple(query for query, _ in rows),
        text=tuple(text for _, text in rows),
        columns={
            str(name): tuple(cell_text(value) for value in table.columns[name]) for name in others if name != text_name
        },
        origin=table.origin,
        places=tuple(map(table.place, table.rows)),
    )


def _checked(table: Table, columns: Sequence[Sequence[Any]], make: Any) -> Iterator[Any]:
    """What ``make`` says of every row; all rows that it finds unfit are refused together, at the end."""
    mistakes = Mistakes()
    for row, cells in enumerate(zip(*columns, strict=True)):
        try:
            made = make(*cells)
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=table.place(row), suggestion=unfit.suggestion))
            continue
        yield made
    mistakes.refuse()
