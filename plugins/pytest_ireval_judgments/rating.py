"""Pools that are being judged: the documents to grade, and the file that keeps each grade with judge and date."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from pytest_ireval import InputError, Judgments
from pytest_ireval.plugin_api import Mistakes, Problem, quote
from pytest_ireval.tables import (
    COLUMN_NAMES,
    Table,
    Unfit,
    find_column,
    format_cell,
    normalize_name,
    parse_id,
    read_graded_rows,
    read_table,
    rename_judgment_columns,
    require_column,
    tabulate_judgments,
    write_table,
)

Pair = tuple[str, str]
"""A query and a document."""
Row = dict[str, str]
ENDINGS = (".tsv", ".csv", ".jsonl")
COLUMNS = ("query", "document", "grade", "judge", "date", "guideline", "model", "prompt")
ALWAYS = COLUMNS[:5]
"""Columns that the file has even where all cells are empty."""
ABOUT_RANKS = {"metric", "effect", "rank_now", "rank_baseline"}
"""Columns of ``to_judge.tsv`` that judges must not see."""


class Item(NamedTuple):
    """A document to judge for a query, with everything that a judge may see."""

    query: str
    text: str
    about: Mapping[str, str]
    """Other columns of the query, such as its narrative."""
    document: str
    fields: Mapping[str, str]

    @property
    def pair(self) -> Pair:
        """Query and document."""
        return self.query, self.document


class ReadPool(NamedTuple):
    """The documents of a pool that have no grade yet, each once, in the order of the file."""

    items: tuple[Item, ...]
    graded: int
    """Rows that have a grade already, and are left out."""
    columns: Mapping[Pair, Mapping[str, str]]
    """By pair, all cells of its row."""
    scales: tuple[str, ...] = ()
    """The grades of the gate's suites, such as ``0-4``, as ``to_judge.tsv`` names them."""


def read_pool(path: Path) -> ReadPool:
    """Read a pool, or ``to_judge.tsv``; an error if it lists no document."""
    table = read_table(path)
    names = list(table.columns)
    queries, documents = (table.columns[require_column(names, kind, table.origin)] for kind in ("query", "document"))
    grade = find_column(names, "grade")
    grades = table.columns[grade] if grade is not None else [""] * len(table.rows)
    rows, mistakes, graded = dict[Pair, int](), Mistakes(), 0
    for row, cells in enumerate(zip(queries, documents, grades, strict=True)):
        try:
            pair = parse_id(cells[0]), parse_id(cells[1])
        except Unfit as error:
            mistakes.add(Problem(str(error), table.place(row)))
            continue
        if format_cell(cells[2]).strip():
            graded += 1
        else:
            rows.setdefault(pair, row)
    mistakes.refuse()
    if not rows and not graded:
        raise InputError(Problem("lists no document to judge", table.origin))
    every = {pair: {name: format_cell(table.columns[name][row]) for name in names} for pair, row in rows.items()}
    of_gate = (each for each in every.values() if each.keys() >= ABOUT_RANKS)
    scales = dict.fromkeys(each.get("grades", "").strip() for each in of_gate)
    return ReadPool(tuple(_make_item(*pair, each) for pair, each in every.items()), graded, every, tuple(scales))


def match_judgments(judgments: Judgments, pool: ReadPool) -> Iterator[tuple[Item, float]]:
    """The judged documents with their grades, as the pool or else the file of the judgments describes them.

    Other columns of that file are left out unless the pool has them, too: a remark on a grade would tell it.
    """
    columns, known = tabulate_judgments(judgments).columns, {item.pair: item for item in pool.items}
    names = {name for cells in pool.columns.values() for name in cells}
    seen = [name for name in columns if name in names or normalize_name(name).startswith(("query_", "document_"))]
    for row in zip(*columns.values(), strict=True):
        cells = dict(zip(columns, row, strict=True))
        pair = cells["query"], cells["document"]
        yield known.get(pair) or _make_item(*pair, {name: cells[name] for name in seen}), float(cells["grade"])


def _make_item(query: str, document: str, cells: Mapping[str, Any]) -> Item:
    """The item of one row; empty cells and columns about ranks and judges are left out."""
    by_plain = {normalize_name(name): _clean_text(format_cell(cell)) for name, cell in cells.items()}
    of_gate = by_plain.keys() >= ABOUT_RANKS
    unseen = {*(ABOUT_RANKS | {"suite", "grades"} if of_gate else ()), *_ROLES}
    text = by_plain.get("query_text", "") or (by_plain.get("text", "") if of_gate else "")
    unseen |= {"query_text"} | ({"text"} if of_gate else set())
    seen = {name: cell for name, cell in by_plain.items() if cell.strip() and name not in unseen}
    about = {_strip_prefix(name, "query"): cell for name, cell in seen.items() if name.startswith("query_")}
    fields = {_strip_prefix(name, "document"): cell for name, cell in seen.items() if not name.startswith("query_")}
    return Item(query, text, about, document, fields)


