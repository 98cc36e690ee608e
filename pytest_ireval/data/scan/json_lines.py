"""Rankings in JSON lines, in chunks: every line is compared with the first one of its chunk, as a template."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.formats.input_file import InputFile
from pytest_ireval.data.formats.row_files import parse_json
from pytest_ireval.data.scan.cells import (
    NINE,
    QUOTE,
    ZERO,
    ValueRows,
    are_digits,
    is_any_inside,
    need,
    open_lines,
    parse_after,
    trim_cells,
)
from pytest_ireval.data.scan.chunks import NEWLINE, SPACE, Chunk, Span, Words
from pytest_ireval.data.scan.ids import Ids
from pytest_ireval.data.scan.numbers import LONGEST, MINUS, Numbers, read_numbers
from pytest_ireval.data.scan.pieces import Layout
from pytest_ireval.data.scan.rows import ParsedRows
from pytest_ireval.data.tables import Unfit, find_ranking_columns

BACKSLASH = ord("\\")


class JsonRankings:
    """The layout of JSON objects, one a line; ``names`` are those of all objects so far."""

    def __init__(self, file: InputFile) -> None:
        first = parse_json(next(line for line in file.lines() if line.strip()))
        self.wanted = find_ranking_columns(list(first), file.name)
        self.origin = file.name
        self.names: dict[str, None] = {}
        self._known: set[tuple[str, ...]] = set()
        """The names of objects, in their order, that have the wanted ones."""
        self.layout = Layout(self._parse, self._read_query)

    def _read_query(self, line: bytes) -> bytes:
        try:
            return str(parse_json(line.decode())[self.wanted.query]).encode()
        except (ValueError, RecursionError, KeyError, TypeError):
            return b""

    def _parse(self, chunk: Chunk, at: int) -> ParsedRows:
        text = chunk.token(0, min(chunk.size, 8))
        skipped = len(text) - len(text.lstrip(b"\n")) if not at else 0  # line ends in place of a byte order mark
        return parse_after(chunk, skipped, self._parse_alike, self._parse_each, by_rank=self.wanted.by_rank)

    def _read_object(self, line: str) -> dict[str, Any]:
        """The object of a line, which must have the wanted names and no other ones for the same."""
        found = parse_json(line)
        if not isinstance(found, dict):
            raise Unfit("this is not an object")
        if tuple(found) not in self._known:
            if find_ranking_columns(list(found), self.origin)[:4] != self.wanted[:4]:
                raise Unfit("this object names the columns in another way")
            self.names.update(dict.fromkeys(found))
            self._known.add(tuple(found))
        return found

    def _parse_alike(self, chunk: Chunk) -> ParsedRows:
        end = chunk.token(0, chunk.size).find(b"\n")
        first = self._read_object(chunk.token(0, max(0, end)).decode())
        need(not any(isinstance(first[name], dict | list | bool | None) for name in self.wanted[:3]))
        rank = first.get(self.wanted.rank)
        has_rank = isinstance(rank, str | int | float) and not isinstance(rank, bool)
        names = self.wanted.names if has_rank else list(self.wanted[:3])
        begin, (query, document, number, *ranks) = find_json_cells(chunk, names)
        text = number.span if number.numbers is not None else trim_cells(chunk, number.span)
        score = number.numbers if number.numbers is not None else read_numbers(chunk, text, "score")
        cells = [each.span if each.numbers is None else each.numbers.value for each in ranks]
        return ParsedRows(_take_ids(chunk, query), _take_ids(chunk, document), text, score, begin, *cells)

    def _parse_each(self, chunk: Chunk) -> ParsedRows:
        lines, begin = open_lines(chunk)
        rows = ValueRows()
        for number, line in enumerate(lines):
            if line.strip():
                found = self._read_object(line)
                query, document, score = (found[name] for name in self.wanted[:3])
                rows.add(query, document, score, int(begin[number]), found.get(self.wanted.rank))
        return rows.parse()


class JsonCells(NamedTuple):
    """One value of every line; a text has no ``numbers``."""

    span: Span
    numbers: Numbers | None


def _take_ids(chunk: Chunk, cells: JsonCells) -> Ids:
    if cells.numbers is None:
        return Ids(chunk, trim_cells(chunk, cells.span))
    for back in range(1, int(cells.span.length.max(initial=0)) + 1):  # ids that are numbers have digits alone
        at = cells.span.end - back
        need(are_digits(chunk.text[at[at >= cells.span.start]]))
    return Ids(chunk, cells.span)


class _Value(NamedTuple):
    """A value that may differ from line to line; before it comes text that does not."""

    name: str
    fixed: bytes
    """Text from the end of the value before, or from the begin of the line, to this one."""
    is_text: bool


class _Template(NamedTuple):
    """A line of JSON: its text that is the same in every line, and its values, which may differ."""

    values: tuple[_Value, ...]
    tail: bytes
    quotes: int


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|(?<![\w.+-])-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])')
JSON_NUMBER = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def _make_template(line: str) -> _Template:
    values, name, at, quotes = [], "", 0, 0
    for token in _TOKEN.finditer(line):
        quotes += 2 * (token[0][0] == '"')
        if token[1]:
            name = json.loads(token[0][: -len(token[1])])
            continue
        is_text = token[0][0] == '"'
        begin, end = token.span()
        values.append(_Value(name, line[at : begin + is_text].encode(), is_text))
        at = end - is_text
    template = _Template(tuple(values), line[at:].encode(), quotes)
    need(not any(b"\\" in fixed for fixed in (*(value.fixed for value in values), template.tail)))
    return template


def find_json_cells(chunk: Chunk, wanted: list[str]) -> tuple[Integers, list[JsonCells]]:
    """The begin of every line, and the ``wanted`` values of every line.

    Every line is written like the first one, which the caller has read; only its texts and numbers differ.
    """
    text = chunk.text
    line_end = np.flatnonzero(text == NEWLINE)
    begin = np.concatenate((np.zeros(1, np.int64), line_end[:-1] + 1))
    first = chunk.token(0, int(line_end[0])).decode()
    template = _make_template(first)
    quote = np.flatnonzero(text == QUOTE)
    backslash = np.flatnonzero(text == BACKSLASH)
    if backslash.size:
        quote = np.setdiff1d(quote, _find_escaped(chunk, backslash), assume_unique=True)
    need(quote.size == template.quotes * line_end.size)
    need(np.count_nonzero(text < SPACE) == line_end.size * (1 + first.count("\r")))
    cells = _find_values(chunk, template, begin, line_end, quote.reshape(line_end.size, template.quotes))
    found = []
    for name in wanted:
        places = [place for place, value in enumerate(template.values) if value.name == name]
        need(len(places) == 1)
        found.append(cells[places[0]])
    need(not any(is_any_inside(backslash, cell.span) for cell in found))
    return begin, found


_ESCAPES = np.isin(np.arange(256), list(b'"\\/bfnrtu'))
_HEX = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))


def _find_escaped(chunk: Chunk, backslash: Integers) -> Integers:
    """The characters after backslashes that escape them; escapes that JSON does not have are irregular."""
    text = chunk.text
    row = np.arange(backslash.size)
    begins = np.concatenate((np.ones(1, bool), np.diff(backslash) > 1))
    start = backslash[(row - np.maximum.accumulate(np.where(begins, row, 0))) % 2 == 0]
    need(start[-1] + 1 < text.size and _ESCAPES[text[start + 1]].all())
    code = start[text[start + 1] == ord("u")]
    if code.size:
        need(code[-1] + 5 < text.size and all(_HEX[text[code + digit]].all() for digit in range(2, 6)))
        surrogate = code[(text[code + 2] | 32) == ord("d")]
        second = text[surrogate + 3] | 32  # 8, 9, a or b begin a pair, c to f end one
        high, low = surrogate[np.isin(second, list(b"89ab"))], surrogate[np.isin(second, list(b"cdef"))]
        need(np.array_equal(high + 6, low))
    escaped: Integers = start + 1
    return escaped


def _find_values(
    chunk: Chunk, template: _Template, begin: Integers, line_end: Integers, quote: Integers
) -> list[JsonCells]:
    """All values; what lies between them is compared with the template, byte for byte."""
    cells, at, passed = [], begin, 0
    following = [*(value.fixed for value in template.values[1:]), template.tail]
    for value, after in zip(template.values, following, strict=True):
        start = at + len(value.fixed)
        need((start <= line_end).all() and _are_equal(chunk, start, value.fixed))
        passed += value.fixed.count(b'"')
        if value.is_text:
            end = quote[:, passed]
        elif b'"' in after:
            end = quote[:, passed] - after.index(b'"')
        else:
            need(after is template.tail)
            end = line_end - len(after)
        need((end >= start).all() if value.is_text else (end > start).all())
        span = Span(start, end)
        cells.append(JsonCells(span, None if value.is_text else _read_json_numbers(chunk, span)))
        at = end
    need((at + len(template.tail) == line_end).all() and _are_equal(chunk, line_end, template.tail))
    return cells


def _are_equal(chunk: Chunk, end: Integers, fixed: bytes) -> bool:
    """Tell whether this text lies before each of these offsets."""
    at = len(fixed)
    for words in range(-(-at // 8)):
        part = fixed[max(0, at - 8 * words - 8) : at - 8 * words]
        keep = np.uint64((0xFFFFFFFFFFFFFFFF << (64 - 8 * len(part))) & 0xFFFFFFFFFFFFFFFF)
        expected = np.frombuffer(part.rjust(8, b"\0"), "<u8")[0]
        loaded: Words = chunk.windows(1)[end - 8 * words].view("<u8")
        if ((loaded & keep) != expected).any():
            return False
    return True


def _read_json_numbers(chunk: Chunk, span: Span) -> Numbers:
    """The numbers, if JSON takes all of them for numbers: those with exponents are looked at one by one."""
    text, (start, end) = chunk.text, span
    need((end - start).max() <= LONGEST)
    digit = start + (text[start] == MINUS)
    need((digit < end).all() and are_digits(text[digit]) and are_digits(text[end - 1]))
    leading = np.flatnonzero((text[digit] == ZERO) & (digit + 1 < end))
    after = text[digit[leading] + 1]
    need(((after < ZERO) | (after > NINE)).all())
    return read_numbers(chunk, span, "score", JSON_NUMBER)
