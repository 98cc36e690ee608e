"""Tables as text: CSV, TSV, pairs of id and text, BEIR folders, and diversity judgments.

CSV is quoted in the usual way. TSV is taken literally: a cell holds anything but tabs and line ends.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from pytest_ireval.errors import InputError, Mistakes, Problem
from pytest_ireval.retrieval.formats.input_file import InputFile, input_file, words
from pytest_ireval.retrieval.formats.json_text import json_lines
from pytest_ireval.retrieval.tables import Table, at_lines, is_quoted, named
from pytest_ireval.text_table import counted


def delimited_table(file: InputFile, *, short_rows: bool = False) -> Table:
    """The columns that the first line names; ``short_rows`` may lack cells at their end."""
    found = _table(file, _rows(file), short_rows=short_rows)
    if file.delimiter == "\t":
        _refuse_quoted_ids(found)
    return found


def _refuse_quoted_ids(table: Table) -> None:
    """Refuse ids in quotes: in TSV a quote is part of the id, which would never match one without quotes."""
    mistakes = Mistakes()
    for name in dict.fromkeys(filter(None, (named(table.columns, kind) for kind in ("query", "document", "id")))):
        for row, cell in enumerate(map(str.strip, table.columns[name])):
            if is_quoted(cell):
                suggestion = "TSV has no quoting: remove the quotes, or use CSV"
                mistakes.add(Problem(f"the id {cell} is in quotes", place=table.place(row), suggestion=suggestion))
    mistakes.refuse()


def pairs(file: InputFile) -> Table:
    """Columns id and text."""
    lines = ((number, line) for number, line in enumerate(file.lines(), 1) if line.strip())
    rows = ((number, line.rstrip("\r\n").split("\t", 1)) for number, line in lines)
    return _table(file, chain([(0, ["id", "text"])], rows))


NAMED = 20
"""The most columns that a message lists."""
Row = tuple[int, list[str]]
"""The number of a row's last line, and its cells."""


def _rows(file: InputFile) -> Iterator[Row]:
    if file.delimiter == "\t":
        for number, line in enumerate(file.lines(), 1):
            if line.strip():
                yield number, line.rstrip("\r\n").split("\t")
        return
    before = csv.field_size_limit(1 << 24)
    reader = csv.reader(file.lines(), delimiter=file.delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(Problem(f"is not CSV ({error})", place=f"{file.name}:{reader.line_num}")) from None
    finally:
        csv.field_size_limit(before)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _table(file: InputFile, rows: Iterator[Row], *, short_rows: bool = False) -> Table:
    first, names = next(rows, (1, []))
    names = [name.strip() for name in names]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise InputError(Problem(f"two columns are named {repeated!r}", place=f"{file.name}:{first}"))
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in names]
    mistakes = Mistakes()
    for number, found in rows:
        cells = found + [""] * (len(names) - len(found) if short_rows else 0)
        if len(cells) != len(names):
            complaint = f"has {counted(len(cells), 'cell')}, not {len(names)}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=f"columns: {_listed(names)}"))
            continue
        lines.append(number)
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
    mistakes.refuse()
    return Table(dict(zip(names, columns, strict=True)), file.name, at_lines(file.name, lines))


def beir_queries(file: InputFile) -> Table:
    """All queries of the folder, those of every split."""
    with input_file(file.path / "queries.jsonl") as inside:
        return json_lines(inside)


def beir_judgments(file: InputFile) -> Table:
    """The judgments of the only split; of several, the user must name one."""
    splits = sorted((file.path / "qrels").glob("*.tsv"))
    if len(splits) != 1:
        found = ", ".join(str(split) for split in splits)
        complaint = f"has {len(splits)} splits of judgments: {found}" if splits else "has no judgments in qrels/*.tsv"
        suggestion = f"name the file: {splits[0]}" if splits else ""
        raise InputError(Problem(complaint, place=file.name, suggestion=suggestion))
    with input_file(splits[0]) as inside:
        return delimited_table(inside)


NAMES = ("query", "subtopic", "document", "grade")


def diversity_judgments(file: InputFile) -> Table:
    """The four columns of every line."""
    rows: list[list[str]] = []
    lines: list[int] = []
    mistakes = Mistakes()
    for number, line in enumerate(file.lines(), 1):
        found = words(line)
        if not found or found[0].startswith("#"):
            continue
        if len(found) != len(NAMES):
            complaint = f"has {counted(len(found), 'column')}"
            allowed = f"diversity judgments have {len(NAMES)} columns: {' '.join(NAMES)}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}", allowed=allowed))
            continue
        lines.append(number)
        rows.append(found)
    mistakes.refuse()
    columns = {name: [row[at] for row in rows] for at, name in enumerate(NAMES)}
    return Table(columns, file.name, at_lines(file.name, lines))
