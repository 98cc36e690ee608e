"""A piece of text as bytes, with room around it so that words can be loaded up to its very edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ROOM = 64
"""Bytes in front of and behind the text that belong to nobody and may be read."""

Bytes = NDArray[np.uint8]
Offsets = NDArray[np.int64]
Words = NDArray[np.uint64]


class Chunk:
    """``size`` bytes of text inside ``buffer``, which starts ``ROOM`` bytes earlier and ends as much later.

    Offsets count from the start of the text, so ``text[start:end]`` is a token.
    """

    __slots__ = ("buffer", "size", "text")

    def __init__(self, buffer: Bytes, size: int) -> None:
        self.buffer = buffer
        self.size = size
        self.text = buffer[ROOM : ROOM + size]

    @classmethod
    def of(cls, data: bytes) -> Chunk:
        """A chunk that holds a copy of ``data``."""
        buffer = np.zeros(len(data) + 2 * ROOM, np.uint8)
        buffer[ROOM : ROOM + len(data)] = np.frombuffer(data, np.uint8)
        return cls(buffer, len(data))

    def windows(self, words: int) -> NDArray[np.void]:
        """``windows(n)[end]`` are the ``8 * n`` bytes in front of offset ``end``; a view, nothing is copied."""
        width = 8 * words
        return np.ndarray(self.size + 1, dtype=f"V{width}", buffer=self.buffer.data, offset=ROOM - width, strides=(1,))

    def windows_after(self, words: int) -> NDArray[np.void]:
        """``windows_after(n)[start]`` are the ``8 * n`` bytes from offset ``start`` on; a view."""
        return np.ndarray(self.size + 1, dtype=f"V{8 * words}", buffer=self.buffer.data, offset=ROOM, strides=(1,))

    def token(self, start: int, end: int) -> bytes:
        """The bytes between two offsets."""
        return self.text[start:end].tobytes()

    def tokens(self, start: Offsets, end: Offsets) -> list[bytes]:
        """The bytes between many pairs of offsets."""
        text = self.text.data
        return [bytes(text[s:e]) for s, e in zip(start.tolist(), end.tolist(), strict=True)]


def joined(texts: Sequence[bytes]) -> tuple[Chunk, Offsets, Offsets]:
    """Texts laid end to end, with the offsets where each starts and ends."""
    end = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    start = np.concatenate((np.zeros(1, np.int64), end[:-1])) if len(texts) else end
    return Chunk.of(b"".join(texts)), start, end
