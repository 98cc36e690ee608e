"""Rankings: what a system returned for each query, best document first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.data.arrays import (
    Floats,
    Integers,
    Ranks,
    compute_begins,
    compute_ranks,
    compute_small_ranks,
    number_groups,
)
from pytest_ireval.data.scan import BadLines, FirstRows, Ids, concatenate_ids, keep_first_of_columns
from pytest_ireval.data.threads import open_thread_pool
from pytest_ireval.errors import InputError, Problem


class StageAnswer(NamedTuple):
    """What is kept of the answer of an earlier stage to one query."""

    retrieved: int
    """The number of documents."""
    ranks: Mapping[str, int | None]
    """The rank of each document that was judged when the stage was asked; None: it was not retrieved."""


StageAnswers = Mapping[str, StageAnswer]
"""By query."""


class Total(NamedTuple):
    """The number of documents that match a query."""

    number: int
    is_capped: bool = False
    """True if there may be more: an engine stops to count, or a ranking ends where no more was wanted."""

    def __str__(self) -> str:
        return f"{self.number:,} or more" if self.is_capped else f"{self.number:,}"


@dataclass(eq=False)
class Rankings:
    """The first documents of each ranking; those of query i are rows ``first[i]`` to ``first[i + 1]``.

    ``queries`` are in order of appearance, those with an empty ranking last; ``retrieved`` counts all documents of a
    query, kept or not. ``documents``, ``score``, ``tied_from`` and ``tied_to`` (first and last rank with this score,
    ranks start at 1) have one entry a kept document. ``origin`` is the source, for messages. ``timings`` (seconds by
    query) and ``fields`` (by document) are there if the source returned them.
    """

    queries: tuple[str, ...]
    retrieved: Integers
    first: Integers
    documents: Ids
    score: Floats
    tied_from: Ranks
    tied_to: Ranks
    origin: str = "rankings"
    timings: Mapping[str, float] | None = None
    fields: Mapping[str, Mapping[str, Any]] | None = None
    contradicted: tuple[str, ...] = ()
    """Queries whose rank column contradicts the scores; the scores count."""
    stages: Mapping[str, StageAnswers] = field(default_factory=dict)
    """The earlier stages of the same answers, in their order; the documents are those of the last stage."""
    totals: Mapping[str, Total] | None = None
    """By query, the number of documents that match it, if the source says so."""

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Query id to its place in ``queries``."""
        return dict(zip(self.queries, range(len(self)), strict=True))

    @property
    def query(self) -> Integers:
        """For each document the place of its query."""
        return number_groups(self.first)

    @property
    def rank(self) -> Integers:
        """For each document its rank, from 1."""
        return compute_ranks(self.first)

    def ranking(self, query: str) -> list[str]:
        """The document ids of one query in order of rank."""
        i = self.position[query]
        return self.documents.texts(np.arange(self.first[i], self.first[i + 1]))


FEW_PARTS = 8
"""The columns of more parts are put together on several threads."""


def join_first_rows(parts: list[FirstRows], origin: str, empty: Sequence[str] = ()) -> Rankings:
    """Rankings from the first rows of all queries; ``empty`` names queries with an empty ranking.

    The list of parts is empty afterwards: each column is freed when it has been copied.
    """
    none = np.zeros(len(empty), np.int64)
    first = compute_begins(np.concatenate([*(part.kept for part in parts), none]))
    queries = (*(name for part in parts for name in part.queries), *empty)
    retrieved = np.concatenate([*(part.count for part in parts), none])
    ids = [part.documents for part in parts]
    scores = [part.score for part in parts]
    tied = [(part.ties, part.score.size) for part in parts]
    contradicted = tuple(query for part in parts for query in part.contradicted)
    few = len(parts) <= FEW_PARTS
    parts.clear()

    def join_ids() -> Ids:
        joined = concatenate_ids(ids)
        ids.clear()
        return joined

    def join_scores() -> Floats:
        joined = np.concatenate([np.zeros(0), *scores])
        scores.clear()
        return joined

    def join_ties() -> _Ties:
        tied_from = tied_to = compute_small_ranks(first)  # without equal scores, the rank itself
        if any(ties is not None for ties, _ in tied):
            tied_to = tied_from.copy()
        end = 0
        for ties, size in tied:
            end += size
            if ties is not None:
                tied_from[end - size : end], tied_to[end - size : end] = ties
        return _Ties(tied_from, tied_to)

    if few:
        documents, score, ties = join_ids(), join_scores(), join_ties()
    else:
        with open_thread_pool() as pool:
            waiting = pool.submit(join_ids), pool.submit(join_scores), pool.submit(join_ties)
            documents, score, ties = waiting[0].result(), waiting[1].result(), waiting[2].result()
    ranked = (queries, retrieved, first, documents, score, ties.first, ties.last)
    return Rankings(*ranked, origin, contradicted=contradicted)


class _Ties(NamedTuple):
    first: Ranks
    last: Ranks


def rank_lists(
    lists: Mapping[str, Sequence[tuple[str, float]]], origin: str, depth: int | None = None, *, by_id: bool = True
) -> Rankings:
    """The first ``depth`` documents of each list by score, descending; an empty list is an empty ranking."""
    filled = {query: documents for query, documents in lists.items() if documents}
    empty = [query for query, documents in lists.items() if not documents]
    length = [len(ranking) for ranking in filled.values()]
    documents = Ids.of([document for ranking in filled.values() for document, _ in ranking])
    score = np.array([score for ranking in filled.values() for _, score in ranking], np.float64)
    query = np.repeat(np.arange(len(filled)), length)
    return rank_columns(list(filled), query, documents, score, origin, depth, by_id=by_id, empty=empty)


def rank_columns(
    queries: Sequence[str],
    query: Integers,
    documents: Ids,
    score: Floats,
    origin: str,
    depth: int | None = None,
    *,
    by_id: bool = True,
    empty: Sequence[str] = (),
    place: Callable[[int], str] | None = None,
    rank: Floats | None = None,
) -> Rankings:
    """The same from columns with one entry a document; ``query`` holds positions in ``queries``, in any order.

    ``place`` gives the place of a row for messages, in place of ``origin``. ``rank`` is only compared with the scores.
    """
    try:
        rows = keep_first_of_columns(list(queries), query, documents, score, depth, by_id=by_id, rank=rank)
    except BadLines as bad:
        problems = [Problem(line.complaint, place=place(line.offset) if place else origin) for line in bad.lines]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None
    return join_first_rows([rows], origin, empty)
