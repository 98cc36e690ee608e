"""Text files piece by piece: chunks of whole lines, and bad lines reported with their numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import Progress
from pytest_ireval.retrieval.formats.bytestream import LONGEST_LINE, ByteFile, ByteStream, too_long
from pytest_ireval.retrieval.scan.chunk import ROOM, Bytes, Chunk
from pytest_ireval.retrieval.scan.tokens import NEWLINE, BadLines, refuse_zero_bytes

CHUNK = 1 << 21
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST = 1 << 32
"""A single query larger than this is refused."""


def keep_freed_memory() -> None:
    """Make glibc keep what temporaries free, instead of giving it back and asking for zeroed pages again.

    It raises its thresholds to the size of the largest block freed, up to 32 MiB; elsewhere this does nothing.
    """
    if sys.platform == "linux":
        np.empty(31 << 20, np.uint8)


class Pieces:
    """Feeds a stream to ``take`` in chunks of whole lines.

    ``take(chunk, at, final)`` is told where in the text the chunk begins, and answers how many of its bytes it has
    used up; the rest comes again in front of the next chunk. When it has used none, it is given a longer chunk.
    """

    def __init__(self, file: ByteFile, start: int, end: int | None, progress: Progress) -> None:
        self.file, self.at, self.end, self.progress = file, start, end, progress
        self.buffer: Bytes = np.zeros(CHUNK + 2 * ROOM, np.uint8)
        self.held = 0

    def feed(self, take: Callable[[Chunk, int, bool], int]) -> None:
        """Go through the text once."""
        if self.file.size > CHUNK:
            keep_freed_memory()
        with self.file.open(self.at) as stream:
            ended = False
            while not ended:
                ended = self._fill(stream)
                size = self._end_text() if ended else self._whole_lines()
                if not ended and self.held - size > LONGEST_LINE:
                    raise InputError(too_long(f"{self.file.name}:{self.file.line_at(self.at + size)}"))
                if not size:
                    if not ended:
                        self._grow()
                    continue
                used = self._take(take, size, ended)
                if used:
                    self._move_on(used)
                elif not ended:
                    self._grow()

    def _fill(self, stream: ByteStream) -> bool:
        """Read until the buffer is full; True at the end of the text."""
        room = self.buffer.size - 2 * ROOM - 1
        if self.end is not None:
            room = min(room, self.end - self.at)
        view = self.buffer.data
        before = self.held
        while self.held < room:
            got = stream.readinto(view[ROOM + self.held : ROOM + room])
            if not got:
                break
            self.held += got
        self.progress.advance(self.held - before)
        return self.held < room or (self.end is not None and self.at + self.held >= self.end)

    def _whole_lines(self) -> int:
        tail = 1 << 16
        while True:
            low = max(0, self.held - tail)
            newline = self.buffer[ROOM + low : ROOM + self.held].tobytes().rfind(b"\n")
            if newline >= 0 or not low:
                return low + newline + 1 if newline >= 0 else 0
            tail *= 16

    def _end_text(self) -> int:
        """Make sure that the last line ends."""
        if self.held and self.buffer[ROOM + self.held - 1] != NEWLINE:
            self.buffer[ROOM + self.held] = NEWLINE
            self.held += 1
        return self.held

    def _take(self, take: Callable[[Chunk, int, bool], int], size: int, final: bool) -> int:
        if not self.at and self.buffer[ROOM : ROOM + 3].tobytes() == BYTE_ORDER_MARK:
            self.buffer[ROOM : ROOM + 3] = NEWLINE  # blank lines, so that offsets stay as they are
        chunk = Chunk(self.buffer[: size + 2 * ROOM], size)
        with bad_lines_named(self.file, self.at):
            _refuse_what_is_no_text(chunk)
            return take(chunk, self.at, final)

    def _move_on(self, used: int) -> None:
        rest = self.held - used
        self.buffer[ROOM : ROOM + rest] = self.buffer[ROOM + used : ROOM + self.held].copy()
        self.held = rest
        self.at += used

    def _grow(self) -> None:
        if self.buffer.size > LARGEST:
            raise InputError(Problem("one query takes more than 4 GB of it", place=self.file.name))
        longer = np.zeros(2 * (self.buffer.size - 2 * ROOM) + 2 * ROOM, np.uint8)
        longer[: ROOM + self.held] = self.buffer[: ROOM + self.held]
        self.buffer = longer


@contextmanager
def bad_lines_named(file: ByteFile, at: int) -> Iterator[None]:
    """Turn offsets of bad lines into ``file:line``; the text begins at offset ``at`` of the file."""
    try:
        yield
    except BadLines as bad:
        problems: list[Problem | str] = [
            Problem(complaint, place=f"{file.name}:{file.line_at(at + offset)}", suggestion=bad.suggestion)
            for offset, complaint in bad.complaints
        ]
        if bad.more:
            problems.append(f"… and {bad.more} more")
        raise InputError(*problems) from None


def _refuse_what_is_no_text(chunk: Chunk) -> None:
    if chunk.text.max() >= 128:
        try:
            str(chunk.text.data, "utf-8")
        except UnicodeDecodeError as error:
            refuse_zero_bytes(chunk.text)
            raise BadLines([(error.start, f"is not UTF-8 ({error.reason})")]) from None
