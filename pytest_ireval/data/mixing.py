"""Rankings made of other rankings: documents taken out, and queries mixed from two sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.data.arrays import Integers, Mask
from pytest_ireval.data.ids import concatenate_ids
from pytest_ireval.data.rankings import Rankings


def take_documents(rankings: Rankings, rows: Integers) -> Rankings:
    """Put the document of row ``rows[i]`` at row i; scores stay with the ranks."""
    return replace(rankings, documents=rankings.documents.view(rows))


def keep_documents(rankings: Rankings, kept: Mask) -> Rankings:
    """Keep some documents: those below move up, and scores stay with the ranks."""
    length = np.bincount(rankings.query[kept], minlength=len(rankings)).astype(np.int64)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    places = np.repeat(rankings.first[:-1] - first[:-1], length) + np.arange(int(first[-1]))
    return replace(
        take_documents(rankings, np.flatnonzero(kept)),
        first=first,
        retrieved=(rankings.retrieved - (np.diff(rankings.first) - length)).astype(np.int64),
        score=rankings.score[places],
        tied_from=rankings.tied_from[places],
        tied_to=np.minimum(rankings.tied_to[places], np.repeat(length, length)),
    )


def mix_rankings(one: Rankings, other: Rankings, marked: Mask) -> Rankings:
    """The rankings of ``one``; of its ``marked`` queries those of ``other``, where that has them."""
    place = {query: row for row, query in enumerate(other.queries)}
    theirs = np.array([place.get(query, -1) for query in one.queries], np.int64)
    taken = marked & (theirs >= 0)
    start = np.where(taken, other.first[:-1][theirs] + len(one.documents), one.first[:-1])
    length = np.where(taken, np.diff(other.first)[theirs], np.diff(one.first))
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(length)))
    rows = np.repeat(start - first[:-1], length) + np.arange(int(first[-1]))
    from_other = {query for query, there in zip(one.queries, taken.tolist(), strict=True) if there}
    times = {query: time for query, time in (other.timings or {}).items() if query in from_other}
    return replace(
        one,
        timings={**(one.timings or {}), **times} or one.timings,
        fields=one.fields and {**(other.fields or {}), **one.fields},
        retrieved=np.where(taken, other.retrieved[theirs], one.retrieved),
        first=first,
        documents=concatenate_ids([one.documents, other.documents]).view(rows),
        score=np.concatenate((one.score, other.score))[rows],
        tied_from=np.concatenate((one.tied_from, other.tied_from))[rows],
        tied_to=np.concatenate((one.tied_to, other.tied_to))[rows],
    )
