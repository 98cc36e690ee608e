"""Queries and judgments from other tools' files, brought together under ids that any file can hold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.intake.merging import Judges, merged
from pytest_ireval.intake.slugs import slugs
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.formats.input_file import InputFile, input_file
from pytest_ireval.retrieval.formats.reader import Content, Grades, Reader, Reading, read_by
from pytest_ireval.retrieval.formats.recognised import reader_for, readers_that_fit
from pytest_ireval.retrieval.from_objects import (
    judgment_columns,
    judgments_from,
    judgments_of_columns,
    queries_from,
    queries_of_table,
)
from pytest_ireval.retrieval.judgments import Judgments, joined_texts
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.tables import (
    Table,
    cell_text,
    holds_judgments,
    holds_queries,
    table_of_judgments,
    table_of_rows,
)

OPTION = "format=…, --format"
WORD: dict[Content, str] = {"queries": "query", "judgments": "judgment"}


@dataclass(frozen=True)
class Imported:
    """What was found. ``read`` says of each source what it was; ``renamed`` has new ids for old ones."""

    queries: Queries | None
    judgments: Judgments | None
    read: tuple[str, ...]
    renamed: dict[str, str]
    merged: int
    """How many documents had several grades for one query."""


def imported(
    sources: Sequence[str | os.PathLike[str]],
    readers: Sequence[Reader],
    *,
    format: str | None = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    judges: Judges = "error",
    keep_ids: bool = False,
) -> Imported:
    """All queries and all judgments of the sources; ids with blanks are replaced unless ``keep_ids``.

    ``judges`` says what becomes of several grades for one document and query.
    """
    found: dict[Content, list[Table]] = {"queries": [], "judgments": []}
    read = []
    for source in sources:
        with input_file(source) as file:
            read.append(_read(file, readers, format, Reading(grades), found))
    queries, judgments = _each_once(_together(found["queries"])), _together(found["judgments"])
    judgments, several = merged(judgments, judges, grades) if judgments is not None else (None, 0)
    renamed = {} if keep_ids else slugs(_ids(queries, judgments))
    return Imported(
        queries=None if queries is None else queries_of_table(_renamed(queries, "id", renamed)),
        judgments=None if judgments is None else judgments_of_columns(_renamed(judgments, "query", renamed), grades),
        read=tuple(read),
        renamed=renamed,
        merged=several,
    )


def _read(
    file: InputFile, readers: Sequence[Reader], name: str | None, how: Reading, found: dict[Content, list[Table]]
) -> str:
    """Add what one source holds, and say in a line what it was."""
    said = []
    columns: list[str] = []
    for content, tables in found.items():
        if name is None and not readers_that_fit(file, content, readers):
            continue
        if name is not None and not any(r.holds == content and name in (r.name, *r.also) for r in readers):
            continue
        reader = reader_for(file, content, readers, name, option=OPTION)
        how = how._replace(recognised=name is None)
        value = read_by(reader, file, how)
        if not _holds(value, content):
            columns = list(value.columns) if isinstance(value, Table) else columns
            continue
        table = _as_table(value, content, file.name, how)
        tables.append(table)
        said.append(f"{counted(len(table.rows), WORD[content])} (format {reader.name})")
    if not said:
        reader_for(file, "judgments", readers, name, option=OPTION)  # which says what is known
        allowed = f"its columns are {', '.join(map(repr, columns))}" if columns else ""
        raise InputError(Problem("holds neither queries nor judgments", place=file.name, allowed=allowed))
    return f"{file.name}: {', '.join(said)}"


def _holds(value: Any, content: Content) -> bool:
    """Whether what a reader returned is this: JSON and Parquet, unlike other formats, may hold either."""
    if isinstance(value, Table):
        return holds_queries(value.columns) if content == "queries" else holds_judgments(value.columns)
    if isinstance(value, Mapping):
        graded = all(isinstance(said, Mapping) and "text" not in said for said in value.values())
        return graded == (content == "judgments")
    return True


def _as_table(value: Any, content: Content, origin: str, how: Reading) -> Table:
    """Columns under our own names, whatever the reader returned."""
    if content == "judgments":
        if not isinstance(value, Table):
            value = value if isinstance(value, Judgments) else judgments_from(value, grades=how.grades, origin=origin)
            return table_of_judgments(value)
        return judgment_columns(value)
    queries = value if isinstance(value, Queries) else queries_from(value, origin=origin)
    columns = {"id": queries.ids, "text": queries.text, **queries.columns}
    return Table(columns, queries.origin, queries.place)


def _together(tables: Sequence[Table]) -> Table | None:
    """The rows of several tables, one table after the other."""
    if len(tables) < 2:
        return tables[0] if tables else None
    rows = (
        ({name: values[row] for name, values in table.columns.items()}, table.place(row))
        for table in tables
        for row in table.rows
    )
    return table_of_rows(rows, ", ".join(table.origin for table in tables))


def _each_once(queries: Table | None) -> Table | None:
    """A query that several sources hold is one query; what they say of it is joined, but its text must be the same."""
    if queries is None:
        return None
    rows: dict[str, list[int]] = {}
    mistakes = Mistakes()
    for row, query in enumerate(queries.columns["id"]):
        first = rows.setdefault(query, [row])[0]
        if first == row:
            continue
        rows[query].append(row)
        text, other = queries.columns["text"][first], queries.columns["text"][row]
        if text != other:
            complaint = f"query {shown(query)} is {shown(other)} here, and {shown(text)} at {queries.place(first)}"
            mistakes.add(Problem(complaint, place=queries.place(row)))
    mistakes.refuse()
    groups = list(rows.values())
    columns = {
        name: [joined_texts(cell_text(values[row]) for row in group) for group in groups]
        for name, values in queries.columns.items()
    }
    return Table(columns, queries.origin, lambda row: queries.place(groups[row][0]))


def _ids(queries: Table | None, judgments: Table | None) -> Iterable[str]:
    if queries is not None:
        yield from queries.columns["id"]
    if judgments is not None:
        yield from judgments.columns["query"]


def _renamed(table: Table, column: str, names: dict[str, str]) -> Table:
    """The same with new ids; two queries that are one now are refused with both places later on."""
    ids = [names.get(query, query) for query in table.columns[column]]
    return Table({**table.columns, column: ids}, table.origin, table.place)
