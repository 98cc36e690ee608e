"""Judgments files in TREC qrels format: ``query iteration document grade``."""

from __future__ import annotations

import os
from typing import Literal

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.bytestream import ByteFile, byte_file
from pytest_ireval.retrieval.formats.linewise import Pieces
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.judgments import Judgments, Places, judgments_of
from pytest_ireval.retrieval.scan.chunk import Chunk
from pytest_ireval.retrieval.scan.numbers import exactly, numbers, whole_numbers_only
from pytest_ireval.retrieval.scan.tokens import Span, WrongWidth, columns
from pytest_ireval.retrieval.scan.words import starts_of_groups

COLUMNS = "query iteration document grade"
WIDTH = 4
QUERY, DOCUMENT, GRADE = 0, 2, 3

Grades = Literal["integer", "float"]


def read_judgments(
    path: str | os.PathLike[str], *, grades: Grades = "integer", progress: Progress = SILENT
) -> Judgments:
    """All judgments in the file. Grades are whole numbers unless ``grades="float"`` declares otherwise."""
    with byte_file(path) as file:
        progress.expect(file.size, "reading judgments")
        rows = _Rows(grades)
        Pieces(file, 0, None, progress).feed(rows.take)
        if not rows.code:
            raise InputError(Problem("there are no judgments in it", place=file.name, allowed=f"columns: {COLUMNS}"))
        return judgments_of(list(rows.code), *rows.columns(), places=_LinesOf(file, np.concatenate(rows.offsets)))


class _Rows:
    """Columns as they grow, chunk by chunk."""

    def __init__(self, grades: Grades) -> None:
        self.grades = grades
        self.code: dict[str, int] = {}
        self.query: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []
        self.documents: list[Ids] = []
        self.grade: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
        self.offsets: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = []

    def take(self, chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG002 - every line stands alone
        """Add the lines of a chunk."""
        query, document, grade = _columns(chunk)
        if query.start.size:
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
        return columns(chunk, WIDTH, (QUERY, DOCUMENT, GRADE), exact=True)
    except WrongWidth as bad:
        bad.suggestion = f"a judgments file has {WIDTH} columns, separated by blanks or tabs: {COLUMNS}"
        raise


class _LinesOf(Places):
    """Rows as lines of the file they were read from."""

    def __init__(self, file: ByteFile, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
        super().__init__(file.name)
        self.file, self.offsets = file, offsets

    def __call__(self, row: int) -> str:
        return f"{self.origin}:{self.file.line_at(int(self.offsets[row]))}"
