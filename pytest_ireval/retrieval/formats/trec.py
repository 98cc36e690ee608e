"""TREC files: judgments ``query iteration document grade``, rankings ``query Q0 document rank score tag``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import Progress
from pytest_ireval.results.evaluation import Grades
from pytest_ireval.retrieval.formats.input_file import LONGEST_LINE, ByteFile, ByteStream, InputFile, too_long
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.judgments import Judgments, judgments_of
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.retrieval.scan.kept import WIDTH, KeptRows, Lines, first_rows, gathered_rows, judged_rows, read_lines
from pytest_ireval.retrieval.scan.numbers import exactly, numbers, whole_numbers_only
from pytest_ireval.retrieval.scan.tokens import (
    NEWLINE,
    ROOM,
    BadLines,
    Bytes,
    Chunk,
    Offsets,
    Span,
    WrongWidth,
    columns,
    refuse_zero_bytes,
    starts_of_groups,
)

JUDGMENT_COLUMNS = "query iteration document grade"


def read_trec_judgments(source: InputFile, how: Reading) -> Judgments:
    """All judgments in the file; its second column may change, and so name subtopics, only if its format was named."""
    file = source.bytes
    how.progress.expect(file.size, "reading judgments")
    rows = _Rows(how.grades, how.recognised)
    _Pieces(file, 0, None, how.progress).feed(rows.take)
    if not rows.code:
        raise InputError(Problem("it contains no judgments", place=file.name, allowed=f"columns: {JUDGMENT_COLUMNS}"))
    place = _lines_of(file, np.concatenate(rows.offsets))
    query, documents, grade = np.concatenate(rows.query), concatenated(rows.documents), np.concatenate(rows.grade)
    return judgments_of(list(rows.code), query, documents, grade, origin=file.name, place=place)


class _Rows:
    """Columns as they grow, chunk by chunk."""

    def __init__(self, grades: Grades, one_iteration: bool) -> None:
        self.grades = grades
        self.one_iteration = one_iteration
        self.iteration: bytes | None = None
        self.code: dict[str, int] = {}
        self.query: list[Offsets] = []
        self.documents: list[Ids] = []
        self.grade: list[NDArray[np.float64]] = []
        self.offsets: list[Offsets] = []

    def take(self, chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG002 - every line stands alone
        """Add the lines of a chunk."""
        query, iteration, document, grade = _columns(chunk)
        if query.start.size:
            if self.one_iteration:
                self._refuse_another(chunk, iteration)
            value, inexact = numbers(chunk, grade, "grade")
            rows = np.flatnonzero(inexact)
            value[rows] = exactly(chunk, grade, rows)
            if self.grades == "integer":
                whole_numbers_only(chunk, grade, value, "grade")
            self.query.append(self._codes(chunk, query))
            self.documents.append(Ids(Chunk.of(chunk.text.tobytes()), document))
            self.grade.append(value + 0.0)  # no negative zeros
            self.offsets.append(document.start + at)
        return chunk.size

    def _refuse_another(self, chunk: Chunk, iteration: Span) -> None:
        heads = starts_of_groups(chunk, iteration)
        for head, text in zip(heads.tolist(), chunk.tokens(iteration.start[heads], iteration.end[heads]), strict=True):
            if self.iteration is None:
                self.iteration = text
            if text != self.iteration:
                found = f"the second column is {text.decode()!r} here and {self.iteration.decode()!r} above"
                raise BadLines(
                    [(int(iteration.start[head]), f"{found}: are these judgments of subtopics?")],
                    suggestion="choose a format: trec ignores that column, trec-diversity reads subtopics from it",
                )

    def _codes(self, chunk: Chunk, query: Span) -> Offsets:
        heads = starts_of_groups(chunk, query)
        names = chunk.tokens(query.start[heads], query.end[heads])
        codes = [self.code.setdefault(name.decode(), len(self.code)) for name in names]
        return np.repeat(np.array(codes, np.int64), np.diff(np.append(heads, query.start.size)))


def _columns(chunk: Chunk) -> list[Span]:
    try:
        return columns(chunk, 4, range(4), exact=True)
    except WrongWidth as bad:
        bad.suggestion = f"a judgments file has 4 columns, separated by spaces or tabs: {JUDGMENT_COLUMNS}"
        raise


def _lines_of(file: ByteFile, offsets: Offsets) -> Callable[[int], str]:
    """The places of rows by line of the file; by row alone once the file is gone, as with a pipe."""
    ends: list[Offsets] = []

    def place(row: int) -> str:
        if not file.path.exists():
            return f"{file.name}, row {row + 1}"
        if not ends:
            ends.append(file.line_ends())
        return f"{file.name}:{int(np.searchsorted(ends[0], offsets[row])) + 1}"

    return place


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


class _Pieces:
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
        with _bad_lines_named(self.file, self.at):
            if chunk.text.max() >= 128:
                try:
                    str(chunk.text.data, "utf-8")
                except UnicodeDecodeError as error:
                    refuse_zero_bytes(chunk.text)
                    raise BadLines([(error.start, f"is not UTF-8 ({error.reason})")]) from None
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
def _bad_lines_named(file: ByteFile, at: int) -> Iterator[None]:
    """Turn offsets of bad lines into ``file:line``; the text begins at offset ``at`` of the file."""
    try:
        yield
    except BadLines as bad:
        problems = [
            Problem(complaint, place=f"{file.name}:{file.line_at(at + offset)}", suggestion=bad.suggestion)
            for offset, complaint in bad.complaints
        ]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None


RANKING_COLUMNS = "query Q0 document rank score tag"
RANGES_PER_THREAD = 4
"""A file is cut into more ranges than threads, so that no thread waits long for another."""

SMALL = 2 * CHUNK
"""Files up to this size are read in one thread."""

Keep = Callable[[Lines], KeptRows]


def read_trec_rankings(file: InputFile, how: Reading) -> Rankings:
    """The first documents of every ranking in the file."""
    parts = _scan(file.bytes, partial(first_rows, depth=how.depth, by_id=how.by_id), 0, how.progress)
    return rankings_of(parts, file.name)


def judged_in_file(file: InputFile, judgments: Judgments, how: Reading) -> list[KeptRows]:
    """The judged documents of the rankings in the file, with their ranks."""
    keep = partial(judged_rows, judgments=judgments, by_id=how.by_id)
    return _scan(file.bytes, keep, judgments.table.seed, how.progress)


def _scan(file: ByteFile, keep: Keep, seed: int, progress: Progress) -> list[KeptRows]:
    """The rows that ``keep`` keeps of each piece of the file, in order; no query is split between pieces."""
    progress.expect(file.size, "reading rankings")
    ranges = _ranges(file)
    if len(ranges) == 1:
        parts = _scan_range(file, ranges[0], keep, seed, progress)
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(_threads()) as pool:
            results = pool.map(lambda r: _scan_range(file, r, keep, seed, progress), ranges)
            parts = [part for result in results for part in result]
    names = [name for part in parts for name in part.query_id]
    if not names:
        raise InputError(Problem("it contains no rankings", place=file.name, allowed=f"columns: {RANKING_COLUMNS}"))
    if len(set(names)) < len(names):
        return _scan_scattered(file, keep, seed, progress)
    return parts


def _scan_range(
    file: ByteFile, ends: tuple[int, int | None], keep: Keep, seed: int, progress: Progress
) -> list[KeptRows]:
    parts = []

    def take(chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG001 - places do not matter here
        lines, used = _lines(chunk, seed, final)
        if lines is not None and lines.query_id:
            parts.append(keep(lines))
        return used

    _Pieces(file, *ends, progress).feed(take)
    return parts


def _scan_scattered(file: ByteFile, keep: Keep, seed: int, progress: Progress) -> list[KeptRows]:
    """The same for a file with the lines of a query in several places: one sort over all of it."""
    progress.expect(file.size, "sorting rankings")
    parts: list[Lines] = []
    offsets: list[int] = []
    texts: list[bytes] = []

    def take(chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG001 - every line is kept
        lines, _ = _lines(chunk, seed, True)
        if lines is not None:
            parts.append(lines)
            offsets.append(at)
        texts.append(chunk.text.tobytes())
        return chunk.size

    _Pieces(file, 0, None, progress).feed(take)
    whole = Chunk.of(b"".join(texts))
    with _bad_lines_named(file, 0):
        return [keep(gathered_rows(parts, offsets, whole))]


def _lines(chunk: Chunk, seed: int, final: bool) -> tuple[Lines | None, int]:
    try:
        return read_lines(chunk, seed, final=final)
    except WrongWidth as bad:
        bad.suggestion = f"a rankings file has {WIDTH} columns or more, separated by spaces or tabs: {RANKING_COLUMNS}"
        raise


def _threads() -> int:
    return min(4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _ranges(file: ByteFile) -> list[tuple[int, int | None]]:
    """Pieces of the file for the threads, cut between queries; one piece if it is small or compressed."""
    threads = _threads()
    if threads < 2 or not file.plain or file.size < SMALL:
        return [(0, None)]
    pieces = min(threads * RANGES_PER_THREAD, file.size // CHUNK)
    cuts = [0]
    with open(file.path, "rb") as stream:
        for wanted in (file.size * piece // pieces for piece in range(1, pieces)):
            if wanted <= cuts[-1]:
                continue  # a query that is longer than a piece has been gone through already
            cut = _next_query(stream, wanted)
            if cut >= file.size:
                break
            cuts.append(cut)
    return list(zip(cuts, [*cuts[1:], file.size], strict=True))


def _next_query(stream: BinaryIO, at: int) -> int:
    """The begin of the first query after ``at``; without one, the end of the file."""
    stream.seek(at)
    stream.readline()
    first = None
    while True:
        start = stream.tell()
        line = stream.readline()
        words = line.split(None, 1)
        if not line:
            return start
        if not words or words[0].startswith(b"#"):
            continue
        if first is None:
            first = words[0]
        elif words[0] != first:
            return start
