"""Where the columns of every line begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.retrieval.scan.chunk import Bytes, Chunk, Offsets

TAB, NEWLINE, RETURN, SPACE, HASH = 9, 10, 13, 32, 35


class Span(NamedTuple):
    """Where one column starts and ends, a pair of offsets for every line."""

    start: Offsets
    end: Offsets


class BadLines(Exception):  # noqa: N818 - it says what it carries
    """Lines that cannot be read; the reader of the file turns offsets into line numbers."""

    def __init__(self, complaints: Sequence[tuple[int, str]], more: int = 0, *, suggestion: str = "") -> None:
        self.complaints = tuple(complaints)
        """Pairs of an offset inside the line and what is wrong with it."""
        self.more = more
        """How many further lines have the same fault."""
        self.suggestion = suggestion
        super().__init__(f"{len(self.complaints) + more} unreadable lines")


class WrongWidth(BadLines):
    """Lines with too few or too many columns."""


OF_RANKINGS = 6
"""Lines of so many columns are so much alike that two in one are told from one that is longer."""
SHOWN_LINES = 5
"""So many bad lines are named; the rest is counted."""


def columns(chunk: Chunk, width: int, wanted: Sequence[int], *, exact: bool) -> list[Span]:
    """The spans of the ``wanted`` columns of every line that has content.

    Lines have ``width`` columns, or more unless ``exact``. The text ends in a newline. Most files are regular (one
    separator between two columns), and strided slices of the separators' offsets are all it takes; any other
    chunk goes through the general path.
    """
    regular = _regular_columns(chunk.text, width, wanted)
    return regular if regular is not None else _general_columns(chunk, width, wanted, exact)


def _regular_columns(text: Bytes, width: int, wanted: Sequence[int]) -> list[Span] | None:
    """The spans if every line is ``width`` words with one blank or tab between them, else None."""
    blank = np.less_equal(text, SPACE)
    separator = np.flatnonzero(blank)
    if separator.size % width or not separator.size:
        return None
    line_end = separator[width - 1 :: width]
    newlines = int(np.count_nonzero(text == NEWLINE))
    if newlines != line_end.size or not (text[line_end] == NEWLINE).all():
        return None
    if blank[0] or np.logical_and(blank[1:], blank[:-1]).any() or not _only_tabs_besides(text, newlines):
        return None
    line_start = np.empty(line_end.size, np.int64)
    line_start[0] = 0
    np.add(line_end[:-1], 1, out=line_start[1:])
    if (text[line_start] == HASH).any():
        return None
    return [
        Span(separator[c - 1 :: width] + 1 if c else line_start, np.ascontiguousarray(separator[c::width]))
        for c in wanted
    ]


def _only_tabs_besides(text: Bytes, newlines: int) -> bool:
    """True when newlines and tabs are the only control characters."""
    controls = int(np.count_nonzero(text < SPACE))
    return controls == newlines or controls == newlines + int(np.count_nonzero(text == TAB))


def refuse_zero_bytes(text: Bytes) -> None:
    """Text has no zero bytes; UTF-16 has many."""
    zero = np.flatnonzero(text == 0)
    if zero.size:
        raise BadLines([(int(zero[0]), "holds a zero byte: is this UTF-16, or no text at all?")])


def _refuse_lone_carriage_returns(text: Bytes) -> None:
    """Lines that end in CR alone would look like one line with many words, of which the first count."""
    returns = np.flatnonzero(text == RETURN)
    lone = returns[text[returns + 1] != NEWLINE]
    if lone.size:
        raise BadLines([(int(lone[0]), "has a carriage return that no line feed follows: lines end in LF or CR LF")])


def _general_columns(chunk: Chunk, width: int, wanted: Sequence[int], exact: bool) -> list[Span]:
    """Runs of blanks, tabs, CR LF, blank lines, lines that begin with ``#``, further columns."""
    text = chunk.text
    refuse_zero_bytes(text)
    _refuse_lone_carriage_returns(text)
    blank = (text == SPACE) | ((text - np.uint8(TAB)) <= 4)  # space, \t \n \v \f \r
    start = np.flatnonzero(~blank & np.concatenate((np.ones(1, bool), blank[:-1])))
    end = np.flatnonzero(blank[1:] & ~blank[:-1]) + 1
    line_end = np.flatnonzero(text == NEWLINE)
    first = np.searchsorted(start, np.concatenate((np.zeros(1, np.int64), line_end[:-1] + 1)))
    count = np.diff(np.append(first, start.size))
    first, count = first[count > 0], count[count > 0]
    content = text[start[first]] != HASH
    first, count = first[content], count[content]
    wrong = np.flatnonzero(count != width if exact else count < width)
    if wrong.size:
        raise WrongWidth(
            [
                (int(start[first[i]]), f"has {int(count[i])} column{'s' if count[i] != 1 else ''}")
                for i in wrong[:SHOWN_LINES]
            ],
            max(0, wrong.size - SHOWN_LINES),
        )
    if width >= OF_RANKINGS:
        _refuse_two_in_one(text, Span(start, end), first[count >= 2 * width - 1], width)
    return [Span(start[first + c], end[first + c]) for c in wanted]


def _refuse_two_in_one(text: Bytes, words: Span, first: Offsets, width: int) -> None:
    """Lines whose further columns are another line, which lost its line feed: its second word is that of this one."""
    for further in (width, width + 1):
        one, other = first + 1, first + further
        length = words.end[one] - words.start[one]
        alike = words.end[other] - words.start[other] == length
        alike &= text[words.start[one]] == text[words.start[other]]
        for row in np.flatnonzero(alike).tolist():
            size, at, again = int(length[row]), int(words.start[one[row]]), int(words.start[other[row]])
            if (text[at : at + size] == text[again : again + size]).all():
                raise BadLines([(int(words.start[first[row]]), "looks like two lines; a line break may be missing")])
