"""Large texts of rankings: read in pieces of whole lines, on several threads, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np

from pytest_ireval.data.formats.input_file import AS_UTF8, LONGEST_LINE, ByteFile, ByteStream, describe_long_line
from pytest_ireval.data.scan.chunks import NEWLINE, ROOM, BadLine, BadLines, Bytes, Chunk
from pytest_ireval.data.scan.columns import refuse_zero_bytes
from pytest_ireval.data.scan.pairs import PairIndex
from pytest_ireval.data.scan.rows import (
    FirstRows,
    JudgedRows,
    ParsedRows,
    RankedRows,
    gather_rows,
    keep_first_rows,
    keep_judged_rows,
)
from pytest_ireval.data.threads import count_threads, keep_freed_memory, open_thread_pool
from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import Progress

CHUNK = 1 << 21
"""Bytes of a piece. Its arrays fit into the cache of a processor; smaller pieces make more calls of NumPy."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST = 1 << 32
"""A single query larger than this is refused."""


class Pieces:
    """Feeds a stream to ``take`` in chunks of whole lines.

    ``take(chunk, at, final)`` gets the offset ``at`` of the chunk in the text, and returns the number of bytes that it
    has used. The rest comes again before the next chunk. If it has used none, it gets a longer chunk.
    """

    def __init__(self, file: ByteFile, start: int, end: int | None, progress: Progress) -> None:
        self.file, self.at, self.end, self.progress = file, start, end, progress
        self.buffer: Bytes = np.zeros(CHUNK + 2 * ROOM, np.uint8)
        self.filled = 0
        """Bytes of text in the buffer."""

    def feed(self, take: Callable[[Chunk, int, bool], int]) -> None:
        """Go through the text once."""
        if self.file.size > CHUNK:
            keep_freed_memory()
        with self.file.open(self.at) as stream:
            ended = False
            while not ended:
                ended = self._fill(stream)
                size = self._end_text() if ended else self._count_whole_lines()
                if not ended and self.filled - size > LONGEST_LINE:
                    raise InputError(describe_long_line(f"{self.file.name}:{self.file.line_at(self.at + size)}"))
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
        before = self.filled
        while self.filled < room:
            got = stream.readinto(view[ROOM + self.filled : ROOM + room])
            if not got:
                break
            self.filled += got
        self.progress.advance(self.filled - before)
        return self.filled < room or (self.end is not None and self.at + self.filled >= self.end)

    def _count_whole_lines(self) -> int:
        """The bytes up to the last line end, which is looked for from the end of the buffer."""
        tail = 1 << 16
        while True:
            low = max(0, self.filled - tail)
            newline = self.buffer[ROOM + low : ROOM + self.filled].tobytes().rfind(b"\n")
            if newline >= 0 or not low:
                return low + newline + 1 if newline >= 0 else 0
            tail *= 16

    def _end_text(self) -> int:
        """Make sure that the last line ends."""
        if self.filled and self.buffer[ROOM + self.filled - 1] != NEWLINE:
            self.buffer[ROOM + self.filled] = NEWLINE
            self.filled += 1
        return self.filled

    def _take(self, take: Callable[[Chunk, int, bool], int], size: int, final: bool) -> int:
        if not self.at and self.buffer[ROOM : ROOM + 3].tobytes() == BYTE_ORDER_MARK:
            self.buffer[ROOM : ROOM + 3] = NEWLINE  # blank lines, so that offsets stay as they are
        chunk = Chunk(self.buffer[: size + 2 * ROOM], size)
        with name_bad_lines(self.file, self.at):
            chunk.is_ascii = bool(chunk.text.max() < 128)
            if not chunk.is_ascii:
                try:
                    str(chunk.text.data, "utf-8")
                except UnicodeDecodeError as error:
                    refuse_zero_bytes(chunk.text)
                    bad = BadLine(error.start, f"is not UTF-8 ({error.reason})")
                    raise BadLines([bad], suggestion=AS_UTF8) from None
            return take(chunk, self.at, final)

    def _move_on(self, used: int) -> None:
        rest = self.filled - used
        self.buffer[ROOM : ROOM + rest] = self.buffer[ROOM + used : ROOM + self.filled].copy()
        self.filled = rest
        self.at += used

    def _grow(self) -> None:
        if self.buffer.size > LARGEST:
            raise InputError(Problem("one query takes more than 4 GB of the file", place=self.file.name))
        longer = np.zeros(2 * (self.buffer.size - 2 * ROOM) + 2 * ROOM, np.uint8)
        longer[: ROOM + self.filled] = self.buffer[: ROOM + self.filled]
        self.buffer = longer


@contextmanager
def name_bad_lines(file: ByteFile, at: int) -> Iterator[None]:
    """Turn offsets of bad lines into ``file:line``; the text begins at offset ``at`` of the file."""
    try:
        yield
    except BadLines as bad:
        problems = [
            Problem(line.complaint, place=f"{file.name}:{file.line_at(at + line.offset)}", suggestion=bad.suggestion)
            for line in bad.lines
        ]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None


