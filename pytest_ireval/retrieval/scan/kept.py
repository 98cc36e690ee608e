"""What is kept of ranking lines when a chunk is forgotten: judged documents, or the first ones of each query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import shown
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.scan.chunk import Offsets, Words
from pytest_ireval.retrieval.scan.duplicates import repeated_documents
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.numbers import exactly
from pytest_ireval.retrieval.scan.order import Order, ordered, with_ties_by_id
from pytest_ireval.retrieval.scan.tokens import SHOWN_LINES, BadLines, Span


@dataclass(frozen=True, eq=False, repr=False)
class KeptRows:
    """Some documents of some rankings, sorted by query and rank; all arrays but ``query_id`` and ``count`` by row.

    ``query_id`` and ``count`` (retrieved documents) have one entry a query, ``query`` is a position in them. Ranks
    start at 1; ``tied_from`` and ``tied_to`` are the first and last rank with the same score. ``judgment`` is the
    row in the judgments (only judged documents are kept then), ``documents`` the ids (when the first are kept).
    """

    query_id: list[bytes]
    count: NDArray[np.int64]
    query: NDArray[np.int64]
    rank: NDArray[np.int64]
    score: NDArray[np.float64]
    tied_from: NDArray[np.int64]
    tied_to: NDArray[np.int64]
    judgment: NDArray[np.int64] | None = None
    documents: Ids | None = None


def judged_rows(lines: Lines, judgments: Judgments, *, by_id: bool) -> KeptRows:
    """The judged documents of every ranking, with their ranks. ``by_id``: equal scores are ordered by id."""
    key = lines.pair_key
    _refuse_repetitions(lines, key)
    line, judgment = _judged_lines(lines, key, judgments)
    order = ordered(lines, stable=not by_id)
    if by_id and order.group is not None:
        looked_at = np.zeros(int(order.group[-1]) + 1, bool)
        looked_at[order.group[order.positions()[line]]] = True
        order = with_ties_by_id(lines, order, looked_at)
    judgment_at = np.full(order.line.size, -1)
    judgment_at[order.positions()[line]] = judgment
    position = np.flatnonzero(judgment_at >= 0)
    return _rows(lines, order, position, judgment=judgment_at[position])


def first_rows(lines: Lines, depth: int | None, *, by_id: bool) -> KeptRows:
    """The first ``depth`` documents of every ranking (None: all), with their ids."""
    _refuse_repetitions(lines, lines.pair_key)
    order = ordered(lines, stable=not by_id)
    rank = np.arange(lines.score.size) - np.repeat(lines.first[:-1], lines.count)
    kept = rank < depth if depth is not None else np.ones(rank.size, bool)
    if by_id and order.group is not None:
        looked_at = np.zeros(int(order.group[-1]) + 1, bool)
        looked_at[order.group[kept]] = True
        order = with_ties_by_id(lines, order, looked_at)
    position = np.flatnonzero(kept)
    line = order.line[position]
    start, end = lines.document
    return _rows(lines, order, position, documents=Ids(lines.chunk, Span(start[line], end[line])))


def _judged_lines(lines: Lines, key: Words, judgments: Judgments) -> tuple[Offsets, Offsets]:
    """Lines whose (query, document) pair is judged, and the rows of their judgments."""
    query = np.array([judgments.position.get(name, -1) for name in lines.query_id], np.int64)
    line, row = judgments.table.pairs.find(key)
    of_line = np.searchsorted(lines.first, line, side="right") - 1
    sure = query[of_line] == judgments.query[row]
    found = Ids(lines.chunk, lines.document)
    sure[sure] = found.same(line[sure], judgments.documents, row[sure])
    return line[sure], row[sure]


def _rows(
    lines: Lines,
    order: Order,
    position: Offsets,
    *,
    judgment: Offsets | None = None,
    documents: Ids | None = None,
) -> KeptRows:
    line = order.line[position]
    query = np.searchsorted(lines.first, position, side="right") - 1
    before = lines.first[query] - 1
    tied_from, tied_to = order.tie_span(position)
    score = order.score[line]
    inexact = np.flatnonzero(lines.inexact[line])
    score[inexact] = exactly(lines.chunk, lines.score_text, line[inexact])
    return KeptRows(
        query_id=lines.query_id,
        count=lines.count,
        query=query,
        rank=position - before,
        score=score,
        tied_from=tied_from - before,
        tied_to=tied_to - before,
        judgment=judgment,
        documents=documents and documents.take(np.arange(len(documents))),
    )


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
