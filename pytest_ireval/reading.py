"""Queries, judgments and rankings from files, through the installed readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytest_ireval.data.coerce import coerce_judgments, coerce_queries, coerce_rankings
from pytest_ireval.data.formats.input_file import FilePath, InputFile, open_input
from pytest_ireval.data.formats.reader import Content, Reader, Reading, run_reader
from pytest_ireval.data.formats.recognition import Format, choose_reader, list_fitting_readers
from pytest_ireval.data.from_objects import (
    convert_judgments,
    convert_queries,
    make_judgments_of_table,
    read_graded_rows,
    rename_judgment_columns,
)
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.tables import (
    Table,
    format_cell,
    has_judgment_columns,
    has_query_columns,
    select_rows,
    tabulate_judgments,
)
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.policies import Grades


def read_queries(path: FilePath, *, format: Format = None, registry: Registry | None = None) -> Queries:  # noqa: A002 - as users say it
    """All queries in the file; its format is recognised by its content unless it is named."""
    return coerce_queries(path, (registry or installed_registry()).readers, format)


def read_judgments(
    path: FilePath,
    *,
    format: Format = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Judgments:
    """All judgments in the file. Grades are whole numbers unless ``grades="float"`` declares otherwise."""
    return coerce_judgments(
        path, (registry or installed_registry()).readers, format, Reading(grades, progress=progress)
    )


def read_rankings(
    path: FilePath,
    depth: int | None = None,
    *,
    format: Format = None,  # noqa: A002 - as users say it
    by_id: bool = True,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Rankings:
    """The first ``depth`` documents of every ranking in the file (None: all of them).

    Equal scores are in descending order of document id; unless ``by_id``, in the order of the file.
    """
    how = Reading(depth=depth, by_id=by_id, progress=progress)
    return coerce_rankings(path, (registry or installed_registry()).readers, format, how)


def read_judges(
    path: FilePath,
    name: str,
    *,
    format: Format = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> list[tuple[str, Judgments]]:
    """The judgments of each judge in a file that has a column ``judge``; else all of them, by the judge ``name``."""
    with open_input(path) as file:
        reader = choose_reader(file, "judgments", (registry or installed_registry()).readers, format)
        value = run_reader(reader, file, Reading(grades, recognised=format is None, progress=progress))
        if isinstance(value, Judgments):
            return [(name, value)]
        table = rename_judgment_columns(value) if isinstance(value, Table) else None
        if table is None or "judge" not in table.columns:
            return [(name, convert_judgments(value, grades=grades, origin=file.name))]
        read_graded_rows(table, grades)  # the mistakes of all judges at once
        rows: dict[str, list[int]] = {}
        for row, judge in enumerate(table.columns["judge"]):
            rows.setdefault(format_cell(judge).strip() or name, []).append(row)
        return [(judge, make_judgments_of_table(select_rows(table, of), grades)) for judge, of in rows.items()]


class FileContents(NamedTuple):
    """The queries and the judgments of one file, in columns under our own names; None where it holds none."""

    origin: str
    queries: Table | None
    judgments: Table | None
    formats: Mapping[Content, str]
    """The name of the format by which each of them was read."""


def read_contents(
    path: FilePath,
    *,
    format: str | None = None,  # noqa: A002 - as users say it
    grades: Grades = "integer",
    registry: Registry | None = None,
) -> FileContents:
    """The queries and the judgments of a file, whichever it holds; an error if it holds neither."""
    readers = (registry or installed_registry()).readers
    found: dict[Content, Table] = {}
    formats: dict[Content, str] = {}
    columns: list[str] = []
    option = "format=…, --format"
    contents: tuple[Content, ...] = ("queries", "judgments")
    with open_input(path) as file:
        for content in contents:
            if not _can_hold(file, content, readers, format):
                continue
            reader = choose_reader(file, content, readers, format, option)
            value = run_reader(reader, file, Reading(grades, recognised=format is None))
            if _has_content(value, content):
                found[content], formats[content] = _convert_to_table(value, content, file.name, grades), reader.name
            elif isinstance(value, Table):
                columns = list(value.columns)
        if not found:
            choose_reader(file, "judgments", readers, format, option)  # which says what is known
            allowed = f"its columns are {', '.join(map(repr, columns))}" if columns else ""
            raise InputError(Problem("contains neither queries nor judgments", place=file.name, allowed=allowed))
        return FileContents(file.name, found.get("queries"), found.get("judgments"), formats)


def _can_hold(file: InputFile, content: Content, readers: Sequence[Reader], name: str | None) -> bool:
    """Tell whether a reader of the content fits the file, or has the name of the format."""
    if name is None:
        return bool(list_fitting_readers(file, content, readers))
    return any(reader.holds == content and name in (reader.name, *reader.also) for reader in readers)


def _has_content(value: Any, content: Content) -> bool:
    """Tell whether a reader returned this content: JSON and Parquet, unlike other formats, may have either."""
    if isinstance(value, Table):
        return has_query_columns(value.columns) if content == "queries" else has_judgment_columns(value.columns)
    if isinstance(value, Mapping):
        graded = all(isinstance(each, Mapping) and "text" not in each for each in value.values())
        return graded == (content == "judgments")
    return True


def _convert_to_table(value: Any, content: Content, origin: str, grades: Grades) -> Table:
    """Columns under our own names, from any form that a reader returns."""
    if content == "judgments":
        if isinstance(value, Table):
            return rename_judgment_columns(value)
        found = value if isinstance(value, Judgments) else convert_judgments(value, grades=grades, origin=origin)
        return tabulate_judgments(found)
    queries = value if isinstance(value, Queries) else convert_queries(value, origin=origin)
    return Table({"id": queries.ids, "text": queries.text, **queries.columns}, queries.origin, queries.place)
