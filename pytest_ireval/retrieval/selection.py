"""Rankings made of others: the first documents of each, some of their queries, several put side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.ids import concatenated
from pytest_ireval.retrieval.rankings import Rankings


def first_documents(rankings: Rankings, depth: int) -> Rankings:
    """The first ``depth`` documents of each ranking; how many were retrieved, and who is tied, stays as it was."""
    rank = np.arange(int(rankings.first[-1])) - np.repeat(rankings.first[:-1], np.diff(rankings.first))
    return rankings if not (rank >= depth).any() else with_documents(rankings, rank < depth)


def with_documents(rankings: Rankings, kept: NDArray[np.bool_]) -> Rankings:
    """The documents whose rows are ``kept``, in their order; a query may be left with none."""
    query = np.repeat(np.arange(len(rankings)), np.diff(rankings.first))[kept]
    rows = np.flatnonzero(kept)
    return replace(
        rankings,
        first=np.concatenate(([0], np.cumsum(np.bincount(query, minlength=len(rankings))))).astype(np.int64),
        documents=rankings.documents.some(rows),
        score=rankings.score[rows],
        tied_from=rankings.tied_from[rows],
        tied_to=rankings.tied_to[rows],
    )


def of_queries(rankings: Rankings, wanted: Callable[[str], bool]) -> tuple[Rankings, tuple[str, ...]]:
    """The rankings of the queries that are ``wanted``, and the names of the others."""
    others = tuple(query for query in rankings.queries if not wanted(query))
    if not others:
        return rankings, ()
    rows = np.array([i for i, query in enumerate(rankings.queries) if wanted(query)], np.int64)
    length = np.diff(rankings.first)
    left = np.zeros(len(rankings), bool)
    left[rows] = True
    narrowed = with_documents(rankings, np.repeat(left, length))
    return replace(
        narrowed,
        queries=tuple(rankings.queries[i] for i in rows),
        retrieved=rankings.retrieved[rows],
        first=np.concatenate(([0], np.cumsum(length[rows]))).astype(np.int64),
    ), others


def side_by_side(parts: Sequence[Rankings], origin: str) -> Rankings:
    """All rankings of several that have no query in common; empty rankings last."""
    if len(parts) == 1:
        return replace(parts[0], origin=origin)
    length = np.concatenate([np.diff(part.first) for part in parts])
    order = np.argsort(length == 0, kind="stable")  # an empty ranking has no documents that would have to move along
    queries = [query for part in parts for query in part.queries]
    return Rankings(
        queries=tuple(queries[i] for i in order),
        retrieved=np.concatenate([part.retrieved for part in parts])[order],
        first=np.concatenate(([0], np.cumsum(length[order]))).astype(np.int64),
        documents=concatenated([part.documents for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        tied_from=np.concatenate([part.tied_from for part in parts]),
        tied_to=np.concatenate([part.tied_to for part in parts]),
        origin=origin,
    )
