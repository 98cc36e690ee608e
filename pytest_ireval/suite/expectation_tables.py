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
MAPPINGS = ("where", "field")
"""Columns with ``name=value`` in a cell; ``|`` separates several."""
COLUMNS = ("query", "where", "document", *LISTS, "field", "top", "total", "share", "known_failure", "name")


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
            continue
        row = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if cell.strip()}
        if unfit := [name for name in MAPPINGS if not all("=" in part for part in row.get(name, "=").split("|"))]:
            complaint = f"{unfit[0]}: {quote(row[unfit[0]])} is not name=value"
            found.append(Problem(complaint, f"{file.shown}:{line}", suggestion="'|' separates several of them"))
            continue
        items.append(_make_expectation(row, file, line))
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
    if not {"query", "where", "share"} & set(names):
        yield Problem("has no column query", place, (), "its cells are ids or texts of queries", allowed)


def _make_expectation(row: dict[str, str], file: File, line: int) -> Keys:
    """The mapping that a suite would write."""

    def place(text: str) -> Scalar:
        return put_value(Scalar(text.strip()), file, line, 1)

    expectation = Keys()
    for name, cell in row.items():
        key = place(name)
        if name in LISTS:
            texts = cell.split("|") if "|" in cell else cell.split()
            expectation[key] = put_value(Items([place(text) for text in texts if text.strip()]), file, line, 1)
        elif name in MAPPINGS:
            pairs = [part.partition("=") for part in cell.split("|")]
            values = Keys({place(column): place(value) for column, _, value in pairs})
            expectation[key] = put_value(values, file, line, 1)
        else:
            expectation[key] = place(cell)
    return put_value(expectation, file, line, 1)
