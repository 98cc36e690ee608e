"""Rankings with other documents in their rows: moved, left out, or taken from other rankings query by query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.tokens import Span
from pytest_ireval.rules.slices import Mask

Rows = NDArray[np.int64]


def queries_of_rows(rankings: Rankings) -> Rows:
    """For each document the place of its query."""
    return np.repeat(np.arange(len(rankings)), np.diff(rankings.first))


def ranks_of_rows(rankings: Rankings) -> Rows:
    """For each document its rank, from 1."""
    return np.arange(int(rankings.first[-1])) - np.repeat(rankings.first[:-1], np.diff(rankings.first)) + 1


def with_documents_at(rankings: Rankings, rows: Rows) -> Rankings:
    """The document of row ``rows[i]`` stands in row i; scores stay with the ranks."""
    span = rankings.documents.span
    return replace(rankings, documents=Ids(rankings.documents.chunk, Span(span.start[rows], span.end[rows])))


def moved_up(rankings: Rankings, kept: Mask) -> Rankings:
    """Only the documents that are ``kept``: those below move up, and scores stay with the ranks."""
    length = np.bincount(queries_of_rows(rankings)[kept], minlength=len(rankings)).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    places = np.repeat(rankings.first[:-1] - first[:-1], length) + np.arange(int(first[-1]))
    moved = with_documents_at(rankings, np.flatnonzero(kept))
    return replace(
        moved,
        first=first,
        retrieved=(rankings.retrieved - (np.diff(rankings.first) - length)).astype(np.int64),
        score=rankings.score[places],
        tied_from=rankings.tied_from[places],
        tied_to=np.minimum(rankings.tied_to[places], np.repeat(length, length)),
    )


def mixed(one: Rankings, other: Rankings, marked: Mask) -> Rankings:
    """The rankings of ``one``; of its ``marked`` queries those of ``other``, where that has them."""
    place = {query: i for i, query in enumerate(other.queries)}
    theirs = np.array([place.get(query, -1) for query in one.queries], np.int64)
    taken = marked & (theirs >= 0)
    start = np.where(taken, other.first[:-1][theirs] + len(one.documents), one.first[:-1])
    length = np.where(taken, np.diff(other.first)[theirs], np.diff(one.first))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    rows = np.repeat(start - first[:-1], length) + np.arange(int(first[-1]))
    both = concatenated([one.documents, other.documents])
    return replace(
        one,
        retrieved=np.where(taken, other.retrieved[theirs], one.retrieved),
        first=first,
        documents=Ids(both.chunk, Span(both.span.start[rows], both.span.end[rows])),
        score=np.concatenate((one.score, other.score))[rows],
        tied_from=np.concatenate((one.tied_from, other.tied_from))[rows],
        tied_to=np.concatenate((one.tied_to, other.tied_to))[rows],
    )
