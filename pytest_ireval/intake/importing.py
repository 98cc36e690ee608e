"""Queries and judgments from files of other tools, with ids that any file can store."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, Mistakes, Problem, shown
from pytest_ireval.intake.linting import without_accents
from pytest_ireval.judging.panel import CHOICES, JudgePanel, Merging, Votes, merged_votes, panel_of
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.doors import PLAINLY
from pytest_ireval.retrieval.formats.input_file import FilePath, InputFile, input_file
from pytest_ireval.retrieval.formats.reader import Content, Reader, Reading, read_by
from pytest_ireval.retrieval.formats.recognised import Format, reader_for, readers_that_fit
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
    selected,
    table_of_judgments,
    table_of_rows,
)
from pytest_ireval.text_table import counted

OPTION = "format=…, --format"
WORD: dict[Content, str] = {"queries": "query", "judgments": "judgment"}


class Merges(NamedTuple):
    """The number of documents with several grades for one query, of those between two grades, and of those dropped."""

    several: int = 0
    tied: int = 0
    dropped: int = 0
    queries: tuple[str, ...] = ()
    """Queries of which all documents were dropped."""


@dataclass(frozen=True)
class Imported:
    """The imported queries and judgments. ``read`` describes each source; ``renamed`` has new ids for old ones."""

    queries: Queries | None
    judgments: Judgments | None
    read: tuple[str, ...]
    renamed: dict[str, str]
    merges: Merges


def import_files(
    sources: Mapping[str, FilePath],
    readers: Sequence[Reader],
    *,
    format: str | None = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    merging: Merging | None = None,
    keep_ids: bool = False,
) -> Imported:
    """All queries and all judgments of the named sources; ids with blanks are replaced unless ``keep_ids``.

    ``merging`` is the choice among several grades for one document and query; without it they are an error.
    """
    found: dict[Content, list[Table]] = {"queries": [], "judgments": []}
    read, judges = [], list[str]()
    for name, source in sources.items():
        with input_file(source) as file:
            read.append(_read(file, readers, format, Reading(grades), found))
        judges += [name] * (len(found["judgments"]) - len(judges))
    queries, judgments = _each_once(_together(found["queries"])), _together(found["judgments"])
    merges = Merges()
    if judgments is not None:
        judgments, merges = _merged(judgments, _judges(found["judgments"], judges), merging, grades)
    renamed = {} if keep_ids else _slugs(_ids(queries, judgments))
    return Imported(
        queries=None if queries is None else queries_of_table(_renamed(queries, "id", renamed)),
        judgments=None if judgments is None else judgments_of_columns(_renamed(judgments, "query", renamed), grades),
        read=tuple(read),
        renamed=renamed,
        merges=merges,
    )


def read_panel(
    sources: Mapping[str, FilePath], readers: Sequence[Reader], named: Format = None, how: Reading = PLAINLY
) -> JudgePanel:
    """The judges of some files: those in the column judge, or else one judge for each file, called as the file."""
    judges: list[tuple[str, Judgments]] = []
    for name, source in sources.items():
        with input_file(source) as file:
            reader = reader_for(file, "judgments", readers, named)
            value = read_by(reader, file, how._replace(recognised=named is None))
            table = judgment_columns(value) if isinstance(value, Table) else None
            if table is None or "judge" not in table.columns:
                whole = (
                    value
                    if isinstance(value, Judgments)
                    else judgments_from(value, grades=how.grades, origin=file.name)
                )
                judges.append((name, whole))
                continue
            graded_rows(table, how.grades)  # the mistakes of all judges at once
            rows: dict[str, list[int]] = {}
            for row, judge in enumerate(_judges([table], [name])):
                rows.setdefault(judge, []).append(row)
            judges += [(judge, judgments_of_columns(selected(table, of), how.grades)) for judge, of in rows.items()]
    return panel_of(judges)


def _read(
    file: InputFile, readers: Sequence[Reader], name: str | None, how: Reading, found: dict[Content, list[Table]]
) -> str:
    """Add the content of one source, and describe it in a line."""
    parts = []
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
        parts.append(f"{counted(len(table.rows), WORD[content])} (format {reader.name})")
    if not parts:
        reader_for(file, "judgments", readers, name, option=OPTION)  # which says what is known
        allowed = f"its columns are {', '.join(map(repr, columns))}" if columns else ""
        raise InputError(Problem("contains neither queries nor judgments", place=file.name, allowed=allowed))
    return f"{file.name}: {', '.join(parts)}"


def _holds(value: Any, content: Content) -> bool:
    """Tell whether a reader returned this content: JSON and Parquet, unlike other formats, may have either."""
    if isinstance(value, Table):
        return holds_queries(value.columns) if content == "queries" else holds_judgments(value.columns)
    if isinstance(value, Mapping):
        graded = all(isinstance(each, Mapping) and "text" not in each for each in value.values())
        return graded == (content == "judgments")
    return True


def _as_table(value: Any, content: Content, origin: str, how: Reading) -> Table:
    """Columns under our own names, from any form that a reader returns."""
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
    """Merge queries of several sources: their columns are joined, but the text must be the same."""
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
    """The same with new ids; two queries with one new id are refused later, with both places."""
    ids = [names.get(query, query) for query in table.columns[column]]
    return Table({**table.columns, column: ids}, table.origin, table.place)


def _judges(tables: Sequence[Table], names: Sequence[str]) -> list[str]:
    """The judge of each row: the cell of its column, or else the name of the file."""
    return [
        cell_text(cell).strip() or name
        for table, name in zip(tables, names, strict=True)
        for cell in table.columns.get("judge") or [""] * len(table.rows)
    ]


def _merged(
    table: Table, judges: Sequence[str], policy: Merging | None, grades: str = "integer"
) -> tuple[Table, Merges]:
    """One row for each query and document (and subtopic); without a policy, different grades are an error.

    The judges and all other columns are joined with ``; ``.
    """
    rows = graded_rows(table, grades)
    subtopics = table.columns.get("subtopic") or [""] * len(rows)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, ((query, document, _), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        groups.setdefault((query, document, subtopic), []).append(row)
    several = {pair: group for pair, group in groups.items() if len({rows[row][2] for row in group}) > 1}
    if policy is None:
        _refuse(table, rows, several)
    votes = _each_judge_once(table, rows, judges, list(groups.values()))
    merged = merged_votes(_votes(rows, judges, votes), policy or Merging("highest"))
    each = zip(groups.values(), merged.grade.tolist(), strict=True)
    kept = [(group, grade) for group, grade in each if not math.isnan(grade)]
    if not kept:
        raise InputError(Problem("no document is left after merging the judges", place=table.origin))
    together = ((_joined(table, group, grade), table.place(group[0])) for group, grade in kept)
    left = {rows[group[0]][0] for group, _ in kept}
    lost = tuple(query for query in dict.fromkeys(query for query, _, _ in groups) if query not in left)
    merges = Merges(len(several), int(merged.tied.sum()), len(groups) - len(kept), lost)
    return table_of_rows(together, table.origin), merges


def _each_judge_once(
    table: Table, rows: Sequence[tuple[str, str, float]], judges: Sequence[str], groups: Sequence[list[int]]
) -> list[list[int]]:
    """The groups, with one vote of each judge whom the column judge names; two grades of one judge are an error."""
    cells = table.columns.get("judge") or [""] * len(rows)
    mistakes = Mistakes()
    found = []
    for group in groups:
        first: dict[str | int, int] = {}
        for row in group:
            query, document, grade = rows[row]
            before = first.setdefault(judges[row] if cell_text(cells[row]).strip() else row, row)
            if rows[before][2] != grade:
                complaint = (
                    f"judge {shown(judges[row])} gave document {shown(document)} of query {shown(query)} two grades: "
                    f"{rows[before][2]:g} ({table.place(before)}) and {grade:g}"
                )
                mistakes.add(Problem(complaint, place=table.place(row), suggestion="keep one of them"))
        found.append(list(first.values()))
    mistakes.refuse()
    return found


def _votes(rows: Sequence[tuple[str, str, float]], judges: Sequence[str], groups: Sequence[Sequence[int]]) -> Votes:
    """The grades of all rows; the rows of a group are about one thing."""
    code = {name: i for i, name in enumerate(dict.fromkeys(judges))}
    order = [row for group in groups for row in group]
    return Votes(
        tuple(code),
        len(groups),
        np.repeat(np.arange(len(groups)), list(map(len, groups))),
        np.array([code[judges[row]] for row in order], np.int64),
        np.array([rows[row][2] for row in order], np.float64),
    )


def _refuse(table: Table, rows: Sequence[tuple[str, str, float]], several: dict[Any, list[int]]) -> None:
    mistakes = Mistakes()
    for (query, document, _), group in several.items():
        found = ", ".join(f"{rows[row][2]:g} ({table.place(row)})" for row in group)
        complaint = f"document {shown(document)} has several grades for query {shown(query)}: {found}"
        remedy = f"choose how to merge them: --judges {', '.join(CHOICES)}"
        mistakes.add(Problem(complaint, place=table.place(group[0]), suggestion=remedy))
    mistakes.refuse()


def _joined(table: Table, group: Sequence[int], grade: float) -> dict[str, Any]:
    """One row of several: the values of each column joined, each once."""
    row = {name: joined_texts(cell_text(values[i]) for i in group) for name, values in table.columns.items()}
    return {**row, "grade": grade}


PLAIN = re.compile(r"[^\W_A-Z]+( [^\W_A-Z]+)*")
"""Lower-case words with one space between them, of which a slug loses nothing."""

LONGEST = 60


def _slugs(ids: Iterable[str]) -> dict[str, str]:
    """A new id for each id with white space."""
    known = dict.fromkeys(ids)
    return {name: _slug(name, known) for name in known if re.search(r"\s", name)}


def _slug(name: str, known: dict[str, None]) -> str:
    """Letters and digits of the phrase in lower case, joined by hyphens; accents are dropped.

    It depends on the phrase alone, so that ids stay when queries are added. A phrase that loses something (capitals,
    accents, marks) gets a hash at its end. An existing id is not used again.
    """
    slug = "-".join(re.findall(r"\w+", without_accents(name)))
    if PLAIN.fullmatch(name) and slug.replace("-", " ") == name and len(slug) <= LONGEST and slug not in known:
        return slug
    mark = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{slug[:LONGEST].rstrip('-')}-{mark}".lstrip("-")
