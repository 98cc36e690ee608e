"""Judgments files in TREC qrels format: ``query iteration document grade``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.bytestream import ByteFile
from pytest_ireval.retrieval.formats.linewise import Pieces
from pytest_ireval.retrieval.formats.reader import Grades
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.judgments import Judgments, judgments_of
from pytest_ireval.retrieval.scan.chunk import Chunk
from pytest_ireval.retrieval.scan.numbers import exactly, numbers, whole_numbers_only
from pytest_ireval.retrieval.scan.tokens import BadLines, Span, WrongWidth, columns
from pytest_ireval.retrieval.scan.words import starts_of_groups

COLUMNS = "query iteration document grade"
WIDTH = 4
QUERY, ITERATION, DOCUMENT, GRADE = range(WIDTH)


def read_trec_judgments(
    file: ByteFile, *, grades: Grades = "integer", one_iteration: bool = False, progress: Progress = SILENT
) -> Judgments:
    """All judgments in the file. Grades are whole numbers unless ``grades="float"`` declares otherwise.

    With ``one_iteration`` a file whose second column changes is refused: it might name subtopics.
    """
    progress.expect(file.size, "reading judgments")
    rows = _Rows(grades, one_iteration)
    Pieces(file, 0, None, progress).feed(rows.take)
    if not rows.code:
        raise InputError(Problem("there are no judgments in it", place=file.name, allowed=f"columns: {COLUMNS}"))
    place = lines_of(file, np.concatenate(rows.offsets))
    return judgments_of(list(rows.code), *rows.columns(), origin=file.name, place=place)


class _Rows:
    """Columns as they grow, chunk by chunk."""

    def __init__(self, grades: Grades, one_iteration: bool) -> None:
        self.grades = grades
        self.one_iteration = one_iteration
        self.iteration: bytes | None = None
        self.code: dict[str, int] = {}
        self.query: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        self.documents: list[Ids] = []
        self.grade: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
        self.offsets: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

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
                raise BadLines(
                    [
                        (
                            int(iteration.start[head]),
                            f"the second column is {text.decode()!r} here and {self.iteration.decode()!r} above: "
                            "this may be judgments of subtopics, or not",
                        )
                    ],
                    suggestion="say which: format trec does not look at that column, trec-diversity reads subtopics",
                )

    def _codes(self, chunk: Chunk, query: Span) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        heads = starts_of_groups(chunk, query)
        names = chunk.tokens(query.start[heads], query.end[heads])
        codes = [self.code.setdefault(name.decode(), len(self.code)) for name in names]
        return np.repeat(np.array(codes, np.int64), np.diff(np.append(heads, query.start.size)))

    def columns(
        self,
    ) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Ids, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Query, document and grade of every judgment."""
        return np.concatenate(self.query), concatenated(self.documents), np.concatenate(self.grade)


def _columns(chunk: Chunk) -> list[Span]:
    try:
        return columns(chunk, WIDTH, range(WIDTH), exact=True)
    except WrongWidth as bad:
        bad.suggestion = f"a judgments file has {WIDTH} columns, separated by blanks or tabs: {COLUMNS}"
        raise


def lines_of(file: ByteFile, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Callable[[int], str]:
    """Says which line of the file a row stands on; the row alone once the file is gone, as with a pipe."""
    ends: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def place(row: int) -> str:
        if not file.path.exists():
            return f"{file.name}, row {row + 1}"
        if not ends:
            ends.append(file.line_ends())
        return f"{file.name}:{int(np.searchsorted(ends[0], offsets[row])) + 1}"

    return place
