"""Queries and judgments from files of other tools, with ids that any file can store."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval import InputError, Judgments, Queries
from pytest_ireval.plugin_api import SILENT, Grades, Mistakes, Problem, Progress, Registry, format_count, quote
from pytest_ireval.tables import (
    FileContents,
    FilePath,
    Table,
    format_cell,
    make_judgments_of_table,
    make_queries_of_table,
    read_contents,
    read_graded_rows,
    read_judges,
    tabulate_rows,
)
from pytest_ireval_judgments.linting import strip_accents
from pytest_ireval_judgments.panel import CHOICES, JudgePanel, Merging, Votes, make_panel, merge_votes


class Merges(NamedTuple):
    """The number of documents with several grades for one query, of those between two grades, and of those dropped."""

    several: int = 0
    tied: int = 0
    dropped: int = 0
    queries: tuple[str, ...] = ()
    """Queries of which all documents were dropped."""


@dataclass
class Imported:
    """The imported queries and judgments. ``read`` describes each source; ``renamed`` has new ids for old ones."""

    queries: Queries | None
    judgments: Judgments | None
    read: tuple[str, ...]
    renamed: dict[str, str]
    merges: Merges


def import_files(
    sources: Mapping[str, FilePath],
    registry: Registry,
    *,
    format: str | None = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    merging: Merging | None = None,
    keep_ids: bool = False,
) -> Imported:
    """All queries and all judgments of the named sources; ids with blanks are replaced unless ``keep_ids``.

    ``merging`` is the choice among several grades for one document and query; without it they are an error.
    """
    found = {
        name: read_contents(path, format=format, grades=grades, registry=registry) for name, path in sources.items()
    }
    judged = {name: each.judgments for name, each in found.items() if each.judgments is not None}
    queries = _merge_queries(_concatenate([each.queries for each in found.values() if each.queries is not None]))
    judgments, merges = _concatenate(list(judged.values())), Merges()
    if judgments is not None:
        judgments, merges = _merge_judgments(judgments, _list_judges(judged), merging, grades)
    renamed = {} if keep_ids else _make_slugs(_list_ids(queries, judgments))
    return Imported(
        queries=None if queries is None else make_queries_of_table(_rename(queries, "id", renamed)),
        judgments=None if judgments is None else make_judgments_of_table(_rename(judgments, "query", renamed), grades),
        read=tuple(map(_describe, found.values())),
        renamed=renamed,
        merges=merges,
    )


def _describe(contents: FileContents) -> str:
    """One source in a line."""
    parts = []
    if contents.queries is not None:
        parts.append(f"{format_count(len(contents.queries.rows), 'query')} (format {contents.formats['queries']})")
    if contents.judgments is not None:
        parts.append(
            f"{format_count(len(contents.judgments.rows), 'judgment')} (format {contents.formats['judgments']})"
        )
    return f"{contents.origin}: {', '.join(parts)}"


def read_panel(
    sources: Mapping[str, FilePath],
    registry: Registry,
    *,
    format: str | None = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    progress: Progress = SILENT,
) -> JudgePanel:
    """The judges of some files: those in the column judge, or else one judge for each file, called as the file."""
    return make_panel(
        [
            judge
            for name, path in sources.items()
            for judge in read_judges(path, name, format=format, grades=grades, registry=registry, progress=progress)
        ]
    )


def _concatenate(tables: Sequence[Table]) -> Table | None:
    """The rows of several tables, one table after the other."""
    if len(tables) < 2:
        return tables[0] if tables else None
    rows = (
        ({name: values[row] for name, values in table.columns.items()}, table.place(row))
        for table in tables
        for row in table.rows
    )
    return tabulate_rows(rows, ", ".join(table.origin for table in tables))


def _merge_queries(queries: Table | None) -> Table | None:
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
            complaint = f"query {quote(query)} is {quote(other)} here, and {quote(text)} at {queries.place(first)}"
            mistakes.add(Problem(complaint, place=queries.place(row)))
    mistakes.refuse()
    groups = list(rows.values())
    columns = {
        name: [_join_texts(format_cell(values[row]) for row in group) for group in groups]
        for name, values in queries.columns.items()
    }
    return Table(columns, queries.origin, lambda row: queries.place(groups[row][0]))


def _join_texts(texts: Iterable[str]) -> str:
    """Different texts as one, each once; empty ones are left out."""
    return "; ".join(dict.fromkeys(filter(None, texts)))


def _list_ids(queries: Table | None, judgments: Table | None) -> Iterable[str]:
    if queries is not None:
        yield from queries.columns["id"]
    if judgments is not None:
        yield from judgments.columns["query"]


def _rename(table: Table, column: str, names: dict[str, str]) -> Table:
    """The same with new ids; two queries with one new id are refused later, with both places."""
    ids = [names.get(query, query) for query in table.columns[column]]
    return Table({**table.columns, column: ids}, table.origin, table.place)


def _list_judges(tables: Mapping[str, Table]) -> list[str]:
    """The judge of each row: the cell of its column, or else the name of the file."""
    return [
        format_cell(cell).strip() or name
        for name, table in tables.items()
        for cell in table.columns.get("judge") or [""] * len(table.rows)
    ]


def _merge_judgments(
    table: Table, judges: Sequence[str], policy: Merging | None, grades: str = "integer"
) -> tuple[Table, Merges]:
    """One row for each query and document (and subtopic); without a policy, different grades are an error.

    The judges and all other columns are joined with ``; ``.
    """
    rows = read_graded_rows(table, grades)
    subtopics = table.columns.get("subtopic") or [""] * len(rows)
    groups: dict[tuple[str, str, str], list[int]] = {}
    for row, ((query, document, _), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        groups.setdefault((query, document, subtopic), []).append(row)
    several = {pair: group for pair, group in groups.items() if len({rows[row][2] for row in group}) > 1}
    if policy is None:
        _refuse_contradictions(table, rows, several)
    votes = _merge_repetitions(table, rows, judges, list(groups.values()))
    merged = merge_votes(_make_votes(rows, judges, votes), policy or Merging("highest"))
    each = zip(groups.values(), merged.grade.tolist(), strict=True)
    kept = [(group, grade) for group, grade in each if not math.isnan(grade)]
    if not kept:
        raise InputError(Problem("no document is left after merging the judges", place=table.origin))
    together = ((_join_rows(table, group, grade), table.place(group[0])) for group, grade in kept)
    left = {rows[group[0]][0] for group, _ in kept}
    lost = tuple(query for query in dict.fromkeys(query for query, _, _ in groups) if query not in left)
    merges = Merges(len(several), int(merged.tied.sum()), len(groups) - len(kept), lost)
    return tabulate_rows(together, table.origin), merges


def _merge_repetitions(
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
            before = first.setdefault(judges[row] if format_cell(cells[row]).strip() else row, row)
            if rows[before][2] != grade:
                complaint = (
                    f"judge {quote(judges[row])} gave document {quote(document)} of query {quote(query)} two grades: "
                    f"{rows[before][2]:g} ({table.place(before)}) and {grade:g}"
                )
                mistakes.add(Problem(complaint, place=table.place(row), suggestion="keep one of them"))
        found.append(list(first.values()))
    mistakes.refuse()
    return found


def _make_votes(
    rows: Sequence[tuple[str, str, float]], judges: Sequence[str], groups: Sequence[Sequence[int]]
) -> Votes:
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


def _refuse_contradictions(table: Table, rows: Sequence[tuple[str, str, float]], several: dict[Any, list[int]]) -> None:
    mistakes = Mistakes()
    for (query, document, _), group in several.items():
        found = ", ".join(f"{rows[row][2]:g} ({table.place(row)})" for row in group)
        complaint = f"document {quote(document)} has several grades for query {quote(query)}: {found}"
        remedy = f"choose how to merge them: --judges {', '.join(CHOICES)}"
        mistakes.add(Problem(complaint, place=table.place(group[0]), suggestion=remedy))
    mistakes.refuse()


def _join_rows(table: Table, group: Sequence[int], grade: float) -> dict[str, Any]:
    """One row of several: the values of each column joined, each once."""
    row = {name: _join_texts(format_cell(values[i]) for i in group) for name, values in table.columns.items()}
    return {**row, "grade": grade}


PLAIN = re.compile(r"[^\W_A-Z]+( [^\W_A-Z]+)*")
"""Lower-case words with one space between them, of which a slug loses nothing."""

LONGEST = 60


def _make_slugs(ids: Iterable[str]) -> dict[str, str]:
    """A new id for each id with white space."""
    known = dict.fromkeys(ids)
    return {name: _make_slug(name, known) for name in known if re.search(r"\s", name)}


def _make_slug(name: str, known: dict[str, None]) -> str:
    """Letters and digits of the phrase in lower case, joined by hyphens; accents are dropped.

    It depends on the phrase alone, so that ids stay when queries are added. A phrase that loses something (capitals,
    accents, marks) gets a hash at its end. An existing id is not used again.
    """
    slug = "-".join(re.findall(r"\w+", strip_accents(name)))
    if PLAIN.fullmatch(name) and slug.replace("-", " ") == name and len(slug) <= LONGEST and slug not in known:
        return slug
    mark = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{slug[:LONGEST].rstrip('-')}-{mark}".lstrip("-")
