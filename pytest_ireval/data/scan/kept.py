"""Lines of rankings: read, ordered, checked; and the rows that are kept when a chunk is freed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.ids import Ids, concatenated
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.scan.numbers import Numbers, exactly, numbers
from pytest_ireval.data.scan.tokens import (
    KEEP,
    SHOWN_LINES,
    BadLines,
    Chunk,
    Offsets,
    Span,
    U,
    Words,
    begins_of,
    columns,
    keys_of,
    mixed,
    not_unique,
    owners_of,
    repetitions,
    starts_of_groups,
)
from pytest_ireval.errors import shown


@dataclass(frozen=True, eq=False, repr=False)
class KeptRows:
    """The judged documents of some rankings, sorted by query and rank; all arrays but the first two by document.

    ``query_id`` and ``count`` (retrieved documents) have one entry a query, ``query`` is a position in them. Ranks
    start at 1; ``tied_from`` and ``tied_to`` are the first and last rank with the same score. ``judgment`` is the
    row in the judgments.
    """

    query_id: list[bytes]
    count: NDArray[np.int64]
    query: NDArray[np.int32 | np.int64]
    rank: NDArray[np.int32 | np.int64]
    score: NDArray[np.float64]
    tied_from: NDArray[np.int32 | np.int64]
    tied_to: NDArray[np.int32 | np.int64]
    judgment: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class FirstRows:
    """The first documents of some rankings, by query and rank.

    ``query_id``, ``count`` (retrieved documents) and ``kept`` have one entry a query, ``score`` and ``documents`` one
    a document. ``ties`` has the first and the last rank with the same score; None where each score stands alone.
    """

    query_id: list[bytes]
    count: NDArray[np.int64]
    kept: NDArray[np.int64]
    score: NDArray[np.float64]
    documents: Ids
    ties: tuple[NDArray[np.int32], NDArray[np.int32]] | None


def judged_rows(lines: Lines, judgments: Judgments, *, by_id: bool) -> KeptRows:
    """The judged documents of every ranking, with their ranks. ``by_id``: equal scores are ordered by id."""
    key = lines.pair_key
    _refuse_repetitions(lines, key)
    line, judgment = _judged_lines(lines, key, judgments)
    order = _ordered(lines, stable=not by_id)
    if by_id and order.group is not None:
        order = _with_ties_by_id(lines, order, order.group[order.positions()[line]])
    judgment_at = np.full(order.line.size, -1)
    judgment_at[order.positions()[line]] = judgment
    position = np.flatnonzero(judgment_at >= 0)
    query = np.searchsorted(lines.first, position, side="right") - 1
    before = lines.first[query] - 1
    tied_from, tied_to = order.tie_span(position)
    return KeptRows(
        query_id=lines.query_id,
        count=lines.count,
        query=query.astype(np.int32),
        rank=(position - before).astype(np.int32),
        score=_scores(lines, order, order.line[position]),
        tied_from=(tied_from - before).astype(np.int32),
        tied_to=(tied_to - before).astype(np.int32),
        judgment=judgment_at[position],
    )


def first_rows(lines: Lines, depth: int | None, *, by_id: bool) -> FirstRows:
    """The first ``depth`` documents of every ranking (None: all), with their ids."""
    _refuse_repetitions(lines, lines.pair_key)
    order = _ordered(lines, stable=not by_id)
    kept, position = lines.count, np.arange(lines.score.size)
    if depth is not None and kept.max(initial=0) > depth:
        position = position[position - np.repeat(lines.first[:-1], kept) < depth]
        kept = np.minimum(kept, depth)
    if by_id and order.group is not None:
        order = _with_ties_by_id(lines, order, order.group[position])
    ties = None
    if order.group is not None:
        before = np.repeat(lines.first[:-1], kept) - 1
        first, last = order.tie_span(position)
        ties = (first - before).astype(np.int32), (last - before).astype(np.int32)
    line = order.line[position]
    documents = Ids(lines.chunk, lines.document).take(line)
    return FirstRows(lines.query_id, lines.count, kept, _scores(lines, order, line), documents, ties)


def _judged_lines(lines: Lines, key: Words, judgments: Judgments) -> tuple[Offsets, Offsets]:
    """Lines whose (query, document) pair is judged, and the rows of their judgments."""
    query = np.array([judgments.position.get(name, -1) for name in lines.query_id], np.int64)
    line, row = judgments.table.pairs.find(key)
    of_line = np.searchsorted(lines.first, line, side="right") - 1
    sure = query[of_line] == judgments.query[row]
    found = Ids(lines.chunk, lines.document)
    sure[sure] = found.same(line[sure], judgments.documents, row[sure])
    return line[sure], row[sure]


def _scores(lines: Lines, order: _Order, line: Offsets) -> NDArray[np.float64]:
    score = order.score[line]
    inexact = np.flatnonzero(lines.inexact[line])
    if inexact.size:
        score[inexact] = exactly(lines.chunk, lines.score_text, line[inexact])
    return score


def _refuse_repetitions(lines: Lines, key: Words) -> None:
    _, later = repeated_documents(lines, key)
    if not later.size:
        return
    start, end = lines.document
    of_line = np.searchsorted(lines.first, later, side="right") - 1
    complaints = [
        (
            int(start[b]),
            f"document {shown(lines.chunk.token(int(start[b]), int(end[b])).decode())} is ranked twice "
            f"for query {shown(lines.query_id[q].decode())}",
        )
        for b, q in zip(later[:SHOWN_LINES].tolist(), of_line[:SHOWN_LINES].tolist(), strict=True)
    ]
    raise BadLines(complaints, max(0, later.size - SHOWN_LINES))


WIDTH, QUERY, DOCUMENT, SCORE = 6, 0, 2, 4


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Lines of whole queries. ``first`` has the begin of each query, and the end of the last one.

    ``query_id`` and ``query_key`` have one entry a query; ``document``, ``document_key`` and ``score`` one a line.
    """

    chunk: Chunk
    query_id: list[bytes]
    query_key: Words
    first: Offsets
    document: Span
    document_key: Words
    score_text: Span
    score: NDArray[np.float64]
    inexact: NDArray[np.bool_]

    @property
    def count(self) -> Offsets:
        """The number of lines of each query."""
        return np.diff(self.first)

    @property
    def pair_key(self) -> Words:
        """A key for the (query, document) pair of each line."""
        return self.document_key ^ np.repeat(self.query_key, self.count)

    @property
    def query(self) -> Offsets:
        """The query of each line, as a position in ``query_id``."""
        return owners_of(self.first)


