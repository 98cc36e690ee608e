"""Rankings as text: one query a line, documents in their final order, with scores only where they are needed."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baselines.tab_lines import Damage, QueryLines, rows_by_id, taken_apart, written
from pytest_ireval.errors import shown
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.kept import Lines, repeated_documents
from pytest_ireval.retrieval.scan.numbers import exactly, numbers
from pytest_ireval.retrieval.scan.tokens import BadLines, Offsets, Span, mixed

HEAD = re.compile(rb"# ireval rankings, format (\d{1,9}), depth (\d{1,10})(, with scores)?\n")


def encoded_rankings(rankings: Rankings, depth: int, *, scored: bool) -> bytes:
    """The whole text of a file; queries sorted by id, so that it does not depend on the order of a source."""
    scores = ", with scores" if scored else ""
    return f"# ireval rankings, format 1, depth {depth}{scores}\n".encode() + ranking_lines(
        rankings, depth, scored=scored
    )


def ranking_lines(rankings: Rankings, depth: int | None = None, *, scored: bool = False) -> bytes:
    """The lines of the queries."""
    names = Ids.of(rankings.queries)
    order = rows_by_id(np.zeros(len(names), np.int64), names)
    count = np.diff(rankings.first)[order]
    if depth is not None:
        count = np.minimum(count, depth)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    rows = np.repeat(rankings.first[:-1][order] - first[:-1], count) + np.arange(int(first[-1]))
    documents = rankings.documents.take(rows)
    if scored:
        return written(names.take(order), 2 * first, alternating(documents, numbers_as_ids(rankings.score[rows])))
    return written(names.take(order), first, documents)


def alternating(one: Ids, other: Ids) -> Ids:
    """Both, by turns: the first of one, the first of the other, the second of one, and so on."""
    both = concatenated([one, other])
    row = np.arange(2 * len(one)).reshape(2, -1).T.ravel()
    return Ids(both.chunk, Span(both.span.start[row], both.span.end[row]))


def numbers_as_ids(values: NDArray[np.float64]) -> Ids:
    """Numbers as their shortest text, whole numbers without a point."""
    different, place = np.unique(values, return_inverse=True)
    texts = [str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in different.tolist()]
    ids = Ids.of(texts)
    return Ids(ids.chunk, Span(ids.span.start[place], ids.span.end[place]))


def decoded_rankings(data: bytes, depth: int, origin: str, *, scored: bool) -> Rankings:
    """The rankings in the text of a file, or Damage."""
    head = HEAD.match(data)
    if not head:
        raise Damage("does not begin with the line '# ireval rankings, format 1, depth …'", 1)
    if head[1] != b"1":
        raise Damage(f"has format {head[1].decode()}; this version of pytest-ireval reads format 1", 1)
    if int(head[2]) != depth or bool(head[3]) != scored:
        raise Damage("has another depth, or other scores, than its .json file says", 1)
    lines = taken_apart(data)
    score = None
    if scored:
        lines, score = _with_scores(lines)
    if (np.diff(lines.first) > depth).any():
        raise Damage(f"has more than {depth} documents", int(np.argmax(np.diff(lines.first) > depth)) + 2)
    _refuse_repeated_documents(lines)
    return _rankings(lines, score, origin)


def _with_scores(lines: QueryLines) -> tuple[QueryLines, NDArray[np.float64]]:
    odd = np.flatnonzero(np.diff(lines.first) % 2)
    if odd.size:
        raise Damage("has a document without a score", int(odd[0]) + 2)
    chunk, (start, end) = lines.cells.chunk, lines.cells.span
    span = Span(start[1::2], end[1::2])
    try:
        read = numbers(chunk, span, "score")
    except BadLines as bad:
        row = int(np.searchsorted(span.start, bad.complaints[0][0]))
        line = int(np.searchsorted(lines.first // 2, row, side="right")) + 1
        raise Damage(bad.complaints[0][1], line) from None
    inexact = np.flatnonzero(read.inexact)
    read.value[inexact] = exactly(chunk, span, inexact)
    documents = Ids(chunk, Span(start[0::2], end[0::2]))
    return QueryLines(lines.queries, lines.first // 2, documents), read.value


def _refuse_repeated_documents(lines: QueryLines) -> None:
    names, document = Ids.of(lines.queries), lines.cells
    score = np.zeros(len(document))
    found = Lines(
        chunk=document.chunk,
        query_id=[name.encode() for name in lines.queries],
        query_key=mixed(names.keys()),
        first=lines.first,
        document=document.span,
        document_key=document.keys(),
        score_text=document.span,
        score=score,
        inexact=score.astype(bool),
    )
    _, later = repeated_documents(found, found.pair_key)
    if later.size:
        line = int(np.searchsorted(lines.first, later[0], side="right")) + 1
        raise Damage(f"document {shown(document[int(later[0])])} is ranked twice", line)


def _rankings(lines: QueryLines, score: NDArray[np.float64] | None, origin: str) -> Rankings:
    """Queries with an empty ranking come last, as everywhere; that moves no document."""
    count = np.diff(lines.first)
    filled, empty = np.flatnonzero(count), np.flatnonzero(count == 0)
    order = np.concatenate((filled, empty))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count[order])))
    position = np.arange(len(lines.cells)) - np.repeat(lines.first[:-1], count)
    rank = position + 1
    tied_from, tied_to = (rank, rank) if score is None else _ties(score, lines.first, rank)
    return Rankings(
        queries=tuple(lines.queries[i] for i in order.tolist()),
        retrieved=count[order],
        first=first,
        documents=lines.cells,
        score=-position.astype(np.float64) if score is None else score,
        tied_from=tied_from,
        tied_to=tied_to,
        origin=origin,
    )


def _ties(score: NDArray[np.float64], first: Offsets, rank: Offsets) -> tuple[Offsets, Offsets]:
    """First and last rank of each group of equal scores."""
    new = np.ones(score.size, bool)
    new[1:] = score[1:] != score[:-1]
    new[first[:-1][np.diff(first) > 0]] = True
    start = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    end = np.append(start[1:], score.size) - 1
    return rank[start[group]] if score.size else rank, rank[end[group]] if score.size else rank
