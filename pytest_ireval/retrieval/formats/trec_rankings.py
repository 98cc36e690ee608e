"""Rankings files in TREC run format: ``query Q0 document rank score tag``, read in one pass over the bytes.

The rank column is not looked at: score descending is the order. Queries may come in any order, but the lines of a
query should stand together: then memory is a chunk and what is kept. When they do not, the whole file is read again
and put in order by query.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.bytestream import ByteFile
from pytest_ireval.retrieval.formats.linewise import CHUNK, Pieces, bad_lines_named
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.retrieval.scan.chunk import Chunk
from pytest_ireval.retrieval.scan.kept import KeptRows, first_rows, judged_rows
from pytest_ireval.retrieval.scan.lines import WIDTH, Lines, gathered, read_lines
from pytest_ireval.retrieval.scan.tokens import WrongWidth

COLUMNS = "query Q0 document rank score tag"
RANGES_PER_THREAD = 4
"""A file is cut into more ranges than threads, so that none waits long for the other."""

MOST_THREADS = 4

SMALL = 2 * CHUNK
"""Files up to this size are read in one thread."""

Keep = Callable[[Lines], KeptRows]


def read_trec_rankings(
    file: ByteFile, depth: int | None = None, *, by_id: bool = True, progress: Progress = SILENT
) -> Rankings:
    """The first ``depth`` documents of every ranking in the file (None: all of them).

    Equal scores are in descending order of document id, or as they stand in the file unless ``by_id``.
    """
    parts = scan(file, partial(first_rows, depth=depth, by_id=by_id), 0, progress)
    return rankings_of(parts, file.name)


def judged_in_file(
    file: ByteFile, judgments: Judgments, *, by_id: bool = True, progress: Progress = SILENT
) -> list[KeptRows]:
    """The judged documents of the rankings in the file, with their ranks."""
    keep = partial(judged_rows, judgments=judgments, by_id=by_id)
    return scan(file, keep, judgments.table.seed, progress)


def scan(file: ByteFile, keep: Keep, seed: int, progress: Progress) -> list[KeptRows]:
    """What ``keep`` keeps of each piece of the file, in order; every query is in one piece, whole."""
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
        raise InputError(Problem("there are no rankings in it", place=file.name, allowed=f"columns: {COLUMNS}"))
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

    Pieces(file, *ends, progress).feed(take)
    return parts


def _scan_scattered(file: ByteFile, keep: Keep, seed: int, progress: Progress) -> list[KeptRows]:
    """The same for a file in which the lines of a query do not stand together: one sort over all of it."""
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

    Pieces(file, 0, None, progress).feed(take)
    whole = Chunk.of(b"".join(texts))
    with bad_lines_named(file, 0):
        return [keep(gathered(parts, offsets, whole))]


def _lines(chunk: Chunk, seed: int, final: bool) -> tuple[Lines | None, int]:
    try:
        return read_lines(chunk, seed, final=final)
    except WrongWidth as bad:
        bad.suggestion = f"a rankings file has {WIDTH} columns or more, separated by blanks or tabs: {COLUMNS}"
        raise


def _threads() -> int:
    return min(
        MOST_THREADS,
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
    )


def _ranges(file: ByteFile) -> list[tuple[int, int | None]]:
    """The file cut between two queries into pieces for the threads; one piece if it is small or compressed."""
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
    """Where the first query that begins behind ``at`` begins; the end of the file if none does."""
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