class Rows(NamedTuple):
    """Rows of rankings in the order of the text, before they are cut into whole queries."""

    queries: Ids
    documents: Ids
    number: Span
    """The text of each score, in the chunk of the documents; it is read again where the score is inexact."""
    score: Numbers
    begin: Offsets
    """The offset of each row in the text that was read."""

    def lines(self, seed: int) -> Lines:
        """The lines of all queries."""
        return _lines(self, starts_of_groups(self.queries.chunk, self.queries.span), len(self.queries), seed)

    def whole_queries(self, seed: int) -> tuple[Lines | None, int]:
        """The lines of all but the last query, which may continue in the next chunk, and how many bytes they take."""
        heads = starts_of_groups(self.queries.chunk, self.queries.span)
        if heads.size < 2:
            return None, 0
        end = int(heads[-1])
        return _lines(self, heads[:-1], end, seed), int(self.begin[end])


def words_of_rankings(chunk: Chunk) -> Rows:
    """The rows of TREC's columns of words."""
    query, document, number = columns(chunk, WIDTH, (QUERY, DOCUMENT, SCORE), exact=False)
    _refuse_misplaced(chunk, document)
    return Rows(Ids(chunk, query), Ids(chunk, document), number, numbers(chunk, number, "score"), query.start)


def _lines(rows: Rows, heads: Offsets, size: int, seed: int) -> Lines:
    """The first ``size`` rows; a query begins at each of ``heads``."""
    start, end = rows.queries.span
    ids = Span(start[heads], end[heads])
    document = Span(*(edge[:size] for edge in rows.documents.span))
    return Lines(
        chunk=rows.documents.chunk,
        query_id=rows.queries.chunk.tokens(*ids),
        query_key=mixed(keys_of(rows.queries.chunk, ids, seed)),
        first=np.append(heads, size),
        document=document,
        document_key=keys_of(rows.documents.chunk, document, seed),
        score_text=Span(*(edge[:size] for edge in rows.number)),
        score=rows.score.value[:size],
        inexact=rows.score.inexact[:size],
    )


def _refuse_misplaced(chunk: Chunk, document: Span) -> None:
    """Refuse documents with the id ``Q0`` and no Q0 before them: an id with a space has moved the columns."""
    suspects = np.flatnonzero(document.end - document.start == 2)
    start = document.start[suspects]
    named = start[(chunk.text[start] == ord("Q")) & (chunk.text[start + 1] == ord("0"))]
    found = [at for at in named.tolist() if chunk.token(max(0, at - 64), at).split()[-1:] != [b"Q0"]]
    if found:
        complaint = "has Q0 in the third column, not in the second: does the query's id contain a space?"
        raise BadLines([(at, complaint) for at in found[:SHOWN_LINES]], max(0, len(found) - SHOWN_LINES))


