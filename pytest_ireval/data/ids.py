"""A column of ids: bytes laid end to end with offsets, made into text only on demand; and work on parts of it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.scan.tokens import (
    NEWLINE,
    ROOM,
    WIDE,
    Bytes,
    Chunk,
    Offsets,
    Span,
    Words,
    begins_of,
    joined,
    keys_of,
    keys_of_equal_lengths,
    same_bytes,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

Piece = TypeVar("Piece")
Made = TypeVar("Made")

BLOCK = 1 << 16
"""The number of ids that are copied at a time."""


FULL = 2
"""Ids are copied by words if that takes at most this many times their bytes."""
FIRST = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype="<u8")
"""Masks: ``FIRST[k]`` keeps the first k bytes of a little-endian word; taken with ``clip`` for any length."""


class Ids:
    """``len(ids)`` ids in UTF-8; ``ids[i]`` is one as text.

    They have a begin and an end in the text each; or, if they were copied by words, the same number of bytes each,
    ``lengths`` of which are the id: 24 bytes less in memory.
    """

    __slots__ = ("_lengths", "_span", "chunk")

    def __init__(self, chunk: Chunk, span: Span | None = None, lengths: Bytes | None = None) -> None:
        self.chunk = chunk
        self._span = span
        self._lengths = lengths if lengths is not None else np.zeros(0, np.uint8)

    @classmethod
    def of(cls, texts: Sequence[str]) -> Ids:
        """The column that holds ``texts``."""
        text = "".join(texts)
        if text.isascii():  # then an id has as many bytes as characters
            edge = begins_of(np.fromiter(map(len, texts), np.int64, len(texts)))
            return cls(Chunk.of(text.encode()), Span(edge[:-1], edge[1:]))
        chunk, start, end = joined([text.encode() for text in texts])
        return cls(chunk, Span(start, end))

    @property
    def span(self) -> Span:
        """Where each id begins and ends in the text."""
        return self._span or self._edges(np.arange(self._lengths.size))

    def _edges(self, rows: Offsets) -> Span:
        """Where some ids begin and end."""
        if self._span is not None:
            return Span(self._span.start[rows], self._span.end[rows])
        start = rows * self._width
        return Span(start, start + self._lengths[rows])

    @property
    def _width(self) -> int:
        """The bytes of each id that was copied by words; 0 if they have spans."""
        return self.chunk.size // self._lengths.size if self._lengths.size else 0

    def __len__(self) -> int:
        return int(self._lengths.size if self._span is None else self._span.start.size)

    def __getitem__(self, row: int) -> str:
        if self._span is not None:
            return self.chunk.token(int(self._span.start[row]), int(self._span.end[row])).decode()
        start = range(len(self))[row] * self._width
        return self.chunk.token(start, start + int(self._lengths[row])).decode()

    def texts(self, rows: Offsets | None = None) -> list[str]:
        """Some ids, or all, as text."""
        if rows is None:
            lines = self.followed_by(np.full(len(self), NEWLINE, np.uint8))
            if lines.count(b"\n") == len(self):
                return lines.decode().split("\n")[:-1]
        return [token.decode() for token in self.chunk.tokens(*(self.span if rows is None else self._edges(rows)))]

    def keys(self, seed: int = 0) -> Words:
        """A 64-bit key for each id."""
        length = int(self._lengths[0]) if self._width else 0
        if length and (self._lengths == length).all():
            return keys_of_equal_lengths(self.chunk, self._width, length, len(self), seed)
        return keys_of(self.chunk, self.span, seed)

    def at(self, rows: Offsets) -> Ids:
        """Some ids; neighbours that were copied by words, and ids with spans, are not copied again."""
        if not self._width:
            return Ids(self.chunk, self._edges(rows))
        if not _are_neighbours(rows):
            return self.take(rows)
        begins, size = int(rows[0]) * self._width, rows.size * self._width
        text = self.chunk.buffer[begins : begins + size + 2 * ROOM]
        return Ids(Chunk(text, size), lengths=self._lengths[_indices(rows)])

    def take(self, rows: Offsets) -> Ids:
        """Some ids, copied next to each other, so that the rest of the text can be freed.

        Ids of about one length are copied by words, and zeros fill up the shorter ones.
        """
        if self._width:
            words, size = self._width // 8, self._width * rows.size
            buffer = np.zeros(size + 2 * ROOM, np.uint8)
            here = _indices(rows)
            _table(buffer, words, rows.size)[:] = _table(self.chunk.buffer, words, len(self))[here]
            return Ids(Chunk(buffer, size), lengths=self._lengths[here].copy())
        start, end = self._edges(rows)
        length = end - start
        words = -(-int(length.max()) // 8) if length.size else 0
        if 0 < words <= WIDE and 8 * words * length.size <= FULL * int(length.sum()):
            return self._by_words(start, length, words)
        end = np.cumsum(length)
        size = int(end[-1]) if end.size else 0
        buffer = np.zeros(size + 2 * ROOM, np.uint8)
        shift = start - (end - length)
        for rows_from in range(0, rows.size, BLOCK):  # each byte of a block needs a number of its own
            block = slice(rows_from, rows_from + BLOCK)
            begin, finish = end[rows_from] - length[rows_from], end[block][-1]
            place = np.repeat(shift[block], length[block]) + np.arange(begin, finish)
            buffer[ROOM + begin : ROOM + finish] = self.chunk.text[place]
        return Ids(Chunk(buffer, size), Span(end - length, end))

    def _by_words(self, start: Offsets, length: Offsets, words: int) -> Ids:
        size = 8 * words * length.size
        buffer = np.zeros(size + 2 * ROOM, np.uint8)
        table = _table(buffer, words, length.size)
        windows = self.chunk.windows_after(words)
        for rows_from in range(0, length.size, BLOCK):
            block = slice(rows_from, rows_from + BLOCK)
            table[block] = windows[start[block]].view("<u8").reshape(-1, words)
            for j in range(words):
                table[block, j] &= FIRST.take(length[block] - 8 * j, mode="clip")
        return Ids(Chunk(buffer, size), lengths=length.astype(np.uint8))

    def some(self, rows: Offsets) -> Ids:
        """Some ids; all of them in their order are not copied. Only for ids whose text stays in memory."""
        return self if rows.size == len(self) and _are_neighbours(rows) else self.take(rows)

    def same(self, rows: Offsets, others: Ids, their_rows: Offsets) -> NDArray[np.bool_]:
        """Tell whether ``self[rows[i]] == others[their_rows[i]]``."""
        if self._width and self._width == others._width:
            here, there, words = _indices(rows), _indices(their_rows), self._width // 8
            same: NDArray[np.bool_] = self._lengths[here] == others._lengths[there]
            ours, theirs = (_table(ids.chunk.buffer, words, len(ids)) for ids in (self, others))
            for j in range(words):  # zeros fill up the last word
                same &= ours[here, j] == theirs[there, j]
            return same
        return same_bytes(self.chunk, *self._edges(rows), others.chunk, *others._edges(their_rows))

    def followed_by(self, after: Bytes) -> bytes:
        """The text of all ids, with one byte after each of them."""
        count = len(self)
        if self._width:
            longest = int(self._lengths.max())
            table = np.empty((count, longest + 1), np.uint8)
            table[:, :longest] = self.chunk.text.reshape(count, -1)[:, :longest]
            if (self._lengths == longest).all():
                table[:, longest] = after
                return table.tobytes()
            table[np.arange(count), self._lengths] = after
            return table[np.arange(longest + 1) <= self._lengths[:, None]].tobytes()
        start, end = self.span
        length = end - start
        words = int(length.max(initial=0)) // 8 + 1
        if words <= WIDE and 8 * words * length.size <= 2 * FULL * int(length.sum()):
            table = self.chunk.windows_after(words)[start].view(np.uint8).reshape(-1, 8 * words)
            table[np.arange(count), length] = after
            return table[np.arange(8 * words) <= length[:, None]].tobytes()
        last = np.cumsum(length + 1) - 1
        text = np.empty(int(last[-1]) + 1 if count else 0, np.uint8)
        text[last] = after
        before = np.cumsum(length) - length
        byte = np.arange(int(length.sum()))
        text[np.repeat(last - length - before, length) + byte] = self.chunk.text[
            np.repeat(start - before, length) + byte
        ]
        return text.tobytes()


def _table(buffer: Bytes, words: int, rows: int) -> NDArray[np.uint64]:
    """The text of ids that were copied by words: a row of words for each."""
    return buffer[ROOM : ROOM + 8 * words * rows].view("<u8").reshape(rows, words)


def parts_of(begins: Offsets, size: int) -> Iterator[tuple[int, int]]:
    """Neighbouring groups of rows, from the first to behind the last, with about ``size`` rows in all.

    Group i is rows ``begins[i]`` to ``begins[i + 1]``; a part has at least one group.
    """
    at, last = 0, begins.size - 1
    while at < last:
        end = max(at + 1, int(np.searchsorted(begins, begins[at] + size, side="right")) - 1)
        yield at, min(end, last)
        at = end


def threads() -> int:
    """The number of threads that share some work: the processors that this process may use, up to four."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, processors)


