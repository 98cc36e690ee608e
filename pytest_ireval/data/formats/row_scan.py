"""Rankings in large CSV, TSV and JSONL files, in chunks: the rows of unjudged documents are not kept.

A chunk whose rows are all written alike is read with whole arrays, any other one row by row. Where even that is in
doubt, the answer is None: the reader of whole files takes over, and names all mistakes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.data.formats.input_file import GLANCE, InputFile
from pytest_ireval.data.formats.pieces import Layout, kept_rows
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.row_files import delimited_rows, parsed
from pytest_ireval.data.ids import Ids
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.scan.cells import (
    Irregular,
    JsonValue,
    any_quoted,
    delimited_cells,
    json_cells,
    refuse_other_than_whole,
    trimmed,
)
from pytest_ireval.data.scan.kept import KeptRows, Rows, judged_rows
from pytest_ireval.data.scan.numbers import Numbers, exactly, numbers
from pytest_ireval.data.scan.tokens import Chunk, Offsets, begins_of
from pytest_ireval.data.tables import (
    Named,
    RankingColumns,
    Table,
    Unfit,
    id_in,
    is_quoted,
    named,
    number_in,
    ranking_columns,
)
from pytest_ireval.errors import InputError

_ONE_AT_A_TIME = Lock()
"""The csv module has one limit for all threads."""


def judged_in_table(file: InputFile, judgments: Judgments, how: Reading) -> list[KeptRows] | None:
    """The judged documents of the rankings in CSV or TSV, or None."""
    return _tried(lambda: _scan(file, _Delimited.of(file), judgments, how))


def judged_in_json_lines(file: InputFile, judgments: Judgments, how: Reading) -> list[KeptRows] | None:
    """The judged documents of the rankings in JSONL, or None."""

    def scan() -> list[KeptRows]:
        layout = _Objects.of(file)
        found = _scan(file, layout, judgments, how)
        Table(dict.fromkeys(layout.names, ()), file.name, str)  # names that are alike are refused
        return found

    return _tried(scan)


def _tried(scan: Callable[[], list[KeptRows]]) -> list[KeptRows] | None:
    try:
        return scan()
    except (InputError, Irregular, Unfit, csv.Error, ValueError, RecursionError):
        return None


def _scan(file: InputFile, form: _Delimited | _Objects, judgments: Judgments, how: Reading) -> list[KeptRows]:
    keep = partial(judged_rows, judgments=judgments, by_id=how.by_id)
    return kept_rows(file.bytes, Layout(form.rows, form.query), keep, judgments.table.seed, how.progress)


def _in_order(rows: Rows, skipped: int, wanted: RankingColumns) -> Rows:
    """Rows that begin later in the text, with the score of a rank: the lower, the better."""
    begin, score = rows.begin + skipped, rows.score
    if wanted.by_rank:
        again, value = np.flatnonzero(score.inexact), score.value.copy()
        value[again] = exactly(rows.documents.chunk, rows.number, again)
        score = Numbers(-value, np.zeros(value.size, bool))
    return rows._replace(begin=begin, score=score)


def _rows_of_values(values: list[tuple[str, str, float]], begin: list[int]) -> Rows:
    query, document = Ids.of([row[0] for row in values]), Ids.of([row[1] for row in values])
    score = np.array([row[2] for row in values], np.float64)
    return Rows(query, document, document.span, Numbers(score, np.zeros(score.size, bool)), np.array(begin, np.int64))


def _values(query: Any, document: Any, number: Any) -> tuple[str, str, float]:
    return id_in(query), id_in(document), number_in(number, Named("score", document, query))


def _text_of(chunk: Chunk) -> tuple[io.StringIO, Offsets]:
    """The lines of a chunk, and where each begins."""
    text = str(chunk.text.data, "utf-8")
    if "\0" in text:
        raise Irregular
    return io.StringIO(text, newline="\n"), begins_of(np.diff(np.flatnonzero(chunk.text == ord("\n")), prepend=-1))


def _after(chunk: Chunk, skipped: int) -> Chunk:
    return Chunk(chunk.buffer[skipped:], chunk.size - skipped)


class _Delimited(NamedTuple):
    """A table with its names in the first line."""

    delimiter: str
    names: list[str]
    wanted: RankingColumns
    places: list[int]
    """The columns of the query, the document and the score or rank."""
    ids: list[int]
    """Columns whose cells must not be in quotes, if it is TSV."""

    @classmethod
    def of(cls, file: InputFile) -> _Delimited:
        first = file.first_lines[0]
        if 2 * len(first) > GLANCE // 4:
            raise Irregular
        _, cells = next(delimited_rows([f"{first}\n"], file.delimiter, file.name))
        names = [name.strip() for name in cells]
        Table(dict.fromkeys(names, ()), file.name, str)
        if len(set(names)) < len(names):
            raise Irregular
        wanted = ranking_columns(names, file.name)
        ids = [names.index(name) for kind in ("query", "document", "id") if (name := named(names, kind)) is not None]
        return cls(file.delimiter, names, wanted, [names.index(name) for name in wanted[:3]], ids)

    def query(self, line: bytes) -> bytes:
        """The cell of the query, as it is written."""
        cells = line.split(self.delimiter.encode())
        return cells[self.places[0]].strip() if len(cells) > self.places[0] else b""

    def rows(self, chunk: Chunk, at: int) -> Rows:
        """The rows of a chunk; the first line of the file is not one."""
        skipped = 0
        if not at:
            header = re.match(rb"(?:[^\S\n]*\n)*[^\n]*\n", chunk.token(0, min(chunk.size, GLANCE)))
            skipped = header.end() if header else chunk.size
        rest = _after(chunk, skipped)
        try:
            return _in_order(self._quickly(rest), skipped, self.wanted)
        except Irregular:
            return _in_order(self._slowly(rest), skipped, self.wanted)

    def _quickly(self, chunk: Chunk) -> Rows:
        places = [*self.places, *self.ids]
        begin, cells = delimited_cells(chunk, ord(self.delimiter), len(self.names), places)
        if self.delimiter == "\t" and any(any_quoted(chunk, cell) for cell in cells[3:]):
            raise Irregular
        query, document, number = cells[:3]
        return Rows(Ids(chunk, query), Ids(chunk, document), number, numbers(chunk, number, "score"), begin)

    def _slowly(self, chunk: Chunk) -> Rows:
        lines, begin = _text_of(chunk)
        values, begins, last = [], [], 0
        with _ONE_AT_A_TIME:
            for number, cells in delimited_rows(lines, self.delimiter, ""):
                if len(cells) != len(self.names):
                    raise Unfit("this row has another number of cells")
                if self.delimiter == "\t" and any(is_quoted(cells[place].strip()) for place in self.ids):
                    raise Unfit("this id is in quotes")
                values.append(_values(*(cells[place] for place in self.places)))
                begins.append(int(begin[last]))
                last = number
        return _rows_of_values(values, begins)


def _ids(chunk: Chunk, cell: JsonValue) -> Ids:
    if cell.number is None:
        return Ids(chunk, trimmed(chunk, cell.span))
    refuse_other_than_whole(chunk.text, cell.span)
    return Ids(chunk, cell.span)


class _Objects(NamedTuple):
    """JSON objects, one a line."""

    wanted: RankingColumns
    names: dict[str, None]
    """The names of all objects so far."""
    known: set[tuple[str, ...]]
    """The names of objects, in their order, that have the wanted ones."""
    origin: str

    @classmethod
    def of(cls, file: InputFile) -> _Objects:
        first = parsed(next(line for line in file.lines() if line.strip()))
        return cls(ranking_columns(list(first), file.name), {}, set(), file.name)

    def query(self, line: bytes) -> bytes:
        """The query of a line as it is written, or nothing."""
        try:
            return str(parsed(line.decode())[self.wanted.query]).encode()
        except (ValueError, RecursionError, KeyError, TypeError):
            return b""

    def rows(self, chunk: Chunk, at: int) -> Rows:
        """The rows of a chunk."""
        text = chunk.token(0, min(chunk.size, 8))
        skipped = len(text) - len(text.lstrip(b"\n")) if not at else 0
        rest = _after(chunk, skipped)
        try:
            return _in_order(self._quickly(rest), skipped, self.wanted)
        except (Irregular, ValueError):
            return _in_order(self._slowly(rest), skipped, self.wanted)

    def _object(self, line: str) -> dict[str, Any]:
        """The object of a line, which must have the wanted names and no other ones for the same."""
        found = parsed(line)
        if not isinstance(found, dict):
            raise Unfit("this is not an object")
        if tuple(found) not in self.known:
            if ranking_columns(list(found), self.origin) != self.wanted:
                raise Unfit("this object names the columns in another way")
            self.names.update(dict.fromkeys(found))
            self.known.add(tuple(found))
        return found

    def _quickly(self, chunk: Chunk) -> Rows:
        end = chunk.token(0, chunk.size).find(b"\n")
        first = self._object(chunk.token(0, max(0, end)).decode())
        if any(isinstance(first[name], dict | list | bool | None) for name in self.wanted[:3]):
            raise Irregular
        begin, (query, document, number) = json_cells(chunk, list(self.wanted[:3]))
        text = number.span if number.number is not None else trimmed(chunk, number.span)
        score = number.number if number.number is not None else numbers(chunk, text, "score")
        return Rows(_ids(chunk, query), _ids(chunk, document), text, score, begin)

    def _slowly(self, chunk: Chunk) -> Rows:
        lines, begin = _text_of(chunk)
        values, begins = [], []
        for number, line in enumerate(lines):
            if line.strip():
                found = self._object(line)
                values.append(_values(*(found[name] for name in self.wanted[:3])))
                begins.append(int(begin[number]))
        return _rows_of_values(values, begins)