def gathered_rows(parts: list[Lines]) -> Lines:
    """The lines of several parts with each query's lines together, in their order.

    The text of the parts is laid end to end, so a part must hold no more of it than its lines.
    """
    parts = [part for part in parts if part.score.size] or parts[:1]  # ``concatenated`` leaves out empty ones, too
    names = {name: i for i, name in enumerate(dict.fromkeys(n for part in parts for n in part.query_id))}
    key = np.zeros(len(names), np.uint64)
    query = []
    for part in parts:
        code = np.array([names[name] for name in part.query_id], np.int64)
        key[code] = part.query_key
        query.append(code[part.query])
    line_query = np.concatenate(query)
    order = np.argsort(line_query, kind="stable")
    at = begins_of(np.array([part.chunk.size for part in parts], np.int64))[:-1].tolist()
    return Lines(
        chunk=concatenated([Ids(part.chunk, part.document) for part in parts]).chunk,
        query_id=list(names),
        query_key=key,
        first=begins_of(np.bincount(line_query, minlength=len(names))),
        document=_gathered([part.document for part in parts], at, order),
        document_key=np.concatenate([part.document_key for part in parts])[order],
        score_text=_gathered([part.score_text for part in parts], at, order),
        score=np.concatenate([part.score for part in parts])[order],
        inexact=np.concatenate([part.inexact for part in parts])[order],
    )


def _gathered(spans: list[Span], offsets: list[int], order: Offsets) -> Span:
    start = np.concatenate([span.start + at for span, at in zip(spans, offsets, strict=True)])
    end = np.concatenate([span.end + at for span, at in zip(spans, offsets, strict=True)])
    return Span(start[order], end[order])


NARROW = 8
"""Ids of up to this many words are compared as words; longer ones as bytes, one by one."""

CLOSE = 1e-15
"""Two inexact scores that differ by less than this share are read again exactly."""


class _Order(NamedTuple):
    """``line[p]`` is the line at position p; the positions of a query are those of its lines.

    ``tied[p]``: the score at position p equals the one at p - 1, in one query. ``score`` is by line.
    """

    line: Offsets
    tied: NDArray[np.bool_]
    score: NDArray[np.float64]
    group: Offsets | None
    """The number of the group of equal scores at each position; None when no two scores are equal."""
    as_it_stands: bool
    """True if every line is at its own position."""

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


def _ordered(lines: Lines, *, stable: bool) -> _Order:
    """The lines by score, descending; ``stable`` keeps equal scores in the order of the file."""
    score = lines.score
    line, as_it_stands = _sorted_blocks(score, lines.first, stable)
    if lines.inexact.any():
        score = _exact_where_close(lines, line)
        line, as_it_stands = _sorted_blocks(score, lines.first, stable)
    sorted_score = score if as_it_stands else score[line]
    tied = np.zeros(line.size, bool)
    np.equal(sorted_score[1:], sorted_score[:-1], out=tied[1:])
    tied[lines.first[:-1]] = False
    return _Order(line, tied, score, np.cumsum(~tied) - 1 if tied.any() else None, as_it_stands)


def _sorted_blocks(score: NDArray[np.float64], first: Offsets, stable: bool) -> tuple[Offsets, bool]:
    """Line numbers in order of score, and True if that is the order of the file.

    Blocks that are already in order are not sorted.
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
    """Scores; those with a neighbour so close that the order may be wrong are read exactly."""
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


def _with_ties_by_id(lines: Lines, order: _Order, groups: Offsets) -> _Order:
    """The order with some groups of equal scores in descending order of their document ids."""
    if order.group is None:
        return order
    marked = np.zeros(int(order.group[-1]) + 1, bool)
    marked[groups] = True
    shared = order.tied.copy()
    shared[:-1] |= order.tied[1:]
    members = np.flatnonzero(shared)
    members = members[marked[order.group[members]]]
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
    keys = [~(loaded[:, j] & KEEP.take(length - 8 * j, mode="clip")) for j in range(words)]  # without what follows
    return np.lexsort((-length, *reversed(keys), group))  # the length decides among ids that end in zero bytes


def repeated_documents(lines: Lines, key: Words) -> tuple[Offsets, Offsets]:
    """Pairs of lines (first, later) with one document for one query; ``key`` is ``lines.pair_key``."""
    if not _any_equal(key):  # usually, and that is found without sorting
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = np.argsort(key)
    return repetitions(lines.chunk, lines.document, lines.query, not_unique(key[row], row))


def _any_equal(key: Words) -> bool:
    """Tell whether two keys are equal, without sorting.

    Every line writes its number to the place of its key; lines that another key has overwritten try again.
    """
    bits = max(8, int(key.size).bit_length() + 2)  # about four places for every line
    table = np.empty(1 << bits, np.int32)
    while key.size:
        place = (key >> U(64 - bits)).view(np.int64)
        mine = np.arange(key.size, dtype=np.int32)
        table[place] = mine
        winner = table[place]
        lost = np.flatnonzero(winner != mine)
        if (key[winner[lost]] == key[lost]).any():
            return True
        key = key[lost]
    return False
