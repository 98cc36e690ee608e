"""Tables of expectations, as people write them with a spreadsheet: their rows become a part of the suite."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_ireval.data.formats.row_files import read_delimited_rows
from pytest_ireval.data.tables import normalize_name
from pytest_ireval.errors import InputError, Problem, did_you_mean, quote
from pytest_ireval.suite.inheriting import Contents, shown_path
from pytest_ireval.suite.scalars import File, Items, Keys, Scalar, problem_at, put_value
from pytest_ireval.words import format_count

LISTS = ("any_of", "all_of", "never", "order")
"""Columns with several documents in a cell."""
COLUMNS = ("query", "document", *LISTS, "top", "total", "known_failure", "name")


class IncludedTables(NamedTuple):
    """A suite with the rows of its tables in place of their names."""

    tree: Keys
    files: tuple[Path, ...]


def include_tables(tree: Keys, contents: Contents | None, problems: list[Problem]) -> IncludedTables:
    """Put the rows of each table that a rule ``expect`` names in the place of its name.

    ``contents`` returns the content of files, unless they are to be read from the disk.
    """
    rules, files, changed = tree.get("rules"), list[Path](), list[object]()
    if not isinstance(rules, Items):
        return IncludedTables(tree, ())
    for number, rule in enumerate(rules):
        table = rule.get("expect") if isinstance(rule, Keys) else None
        if not isinstance(table, Keys) or list(table) != ["file"] or not isinstance(table["file"], Scalar):
            changed.append(rule)
            continue
        written = table["file"]
        path = Path(os.path.abspath(os.path.join(written.folder, written)))
        files.append(path)
        try:
            rows = _read_table(path, contents, problems)
        except FileNotFoundError:
            at = ("rules", number, "expect", "file")
            hint = "a path is relative to the file it is written in"
            problems.append(problem_at(tree, at, f"no such file: {written}", hint))
            rows = Items()
        except InputError as error:
            problems += error.problems
            rows = Items()
        if rows:
            key = next(iter(rule))
            changed.append(put_value(Keys({key: rows}), rule.file, rule.line, rule.column))
    if not files:
        return IncludedTables(tree, ())
    included = Keys({key: Items(changed) if key == "rules" else value for key, value in tree.items()})
    put_value(included["rules"], rules.file, rules.line, rules.column)
    return IncludedTables(put_value(included, tree.file, tree.line, tree.column), tuple(files))


def _read_table(path: Path, contents: Contents | None, problems: list[Problem]) -> Items:
    """The expectations of a table, each at its line."""
    content = contents(path) if contents is not None else path.read_bytes() if path.is_file() else None
    if content is None:
        raise FileNotFoundError
    file = File(shown_path(path), str(path.parent))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(Problem("is not UTF-8", file.shown, suggestion="save it as CSV UTF-8")) from None
    first = text.partition("\n")[0]
    delimiter = next((each for each in ("\t", ",", ";") if each in first), ",")
    rows = read_delimited_rows(io.StringIO(text, newline=""), delimiter, file.shown, lambda: io.StringIO(text))
    line, header = next(rows, (1, []))
    names = [normalize_name(name) for name in header]
    found = list(_find_wrong_columns(names, f"{file.shown}:{line}"))
    items = Items()
    for line, cells in rows:
        if any(cell.strip() for cell in cells[len(names) :]) or len(cells) < len(names):
            complaint = f"has {format_count(len(cells), 'cell')}, not {len(names)}"
            found.append(Problem(complaint, f"{file.shown}:{line}"))
        else:
            items.append(_make_expectation(dict(zip(names, cells, strict=False)), file, line))
    if not items and not found:
        found.append(Problem("has no expectations", file.shown, suggestion="write a row for each, or remove the rule"))
    problems += found
    return Items() if found else put_value(items, file, 1, 1)


def _find_wrong_columns(names: list[str], place: str) -> Iterator[Problem]:
    allowed = f"columns: {', '.join(COLUMNS)}"
    for number, name in enumerate(names):
        if name not in COLUMNS:
            yield Problem(f"unknown column {quote(name)}", place, (), did_you_mean(name, COLUMNS), allowed)
        elif name in names[:number]:
            yield Problem(f"two columns have the name {name}", place)
    if "query" not in names:
        yield Problem("has no column query", place, (), "its cells are ids or texts of queries", allowed)


def _make_expectation(cells: dict[str, str], file: File, line: int) -> Keys:
    """The mapping that a suite would write; an empty cell is a key that is not written."""
    expectation = Keys()
    for name, cell in cells.items():
        if not cell.strip():
            continue
        texts = cell.split("|") if "|" in cell else cell.split()
        listed = [put_value(Scalar(text.strip()), file, line, 1) for text in texts if text.strip()]
        value = put_value(Items(listed), file, line, 1) if name in LISTS else Scalar(cell.strip())
        expectation[put_value(Scalar(name), file, line, 1)] = (
            value if isinstance(value, Items) else put_value(value, file, line, 1)
        )
    return put_value(expectation, file, line, 1)
