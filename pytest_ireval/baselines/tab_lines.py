"""Lines that begin with a query and go on with cells, tabs between: made and taken apart by whole-array operations."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.scan.tokens import KEEP, NEWLINE, TAB, Chunk, Offsets, Span

ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
MEANT = {escape: character for character, escape in ESCAPES.items()}
ESCAPE = re.compile(r"\\.?", re.DOTALL)
WIDEST = 8
"""Words of the longest id that is sorted by whole arrays."""


class Damage(Exception):  # noqa: N818 - it says what was found
    """Text is not what was written: what is wrong, and on which line (0: on none in particular)."""

    def __init__(self, complaint: str, line: int = 0) -> None:
        super().__init__(complaint)
        self.complaint = complaint
        self.line = line


class QueryLines(NamedTuple):
    """The cells of query i are ``first[i]`` to ``first[i + 1]``; they stand on line ``i + 2``, below the head line."""

    queries: tuple[str, ...]
    first: Offsets
    cells: Ids


def written(queries: Ids, first: Offsets, cells: Ids) -> bytes:
    """A line for each query: its id, then its cells."""
    count, together = len(queries), concatenated([_escaped(queries), _escaped(cells)])
    order = np.empty(count + len(cells), np.int64)
    order[first[:-1] + np.arange(count)] = np.arange(count)
    order[np.arange(len(cells)) + np.repeat(np.arange(count), np.diff(first)) + 1] = count + np.arange(len(cells))
    start = together.span.start[order]
    length = together.span.end[order] - start
    end = np.cumsum(length + 1)
    text = np.full(int(end[-1]) if end.size else 0, TAB, np.uint8)
    text[end[first[1:] + np.arange(count)] - 1] = NEWLINE
    before = np.cumsum(length) - length
    byte = np.arange(int(length.sum()))
    text[np.repeat(end - 1 - length - before, length) + byte] = together.chunk.text[
        np.repeat(start - before, length) + byte
    ]
    return text.tobytes()


def taken_apart(data: bytes) -> QueryLines:
    """The lines below the head line."""
    _refuse_other_encodings(data)
    chunk = Chunk.of(data)
    separator = np.flatnonzero((chunk.text == TAB) | (chunk.text == NEWLINE))
    start = np.concatenate((np.zeros(1, np.int64), separator[:-1] + 1))
    ends_line = chunk.text[separator] == NEWLINE
    head = int(np.argmax(ends_line)) + 1
    start, end, ends_line = start[head:], separator[head:], ends_line[head:]
    last = np.flatnonzero(ends_line)
    begins = np.concatenate((np.zeros(1, np.int64), last[:-1] + 1))[: last.size]
    empty = np.flatnonzero(start == end)
    if empty.size:
        raise Damage("an id is missing", 2 + int(np.searchsorted(last, empty[0])))
    is_cell = np.ones(start.size, bool)
    is_cell[begins] = False
    queries = _meant(Ids(chunk, Span(start[begins], end[begins])), data)
    cells = _meant(Ids(chunk, Span(start[is_cell], end[is_cell])), data)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(last - begins)))
    names = tuple(queries.texts())
    if len(set(names)) < len(names):
        _refuse_repeated(names)
    return QueryLines(names, first, cells)


def rows_by_id(group: NDArray[np.int64], ids: Ids) -> Offsets:
    """Rows sorted by group, then by the bytes of the id."""
    start, length = ids.span.start, ids.span.end - ids.span.start
    words = max(1, -(-int(length.max()) // 8)) if length.size else 1
    if words > WIDEST:
        tokens = ids.chunk.tokens(*ids.span)
        rank = np.empty(len(tokens), np.int64)
        rank[sorted(range(len(tokens)), key=tokens.__getitem__)] = np.arange(len(tokens))
        return np.lexsort((rank, group))
    loaded = ids.chunk.windows_after(words)[start].view(">u8").reshape(-1, words).astype(np.uint64)
    keys = [loaded[:, j] & KEEP.take(length - 8 * j, mode="clip") for j in range(words)]
    return np.lexsort((length, *reversed(keys), group))  # the length decides among ids that end in zero bytes


def _refuse_other_encodings(data: bytes) -> None:
    if not data.endswith(b"\n"):
        raise Damage("is cut off: its last line has no end", data.count(b"\n") + 1)
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise Damage("is not UTF-8", data.count(b"\n", 0, error.start) + 1) from None


def _refuse_repeated(names: tuple[str, ...]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names, 2):
        if name in seen:
            raise Damage(f"query {name!r} is there twice", number)
        seen.add(name)


def _escaped(ids: Ids) -> Ids:
    """With escapes for what would end a cell."""
    text = ids.chunk.text.tobytes()
    if not any(character.encode() in text for character in ESCAPES):
        return ids
    table = str.maketrans(ESCAPES)
    return Ids.of([name.translate(table) for name in ids.texts()])


def _meant(ids: Ids, data: bytes) -> Ids:
    """What the escapes stand for."""
    if b"\\" not in data:
        return ids
    return Ids.of([ESCAPE.sub(lambda found: MEANT.get(found[0], found[0]), name) for name in ids.texts()])
