"""Columns of words: TREC's rankings ``query Q0 document rank score tag`` and judgments, and runs of MS MARCO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats, Integers
from pytest_ireval.data.formats.input_file import ByteFile
from pytest_ireval.data.scan.chunks import SHOWN_LINES, BadLine, BadLines, Chunk, Span, WrongWidth
from pytest_ireval.data.scan.columns import find_columns
from pytest_ireval.data.scan.ids import Ids, concatenate_ids
from pytest_ireval.data.scan.keys import find_group_starts
from pytest_ireval.data.scan.numbers import DECIMAL, Numbers, read_exactly, read_numbers, refuse_fractions
from pytest_ireval.data.scan.pieces import Layout, Pieces
from pytest_ireval.data.scan.rows import ParsedRows, trim_blanks
from pytest_ireval.errors import quote
from pytest_ireval.progress import Progress

RANKING_COLUMNS = "query Q0 document rank score tag"
MSMARCO_COLUMNS = "query document rank"
JUDGMENT_COLUMNS = "query iteration document grade"


def _find_columns(chunk: Chunk, width: int, wanted: Sequence[int], allowed: str, *, exact: bool = True) -> list[Span]:
    try:
        return find_columns(chunk, width, wanted, exact=exact)
    except WrongWidth as bad:
        bad.suggestion = allowed
        raise


def parse_trec_rankings(chunk: Chunk, at: int = 0) -> ParsedRows:  # noqa: ARG001 - every line stands alone
    allowed = f"a rankings file has 6 columns or more, separated by spaces or tabs: {RANKING_COLUMNS}"
    query, document, number = _find_columns(chunk, 6, (0, 2, 4), allowed, exact=False)
    _refuse_blank_ids(chunk, query, document)
    _refuse_misplaced_columns(chunk, document)
    _refuse_words_as_ranks(chunk, document, number)
    score = read_numbers(chunk, number, "score")
    rank = Span(document.end, number.start)  # with the blanks around it
    return ParsedRows(Ids(chunk, query), Ids(chunk, document), number, score, query.start, rank)


def _refuse_words_as_ranks(chunk: Chunk, document: Span, number: Span) -> None:
    """Refuse ranks that are no numbers: an id with a blank has moved the columns.

    A rank is between the document and the score; nearly always one blank and then a digit follow the document.
    """
    first = chunk.text[1:].take(document.end)
    first -= np.uint8(ord("0"))
    if first.max(initial=0) <= 9:
        return
    odd = np.flatnonzero(first > 9)
    lines = []
    rank = trim_blanks(chunk, document.end[odd], number.start[odd])
    begin = chunk.text[rank.start]
    for row in np.flatnonzero(begin - np.uint8(ord("0")) > 9).tolist():
        token = chunk.token(int(rank.start[row]), int(rank.end[row]))
        if not DECIMAL.fullmatch(token):
            complaint = f"rank {quote(token.decode())} is not a number: does an id contain a space?"
            lines.append(BadLine(int(rank.start[row]), complaint))
    if lines:
        raise BadLines(lines[:SHOWN_LINES], max(0, len(lines) - SHOWN_LINES))


def _refuse_blank_ids(chunk: Chunk, *columns: Span) -> None:
    """Refuse ids of nothing but blanks beyond ASCII, such as a no-break space: the id is missing there."""
    for ids in columns if not chunk.is_ascii else ():
        first = chunk.text[ids.start]
        rows = np.flatnonzero((first == 0xC2) | ((first >= 0xE1) & (first <= 0xE3)))  # such blanks begin with
        second = chunk.text[ids.start[rows] + 1]
        rows = rows[(second == 0x80) | (second == 0x81) | (second == 0x85) | (second == 0x9A) | (second == 0xA0)]
        blank = [
            row
            for row, token in zip(rows.tolist(), chunk.tokens(ids.at(rows)), strict=True)
            if token.decode().isspace()
        ]
        if blank:
            lines = [
                BadLine(
                    int(ids.start[row]),
                    f"{chunk.token(int(ids.start[row]), int(ids.end[row])).decode()!r} is not an id",
                )
                for row in blank[:SHOWN_LINES]
            ]
            raise BadLines(lines, len(blank) - len(lines))


def _refuse_misplaced_columns(chunk: Chunk, document: Span) -> None:
    """Refuse documents with the id ``Q0`` and no Q0 before them: an id with a space has moved the columns."""
    start = document.start[np.flatnonzero(document.length == 2)]
    named = start[(chunk.text[start] == ord("Q")) & (chunk.text[start + 1] == ord("0"))]
    wrong = [at for at in named.tolist() if chunk.token(max(0, at - 64), at).split()[-1:] != [b"Q0"]]
    if wrong:
        complaint = "has Q0 in the third column, not in the second: does the query's id contain a space?"
        raise BadLines([BadLine(at, complaint) for at in wrong[:SHOWN_LINES]], max(0, len(wrong) - SHOWN_LINES))


def _parse_msmarco_rankings(chunk: Chunk, at: int) -> ParsedRows:  # noqa: ARG001 - every line stands alone
    allowed = f"a run of MS MARCO has 3 columns, separated by tabs or spaces: {MSMARCO_COLUMNS}"
    query, document, number = _find_columns(chunk, 3, range(3), allowed)
    _refuse_blank_ids(chunk, query, document)
    rank, inexact = read_numbers(chunk, number, "rank")
    wrong = np.flatnonzero((rank < 1) | (rank != np.floor(rank)))
    if wrong.size:
        some = number.at(wrong[:SHOWN_LINES])
        lines = [
            BadLine(start, f"rank {quote(text.decode())} is not a whole number from 1")
            for start, text in zip(some.start.tolist(), chunk.tokens(some), strict=True)
        ]
        raise BadLines(lines, wrong.size - len(lines))
    score = Numbers(-rank, np.zeros_like(inexact))  # the order of ranks is enough
    return ParsedRows(Ids(chunk, query), Ids(chunk, document), number, score, query.start)


def _read_first_word(line: bytes) -> bytes:
    words = line.split(None, 1)
    return words[0] if words and not words[0].startswith(b"#") else b""


TREC_RANKINGS = Layout(parse_trec_rankings, _read_first_word, f"columns: {RANKING_COLUMNS}")
MSMARCO_RANKINGS = Layout(_parse_msmarco_rankings, _read_first_word, f"columns: {MSMARCO_COLUMNS}")


class JudgmentRows(NamedTuple):
    """A row for each line of judgments; ``query`` holds positions in the queries of the columns."""

    query: Integers
    documents: Ids
    grade: Floats


class JudgmentColumns:
    """Reads the columns of TREC's judgments, chunk by chunk."""

    def __init__(self, *, fractions: bool, most_iterations: int) -> None:
        self.fractions = fractions
        self.most_iterations = most_iterations
        self.queries: dict[str, int] = {}
        self.iterations: dict[str, int] = {}
        """Different second columns with the first row of each; somewhat more than ``most_iterations`` at most."""
        self._parts: list[JudgmentRows] = []
        self._offsets: list[Integers] = []
        self._rows = 0

    def read(self, file: ByteFile, progress: Progress) -> JudgmentRows:
        """All rows of the file."""
        progress.expect(file.size, "reading judgments")
        Pieces(file, 0, None, progress).feed(self._take)
        if not self._parts:
            return JudgmentRows(np.zeros(0, np.int64), Ids.of([]), np.zeros(0))
        parts, self._parts = self._parts, []  # their memory is free for the index of the rows
        query, documents, grade = zip(*parts, strict=True)
        return JudgmentRows(np.concatenate(query), concatenate_ids(documents), np.concatenate(grade))

    @property
    def offsets(self) -> Integers:
        """An offset inside the line of each row."""
        return np.concatenate(self._offsets)

    def _take(self, chunk: Chunk, at: int, final: bool) -> int:  # noqa: ARG002 - every line stands alone
        allowed = f"a judgments file has 4 columns, separated by spaces or tabs: {JUDGMENT_COLUMNS}"
        query, iteration, document, grade = _find_columns(chunk, 4, range(4), allowed)
        _refuse_blank_ids(chunk, query, document)
        if query.start.size:
            if len(self.iterations) <= self.most_iterations:
                starts = find_group_starts(chunk, iteration)
                for row, text in zip(starts.tolist(), chunk.tokens(iteration.at(starts)), strict=True):
                    self.iterations.setdefault(text.decode(), self._rows + row)
            value, inexact = read_numbers(chunk, grade, "grade")
            rows = np.flatnonzero(inexact)
            value[rows] = read_exactly(chunk, grade, rows)
            if not self.fractions:
                refuse_fractions(chunk, grade, value, "grade")
            value += 0.0  # no negative zeros
            self._parts.append(JudgmentRows(self._number_queries(chunk, query), Ids(chunk, document).detach(), value))
            self._offsets.append(document.start + at)
            self._rows += value.size
        return chunk.size

    def _number_queries(self, chunk: Chunk, query: Span) -> Integers:
        starts = find_group_starts(chunk, query)
        names = chunk.tokens(query.at(starts))
        codes = [self.queries.setdefault(name.decode(), len(self.queries)) for name in names]
        return np.repeat(np.array(codes, np.int64), np.diff(np.append(starts, query.start.size)))