_ROLES = {
    name
    for kind in ("query", "document", "grade", "judge", "date", "guideline")
    for group in COLUMN_NAMES[kind]
    for name in group
} | {"model", "prompt"}


def _strip_prefix(name: str, of: str) -> str:
    return re.sub(f"^{of}_(column_)?", "", name) or name


def _clean_text(text: str) -> str:
    """The text without the apostrophe that keeps a spreadsheet from calculating it."""
    return text[1:] if re.match("'[=+@-]", text) else text


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """No other process judges into a file of this folder meanwhile."""
    if sys.platform == "win32":
        import msvcrt

        name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
        with open(Path(tempfile.gettempdir(), f"ireval-{name}.lock"), "ab") as file:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            try:
                yield
            finally:
                file.seek(0)
                msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def read_stamp(path: Path) -> tuple[int, ...]:
    """What changes if the file is written: its time, size and number; empty without a file."""
    if not path.exists():
        return ()
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


class JudgmentFile:
    """The judgments of one judge in a file, which may hold those of others; each change is on the disk at once.

    A file that another program changed is read again before the next change.
    """

    def __init__(self, path: Path, judge: str) -> None:
        if path.suffix.lower() not in ENDINGS:
            raise InputError(
                Problem("cannot store judges and dates", str(path), allowed=f"endings: {', '.join(ENDINGS)}")
            )
        if not path.absolute().parent.is_dir():
            raise InputError(Problem("there is no such folder", str(path.parent), suggestion="create it"))
        self.path = path
        self.judge = judge
        self.lock = Lock()
        self._rows: dict[Pair | int, Row] = {}
        self._stamp: tuple[int, ...] = ()
        self._refresh()

    @property
    def grades(self) -> dict[Pair, str]:
        """The grades of this judge."""
        with self.lock:
            self._refresh()
            return {pair: row["grade"] for pair, row in self._rows.items() if isinstance(pair, tuple)}

    def put(self, changes: Mapping[Pair, Row | None], seen: str | None = None) -> bool:
        """Add, replace or (None) remove judgments of this judge; False if a grade is not the one that was ``seen``."""
        with self.lock, lock_folder(self.path.absolute().parent):
            self._refresh()
            if seen is not None and any(self._rows.get(pair, {}).get("grade", "") != seen for pair in changes):
                return False
            rows = {**self._rows}
            for pair, row in changes.items():
                own = {name: cell for name, cell in rows.pop(pair, {}).items() if name not in COLUMNS}
                if row is not None:
                    rows[pair] = {**own, "query": pair[0], "document": pair[1], **row, "judge": self.judge}
            used = {name for row in rows.values() for name, cell in row.items() if cell}
            names = [name for name in COLUMNS if name in used or name in ALWAYS]
            names += dict.fromkeys(name for row in rows.values() for name in row if name not in COLUMNS)
            write_table(names, [[row.get(name, "") for name in names] for row in rows.values()], self.path)
            self._rows, self._stamp = rows, read_stamp(self.path)
            return True

    def _refresh(self) -> None:
        stamp = read_stamp(self.path)
        if stamp == self._stamp:
            return
        rows: dict[Pair | int, Row] = {}
        if any(stamp[1:2]):  # JSON lines without a judgment are an empty file
            table = read_table(self.path)
            for kind in ("query", "document", "grade"):
                require_column(table.columns, kind, table.origin)
            rows = dict(self._keyed(rename_judgment_columns(table))) if table.rows else {}
        self._rows, self._stamp = rows, stamp

    def _keyed(self, table: Table) -> Iterator[tuple[Pair | int, Row]]:
        """Rows of this judge by pair, those of others by number; two grades of this judge are an error."""
        first: dict[Pair, str] = {}
        for row, (query, document, _) in enumerate(read_graded_rows(table, "float")):
            cells = {name: format_cell(values[row]) for name, values in table.columns.items()}
            cells |= {"query": query, "document": document, "grade": cells["grade"].strip()}
            if cells.get("judge") != self.judge:
                yield row, cells
                continue
            if first.setdefault((query, document), cells["grade"]) != cells["grade"]:
                complaint = (
                    f"judge {quote(self.judge)} gave document {quote(document)} of query {quote(query)} two grades"
                )
                raise InputError(Problem(complaint, table.place(row), suggestion="keep one of them"))
            yield (query, document), cells


def find_next_unjudged(items: Sequence[Item], judged: Iterable[Pair], after: int = -1) -> int | None:
    """The place of the next item without a grade, from the beginning again after the last; None if there is none."""
    known = set(judged)
    order = (*range(after + 1, len(items)), *range(max(after, 0)))
    return next((place for place in order if items[place].pair not in known), None)
