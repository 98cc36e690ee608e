"""TREC files: judgments ``query iteration document grade``, rankings ``query Q0 document rank score tag``.

Runs of MS MARCO, ``query document rank``, are read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.formats.input_file import ByteFile, InputFile
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments, make_judgments
from pytest_ireval.data.rankings import Rankings, join_first_rows
from pytest_ireval.data.scan import (
    JUDGMENT_COLUMNS,
    MSMARCO_RANKINGS,
    TREC_RANKINGS,
    Ids,
    JudgedRows,
    JudgmentColumns,
    scan_first_rows,
    scan_judged_rows,
)
from pytest_ireval.data.tables import NUMBER
from pytest_ireval.errors import InputError, Problem

MOST_ROUNDS = 50
"""Of judging; more different second columns are something else."""


def read_trec_judgments(source: InputFile, how: Reading) -> Judgments:
    """All judgments in the file.

    The second column may change if it has rounds of judging: a few numbers, and each document once for a query. Else it
    may have subtopics, or documents: name the format.
    """
    file = source.bytes
    columns = JudgmentColumns(fractions=how.grades == "float", most_iterations=MOST_ROUNDS if how.recognised else -1)
    query, documents, grade = columns.read(file, how.progress)
    if not columns.queries:
        raise InputError(Problem("it contains no judgments", place=file.name, allowed=f"columns: {JUDGMENT_COLUMNS}"))
    place = _place_by_line(file, columns)
    try:
        judgments = make_judgments(list(columns.queries), query, documents, grade, origin=file.name, place=place)
    except InputError:
        if len(columns.iterations) < 2:
            raise
        raise _may_have_subtopics(columns.iterations, place) from None
    if len(columns.iterations) > 1:
        each_once = len(judgments) == query.size
        if not each_once or not _are_rounds(columns.iterations, documents):
            raise _may_have_subtopics(columns.iterations, place)
    return judgments


def _are_rounds(iterations: dict[str, int], documents: Ids) -> bool:
    """Tell whether second columns are a few numbers, and none of them a document: columns may be swapped."""
    if len(iterations) > MOST_ROUNDS or not all(map(NUMBER.fullmatch, iterations)):
        return False
    names = set(documents.texts())
    return len(iterations) < len(names) and names.isdisjoint(iterations)


def _may_have_subtopics(iterations: dict[str, int], place: Callable[[int], str]) -> InputError:
    (above, _), (here, row), *_ = iterations.items()
    complaint = f"the second column is {here!r} here and {above!r} above: are these judgments of subtopics?"
    remedy = "choose a format: trec ignores that column, trec-diversity reads subtopics from it"
    return InputError(Problem(complaint, place=place(row), suggestion=remedy))


def _place_by_line(file: ByteFile, columns: JudgmentColumns) -> Callable[[int], str]:
    """The places of rows by line of the file; by row alone once the file is gone, as with a pipe."""
    ends: Integers | None = None

    def place(row: int) -> str:
        nonlocal ends
        if not file.path.exists():
            return f"{file.name}, row {row + 1}"
        if ends is None:  # the file is gone through only for a message
            ends = file.line_ends()
        return f"{file.name}:{int(np.searchsorted(ends, columns.offsets[row])) + 1}"

    return place


def read_trec_rankings(file: InputFile, how: Reading) -> Rankings:
    """The first documents of every ranking in the file."""
    rows = scan_first_rows(file.bytes, TREC_RANKINGS, how.depth, how.progress, by_id=how.by_id)
    return join_first_rows(rows, file.name)


def read_judged_in_trec(file: InputFile, judgments: Judgments, how: Reading) -> list[JudgedRows]:
    """The judged documents of the rankings in the file, with their ranks."""
    index, position = judgments.index, judgments.position
    return scan_judged_rows(file.bytes, TREC_RANKINGS, index, position, how.progress, by_id=how.by_id)


def read_msmarco_rankings(file: InputFile, how: Reading) -> Rankings:
    """The first documents of every ranking in the file; the score of a document is its negative rank."""
    rows = scan_first_rows(file.bytes, MSMARCO_RANKINGS, how.depth, how.progress, by_id=how.by_id)
    return join_first_rows(rows, file.name)


def read_judged_in_msmarco(file: InputFile, judgments: Judgments, how: Reading) -> list[JudgedRows]:
    """The judged documents of the rankings in the file."""
    index, position = judgments.index, judgments.position
    return scan_judged_rows(file.bytes, MSMARCO_RANKINGS, index, position, how.progress, by_id=how.by_id)
