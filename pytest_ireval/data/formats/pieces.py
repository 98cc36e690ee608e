"""Large texts of rankings: read in pieces of whole lines, on several threads, so that memory stays flat."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np

from pytest_ireval.data.formats.input_file import AS_UTF8, LONGEST_LINE, ByteFile, ByteStream, too_long
from pytest_ireval.data.ids import threads
from pytest_ireval.data.scan.kept import FirstRows, KeptRows, Lines, Rows, gathered_rows
from pytest_ireval.data.scan.tokens import NEWLINE, ROOM, BadLines, Bytes, Chunk, refuse_zero_bytes
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import Progress

CHUNK = 1 << 21
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST = 1 << 32
"""A single query larger than this is refused."""


def _keep_freed_memory() -> None:
    """Make glibc keep freed memory of temporaries, instead of returning it and asking for zeroed pages again.

    It raises its thresholds to the size of the largest block freed, up to 32 MiB; elsewhere this does nothing.
    """
    if sys.platform == "linux":
        np.empty(31 << 20, np.uint8)


def return_freed_memory() -> None:
    """Let glibc return it, when large files have been read; elsewhere this does nothing."""
    if sys.platform == "linux":
        with suppress(ImportError):  # some builds of Python have no ctypes
            from ctypes import CDLL

            if trim := getattr(CDLL(None), "malloc_trim", None):
                trim(0)


class Pieces:
    """Feeds a stream to ``take`` in chunks of whole lines.

    ``take(chunk, at, final)`` gets the offset ``at`` of the chunk in the text, and returns the number of bytes that it
    has used. The rest comes again before the next chunk. If it has used none, it gets a longer chunk.
    """

    def __init__(self, file: ByteFile, start: int, end: int | None, progress: Progress) -> None:
        self.file, self.at, self.end, self.progress = file, start, end, progress
        self.buffer: Bytes = np.zeros(CHUNK + 2 * ROOM, np.uint8)
        self.held = 0

    def feed(self, take: Callable[[Chunk, int, bool], int]) -> None:
        """Go through the text once."""
        if self.file.size > CHUNK:
            _keep_freed_memory()
        with self.file.open(self.at) as stream:
            ended = False
            while not ended:
                ended = self._fill(stream)
                size = self._end_text() if ended else self._whole_lines()
                if not ended and self.held - size > LONGEST_LINE:
                    raise InputError(too_long(f"{self.file.name}:{self.file.line_at(self.at + size)}"))
                used = self._take(take, size, ended) if size else 0
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
            if chunk.text.max() >= 128:
                try:
                    str(chunk.text.data, "utf-8")
                except UnicodeDecodeError as error:
                    refuse_zero_bytes(chunk.text)
                    complaint = f"is not UTF-8 ({error.reason})"
                    raise BadLines([(error.start, complaint)], suggestion=AS_UTF8) from None
            return take(chunk, self.at, final)

    def _move_on(self, used: int) -> None:
        rest = self.held - used
        self.buffer[ROOM : ROOM + rest] = self.buffer[ROOM + used : ROOM + self.held].copy()
        self.held = rest
        self.at += used

    def _grow(self) -> None:
        if self.buffer.size > LARGEST:
            raise InputError(Problem("one query takes more than 4 GB of the file", place=self.file.name))
        longer = np.zeros(2 * (self.buffer.size - 2 * ROOM) + 2 * ROOM, np.uint8)
        longer[: ROOM + self.held] = self.buffer[: ROOM + self.held]
        self.buffer = longer


@contextmanager
def bad_lines_named(file: ByteFile, at: int) -> Iterator[None]:
    """Turn offsets of bad lines into ``file:line``; the text begins at offset ``at`` of the file."""
    try:
        yield
    except BadLines as bad:
        problems = [
            Problem(complaint, place=f"{file.name}:{file.line_at(at + offset)}", suggestion=bad.suggestion)
            for offset, complaint in bad.complaints
        ]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None


RANGES_PER_THREAD = 4
"""A file is cut into more ranges than threads, so that no thread waits long for another."""

SMALL = 2 * CHUNK
"""Files up to this size are read in one thread."""

Kept = TypeVar("Kept", KeptRows, FirstRows)


class Layout(NamedTuple):
    """The place of queries, documents and scores in a text."""

    rows: Callable[[Chunk, int], Rows]
    """The rows of a chunk that begins at this offset of the text."""
    query: Callable[[bytes], bytes]
    """The query of a line; empty for a line without one. It only finds good places to cut the text."""
    allowed: str = ""
    """The columns, for messages."""


@dataclass(frozen=True, eq=False)
class _Scan(Generic[Kept]):
    """A file, and what is wanted from it."""

    file: ByteFile
    layout: Layout
    keep: Callable[[Lines], Kept]
    seed: int
    progress: Progress

    def lines(self, chunk: Chunk, at: int, *, final: bool) -> tuple[Lines | None, int]:
        rows = self.layout.rows(chunk, at)
        return (rows.lines(self.seed), chunk.size) if final else rows.whole_queries(self.seed)


def kept_rows(
    file: ByteFile, layout: Layout, keep: Callable[[Lines], Kept], seed: int, progress: Progress
) -> list[Kept]:
    """The rows that ``keep`` keeps of each piece of the file, in order; no query is split between pieces."""
    progress.expect(file.size, "reading rankings")
    scan = _Scan(file, layout, keep, seed, progress)
    ranges = _ranges(file, layout)
    try:
        if len(ranges) == 1:
            parts = _scan_range(scan, ranges[0])
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(threads()) as pool:
                parts = [part for result in pool.map(partial(_scan_range, scan), ranges) for part in result]
        refuse_apart(set(), [name for part in parts for name in part.query_id])
    except Apart:
        parts = _scan_scattered(scan)
    if not parts:
        raise InputError(Problem("it contains no rankings", place=file.name, allowed=layout.allowed))
    return parts


class Apart(Exception):  # noqa: N818 - it says where rows of a query are
    """Rows of one query that do not follow each other."""


def refuse_apart(seen: set[bytes], queries: list[bytes]) -> None:
    """Add queries to those that were seen before; raise Apart if one of them was."""
    count = len(seen)
    seen.update(queries)
    if len(seen) < count + len(queries):
        raise Apart


def _scan_range(scan: _Scan[Kept], ends: tuple[int, int | None]) -> list[Kept]:
    parts, seen = list[Kept](), set[bytes]()

    def take(chunk: Chunk, at: int, final: bool) -> int:
        lines, used = scan.lines(chunk, at, final=final)
        if lines is not None and lines.query_id:
            refuse_apart(seen, lines.query_id)
            parts.append(scan.keep(lines))
        return used

    Pieces(scan.file, *ends, scan.progress).feed(take)
    return parts


def _scan_scattered(scan: _Scan[Kept]) -> list[Kept]:
    """The same for a file with the lines of a query in several places: one sort over all of it."""
    scan.progress.expect(scan.file.size, "sorting rankings")
    parts: list[Lines] = []

    def take(chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG001 - every line is kept
        lines, _ = scan.lines(Chunk.of(chunk.text.tobytes()), at, final=True)
        if lines is not None:
            parts.append(gathered_rows([lines]))  # which has each name of a query once
        return chunk.size

    Pieces(scan.file, 0, None, scan.progress).feed(take)
    with bad_lines_named(scan.file, 0):
        return [scan.keep(gathered_rows(parts))]


def _ranges(file: ByteFile, layout: Layout) -> list[tuple[int, int | None]]:
    """Pieces of the file for the threads, cut between queries; one piece if it is small or compressed."""
    sharing = threads()
    if sharing < 2 or not file.plain or file.size < SMALL:
        return [(0, None)]
    pieces = min(sharing * RANGES_PER_THREAD, file.size // CHUNK)
    cuts = [0]
    with open(file.path, "rb") as stream:
        for wanted in (file.size * piece // pieces for piece in range(1, pieces)):
            if wanted <= cuts[-1]:
                continue  # a query that is longer than a piece has been gone through already
            cut = _next_query(stream, wanted, layout)
            if cut >= file.size:
                break
            cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], file.size], strict=True))


def _next_query(stream: BinaryIO, at: int, layout: Layout) -> int:
    """The begin of the first query after ``at``; without one, the end of the file."""
    stream.seek(at)
    stream.readline()
    first = b""
    while True:
        start = stream.tell()
        line = stream.readline()
        if not line:
            return start
        query = layout.query(line)
        if not first:
            first = query
        elif query and query != first:
            return start
