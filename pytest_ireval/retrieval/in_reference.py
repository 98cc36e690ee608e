"""Where the documents of one ranking stand in another ranking of the same query."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError
from pytest_ireval.retrieval.scan.pairs import JudgedPairs
from pytest_ireval.retrieval.scan.words import mixed

if TYPE_CHECKING:
    from pytest_ireval.retrieval.ids import Ids
    from pytest_ireval.retrieval.judged import Documents

MOST_SEEDS = 16
Integers = NDArray[np.int64]


def ranks_in(other: Documents, documents: Documents) -> Integers:
    """For each document its rank in the ``other`` ranking of its query; 0 where it does not stand there.

    Lists that are the same need no search. In others documents are found by key and confirmed byte by byte; both
    have the same queries in the same order.
    """
    query = _queries(documents)
    ranks = np.arange(query.size) - documents.first[query] + 1
    changed = _changed(documents, other)
    rows = np.flatnonzero(changed[query])
    if rows.size:
        ranks[rows] = _searched(other, np.flatnonzero(changed[_queries(other)]), documents, rows)
    return ranks


def _changed(documents: Documents, other: Documents) -> NDArray[np.bool_]:
    """Which queries have another list."""
    lengths = np.diff(documents.first)
    changed: NDArray[np.bool_] = lengths != np.diff(other.first)
    query = _queries(documents)
    rows = np.flatnonzero(~changed[query])
    theirs = rows - documents.first[query[rows]] + other.first[query[rows]]
    differ = rows[~documents.ids.same(rows, other.ids, theirs)]
    changed[query[differ]] = True
    return changed


def _searched(other: Documents, there: Integers, documents: Documents, rows: Integers) -> Integers:
    """The same for some rows, which are looked for ``there``."""
    ranks = np.zeros(rows.size, np.int64)
    query, their_query = _queries(documents)[rows], _queries(other)[there]
    ids, others = documents.ids.take(rows), other.ids.take(there)
    seed, table = _table(others, their_query)
    at, row = table.find(ids.keys(seed) ^ _query_keys(query))
    same = query[at] == their_query[row]
    same[same] = ids.same(at[same], others, row[same])
    ranks[at[same]] = there[row[same]] - other.first[their_query[row[same]]] + 1
    return ranks


def _table(ids: Ids, query: Integers) -> tuple[int, JudgedPairs]:
    """A table of keys none of which stands for two documents, and the seed that makes them."""
    query_keys = _query_keys(query)
    for seed in range(MOST_SEEDS):
        table = JudgedPairs(ids.keys(seed) ^ query_keys)
        if not table.suspects().size:
            return seed, table
    raise InputError(f"the reference: its ids collide under {MOST_SEEDS} hash functions; were they made to?")


def _queries(documents: Documents) -> Integers:
    """The query of each document."""
    return np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))


def _query_keys(query: Integers) -> NDArray[np.uint64]:
    return mixed(query.astype(np.uint64))
