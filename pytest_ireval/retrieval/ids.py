"""A column of ids: bytes laid end to end with offsets, made into text only on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.scan.tokens import ROOM, WIDE, Chunk, Offsets, Span, Words, joined, keys_of, same_bytes

BLOCK = 1 << 16
"""The number of ids that are copied at a time."""


FULL = 2
"""Ids are copied by words if that takes at most this many times their bytes."""
FIRST = np.array([(1 << (8 * k)) - 1 for k in range(9)], dtype="<u8")
"""Masks: ``FIRST[k]`` keeps the first k bytes of a little-endian word; taken with ``clip`` for any length."""


class Ids:
    """``len(ids)`` ids in UTF-8; ``ids[i]`` is one as text."""

    __slots__ = ("chunk", "span")

    def __init__(self, chunk: Chunk, span: Span) -> None:
        self.chunk = chunk
        self.span = span

    @classmethod
    def of(cls, texts: Sequence[str]) -> Ids:
        """The column that holds ``texts``."""
        chunk, start, end = joined([text.encode() for text in texts])
        return cls(chunk, Span(start, end))

    def __len__(self) -> int:
        return int(self.span.start.size)

    def __getitem__(self, row: int) -> str:
        return self.chunk.token(int(self.span.start[row]), int(self.span.end[row])).decode()

    def texts(self, rows: Offsets | None = None) -> list[str]:
        """Some ids, or all, as text."""
        start, end = self.span if rows is None else (self.span.start[rows], self.span.end[rows])
        return [token.decode() for token in self.chunk.tokens(start, end)]

    def keys(self, seed: int = 0) -> Words:
        """A 64-bit key for each id."""
        return keys_of(self.chunk, self.span, seed)

    def take(self, rows: Offsets) -> Ids:
        """Some ids, copied next to each other, so that the rest of the text can be freed.

        Ids of about one length are copied by words, and zeros fill up the shorter ones.
        """
        start, length = self.span.start[rows], self.span.end[rows] - self.span.start[rows]
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
        width = 8 * words
        size = width * length.size
        buffer = np.zeros(size + 2 * ROOM, np.uint8)
        table = buffer[ROOM : ROOM + size].view("<u8").reshape(-1, words)
        windows = self.chunk.windows_after(words)
        for rows_from in range(0, length.size, BLOCK):
            block = slice(rows_from, rows_from + BLOCK)
            table[block] = windows[start[block]].view("<u8").reshape(-1, words)
            for j in range(words):
                table[block, j] &= FIRST.take(length[block] - 8 * j, mode="clip")
        begin = np.arange(0, size, width)
        return Ids(Chunk(buffer, size), Span(begin, begin + length))

    def some(self, rows: Offsets) -> Ids:
        """Some ids; all of them in their order are not copied. Only for ids whose text stays in memory."""
        return self if _are_all(rows, len(self)) else self.take(rows)

    def same(self, rows: Offsets, others: Ids, their_rows: Offsets) -> NDArray[np.bool_]:
        """Tell whether ``self[rows[i]] == others[their_rows[i]]``."""
        return same_bytes(
            self.chunk,
            self.span.start[rows],
            self.span.end[rows],
            others.chunk,
            others.span.start[their_rows],
            others.span.end[their_rows],
        )


def parts_of(begins: Offsets, size: int) -> Iterator[tuple[int, int]]:
    """Neighbouring groups of rows, from the first to behind the last, with about ``size`` rows in all.

    Group i is rows ``begins[i]`` to ``begins[i + 1]``; a part has at least one group.
    """
    at, last = 0, begins.size - 1
    while at < last:
        end = max(at + 1, int(np.searchsorted(begins, begins[at] + size, side="right")) - 1)
        yield at, min(end, last)
        at = end


def _are_all(rows: Offsets, count: int) -> bool:
    """Tell whether these are all rows in their order, so that nothing needs to be copied."""
    if rows.size != count or not count or rows[0] != 0 or rows[-1] != count - 1:
        return False
    return bool((rows[1:] - rows[:-1] == 1).all())


def concatenated(parts: Sequence[Ids]) -> Ids:
    """All ids of some columns, one column after the other."""
    size = sum(part.chunk.size for part in parts)
    buffer = np.zeros(size + 2 * ROOM, np.uint8)
    starts, ends, at = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    for part in parts:
        buffer[ROOM + at : ROOM + at + part.chunk.size] = part.chunk.text
        starts.append(part.span.start + at)
        ends.append(part.span.end + at)
        at += part.chunk.size
    return Ids(Chunk(buffer, size), Span(np.concatenate(starts), np.concatenate(ends)))
