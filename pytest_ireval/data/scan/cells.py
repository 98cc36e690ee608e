"""Cells of tables and of JSON lines, found with whole arrays where every row of a chunk is written alike.

What is written otherwise is :class:`Irregular`; a slower reader takes that chunk. So what is found here is always what
``csv`` and ``json`` find.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.scan.numbers import LONGEST, MINUS, Numbers, numbers
from pytest_ireval.data.scan.tokens import NEWLINE, RETURN, SPACE, TAB, Bytes, Chunk, Offsets, Span, Words

QUOTE, ZERO, NINE, BACKSLASH = ord('"'), ord("0"), ord("9"), ord("\\")
LONGEST_CELL = 1 << 20
"""A longer cell is left to the slower reader, which limits it."""


class Irregular(Exception):  # noqa: N818 - it says what the text is
    """A chunk that needs the slower reader."""


def _need(condition: object) -> None:
    if not condition:
        raise Irregular


def delimited_cells(chunk: Chunk, delimiter: int, width: int, wanted: list[int]) -> tuple[Offsets, list[Span]]:
    """The begin of every row, and the ``wanted`` columns without quotes and blanks around them.

    Cells are quoted unless the delimiter is a tab. Every row has ``width`` cells.
    """
    text = chunk.text
    if not text.size:
        return np.zeros(0, np.int64), [Span(np.zeros(0, np.int64), np.zeros(0, np.int64)) for _ in wanted]
    quote = np.flatnonzero(text == QUOTE) if delimiter != TAB else np.zeros(0, np.int64)
    begin, line_end, separator = _rows(text, delimiter, width, quote)
    _need(text.min() and (line_end - begin).max() <= LONGEST_CELL)
    separator[width - 1 :: width] = _without_returns(text, line_end)
    spans = [Span(separator[c - 1 :: width] + 1 if c else begin, separator[c::width]) for c in wanted]
    if quote.size:
        doubled = quote[1:-1:2][quote[2::2] == quote[1:-1:2] + 1]
        spans = [_unquoted(text, span, doubled) for span in spans]
    return begin, [trimmed(chunk, span) for span in spans]


def _rows(text: Bytes, delimiter: int, width: int, quote: Offsets) -> tuple[Offsets, Offsets, Offsets]:
    """The begin and end of every row, and the end of every cell; what is in quotes ends neither."""
    newline, ends = text == NEWLINE, text == delimiter
    if quote.size:
        _refuse_quotes_inside_cells(text, delimiter, quote)
        outside = np.cumsum(text == QUOTE, dtype=np.uint8) & 1 == 0
        newline &= outside
        ends &= outside
    separator = np.flatnonzero(newline | ends)
    _need(separator.size and separator.size % width == 0)
    line_end = separator[width - 1 :: width]
    _need(int(np.count_nonzero(newline)) == line_end.size and newline[line_end].all())
    begin = np.empty(line_end.size, np.int64)
    begin[0] = 0
    np.add(line_end[:-1], 1, out=begin[1:])
    return begin, line_end, separator


def _refuse_quotes_inside_cells(text: Bytes, delimiter: int, quote: Offsets) -> None:
    """Refuse all but quotes around whole cells, and doubled ones between them."""
    _need(quote.size % 2 == 0)
    around = np.isin(np.arange(256), [delimiter, NEWLINE, QUOTE])
    _need(around[text[quote[0::2] - 1]].all())  # before the first one is the end of the text: a line end
    around[RETURN] = True
    _need(around[text[quote[1::2] + 1]].all())


def _unquoted(text: Bytes, span: Span, doubled: Offsets) -> Span:
    """Cells without the quotes around them; doubled ones inside are irregular."""
    quoted = _quoted(text, span)
    start, end = span.start + quoted, span.end - quoted
    _need(not _any_inside(doubled, Span(start, end)))
    return Span(start, end)


def _any_inside(places: Offsets, span: Span) -> bool:
    """Tell whether one of these places, in order, is inside a cell."""
    following = np.append(places, np.iinfo(np.int64).max)[np.searchsorted(places, span.start)]
    return bool((following < span.end).any())


def _without_returns(text: Bytes, line_end: Offsets) -> Offsets:
    """The ends of lines before CR LF; a return elsewhere is irregular."""
    returns = int(np.count_nonzero(text == RETURN))
    if not returns:
        return line_end
    before = text[line_end - 1] == RETURN
    _need(int(np.count_nonzero(before)) == returns)
    ends: Offsets = line_end - before
    return ends


def _quoted(text: Bytes, span: Span) -> Bytes:
    """1 for each cell in quotes."""
    start, end = span
    whole: Bytes = (end - start > 1) & (text[start] == QUOTE) & (text[end - 1] == QUOTE)
    return whole


_BLANK_LEADS = np.isin(np.arange(256), [*range(33), 0xC2, 0xE1, 0xE2, 0xE3])
"""First bytes of characters that ``str.strip`` may remove."""
_BLANK_TAILS = np.isin(np.arange(256), [*range(33), *range(0x80, 0x8B), 0x85, 0x9F, 0xA0, 0xA8, 0xA9, 0xAF])
"""Their last bytes."""


def trimmed(chunk: Chunk, span: Span) -> Span:
    """Cells without the blanks around them, as ``str.strip`` leaves them; an empty one is irregular."""
    text = chunk.text
    start, end = span
    _need((start < end).all())
    first, last = text[start], text[end - 1]
    if (first == SPACE).any() or (last == SPACE).any():  # one space behind each comma is common
        start, end = start + (first == SPACE), end - (last == SPACE)
        _need((start < end).all())
        first, last = text[start], text[end - 1]
    doubtful = np.flatnonzero(_BLANK_LEADS[first] | _BLANK_TAILS[last])
    if doubtful.size:
        doubtful = doubtful[_may_be_blank(text, start[doubtful], end[doubtful])]
    if doubtful.size:
        start, end = start.copy(), end.copy()
        for row, token in zip(doubtful.tolist(), chunk.tokens(start[doubtful], end[doubtful]), strict=True):
            cell = token.decode()
            start[row] += len(token) - len(cell.lstrip().encode())
            end[row] = start[row] + len(cell.strip().encode())
        _need((start < end).all())
    return Span(start, end)


def _may_be_blank(text: Bytes, start: Offsets, end: Offsets) -> NDArray[np.bool_]:
    """Tell of cells whose first or last byte may belong to a blank whether the bytes before it allow that."""
    blank: NDArray[np.bool_] = _BLANK_LEADS[text[start]] | (text[end - 1] <= SPACE) | (text[end - 2] == 0xC2)
    return blank | (_BLANK_TAILS[text[end - 1]] & _BLANK_LEADS[text[end - 3]])


def any_quoted(chunk: Chunk, span: Span) -> bool:
    """Tell whether a cell is in quotes."""
    return bool(_quoted(chunk.text, span).any())


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


def _template_of(line: str) -> _Template:
    """The template of a line that is a JSON object."""
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
    found = _Template(tuple(values), line[at:].encode(), quotes)
    _need(not any(b"\\" in fixed for fixed in (*(value.fixed for value in values), found.tail)))
    return found


class JsonValue(NamedTuple):
    """One value of every line; a text has no ``number``."""

    span: Span
    number: Numbers | None


def json_cells(chunk: Chunk, wanted: list[str]) -> tuple[Offsets, list[JsonValue]]:
    """The begin of every line, and the ``wanted`` values of every line.

    Every line is written like the first one, which the caller has read; only its texts and numbers differ.
    """
    text = chunk.text
    line_end = np.flatnonzero(text == NEWLINE)
    begin = np.concatenate((np.zeros(1, np.int64), line_end[:-1] + 1))
    first = chunk.token(0, int(line_end[0])).decode()
    found = _template_of(first)
    quote = np.flatnonzero(text == QUOTE)
    backslash = np.flatnonzero(text == BACKSLASH)
    if backslash.size:
        quote = np.setdiff1d(quote, _escaped(text, backslash), assume_unique=True)
    _need(quote.size == found.quotes * line_end.size)
    _need(np.count_nonzero(text < SPACE) == line_end.size * (1 + first.count("\r")))
    cells = _by_template(chunk, found, begin, line_end, quote.reshape(line_end.size, found.quotes))
    asked = [cells[_place(found, name)] for name in wanted]
    _need(not any(_any_inside(backslash, cell.span) for cell in asked))
    return begin, asked


_ESCAPES = np.isin(np.arange(256), list(b'"\\/bfnrtu'))
_HEX = np.isin(np.arange(256), list(b"0123456789abcdefABCDEF"))


def _escaped(text: Bytes, backslash: Offsets) -> Offsets:
    """The characters after backslashes that escape them; escapes that JSON does not have are irregular."""
    row = np.arange(backslash.size)
    begins = np.concatenate((np.ones(1, bool), np.diff(backslash) > 1))
    start = backslash[(row - np.maximum.accumulate(np.where(begins, row, 0))) % 2 == 0]
    _need(start[-1] + 1 < text.size and _ESCAPES[text[start + 1]].all())
    code = start[text[start + 1] == ord("u")]
    if code.size:
        _need(code[-1] + 5 < text.size and all(_HEX[text[code + digit]].all() for digit in range(2, 6)))
        surrogate = code[(text[code + 2] | 32) == ord("d")]
        second = text[surrogate + 3] | 32  # 8, 9, a or b begin a pair, c to f end one
        high, low = surrogate[np.isin(second, list(b"89ab"))], surrogate[np.isin(second, list(b"cdef"))]
        _need(np.array_equal(high + 6, low))
    escaped: Offsets = start + 1
    return escaped


def _place(found: _Template, name: str) -> int:
    places = [place for place, value in enumerate(found.values) if value.name == name]
    _need(len(places) == 1)
    return places[0]


def _by_template(chunk: Chunk, found: _Template, begin: Offsets, line_end: Offsets, quote: Offsets) -> list[JsonValue]:
    """All values; what lies between them is compared with the template, byte for byte."""
    cells, at, passed = [], begin, 0
    following = [*(value.fixed for value in found.values[1:]), found.tail]
    for value, after in zip(found.values, following, strict=True):
        start = at + len(value.fixed)
        _need((start <= line_end).all() and _all_equal(chunk, start, value.fixed))
        passed += value.fixed.count(b'"')
        if value.is_text:
            end = quote[:, passed]
        elif b'"' in after:
            end = quote[:, passed] - after.index(b'"')
        else:
            _need(after is found.tail)
            end = line_end - len(after)
        _need((end >= start).all() if value.is_text else (end > start).all())
        span = Span(start, end)
        cells.append(JsonValue(span, None if value.is_text else _json_numbers(chunk, span)))
        at = end
    _need((at + len(found.tail) == line_end).all() and _all_equal(chunk, line_end, found.tail))
    return cells


def _all_equal(chunk: Chunk, end: Offsets, fixed: bytes) -> bool:
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


def _json_numbers(chunk: Chunk, span: Span) -> Numbers:
    """The numbers, if JSON takes all of them for numbers: those with exponents are looked at one by one."""
    text, (start, end) = chunk.text, span
    _need((end - start).max() <= LONGEST)
    digit = start + (text[start] == MINUS)
    _need((digit < end).all() and _are_digits(text[digit]) and _are_digits(text[end - 1]))
    leading = np.flatnonzero((text[digit] == ZERO) & (digit + 1 < end))
    after = text[digit[leading] + 1]
    _need(((after < ZERO) | (after > NINE)).all())
    return numbers(chunk, span, "score", JSON_NUMBER)


def _are_digits(characters: Bytes) -> bool:
    return bool((characters - np.uint8(ZERO) <= NINE - ZERO).all())


def refuse_other_than_whole(text: Bytes, span: Span) -> None:
    """Refuse ids that are numbers, unless all of their characters are digits."""
    start, end = span
    for back in range(1, int((end - start).max(initial=0)) + 1):
        at = end - back
        _need(_are_digits(text[at[at >= start]]))
