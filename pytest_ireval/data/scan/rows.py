"""Rows of rankings: by query, in order of score, checked; and those that are kept when the text is freed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats, Integers, Mask, Ranks, compute_begins, number_groups
from pytest_ireval.data.scan.chunks import SHOWN_LINES, SPACE, BadLine, BadLines, Chunk, Span, Words
from pytest_ireval.data.scan.ids import KEEP_FIRST, Ids, concatenate_ids
from pytest_ireval.data.scan.keys import KEEP_LAST, find_group_starts, hash_tokens, mix_again
from pytest_ireval.data.scan.numbers import Numbers, read_exactly, read_numbers
from pytest_ireval.data.scan.pairs import PairIndex, RepeatedRows, find_repeated_rows, find_rows_with_equal_keys
from pytest_ireval.errors import quote

RankCells = Span | Floats
"""Ranks beside scores, which no order depends on: as text, of which little is read, or as numbers."""


@dataclass(eq=False, repr=False)
class JudgedRows:
    """The judged documents of some rankings, sorted by query and rank; all arrays but ``count`` by document.

    ``queries`` and ``count`` (retrieved documents) have one entry a query, ``query`` is a position in them. Ranks
    start at 1; ``tied_from`` and ``tied_to`` are the first and last rank with the same score. ``judgment`` is the
    row in the judgments.
    """

    queries: list[str]
    count: Integers
    query: Integers | Ranks
    rank: Integers | Ranks
    score: Floats
    tied_from: Integers | Ranks
    tied_to: Integers | Ranks
    judgment: Integers
    contradicted: Sequence[str] = ()
    """Queries whose ranks in the text contradict the scores."""


class Ties(NamedTuple):
    """The first and the last rank with the score of each document."""

    first: Ranks
    last: Ranks


@dataclass(eq=False, repr=False)
class FirstRows:
    """The first documents of some rankings, by query and rank.

    ``queries``, ``count`` (retrieved documents) and ``kept`` have one entry a query, ``score`` and ``documents`` one
    a document. ``ties`` is None where each score stands alone.
    """

    queries: list[str]
    count: Integers
    kept: Integers
    score: Floats
    documents: Ids
    ties: Ties | None
    contradicted: Sequence[str] = ()
    """Queries whose ranks in the text contradict the scores."""


@dataclass(eq=False, repr=False)
class RankedRows:
    """Rows of whole queries. ``first`` has the begin of each query, and the end of the last one.

    ``queries`` has one entry a query; ``document``, ``document_key`` and ``score`` one a row. ``number`` is the text
    of each score, which is read again where the score is ``inexact``.
    """

    queries: list[str]
    first: Integers
    chunk: Chunk
    document: Span
    document_key: Words
    number: Span
    score: Floats
    inexact: Mask
    rank: RankCells | None = None

    @classmethod
    def of(
        cls, queries: Ids, documents: Ids, score: Floats, index: PairIndex, rank: Floats | None = None
    ) -> RankedRows:
        """Rows from columns, to be looked up in an index."""
        exact = Numbers(score, np.zeros(score.size, bool))
        rows = ParsedRows(queries, documents, documents.span, exact, np.arange(score.size), rank)
        return rows.group(index.seed)

    @property
    def count(self) -> Integers:
        """The number of rows of each query."""
        return np.diff(self.first)

    @property
    def documents(self) -> Ids:
        return Ids(self.chunk, self.document)

    def compute_pair_keys(self, query: Integers) -> Words:
        """A key for the pair in each row, given a number for each query."""
        return self.document_key ^ np.repeat(mix_again(query.astype(np.uint64)), self.count)

    def query_of(self, row: Integers) -> Integers:
        """The position in ``queries`` of some rows."""
        return np.searchsorted(self.first, row, side="right") - 1


class ParsedRows(NamedTuple):
    """Rows in the order of the text, before they are cut into queries."""

    queries: Ids
    documents: Ids
    number: Span
    """The text of each score, in the chunk of the documents."""
    score: Numbers
    begin: Integers
    """The offset of each row in the text that was read."""
    rank: RankCells | None = None

    def group(self, seed: int) -> RankedRows:
        """The rows of all queries."""
        return self._group_first(find_group_starts(self.queries.chunk, self.queries.span), len(self.queries), seed)

    def group_whole_queries(self, seed: int) -> tuple[RankedRows | None, int]:
        """The rows of all but the last query, which may continue in the next chunk, and how many bytes they take."""
        starts = find_group_starts(self.queries.chunk, self.queries.span)
        if starts.size < 2:
            return None, 0
        end = int(starts[-1])
        return self._group_first(starts[:-1], end, seed), int(self.begin[end])

    def _group_first(self, starts: Integers, size: int, seed: int) -> RankedRows:
        """The first ``size`` rows; a query begins at each of ``starts``."""
        document = self.documents.span.at(slice(size))
        return RankedRows(
            queries=self.queries.texts(starts),
            first=np.append(starts, size),
            chunk=self.documents.chunk,
            document=document,
            document_key=hash_tokens(self.documents.chunk, document, seed),
            number=self.number.at(slice(size)),
            score=self.score.value[:size],
            inexact=self.score.inexact[:size],
            rank=None if self.rank is None else _take_ranks(self.rank, slice(size)),
        )


def gather_rows(parts: list[RankedRows]) -> RankedRows:
    """The rows of several parts with those of each query together, in their order.

    The text of the parts is laid end to end, so a part must hold no more of it than its rows.
    """
    parts = [part for part in parts if part.score.size] or parts[:1]  # ``concatenate_ids`` leaves out empty ones, too
    position = {name: i for i, name in enumerate(dict.fromkeys(name for part in parts for name in part.queries))}
    codes = [np.array([position[name] for name in part.queries], np.int64) for part in parts]
    query = np.concatenate([code[number_groups(part.first)] for code, part in zip(codes, parts, strict=True)])
    order = np.argsort(query, kind="stable")
    at = compute_begins(np.array([part.chunk.size for part in parts], np.int64))[:-1].tolist()
    return RankedRows(
        queries=list(position),
        first=compute_begins(np.bincount(query, minlength=len(position))),
        chunk=concatenate_ids([part.documents for part in parts]).chunk,
        document=_concatenate_spans([part.document for part in parts], at).at(order),
        document_key=np.concatenate([part.document_key for part in parts])[order],
        number=_concatenate_spans([part.number for part in parts], at).at(order),
        score=np.concatenate([part.score for part in parts])[order],
        inexact=np.concatenate([part.inexact for part in parts])[order],
        rank=_gather_ranks([part.rank for part in parts], at, order),
    )


def _gather_ranks(parts: list[RankCells | None], at: list[int], order: Integers) -> RankCells | None:
    """The ranks of several parts; None unless all have them in one form."""
    if spans := [part for part in parts if isinstance(part, Span)]:
        return _concatenate_spans(spans, at).at(order) if len(spans) == len(parts) else None
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    return np.concatenate(numbers)[order] if len(numbers) == len(parts) else None


def _take_ranks(rank: RankCells, rows: Integers | slice) -> RankCells:
    return rank.at(rows) if isinstance(rank, Span) else rank[rows]


def _concatenate_spans(spans: list[Span], offsets: list[int]) -> Span:
    start = np.concatenate([span.start + at for span, at in zip(spans, offsets, strict=True)])
    return Span(start, np.concatenate([span.end + at for span, at in zip(spans, offsets, strict=True)]))


def keep_judged_rows(rows: RankedRows, index: PairIndex, position: Mapping[str, int], *, by_id: bool) -> JudgedRows:
    """The judged documents of every ranking, with their ranks; judged queries have a ``position`` in the index.

    ``by_id``: equal scores are ordered by id, descending; else they stay in the order of the file.
    """
    unjudged = len(position)  # unjudged queries get the numbers after those of the judged ones
    query = np.array([position.get(name, unjudged + i) for i, name in enumerate(rows.queries)], np.int64)
    key = rows.compute_pair_keys(query)
    _refuse_repeated_documents(rows, key)
    row, judgment = index.table.find(key)
    sure = query[rows.query_of(row)] == index.query[judgment]
    sure[sure] = rows.documents.equal(row[sure], index.documents, judgment[sure])
    row, judgment = row[sure], judgment[sure]
    order = _order_by_score(rows, stable=not by_id)
    contradicted = _find_contradicted_queries(rows, order)
    if by_id and order.group is not None:
        order = _order_ties_by_id(rows, order, order.group[order.positions()[row]])
    judgment_at = np.full(order.row.size, -1)
    judgment_at[order.positions()[row]] = judgment
    at = np.flatnonzero(judgment_at >= 0)
    of_query = rows.query_of(at)
    before = rows.first[of_query] - 1
    tied_from, tied_to = order.find_ties(at)
    return JudgedRows(
        queries=rows.queries,
        count=rows.count,
        query=of_query.astype(np.int32),
        rank=(at - before).astype(np.int32),
        score=_read_scores(rows, order, order.row[at]),
        tied_from=(tied_from - before).astype(np.int32),
        tied_to=(tied_to - before).astype(np.int32),
        judgment=judgment_at[at],
        contradicted=contradicted,
    )


def keep_first_rows(rows: RankedRows, depth: int | None, *, by_id: bool) -> FirstRows:
    """The first ``depth`` documents of every ranking (None: all), with their ids."""
    _refuse_repeated_documents(rows, rows.compute_pair_keys(np.arange(len(rows.queries))))
    order = _order_by_score(rows, stable=not by_id)
    contradicted = _find_contradicted_queries(rows, order)
    kept, at = rows.count, np.arange(rows.score.size)
    if depth is not None and kept.max(initial=0) > depth:
        at = at[at - np.repeat(rows.first[:-1], kept) < depth]
        kept = np.minimum(kept, depth)
    if by_id and order.group is not None:
        order = _order_ties_by_id(rows, order, order.group[at])
    ties = None
    if order.group is not None:
        before = np.repeat(rows.first[:-1], kept) - 1
        first, last = order.find_ties(at)
        ties = Ties((first - before).astype(np.int32), (last - before).astype(np.int32))
    row = order.row[at]
    score, documents = _read_scores(rows, order, row), rows.documents.copy(row)
    return FirstRows(rows.queries, rows.count, kept, score, documents, ties, contradicted)


def keep_first_of_columns(
    queries: list[str],
    query: Integers,
    documents: Ids,
    score: Floats,
    depth: int | None,
    *,
    by_id: bool,
    rank: Floats | None = None,
) -> FirstRows:
    """The same from columns with one entry a document; ``query`` holds positions in ``queries``, in any order.

    BadLines has numbers of rows in place of offsets.
    """
    order = np.argsort(query, kind="stable")
    document = documents.span.at(order)
    rows = RankedRows(
        queries=queries,
        first=compute_begins(np.bincount(query, minlength=len(queries))),
        chunk=documents.chunk,
        document=document,
        document_key=hash_tokens(documents.chunk, document),
        number=document,
        score=score[order],
        inexact=np.zeros(score.size, bool),
        rank=None if rank is None else rank[order],
    )
    try:
        return keep_first_rows(rows, depth, by_id=by_id)
    except BadLines as bad:
        row = np.searchsorted(documents.span.start, [line.offset for line in bad.lines]).tolist()
        lines = [BadLine(*each) for each in zip(row, (line.complaint for line in bad.lines), strict=True)]
        raise BadLines(lines, bad.more) from None


def find_repeated_documents(rows: RankedRows, key: Words) -> RepeatedRows:
    """Rows with one document for one query; ``key`` is that of each pair."""
    return find_repeated_rows(number_groups(rows.first), rows.documents, find_rows_with_equal_keys(key))


def _refuse_repeated_documents(rows: RankedRows, key: Words) -> None:
    later = find_repeated_documents(rows, key).later
    if later.size:
        some = later[:SHOWN_LINES]
        of_query = rows.query_of(some).tolist()
        lines = [
            BadLine(at, f"document {quote(name)} is ranked twice for query {quote(rows.queries[query])}")
            for at, name, query in zip(
                rows.document.start[some].tolist(), rows.documents.texts(some), of_query, strict=True
            )
        ]
        raise BadLines(lines, later.size - some.size)


NARROW = 8
"""Ids of up to this many words are compared as words; longer ones as bytes, one by one."""

CLOSE = 1e-15
"""Two inexact scores that differ by less than this share are read again exactly."""


class _Order(NamedTuple):
    """``row[p]`` is the row at position p; the positions of a query are those of its rows.

    ``tied[p]``: the score at position p equals the one at p - 1, in one query. ``score`` is by row.
    """

    row: Integers
    tied: Mask
    score: Floats
    group: Integers | None
    """The number of the group of equal scores at each position; None when no two scores are equal."""
    is_unchanged: bool
    """True if every row is at its own position."""

    def positions(self) -> Integers:
        """The position of each row."""
        if self.is_unchanged:
            return self.row
        position = np.empty(self.row.size, np.int64)
        position[self.row] = np.arange(self.row.size)
        return position

    def find_ties(self, at: Integers) -> tuple[Integers, Integers]:
        """First and last position of the group that holds each of some positions."""
        if self.group is None:
            return at, at
        first = np.flatnonzero(~self.tied)
        group = self.group[at]
        return first[group], np.append(first[1:], self.row.size)[group] - 1


def _order_by_score(rows: RankedRows, *, stable: bool) -> _Order:
    """The rows by score, descending; ``stable`` keeps equal scores in the order of the file."""
    score = rows.score
    row, is_unchanged = _sort_queries(score, rows.first, stable)
    if rows.inexact.any():
        score = _read_close_scores(rows, row)
        row, is_unchanged = _sort_queries(score, rows.first, stable)
    in_order = score if is_unchanged else score[row]
    tied = np.zeros(row.size, bool)
    np.equal(in_order[1:], in_order[:-1], out=tied[1:])
    tied[rows.first[:-1]] = False
    return _Order(row, tied, score, np.cumsum(~tied) - 1 if tied.any() else None, is_unchanged)


TOP = 10
"""Documents of each query whose ranks are compared with the order of their scores. All would take a tenth more time."""
_TOP_ROWS = np.arange(TOP)
_FEW_ROWS, _MOST_COMPARED = 20_000, 0.05
"""In a piece with more rows, at most this share of them is compared, unless a contradiction is among them."""


def _find_contradicted_queries(rows: RankedRows, order: _Order) -> list[str]:
    """The queries that have, among their first documents, a lower rank for a lower score."""
    if rows.rank is None:
        return []
    queries = np.arange(len(rows.queries))
    step = 1
    if rows.score.size > _FEW_ROWS:
        step += int(queries.size * TOP / (_MOST_COMPARED * rows.score.size))
    found = _compare_ranks(rows, rows.rank, order, queries[::step])
    if found.size and step > 1:
        found = _compare_ranks(rows, rows.rank, order, queries)
    return [rows.queries[query] for query in found.tolist()]


def _compare_ranks(rows: RankedRows, rank: RankCells, order: _Order, queries: Integers) -> Integers:
    """Those of some queries whose ranks contradict the scores."""
    # a row for each query; a shorter one repeats its last document
    at = np.minimum(rows.first[queries, None] + _TOP_ROWS, rows.first[queries + 1, None] - 1)
    row = at if order.is_unchanged else order.row[at]
    if not isinstance(rank, Span):
        found = _find_falls(rank[row], order, at)
        return queries[found]
    rank = trim_blanks(rows.chunk, rank.start[row], rank.end[row])
    # of digits, the big-endian words compare as the numbers do, but for zeros in front
    words = rows.chunk.windows(1)[rank.end].view(">u8") & KEEP_FIRST.take(rank.length, mode="clip")
    falls = np.flatnonzero((words[:, 1:] < words[:, :-1]).any(axis=1))
    if falls.size:
        tokens = Span(rank.start[falls].ravel(), rank.end[falls].ravel())
        try:
            numbers = read_numbers(rows.chunk, tokens, "rank").value
        except BadLines:  # ranks such as 1st and 2nd are allowed, but cannot be compared
            return queries[:0]
        falls = falls[_find_falls(numbers.reshape(falls.size, TOP), order, at[falls])]
    return queries[falls]


def _find_falls(ranks: Floats, order: _Order, at: Integers) -> Integers:
    """The lines of a table of ranks that have a lower one for a lower score; ``at`` has their positions."""
    return np.flatnonzero(((ranks[:, 1:] < ranks[:, :-1]) & ~order.tied[at[:, 1:]]).any(axis=1))


def trim_blanks(chunk: Chunk, start: Integers, end: Integers) -> Span:
    """The tokens without the blanks around them; of blanks alone, nothing is left."""
    while (blank := (chunk.text[start] <= SPACE) & (start < end)).any():
        start = start + blank
    while (blank := (chunk.text[end - 1] <= SPACE) & (start < end)).any():
        end = end - blank
    return Span(start, end)


def _sort_queries(score: Floats, first: Integers, stable: bool) -> tuple[Integers, bool]:
    """Row numbers in order of score, and True if that is the order of the file.

    Files are nearly always in order, so only queries with a score above the one before are sorted.
    """
    row = np.arange(score.size)
    rising = score[1:] > score[:-1]
    rising[first[1:-1] - 1] = False
    if not rising.any():
        return row, True
    query_of_rise = np.searchsorted(first, np.flatnonzero(rising), side="right") - 1
    for query in dict.fromkeys(query_of_rise.tolist()):
        start, end = first[query], first[query + 1]
        row[start:end] = start + np.argsort(-score[start:end], kind="stable" if stable else "quicksort")
    return row, False


def _read_close_scores(rows: RankedRows, row: Integers) -> Floats:
    """Scores; those with a neighbour so close that the order may be wrong are read exactly."""
    score, inexact = rows.score[row], rows.inexact[row]
    with np.errstate(over="ignore"):  # scores of opposite sign near the limit of floats: not close
        close = np.abs(score[1:] - score[:-1]) <= CLOSE * np.abs(score[:-1])
    close &= inexact[1:] | inexact[:-1]
    again = np.zeros(row.size, bool)
    again[1:] |= close
    again[:-1] |= close
    doubtful = row[again & inexact]
    exact = rows.score.copy()
    exact[doubtful] = read_exactly(rows.chunk, rows.number, doubtful)
    return exact


def _read_scores(rows: RankedRows, order: _Order, row: Integers) -> Floats:
    score = order.score[row]
    inexact = np.flatnonzero(rows.inexact[row])
    if inexact.size:
        score[inexact] = read_exactly(rows.chunk, rows.number, row[inexact])
    return score


def _order_ties_by_id(rows: RankedRows, order: _Order, groups: Integers) -> _Order:
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
    row = order.row[members]
    moved = order.row.copy()
    moved[members] = row[_sort_by_id(rows, row, order.group[members])]
    return order._replace(row=moved, is_unchanged=False)


def _sort_by_id(rows: RankedRows, row: Integers, group: Integers) -> Integers:
    """The permutation that sorts by group, then by document id descending."""
    span = rows.document.at(row)
    length = span.length
    words = max(1, -(-int(length.max()) // 8)) if length.size else 1
    if words > NARROW:
        ids = rows.chunk.tokens(span)
        rank = np.empty(len(ids), np.int64)
        rank[sorted(range(len(ids)), key=ids.__getitem__, reverse=True)] = np.arange(len(ids))
        return np.lexsort((rank, group))
    loaded = rows.chunk.windows_after(words)[span.start].view(">u8").reshape(-1, words).astype(np.uint64)
    # big-endian words compare as their bytes do; what follows an id is cut off
    keys = [~(loaded[:, j] & KEEP_LAST.take(length - 8 * j, mode="clip")) for j in range(words)]
    return np.lexsort((-length, *reversed(keys), group))  # the length decides among ids that end in zero bytes
