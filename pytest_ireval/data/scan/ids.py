"""A column of ids: bytes laid end to end, made into text only on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import BLOCK, Integers, Mask
from pytest_ireval.data.scan.chunks import NEWLINE, ROOM, Bytes, Chunk, Span, Words, join_texts
from pytest_ireval.data.scan.keys import WIDE, hash_tokens, hash_tokens_of_one_length, have_same_bytes

MANY = 300
"""As text, so many ids are quicker all at once than one by one."""
FULL = 2
"""Ids are copied by words if that takes at most this many times their bytes."""
KEEP_FIRST = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype="<u8")
"""Masks: ``KEEP_FIRST[k]`` keeps the first k bytes of a little-endian word; taken with ``clip`` for any length."""


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
        return cls(*join_texts(texts))

    @classmethod
    def of_buffer(cls, data: NDArray[Any], edges: Integers) -> Ids:
        """Ids from a buffer of UTF-8 that other software has filled; id i is from ``edges[i]`` to ``edges[i + 1]``."""
        begin, size = int(edges[0]), int(edges[-1] - edges[0])
        chunk = Chunk.empty(size)
        chunk.text[:] = data[begin : begin + size]
        return cls(chunk, Span(edges[:-1] - begin, edges[1:] - begin))

    @property
    def span(self) -> Span:
        """Where each id begins and ends in the text."""
        return self._span or self._span_at(np.arange(self._lengths.size))

    def _span_at(self, rows: Integers) -> Span:
        if self._span is not None:
            return self._span.at(rows)
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

    def texts(self, rows: Integers | None = None) -> list[str]:
        """Some ids, or all, as text."""
        if rows is not None and len(rows) < MANY:
            return [token.decode() for token in self.tokens(rows)]
        ids = self if rows is None else self.copy(rows)
        lines = ids._join_lines()
        if lines.count(b"\n") == len(ids):  # no id has a line end
            return lines.decode().split("\n")[:-1]
        return [token.decode() for token in ids.tokens(np.arange(len(ids)))]

    def tokens(self, rows: Integers) -> list[bytes]:
        """Some ids as they are written."""
        if not self._width:
            return self.chunk.tokens(self._span_at(rows))
        lengths = self._lengths[rows]
        tokens: list[bytes] = self.chunk.text.view(f"S{self._width}")[rows].tolist()
        if sum(map(len, tokens)) == int(lengths.sum()):
            return tokens
        # numpy takes off the zeros that fill a shorter id up, and with them those of an id that ends in some
        return [token.ljust(length, b"\0") for token, length in zip(tokens, lengths.tolist(), strict=True)]

    def count_beginning(self, prefix: str) -> int:
        """The number of ids that begin with some text."""
        start, length = self.span.start, self.span.length
        wanted = prefix.encode()
        rows = np.flatnonzero(length >= len(wanted))
        for place, byte in enumerate(wanted):
            rows = rows[self.chunk.text[start[rows] + place] == byte]
        return rows.size

    def hash(self, seed: int = 0) -> Words:
        """A key for each id."""
        length = int(self._lengths[0]) if self._width else 0
        if length and (self._lengths == length).all():
            return hash_tokens_of_one_length(self.chunk, self._width, length, len(self), seed)
        return hash_tokens(self.chunk, self.span, seed)

    def equal(self, rows: Integers, others: Ids, their_rows: Integers) -> Mask:
        """Tell whether ``self[rows[i]] == others[their_rows[i]]``."""
        if self._width and self._width == others._width:
            here, there, words = _as_slice(rows), _as_slice(their_rows), self._width // 8
            same: Mask = self._lengths[here] == others._lengths[there]
            ours, theirs = (_view_words(ids.chunk, words) for ids in (self, others))
            for j in range(words):  # zeros fill up the last word
                same &= ours[here, j] == theirs[there, j]
            return same
        return have_same_bytes(self.chunk, self._span_at(rows), others.chunk, others._span_at(their_rows))

    def view(self, rows: Integers) -> Ids:
        """Some ids, with the same text in memory where that is possible."""
        if not self._width:
            return Ids(self.chunk, self._span_at(rows))
        if not _are_neighbours(rows):
            return self.copy(rows)
        begin, size = int(rows[0]) * self._width, rows.size * self._width
        text = self.chunk.buffer[begin : begin + size + 2 * ROOM]
        return Ids(Chunk(text, size), lengths=self._lengths[_as_slice(rows)])

    def take(self, rows: Integers) -> Ids:
        """Some ids; all of them in their order are not copied."""
        return self if rows.size == len(self) and _are_neighbours(rows) else self.copy(rows)

    def copy(self, rows: Integers) -> Ids:
        """Some ids, copied next to each other, so that the rest of the text can be freed or written over.

        Ids of about one length are copied by words, and zeros fill up the shorter ones.
        """
        if self._width:
            words, here = self._width // 8, _as_slice(rows)
            chunk = Chunk.empty(self._width * rows.size)
            _view_words(chunk, words)[:] = _view_words(self.chunk, words)[here]
            return Ids(chunk, lengths=self._lengths[here].copy())
        span = self._span_at(rows)
        if words := _count_words(span.length):
            return self._copy_by_words(span, words)
        start, length = span.start, span.length
        end = np.cumsum(length)
        chunk = Chunk.empty(int(end[-1]) if end.size else 0)
        shift = start - (end - length)
        for row in range(0, rows.size, BLOCK):  # each byte of a block needs a number of its own
            block = slice(row, row + BLOCK)
            begin, finish = end[row] - length[row], end[block][-1]
            place = np.repeat(shift[block], length[block]) + np.arange(begin, finish)
            chunk.text[begin:finish] = self.chunk.text[place]
        return Ids(chunk, Span(end - length, end))

    def detach(self) -> Ids:
        """All ids, without the rest of the text where they can be copied by words, so that it can be written over."""
        span = self.span
        if words := _count_words(span.length):
            return self._copy_by_words(span, words)
        return Ids(Chunk(self.chunk.buffer.copy(), self.chunk.size), span)

    def _copy_by_words(self, span: Span, words: int) -> Ids:
        start, length = span.start, span.length
        chunk = Chunk.empty(8 * words * length.size)
        table = _view_words(chunk, words)
        windows = self.chunk.windows_after(words)
        for row in range(0, length.size, BLOCK):
            block = slice(row, row + BLOCK)
            table[block] = windows[start[block]].view("<u8").reshape(-1, words)
            for j in range(words):
                table[block, j] &= KEEP_FIRST.take(length[block] - 8 * j, mode="clip")
        return Ids(chunk, lengths=length.astype(np.uint8))

    def _join_lines(self) -> bytes:
        """The text of all ids, each on a line: one call of ``str.split`` is the quickest way to many texts.

        Empty if ids are so long, or so different in length, that it is not.
        """
        count = len(self)
        if self._width:
            longest = int(self._lengths.max())
            table = np.empty((count, longest + 1), np.uint8)
            table[:, :longest] = self.chunk.text.reshape(count, -1)[:, :longest]
            if (self._lengths == longest).all():
                table[:, longest] = NEWLINE
                return table.tobytes()
            table[np.arange(count), self._lengths] = NEWLINE
            return table[np.arange(longest + 1) <= self._lengths[:, None]].tobytes()
        start, end = self.span
        length = end - start
        words = int(length.max(initial=0)) // 8 + 1
        if words <= WIDE and 8 * words * length.size <= 2 * FULL * int(length.sum()):
            table = self.chunk.windows_after(words)[start].view(np.uint8).reshape(-1, 8 * words)
            table[np.arange(count), length] = NEWLINE
            return table[np.arange(8 * words) <= length[:, None]].tobytes()
        return b""


def _count_words(length: Integers) -> int:
    """The words that hold the longest id; 0 if ids are so long, or so different in length, that words waste memory."""
    words = -(-int(length.max(initial=0)) // 8)
    return words if words <= WIDE and 8 * words * length.size <= FULL * int(length.sum()) else 0


def concatenate_ids(parts: Sequence[Ids]) -> Ids:
    """All ids of some columns, one column after the other."""
    parts = [part for part in parts if len(part)] or parts[:1]
    width = max((part._width for part in parts), default=0)
    if width and all(part._width for part in parts):
        return _concatenate_words(parts, width)
    chunk = Chunk.empty(sum(part.chunk.size for part in parts))
    starts, ends, at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for part in parts:
        chunk.text[at : at + part.chunk.size] = part.chunk.text
        start, end = part.span
        starts.append(start + at)
        ends.append(end + at)
        at += part.chunk.size
    return Ids(chunk, Span(np.concatenate(starts), np.concatenate(ends)))


def _concatenate_words(parts: Sequence[Ids], width: int) -> Ids:
    chunk = Chunk.empty(sum(map(len, parts)) * width)
    table, at = _view_words(chunk, width // 8), 0
    for part in parts:
        words = part._width // 8
        table[at : at + len(part), :words] = _view_words(part.chunk, words)
        at += len(part)
    return Ids(chunk, lengths=np.concatenate([part._lengths for part in parts]))


def _view_words(chunk: Chunk, words: int) -> Words:
    """The text of ids that were copied by words: a row of words for each."""
    return chunk.text.view("<u8").reshape(-1, words)


def _are_neighbours(rows: Integers) -> bool:
    """Tell whether each row is the one after the one before."""
    if not rows.size or rows[-1] - rows[0] != rows.size - 1:
        return False
    return bool((rows[1:] - rows[:-1] == 1).all())


def _as_slice(rows: Integers) -> Integers | slice:
    """The same rows; neighbours as a slice, which copies nothing."""
    return slice(int(rows[0]), int(rows[-1]) + 1) if _are_neighbours(rows) else rows
