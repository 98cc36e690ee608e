"""Rankings: what a system returned for each query, best document first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.ids import Ids, concatenated, mapped
from pytest_ireval.data.scan.kept import FirstRows, Lines, first_rows
from pytest_ireval.data.scan.tokens import (
    BadLines,
    Ranks,
    Span,
    begins_of,
    keys_of,
    mixed,
    owners_of,
    ranks_of,
    small_ranks_of,
)
from pytest_ireval.errors import InputError, Problem


@dataclass(frozen=True, eq=False)
class Rankings:
    """The first documents of each ranking; those of query i are rows ``first[i]`` to ``first[i + 1]``.

    ``queries`` are in order of appearance, those with an empty ranking last; ``retrieved`` (int64) counts all documents
    of a query, kept or not. ``documents``, ``score`` (float64), ``tied_from`` and ``tied_to`` (int32; first and last
    rank with this score, ranks start at 1) have one entry a kept document. ``origin`` is the source, for messages.
    ``timings`` (seconds by query) and ``fields`` (by document) are there if the source returned them.
    """

    queries: tuple[str, ...]
    retrieved: NDArray[np.int64]
    first: NDArray[np.int64]
    documents: Ids
    score: NDArray[np.float64]
    tied_from: Ranks
    tied_to: Ranks
    origin: str = "rankings"
    timings: Mapping[str, float] | None = None
    fields: Mapping[str, Mapping[str, Any]] | None = None

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def query(self) -> NDArray[np.int64]:
        """For each document the place of its query."""
        return owners_of(self.first)

    @property
    def rank(self) -> NDArray[np.int64]:
        """For each document its rank, from 1."""
        return ranks_of(self.first)

    def ranking(self, query: str) -> list[str]:
        """The document ids of one query in order of rank."""
        i = self.queries.index(query)
        return self.documents.texts(np.arange(self.first[i], self.first[i + 1]))


FEW = 8
"""Parts; the columns of more of them are put together on several threads."""


def rankings_of(parts: list[FirstRows], origin: str, empty: Sequence[str] = ()) -> Rankings:
    """Rankings from the kept rows of all queries; ``empty`` names queries with an empty ranking.

    The list of parts is empty afterwards: each column is freed when it has been copied.
    """
    none = np.zeros(len(empty), np.int64)
    first = begins_of(np.concatenate([*(part.kept for part in parts), none]))
    queries = (*(name.decode() for part in parts for name in part.query_id), *empty)
    retrieved = np.concatenate([*(part.count for part in parts), none])
    columns: list[list[Any]] = [[getattr(part, name) for part in parts] for name in ("ties", "score", "documents")]
    parts.clear()
    ids, scores, ties = columns.pop(), columns.pop(), columns.pop()
    sizes = [each.size for each in scores]
    making: tuple[Callable[[], Any], ...] = (
        partial(_joined, concatenated, ids),
        partial(_joined, lambda parts: np.concatenate([np.zeros(0), *parts]), scores),
        partial(_joined, lambda parts: _tied(parts, sizes, first), ties),
    )
    together = mapped if len(sizes) > FEW else map
    documents, score, (tied_from, tied_to) = together(lambda make: make(), making)
    return Rankings(queries, retrieved, first, documents, score, tied_from, tied_to, origin)


def _joined(join: Callable[[list[Any]], Any], parts: list[Any]) -> Any:
    made = join(parts)
    parts.clear()  # so that their memory is free as soon as they are copied
    return made


def _tied(ties: list[tuple[Ranks, Ranks] | None], sizes: list[int], first: NDArray[np.int64]) -> tuple[Ranks, Ranks]:
    """First and last rank with the same score: in parts without equal scores, the rank itself."""
    tied_from = tied_to = small_ranks_of(first)
    if any(ties):
        tied_to = tied_from.copy()
    for tied, size, end in zip(ties, sizes, np.cumsum(sizes).tolist(), strict=True):
        if tied is not None:
            tied_from[end - size : end], tied_to[end - size : end] = tied
    return tied_from, tied_to


def rankings_of_lists(
    lists: Mapping[str, Sequence[tuple[str, float]]], origin: str, depth: int | None = None, *, by_id: bool = True
) -> Rankings:
    """The first ``depth`` documents of each list by score, descending; an empty list is an empty ranking."""
    filled = {query: documents for query, documents in lists.items() if documents}
    empty = [query for query, documents in lists.items() if not documents]
    names = list(filled)
    length = [len(ranking) for ranking in filled.values()]
    documents = Ids.of([document for ranking in filled.values() for document, _ in ranking])
    score = np.array([score for ranking in filled.values() for _, score in ranking], np.float64)
    code = np.repeat(np.arange(len(names)), length)
    return rankings_of_columns(names, code, documents, score, origin, depth, by_id=by_id, empty=empty)


def rankings_of_columns(
    queries: Sequence[str],
    query: NDArray[np.int64],
    documents: Ids,
    score: NDArray[np.float64],
    origin: str,
    depth: int | None = None,
    *,
    by_id: bool = True,
    empty: Sequence[str] = (),
    place: Callable[[int], str] | None = None,
) -> Rankings:
    """The same from columns with one entry a document; ``query`` holds positions in ``queries``, in any order.

    ``place`` gives the place of a row for messages, in place of ``origin``.
    """
    order = np.argsort(query, kind="stable")
    document = Span(documents.span.start[order], documents.span.end[order])
    lines = Lines(
        chunk=documents.chunk,
        query_id=[name.encode() for name in queries],
        query_key=mixed(Ids.of(queries).keys()),
        first=begins_of(np.bincount(query, minlength=len(queries))),
        document=document,
        document_key=keys_of(documents.chunk, document),
        score_text=document,
        score=score[order],
        inexact=np.zeros(score.size, bool),
    )
    try:
        return rankings_of([first_rows(lines, depth, by_id=by_id)], origin, empty)
    except BadLines as bad:
        rows = np.searchsorted(documents.span.start, [offset for offset, _ in bad.complaints]).tolist()
        places = [place(row) if place else origin for row in rows]
        problems = [Problem(text, place=at) for (_, text), at in zip(bad.complaints, places, strict=True)]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None
