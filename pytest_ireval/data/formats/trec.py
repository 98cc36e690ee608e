"""TREC files: judgments ``query iteration document grade``, rankings ``query Q0 document rank score tag``.

Runs of MS MARCO, ``query document rank``, are read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.formats.input_file import ByteFile, InputFile
from pytest_ireval.data.formats.pieces import Layout, Pieces, kept_rows
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.ids import Ids, concatenated
from pytest_ireval.data.judgments import Judgments, judgments_of
from pytest_ireval.data.rankings import Rankings, rankings_of
from pytest_ireval.data.scan.kept import KeptRows, Rows, first_rows, judged_rows, words_of_rankings
from pytest_ireval.data.scan.numbers import Numbers, exactly, numbers, whole_numbers_only
from pytest_ireval.data.scan.tokens import (
    SHOWN_LINES,
    BadLines,
    Chunk,
    Offsets,
    Span,
    WrongWidth,
    columns,
    starts_of_groups,
)
from pytest_ireval.data.tables import NUMBER
from pytest_ireval.errors import InputError, Problem, shown
from pytest_ireval.results.policies import Grades

ROUNDS = 50
"""Of judging; more different second columns are something else."""
JUDGMENT_COLUMNS = "query iteration document grade"


def read_trec_judgments(source: InputFile, how: Reading) -> Judgments:
    """All judgments in the file.

    The second column may change if it has rounds of judging: a few numbers, and each document once for a query. Else it
    may have subtopics, or documents: name the format.
    """
    file = source.bytes
    how.progress.expect(file.size, "reading judgments")
    rows = _Columns(how.grades, how.recognised)
    Pieces(file, 0, None, how.progress).feed(rows.take)
    if not rows.code:
        raise InputError(Problem("it contains no judgments", place=file.name, allowed=f"columns: {JUDGMENT_COLUMNS}"))
    place = _lines_of(file, np.concatenate(rows.offsets))
    query, documents, grade = np.concatenate(rows.query), concatenated(rows.documents), np.concatenate(rows.grade)
    try:
        found = judgments_of(list(rows.code), query, documents, grade, origin=file.name, place=place)
    except InputError:
        if rows.change is None:
            raise
        raise _may_have_subtopics(rows.change, place) from None
    if rows.change and (len(found) < query.size or not _are_rounds([*map(bytes.decode, rows.iterations)], documents)):
        raise _may_have_subtopics(rows.change, place)
    return found


def _are_rounds(iterations: Sequence[str], documents: Ids) -> bool:
    """Tell whether second columns are a few numbers, and none of them a document: columns may be swapped."""
    keys = np.unique(documents.keys())
    few = len(iterations) <= ROUNDS and len(iterations) < keys.size
    return few and all(map(NUMBER.fullmatch, iterations)) and not np.isin(Ids.of(iterations).keys(), keys).any()


def _may_have_subtopics(change: tuple[int, str], place: Callable[[int], str]) -> InputError:
    row, complaint = change
    remedy = "choose a format: trec ignores that column, trec-diversity reads subtopics from it"
    return InputError(Problem(complaint, place=place(row), suggestion=remedy))


class _Columns:
    """Columns as they grow, chunk by chunk."""

    def __init__(self, grades: Grades, one_iteration: bool) -> None:
        self.grades = grades
        self.one_iteration = one_iteration
        self.iterations: set[bytes] = set()
        """All second columns, or somewhat more than :data:`ROUNDS` of them; looked for if ``one_iteration``."""
        self.change: tuple[int, str] | None = None
        """The first row with another second column, and what it has there."""
        self.code: dict[str, int] = {}
        self.query: list[Offsets] = []
        self.documents: list[Ids] = []
        self.grade: list[NDArray[np.float64]] = []
        self.offsets: list[Offsets] = []

    def take(self, chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG002 - every line stands alone
        """Add the lines of a chunk."""
        query, iteration, document, grade = _columns(chunk)
        if query.start.size:
            if self.one_iteration and len(self.iterations) <= ROUNDS:
                self._look_at(chunk, iteration)
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

    def _look_at(self, chunk: Chunk, iteration: Span) -> None:
        heads = starts_of_groups(chunk, iteration)
        for head, text in zip(heads.tolist(), chunk.tokens(iteration.start[heads], iteration.end[heads]), strict=True):
            if self.iterations and self.change is None and text not in self.iterations:
                row = sum(offsets.size for offsets in self.offsets) + head
                above = next(iter(self.iterations)).decode()
                found = f"the second column is {text.decode()!r} here and {above!r} above"
                self.change = row, f"{found}: are these judgments of subtopics?"
            self.iterations.add(text)

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


RANKING_COLUMNS = "query Q0 document rank score tag"


def read_trec_rankings(file: InputFile, how: Reading) -> Rankings:
    """The first documents of every ranking in the file."""
    parts = kept_rows(file.bytes, _LAYOUT, partial(first_rows, depth=how.depth, by_id=how.by_id), 0, how.progress)
    return rankings_of(parts, file.name)


def judged_in_file(file: InputFile, judgments: Judgments, how: Reading) -> list[KeptRows]:
    """The judged documents of the rankings in the file, with their ranks."""
    keep = partial(judged_rows, judgments=judgments, by_id=how.by_id)
    return kept_rows(file.bytes, _LAYOUT, keep, judgments.table.seed, how.progress)


def _rows(chunk: Chunk, at: int) -> Rows:  # noqa: ARG001 - every line stands alone
    try:
        return words_of_rankings(chunk)
    except WrongWidth as bad:
        bad.suggestion = f"a rankings file has 6 columns or more, separated by spaces or tabs: {RANKING_COLUMNS}"
        raise


def _query(line: bytes) -> bytes:
    words = line.split(None, 1)
    return words[0] if words and not words[0].startswith(b"#") else b""


_LAYOUT = Layout(_rows, _query, f"columns: {RANKING_COLUMNS}")


MSMARCO_COLUMNS = "query document rank"


def read_msmarco_rankings(file: InputFile, how: Reading) -> Rankings:
    """The first documents of every ranking in the file; the score of a document is its negative rank."""
    keep = partial(first_rows, depth=how.depth, by_id=how.by_id)
    return rankings_of(kept_rows(file.bytes, _MSMARCO, keep, 0, how.progress), file.name)


def judged_in_msmarco(file: InputFile, judgments: Judgments, how: Reading) -> list[KeptRows]:
    """The judged documents of the rankings in the file."""
    keep = partial(judged_rows, judgments=judgments, by_id=how.by_id)
    return kept_rows(file.bytes, _MSMARCO, keep, judgments.table.seed, how.progress)


def _ranked(chunk: Chunk, at: int) -> Rows:  # noqa: ARG001 - every line stands alone
    try:
        query, document, number = columns(chunk, 3, range(3), exact=True)
    except WrongWidth as bad:
        bad.suggestion = f"a run of MS MARCO has 3 columns, separated by tabs or spaces: {MSMARCO_COLUMNS}"
        raise
    rank, inexact = numbers(chunk, number, "rank")
    wrong = np.flatnonzero((rank < 1) | (rank != np.floor(rank)))
    if wrong.size:
        some = wrong[:SHOWN_LINES]
        texts = chunk.tokens(number.start[some], number.end[some])
        complaints = [
            (at, f"rank {shown(text.decode())} is not a whole number from 1")
            for at, text in zip(number.start[some].tolist(), texts, strict=True)
        ]
        raise BadLines(complaints, wrong.size - some.size)
    return Rows(Ids(chunk, query), Ids(chunk, document), number, Numbers(-rank, inexact & False), query.start)


_MSMARCO = Layout(_ranked, _query, f"columns: {MSMARCO_COLUMNS}")
