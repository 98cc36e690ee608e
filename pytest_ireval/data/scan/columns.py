"""Columns of words: where each of them begins and ends in every line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.scan.chunks import (
    HASH,
    NEWLINE,
    RETURN,
    SHOWN_LINES,
    SPACE,
    TAB,
    BadLine,
    BadLines,
    Bytes,
    Chunk,
    Span,
    WrongWidth,
)
from pytest_ireval.data.scan.numbers import DECIMAL


def find_columns(chunk: Chunk, width: int, wanted: Sequence[int], *, exact: bool) -> list[Span]:
    """The spans of the ``wanted`` columns of every line that has content.

    Lines have ``width`` columns, or more unless ``exact``. The text ends in a newline. Most files are regular (one
    separator between two columns): strided slices of the separators' offsets are enough. Other chunks take the general
    path.
    """
    regular = _find_regular_columns(chunk.text, width, wanted)
    return regular if regular is not None else _find_any_columns(chunk, width, wanted, exact)


def _find_regular_columns(text: Bytes, width: int, wanted: Sequence[int]) -> list[Span] | None:
    """The spans if every line is ``width`` words with one blank or tab between them, else None."""
    blank = np.less_equal(text, SPACE)
    separator = np.flatnonzero(blank)
    if separator.size % width or not separator.size:
        return None
    line_end = np.ascontiguousarray(separator[width - 1 :: width])
    controls, lines = int(np.count_nonzero(text < SPACE)), line_end.size
    if controls != lines:
        newlines = int(np.count_nonzero(text == NEWLINE))
        if newlines != lines or controls != lines + int(np.count_nonzero(text == TAB)):
            return None
    if not (text.take(line_end) == NEWLINE).all() or blank[0] or np.logical_and(blank[1:], blank[:-1]).any():
        return None
    line_start = np.empty(line_end.size, np.int64)
    line_start[0] = 0
    np.add(line_end[:-1], 1, out=line_start[1:])
    if (text.take(line_start) == HASH).any():
        return None
    return [
        Span(separator[c - 1 :: width] + 1 if c else line_start, np.ascontiguousarray(separator[c::width]))
        for c in wanted
    ]


def _find_any_columns(chunk: Chunk, width: int, wanted: Sequence[int], exact: bool) -> list[Span]:
    """Takes runs of blanks, tabs, CR LF, blank lines, lines that begin with ``#``, further columns."""
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
        lines = [
            BadLine(int(start[first[i]]), f"has {int(count[i])} column{'s' if count[i] != 1 else ''}")
            for i in wrong[:SHOWN_LINES]
        ]
        raise WrongWidth(lines, wrong.size - len(lines))
    if width >= 6:  # lines of rankings are regular enough to recognise two lines in one
        _refuse_two_in_one(text, Span(start, end), first[count >= 2 * width - 1], width)
        _refuse_moved_columns(chunk, Span(start, end), first[count > width], width)
    return [Span(start[first + c], end[first + c]) for c in wanted]


def refuse_zero_bytes(text: Bytes) -> None:
    """Text has no zero bytes; UTF-16 has many."""
    zero = np.flatnonzero(text == 0)
    if zero.size:
        raise BadLines([BadLine(int(zero[0]), "contains a zero byte: is it UTF-16, or not a text file?")])


def _refuse_lone_carriage_returns(text: Bytes) -> None:
    """Refuse lines that end in CR alone: they would look like one line with many words, of which the first count."""
    returns = np.flatnonzero(text == RETURN)
    lone = returns[text[returns + 1] != NEWLINE]
    if lone.size:
        complaint = "has a carriage return without a line feed after it; lines must end in LF or CR LF"
        raise BadLines([BadLine(int(lone[0]), complaint)])


def _refuse_moved_columns(chunk: Chunk, words: Span, first: Integers, width: int) -> None:
    """Refuse a longer line with a number in the last column: with a blank in an id, all columns behind it have moved.

    Other words behind the last column belong to a tag with blanks. trec_eval ignores them, too.
    """
    last = words.at(first + width - 1)
    digits = np.flatnonzero(chunk.text[last.start] <= ord("9"))  # or a sign, or a point
    tokens = zip(digits.tolist(), chunk.tokens(last.at(digits)), strict=True)
    if numbers := [row for row, token in tokens if DECIMAL.fullmatch(token)]:
        complaint = f"has more than {width} columns, and a number in column {width}: does an id contain a space?"
        begin = words.start[first]
        lines = [BadLine(int(begin[row]), complaint) for row in numbers[:SHOWN_LINES]]
        raise BadLines(lines, len(numbers) - len(lines))


def _refuse_two_in_one(text: Bytes, words: Span, first: Integers, width: int) -> None:
    """Refuse a line that contains the next one, without a line feed between them: both have the same second word."""
    for further in (width, width + 1):
        one, other = words.at(first + 1), words.at(first + further)
        alike = one.length == other.length
        alike &= text[one.start] == text[other.start]
        for row in np.flatnonzero(alike).tolist():
            size, at, again = int(one.length[row]), int(one.start[row]), int(other.start[row])
            if (text[at : at + size] == text[again : again + size]).all():
                complaint = "looks like two lines; a line break may be missing"
                raise BadLines([BadLine(int(words.start[first[row]]), complaint)])
