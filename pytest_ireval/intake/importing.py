"""Queries and judgments from other tools' files, brought together under ids that any file can hold."""

from __future__ import annotations

import hashlib
import os
import re
import statistics
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.formats.input_file import InputFile, input_file
from pytest_ireval.retrieval.formats.reader import Content, Reader, Reading, read_by
from pytest_ireval.retrieval.formats.recognised import reader_for, readers_that_fit
from pytest_ireval.retrieval.from_objects import (
    graded_rows,
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
from pytest_ireval.text_table import counted

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


def import_files(
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
    judgments, several = _merged(judgments, judges, grades) if judgments is not None else (None, 0)
    renamed = {} if keep_ids else _slugs(_ids(queries, judgments))
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
        raise InputError(Problem("contains neither queries nor judgments", place=file.name, allowed=allowed))
    return f"{file.name}: {', '.join(said)}"


def _holds(value: Any, content: Content) -> bool:
    """Tell whether what a reader returned is this: JSON and Parquet, unlike other formats, may hold either."""
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


Judges = Literal["error", "highest", "lowest", "median", "majority"]

Choose = Callable[[Sequence[float]], float]
CHOICES: dict[str, Choose] = {
    "highest": max,
    "lowest": min,
    "median": statistics.median_low,
    "majority": lambda grades: min(statistics.multimode(grades)),
}
"""Of an even number of grades the median is the lower of the two in the middle; of equally frequent grades the
majority is the lowest."""


def _merged(table: Table, judges: Judges, grades: str = "integer") -> tuple[Table, int]:
    """One row for each query and document (and subtopic), and how many of them had different grades.

    Who judged, and what else the rows say, is joined with ``; ``.
    """
    rows = graded_rows(table, grades)
    subtopics = table.columns.get("subtopic") or [""] * len(rows)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, ((query, document, _), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        groups.setdefault((query, document, subtopic), []).append(row)
    several = {pair: group for pair, group in groups.items() if len({rows[row][2] for row in group}) > 1}
    if judges == "error":
        _refuse(table, rows, several)
        choose: Choose = max
    else:
        choose = CHOICES[judges]
    together = (
        (_joined(table, group, choose([rows[row][2] for row in group])), table.place(group[0]))
        for group in groups.values()
    )
    return table_of_rows(together, table.origin), len(several)


def _refuse(table: Table, rows: Sequence[tuple[str, str, float]], several: dict[Any, list[int]]) -> None:
    mistakes = Mistakes()
    for (query, document, _), group in several.items():
        found = ", ".join(f"{rows[row][2]:g} ({table.place(row)})" for row in group)
        mistakes.add(
            Problem(
                f"document {shown(document)} has several grades for query {shown(query)}: {found}",
                place=table.place(group[0]),
                suggestion=f"choose how to merge them: --judges {', '.join(CHOICES)}",
            )
        )
    mistakes.refuse()


def _joined(table: Table, group: Sequence[int], grade: float) -> dict[str, Any]:
    """One row of several: the values of each column joined, each once."""
    row = {name: joined_texts(cell_text(values[i]) for i in group) for name, values in table.columns.items()}
    return {**row, "grade": grade}


BLANK = re.compile(r"\s")
PLAIN = re.compile(r"[^\W_A-Z]+( [^\W_A-Z]+)*")
"""Lower-case words with one blank between them, of which nothing gets lost."""

LONGEST = 60


def _slugs(ids: Iterable[str]) -> dict[str, str]:
    """A new id for each that has blanks in it.

    It depends on the phrase alone, not on the others, so that ids stay when queries are added; phrases of which
    something gets lost (capitals, accents, marks) have a mark behind them. An id that is there already is not taken.
    """
    known = dict.fromkeys(ids)
    return {name: _slug(name, known) for name in known if BLANK.search(name)}


def _slug(name: str, known: dict[str, None]) -> str:
    """Letters and digits of the phrase in lower case, joined by hyphens; accents are dropped."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    words = re.findall(r"\w+", "".join(mark for mark in folded if not unicodedata.combining(mark)))
    slug = "-".join(words)
    if PLAIN.fullmatch(name) and slug.replace("-", " ") == name and len(slug) <= LONGEST and slug not in known:
        return slug
    mark = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{slug[:LONGEST].rstrip('-')}-{mark}".lstrip("-")