def mapped(make: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
    """The same as ``map``, but threads work on the next pieces, not far ahead."""
    left = iter(pieces)
    begun = list(islice(left, 2))
    if len(begun) < 2 or threads() < 2:
        yield from map(make, chain(begun, left))
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads()) as pool:
        waiting: deque[Future[Made]] = deque()
        for piece in chain(begun, left):
            waiting.append(pool.submit(make, piece))
            if len(waiting) > 2 * threads():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _are_neighbours(rows: Offsets) -> bool:
    """Tell whether each of some rows is the one after the one before."""
    if not rows.size or rows[-1] - rows[0] != rows.size - 1:
        return False
    return bool((rows[1:] - rows[:-1] == 1).all())


def _indices(rows: Offsets) -> Offsets | slice:
    """The same rows; neighbours as a slice, which copies nothing."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if _are_neighbours(rows) else rows


def concatenated(parts: Sequence[Ids]) -> Ids:
    """All ids of some columns, one column after the other."""
    parts = [part for part in parts if len(part)] or parts[:1]
    width = max((part._width for part in parts), default=0)
    if width and all(part._width for part in parts):
        return _side_by_side(parts, width)
    size = sum(part.chunk.size for part in parts)
    buffer = np.zeros(size + 2 * ROOM, np.uint8)
    starts, ends, at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for part in parts:
        buffer[ROOM + at : ROOM + at + part.chunk.size] = part.chunk.text
        start, end = part.span
        starts.append(start + at)
        ends.append(end + at)
        at += part.chunk.size
    return Ids(Chunk(buffer, size), Span(np.concatenate(starts), np.concatenate(ends)))


def _side_by_side(parts: Sequence[Ids], width: int) -> Ids:
    """All ids of columns that were copied by words."""
    size = sum(map(len, parts))
    buffer = np.zeros(size * width + 2 * ROOM, np.uint8)
    table, at = _table(buffer, width // 8, size), 0
    for part in parts:
        words = part._width // 8
        table[at : at + len(part), :words] = _table(part.chunk.buffer, words, len(part))
        at += len(part)
    return Ids(Chunk(buffer, size * width), lengths=np.concatenate([part._lengths for part in parts]))
