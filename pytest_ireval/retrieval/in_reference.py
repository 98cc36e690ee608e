"""Where the documents of one ranking stand in another ranking of the same query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError
from pytest_ireval.retrieval.scan.pairs import JudgedPairs
from pytest_ireval.retrieval.scan.words import mixed

if TYPE_CHECKING:
    from pytest_ireval.retrieval.judged import Documents

MOST_SEEDS = 16
Integers = NDArray[np.int64]


def ranks_in(other: Documents, documents: Documents) -> Integers:
    """For each document its rank in the ``other`` ranking of its query; 0 where it does not stand there.

    Found by key and confirmed byte by byte; both have the same queries in the same order.
    """
    ranks = np.zeros(len(documents.ids), np.int64)
    seed, there = _table(other)
    query = _queries(documents)
    at, row = there.find(documents.ids.keys(seed) ^ _query_keys(query))
    their_query = _queries(other)
    same = query[at] == their_query[row]
    same[same] = documents.ids.same(at[same], other.ids, row[same])
    ranks[at[same]] = row[same] - other.first[their_query[row[same]]] + 1
    return ranks


def _table(documents: Documents) -> tuple[int, JudgedPairs]:
    """A table of keys none of which stands for two documents, and the seed that makes them."""
    query_keys = _query_keys(_queries(documents))
    for seed in range(MOST_SEEDS):
        table = JudgedPairs(documents.ids.keys(seed) ^ query_keys)
        if not table.suspects().size:
            return seed, table
    raise InputError(f"the reference: its ids collide under {MOST_SEEDS} hash functions; were they made to?")


def _queries(documents: Documents) -> Integers:
    """The query of each document."""
    return np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))


def _query_keys(query: Integers) -> NDArray[np.uint64]:
    return mixed(query.astype(np.uint64))
