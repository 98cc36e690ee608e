"""The order of every ranking: score descending, equal scores by document id descending (in bytes) or as they stand.

Files are usually sorted already, so order is verified first and only queries out of order are sorted; only groups of
equal scores that somebody looks at are put in order of their ids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.scan.chunk import Offsets, Words
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.numbers import exactly
from pytest_ireval.retrieval.scan.words import KEEP

NARROW = 8
"""Ids of up to so many words are compared as words; longer ones as bytes, one by one."""

CLOSE = 1e-15
"""Two inexact scores that differ by less than this share are read again exactly."""


class Order(NamedTuple):
    """``line[p]`` is the line at position p; the positions of a query are those of its lines.

    ``tied[p]``: the score at position p equals the one at p - 1, in one query. ``score`` is by line.
    """

    line: Offsets
    tied: NDArray[np.bool_]
    score: NDArray[np.float64]
    group: Offsets | None
    """The number of the group of equal scores at each position; None when no two scores are equal."""
    as_it_stands: bool
    """Whether every line is at its own position."""

    def positions(self) -> Offsets:
        """The position of each line."""
        if self.as_it_stands:
            return self.line
        position = np.empty(self.line.size, np.int64)
        position[self.line] = np.arange(self.line.size)
        return position

    def tie_span(self, position: Offsets) -> tuple[Offsets, Offsets]:
        """First and last position of the group that holds each of some positions."""
        if self.group is None:
            return position, position
        first = np.flatnonzero(~self.tied)
        group = self.group[position]
        return first[group], np.append(first[1:], self.line.size)[group] - 1


def ordered(lines: Lines, *, stable: bool) -> Order:
    """Score descending; ``stable`` keeps the order of equal scores as it stands in the file."""
    score = lines.score
    line, as_it_stands = _sorted_blocks(score, lines.first, stable)
    if lines.inexact.any():
        score = _exact_where_close(lines, line)
        line, as_it_stands = _sorted_blocks(score, lines.first, stable)
    sorted_score = score if as_it_stands else score[line]
    tied = np.zeros(line.size, bool)
    np.equal(sorted_score[1:], sorted_score[:-1], out=tied[1:])
    tied[lines.first[:-1]] = False
    return Order(line, tied, score, np.cumsum(~tied) - 1 if tied.any() else None, as_it_stands)


def _sorted_blocks(score: NDArray[np.float64], first: Offsets, stable: bool) -> tuple[Offsets, bool]:
    """Line numbers in order of score, and whether that is the order in which they stand.

    Blocks that are in order already are left alone.
    """
    line = np.arange(score.size)
    rising = score[1:] > score[:-1]
    rising[first[1:-1] - 1] = False
    if not rising.any():
        return line, True
    block_of_rise = np.searchsorted(first, np.flatnonzero(rising), side="right") - 1
    for block in dict.fromkeys(block_of_rise.tolist()):
        start, end = first[block], first[block + 1]
        line[start:end] = start + np.argsort(-score[start:end], kind="stable" if stable else "quicksort")
    return line, False


def _exact_where_close(lines: Lines, line: Offsets) -> NDArray[np.float64]:
    """Scores with those read exactly whose neighbour is so close that the order might be another."""
    score, inexact = lines.score[line], lines.inexact[line]
    with np.errstate(over="ignore"):  # scores of opposite sign near the limit of floats: not close
        close = np.abs(score[1:] - score[:-1]) <= CLOSE * np.abs(score[:-1])
    close &= inexact[1:] | inexact[:-1]
    again = np.zeros(line.size, bool)
    again[1:] |= close
    again[:-1] |= close
    rows = line[again & inexact]
    exact = lines.score.copy()
    exact[rows] = exactly(lines.chunk, lines.score_text, rows)
    return exact


def with_ties_by_id(lines: Lines, order: Order, groups: NDArray[np.bool_]) -> Order:
    """The marked groups of equal scores in descending order of their document ids."""
    if order.group is None:
        return order
    shared = order.tied.copy()
    shared[:-1] |= order.tied[1:]
    members = np.flatnonzero(shared)
    members = members[groups[order.group[members]]]
    if not members.size:
        return order
    line = order.line[members]
    moved = order.line.copy()
    moved[members] = line[_by_id_descending(lines, line, order.group[members])]
    return order._replace(line=moved, as_it_stands=False)


def _by_id_descending(lines: Lines, line: Offsets, group: Offsets) -> Offsets:
    """The permutation that sorts by group, then by document id descending."""
    start, end = lines.document.start[line], lines.document.end[line]
    length = end - start
    words = max(1, -(-int(length.max()) // 8)) if length.size else 1
    if words > NARROW:
        ids = lines.chunk.tokens(start, end)
        rank = np.empty(len(ids), np.int64)
        rank[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids))
        return np.lexsort((rank, group))
    loaded = lines.chunk.windows_after(words)[start].view(">u8").reshape(-1, words).astype(np.uint64)
    keys: list[Words] = [~_head(loaded[:, j], length - 8 * j) for j in range(words)]
    return np.lexsort((-length, *reversed(keys), group))  # the length decides among ids that end in zero bytes


def _head(word: Words, length: Offsets) -> Words:
    """A big-endian word with what lies behind the token set to zero."""
    head: Words = word & KEEP.take(length, mode="clip")
    return head