RANGES_PER_THREAD = 4
"""A file is cut into more ranges than threads, so that no thread waits long for another."""

SMALL = 2 * CHUNK
"""Files up to this size are read in one thread."""

Kept = TypeVar("Kept", JudgedRows, FirstRows)


class Layout(NamedTuple):
    """How the rows of rankings are written in a text."""

    parse: Callable[[Chunk, int], ParsedRows]
    """The rows of a chunk that begins at this offset of the text."""
    query: Callable[[bytes], bytes]
    """The query of a line; empty for a line without one. It only finds good places to cut the text."""
    allowed: str = ""
    """The columns, for messages."""


def scan_first_rows(
    file: ByteFile, layout: Layout, depth: int | None, progress: Progress, *, by_id: bool
) -> list[FirstRows]:
    """The first ``depth`` documents of every ranking in the file, piece by piece."""
    return _Scan(file, layout, partial(keep_first_rows, depth=depth, by_id=by_id), 0, progress).run()


def scan_judged_rows(
    file: ByteFile, layout: Layout, index: PairIndex, position: Mapping[str, int], progress: Progress, *, by_id: bool
) -> list[JudgedRows]:
    """The judged documents of every ranking in the file, piece by piece."""
    keep = partial(keep_judged_rows, index=index, position=position, by_id=by_id)
    return _Scan(file, layout, keep, index.seed, progress).run()


class ScatteredQueryError(Exception):
    """The rows of a query do not follow each other."""


def add_new_queries(seen: set[str], queries: list[str]) -> None:
    """Add queries to those that were seen before; raise ScatteredQueryError if one of them was."""
    count = len(seen)
    seen.update(queries)
    if len(seen) < count + len(queries):
        raise ScatteredQueryError


@dataclass(eq=False)
class _Scan(Generic[Kept]):
    """A file, and the rows that ``keep`` keeps of each piece; no query is split between pieces."""

    file: ByteFile
    layout: Layout
    keep: Callable[[RankedRows], Kept]
    seed: int
    progress: Progress

    def run(self) -> list[Kept]:
        self.progress.expect(self.file.size, "reading rankings")
        ranges = _cut_into_ranges(self.file, self.layout)
        try:
            if len(ranges) == 1:
                parts = self._scan_range(ranges[0])
            else:
                with open_thread_pool() as pool:
                    parts = [part for result in pool.map(self._scan_range, ranges) for part in result]
            add_new_queries(set(), [name for part in parts for name in part.queries])
        except ScatteredQueryError:
            parts = self._scan_scattered()
        if not parts:
            raise InputError(Problem("it contains no rankings", place=self.file.name, allowed=self.layout.allowed))
        return parts

    def _scan_range(self, ends: tuple[int, int | None]) -> list[Kept]:
        parts, seen = list[Kept](), set[str]()

        def take(chunk: Chunk, at: int, final: bool) -> int:
            parsed = self.layout.parse(chunk, at)
            rows, used = (parsed.group(self.seed), chunk.size) if final else parsed.group_whole_queries(self.seed)
            if rows is not None and rows.queries:
                add_new_queries(seen, rows.queries)
                parts.append(self.keep(rows))
            return used

        Pieces(self.file, *ends, self.progress).feed(take)
        return parts

    def _scan_scattered(self) -> list[Kept]:
        """The same for a file with the rows of a query in several places: one sort over all of it."""
        self.progress.expect(self.file.size, "sorting rankings")
        parts: list[RankedRows] = []

        def take(chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG001 - every row is kept
            rows = self.layout.parse(Chunk.of(chunk.text.tobytes()), at).group(self.seed)
            parts.append(gather_rows([rows]))  # which has each name of a query once
            return chunk.size

        Pieces(self.file, 0, None, self.progress).feed(take)
        with name_bad_lines(self.file, 0):
            return [self.keep(gather_rows(parts))]


def _cut_into_ranges(file: ByteFile, layout: Layout) -> list[tuple[int, int | None]]:
    """Begin and end of pieces of the file for the threads, cut between queries; one if it is small or compressed."""
    sharing = count_threads()
    if sharing < 2 or not file.is_plain or file.size < SMALL:
        return [(0, None)]
    pieces = min(sharing * RANGES_PER_THREAD, file.size // CHUNK)
    cuts = [0]
    with open(file.path, "rb") as stream:
        for wanted in (file.size * piece // pieces for piece in range(1, pieces)):
            if wanted <= cuts[-1]:
                continue  # a query that is longer than a piece has been gone through already
            cut = _find_next_query(stream, wanted, layout)
            if cut >= file.size:
                break
            cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], file.size], strict=True))


def _find_next_query(stream: BinaryIO, at: int, layout: Layout) -> int:
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
