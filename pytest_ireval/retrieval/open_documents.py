"""Documents that nobody judged in two rankings of the same queries: which there are, and where they stand in both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.retrieval.in_reference import ranks_in
from pytest_ireval.retrieval.judged import Documents, Integers, JudgedRankings, Mask


class OpenDocuments(NamedTuple):
    """Unjudged documents of two sides, each once, sorted by query and best rank.

    Those of query i are rows ``first[i]`` to ``first[i + 1]``. ``now`` and ``before`` are ranks, 0 where a document
    does not stand.
    """

    first: Integers
    query: Integers
    now: Integers
    before: Integers

    @property
    def counts(self) -> Integers:
        """How many there are of each query."""
        return np.diff(self.first)

    def some(self, rows: Mask) -> OpenDocuments:
        """The marked ones alone."""
        query = self.query[rows]
        first = np.searchsorted(query, np.arange(self.first.size)).astype(np.int64)
        return OpenDocuments(first, query, self.now[rows], self.before[rows])

    def first_of_each(self, most: int) -> OpenDocuments:
        """At most so many of each query, those that stand highest on either side."""
        return self.some(np.arange(self.query.size) - self.first[self.query] < most)


def open_documents(now: JudgedRankings, before: JudgedRankings, cutoff: int | None, *, scores: bool) -> OpenDocuments:
    """Unjudged documents of queries whose two lists differ, down to the ``cutoff`` on one of the sides at least.

    Where the lists are the same no label moves the difference; unless ``scores`` count, too, which may differ then.
    """
    ours, theirs = listed(now), listed(before)
    if not (np.isnan(ours.grade).any() or np.isnan(theirs.grade).any()):
        nothing = np.zeros(0, np.int64)
        return OpenDocuments(np.zeros(now.count + 1, np.int64), nothing, nothing, nothing)
    there, back = ranks_in(theirs, ours), ranks_in(ours, theirs)
    our_query, their_query = _queries(ours), _queries(theirs)
    open_now, only_before = np.isnan(ours.grade), np.isnan(theirs.grade) & (back == 0)
    query = np.concatenate((our_query[open_now], their_query[only_before]))
    rank_now = np.concatenate((_ranks(ours)[open_now], np.zeros(int(only_before.sum()), np.int64)))
    rank_before = np.concatenate((there[open_now], _ranks(theirs)[only_before]))
    best = np.minimum(np.where(rank_now, rank_now, rank_before), np.where(rank_before, rank_before, rank_now))
    order = np.lexsort((rank_now, best, query))
    found = OpenDocuments(
        np.searchsorted(query[order], np.arange(now.count + 1)).astype(np.int64),
        query[order],
        rank_now[order],
        rank_before[order],
    )
    wanted = np.ones(order.size, bool) if cutoff is None else best[order] <= cutoff
    if not scores:
        wanted &= _changed(ours, theirs, there)[found.query]
    return found.some(wanted)


def listed(judged: JudgedRankings) -> Documents:
    """The documents of rankings that have all of them."""
    if judged.documents is None:
        raise TypeError("these rankings were joined without their documents")
    return judged.documents


def _queries(documents: Documents) -> Integers:
    return np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))


def _ranks(documents: Documents) -> Integers:
    ranks: Integers = np.arange(documents.grade.size) - documents.first[_queries(documents)] + 1
    return ranks


def _changed(ours: Documents, theirs: Documents, there: Integers) -> Mask:
    """Which queries have two different lists."""
    changed: Mask = np.diff(ours.first) != np.diff(theirs.first)
    changed[_queries(ours)[there != _ranks(ours)]] = True
    return changed
