"""Cells of tables and of JSON lines, found with whole arrays where every row of a chunk is written alike.

What is written otherwise is :class:`Irregular`; a slower reader takes that chunk. So what is found here is always what
``csv`` and ``json`` find.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from pytest_ireval.data.arrays import Integers, Mask, compute_begins
from pytest_ireval.data.scan.chunks import SPACE, Bytes, Chunk, Span
from pytest_ireval.data.scan.ids import Ids
from pytest_ireval.data.scan.numbers import Numbers, read_exactly
from pytest_ireval.data.scan.rows import ParsedRows
from pytest_ireval.data.tables import NumberName, parse_id, parse_number, read_rank

QUOTE, ZERO, NINE = ord('"'), ord("0"), ord("9")


class Irregular(ValueError):  # noqa: N818 - it says what the text is
    """A chunk that needs the slower reader."""


def need(condition: object) -> None:
    if not condition:
        raise Irregular


def is_any_inside(places: Integers, span: Span) -> bool:
    """Tell whether one of these places, in order, is inside a cell."""
    following = np.append(places, np.iinfo(np.int64).max)[np.searchsorted(places, span.start)]
    return bool((following < span.end).any())


def are_digits(characters: Bytes) -> bool:
    return bool((characters - np.uint8(ZERO) <= NINE - ZERO).all())


_BLANK_LEADS = np.isin(np.arange(256), [*range(33), 0xC2, 0xE1, 0xE2, 0xE3])
"""First bytes of characters that ``str.strip`` may remove."""
_BLANK_TAILS = np.isin(np.arange(256), [*range(33), *range(0x80, 0x8B), 0x85, 0x9F, 0xA0, 0xA8, 0xA9, 0xAF])
"""Their last bytes."""


def trim_cells(chunk: Chunk, span: Span) -> Span:
    """Cells without the blanks around them, as ``str.strip`` leaves them; an empty one is irregular."""
    text = chunk.text
    start, end = span
    need((start < end).all())
    first, last = text[start], text[end - 1]
    if (first == SPACE).any() or (last == SPACE).any():  # one space behind each comma is common
        start, end = start + (first == SPACE), end - (last == SPACE)
        need((start < end).all())
        first, last = text[start], text[end - 1]
    doubtful = np.flatnonzero(_BLANK_LEADS[first] | _BLANK_TAILS[last])
    if doubtful.size:
        doubtful = doubtful[_may_be_blank(text, start[doubtful], end[doubtful])]
    if doubtful.size:
        start, end = start.copy(), end.copy()
        for row, token in zip(doubtful.tolist(), chunk.tokens(Span(start, end).at(doubtful)), strict=True):
            cell = token.decode()
            start[row] += len(token) - len(cell.lstrip().encode())
            end[row] = start[row] + len(cell.strip().encode())
        need((start < end).all())
    return Span(start, end)


def _may_be_blank(text: Bytes, start: Integers, end: Integers) -> Mask:
    """Tell of cells whose first or last byte may belong to a blank whether the bytes before it allow that."""
    blank: Mask = _BLANK_LEADS[text[start]] | (text[end - 1] <= SPACE) | (text[end - 2] == 0xC2)
    return blank | (_BLANK_TAILS[text[end - 1]] & _BLANK_LEADS[text[end - 3]])


def open_lines(chunk: Chunk) -> tuple[io.StringIO, Integers]:
    """The lines of a chunk, and where each begins."""
    text = str(chunk.text.data, "utf-8")
    need("\0" not in text)
    return io.StringIO(text, newline="\n"), compute_begins(np.diff(np.flatnonzero(chunk.text == ord("\n")), prepend=-1))


class ValueRows:
    """Rows of Python values, which the slower readers collect."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.documents: list[str] = []
        self.numbers: list[float] = []
        self.begins: list[int] = []
        self.ranks: list[float] = []

    def add(self, query: Any, document: Any, number: Any, begin: int, rank: Any = None) -> None:
        self.queries.append(parse_id(query))
        self.documents.append(parse_id(document))
        self.numbers.append(parse_number(number, NumberName("score", document, query)))
        self.begins.append(begin)
        self.ranks.append(read_rank(rank))

    def parse(self) -> ParsedRows:
        documents, score = Ids.of(self.documents), np.array(self.numbers, np.float64)
        numbers = Numbers(score, np.zeros(score.size, bool))
        begins, ranks = np.array(self.begins, np.int64), np.array(self.ranks, np.float64)
        return ParsedRows(Ids.of(self.queries), documents, documents.span, numbers, begins, ranks)


Parse = Callable[[Chunk], ParsedRows]


def parse_after(chunk: Chunk, skipped: int, parse_alike: Parse, parse_each: Parse, *, by_rank: bool) -> ParsedRows:
    """The rows behind the first bytes of a chunk, all at once, or one by one if they are irregular.

    The score of a rank is its negative: the lower, the better.
    """
    rest = Chunk(chunk.buffer[skipped:], chunk.size - skipped)
    try:
        rows = parse_alike(rest)
    except ValueError:  # Irregular, or no JSON; the slower reader may take it, or names the mistake
        rows = parse_each(rest)
    score = rows.score
    if by_rank:
        again, value = np.flatnonzero(score.inexact), score.value.copy()
        value[again] = read_exactly(rows.documents.chunk, rows.number, again)
        score = Numbers(-value, np.zeros(value.size, bool))
    return rows._replace(begin=rows.begin + skipped, score=score)
