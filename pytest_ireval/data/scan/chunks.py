"""Bytes of text in a buffer, spans of them, and complaints about lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.arrays import Integers, compute_begins

ROOM = 64
"""Bytes before and after the text that do not belong to it and may be read: words of eight bytes may reach over its
ends, so no loop has to treat the first and the last tokens in another way."""

TAB, NEWLINE, RETURN, SPACE, HASH = 9, 10, 13, 32, 35

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Chunk:
    """``size`` bytes of text inside ``buffer``, which starts ``ROOM`` bytes earlier and ends as much later.

    Offsets count from the start of the text, so ``text[start:end]`` is a token.
    """

    __slots__ = ("buffer", "is_ascii", "size", "text")

    def __init__(self, buffer: Bytes, size: int, *, is_ascii: bool = False) -> None:
        self.buffer = buffer
        self.size = size
        self.is_ascii = is_ascii
        """True if it is known to have nothing but ASCII."""
        self.text = buffer[ROOM : ROOM + size]

    @classmethod
    def of(cls, data: bytes) -> Chunk:
        """A chunk that holds a copy of ``data``."""
        chunk = cls.empty(len(data))
        chunk.text[:] = np.frombuffer(data, np.uint8)
        return chunk

    @classmethod
    def empty(cls, size: int) -> Chunk:
        """A chunk of zeros, to be filled."""
        return cls(np.zeros(size + 2 * ROOM, np.uint8), size)

    def windows(self, words: int) -> NDArray[np.void]:
        """A view in which ``windows(n)[end]`` are the ``8 * n`` bytes before offset ``end``."""
        width = 8 * words
        return np.ndarray(self.size + 1, dtype=f"V{width}", buffer=self.buffer.data, offset=ROOM - width, strides=(1,))

    def windows_after(self, words: int) -> NDArray[np.void]:
        """A view in which ``windows_after(n)[start]`` are the ``8 * n`` bytes from offset ``start`` on."""
        return np.ndarray(self.size + 1, dtype=f"V{8 * words}", buffer=self.buffer.data, offset=ROOM, strides=(1,))

    def token(self, start: int, end: int) -> bytes:
        return self.text[start:end].tobytes()

    def tokens(self, span: Span) -> list[bytes]:
        text = self.text.data
        return [bytes(text[start:end]) for start, end in zip(span.start.tolist(), span.end.tolist(), strict=True)]


class Span(NamedTuple):
    """The start and the end of a token in each line."""

    start: Integers
    end: Integers

    @property
    def length(self) -> Integers:
        return self.end - self.start

    def at(self, rows: Integers | slice) -> Span:
        return Span(self.start[rows], self.end[rows])


def join_texts(texts: Sequence[str]) -> tuple[Chunk, Span]:
    """Texts laid end to end, and where each of them is."""
    text = "".join(texts)
    data = text.encode()
    lengths = map(len, texts) if len(data) == len(text) else (len(each.encode()) for each in texts)
    edge = compute_begins(np.fromiter(lengths, np.int64, len(texts)))
    return Chunk.of(data), Span(edge[:-1], edge[1:])


SHOWN_LINES = 5
"""The number of bad lines that are named; the rest is counted."""


class BadLine(NamedTuple):
    """A line that cannot be read: an offset inside it, and what is wrong."""

    offset: int
    complaint: str


class BadLines(Exception):  # noqa: N818 - it says what it carries
    """Lines that cannot be read.

    A chunk does not know its place in the file. The reader of the file finds the numbers of the lines, which costs
    time only where something is wrong.
    """

    def __init__(self, lines: Sequence[BadLine], more: int = 0, *, suggestion: str = "") -> None:
        self.lines = lines
        self.more = more
        """The number of further lines with the same fault."""
        self.suggestion = suggestion
        super().__init__(f"{len(lines) + more} unreadable lines")


class WrongWidth(BadLines):
    """Lines with too few or too many columns."""
