"""Damage done to rankings: each function returns the same rankings with one thing wrong in every query."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.rehearsing.draws import drawn, urn_of
from pytest_ireval.rehearsing.rows import moved_up, queries_of_rows, ranks_of_rows, with_documents_at
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.rules.slices import Mask

TRIES = 8
"""So many other queries are looked at for a document that a ranking does not have."""
ANOTHER_ID = "renamed-"
"""What the new ids of documents begin with."""


def first_two_swapped(rankings: Rankings) -> Rankings:
    """The first two documents have changed places."""
    return first_reversed(rankings, 2)


def first_reversed(rankings: Rankings, top: int) -> Rankings:
    """The first ``top`` documents stand in reverse order."""
    rank = ranks_of_rows(rankings)
    length = np.repeat(np.minimum(np.diff(rankings.first), top), np.diff(rankings.first))
    rows = np.arange(rank.size)
    return with_documents_at(rankings, np.where(rank <= length, rows - rank + (length - rank + 1), rows))


def without_first_relevant(rankings: Rankings, relevant: Mask) -> Rankings:
    """The first document of those that are ``relevant``, by row, is gone; what stood below moves up."""
    rows = np.flatnonzero(relevant)
    _, first = np.unique(queries_of_rows(rankings)[rows], return_index=True)
    kept = np.ones(relevant.size, bool)
    kept[rows[first]] = False
    return moved_up(rankings, kept)


def truncated(rankings: Rankings, length: int) -> Rankings:
    """Only the first ``length`` documents are left."""
    return moved_up(rankings, ranks_of_rows(rankings) <= length)


def emptied(rankings: Rankings) -> Rankings:
    """No document is left."""
    return moved_up(rankings, np.zeros(int(rankings.first[-1]), bool))


def with_unrelated_first(rankings: Rankings, seed: str) -> Rankings:
    """The first document of another query, drawn at random, stands on top; the last one is gone."""
    length = np.diff(rankings.first)
    order = np.array(sorted(range(len(rankings)), key=rankings.queries.__getitem__), np.int64)
    order = order[length[order] > 0]
    if order.size < 2:
        return rankings
    numbers = drawn(urn_of(rankings.queries, seed), "unrelated")[order]
    step = 1 + np.floor(numbers * (order.size - 1)).astype(np.int64)
    intruder = np.full(len(rankings), -1, np.int64)
    keys = rankings.documents.keys()
    query = queries_of_rows(rankings)
    place = np.arange(order.size)
    for more in range(TRIES):
        open_ = np.flatnonzero(intruder[order] < 0)
        other = rankings.first[order[(place[open_] + step[open_] + more) % order.size]]
        has = np.zeros(len(rankings), bool)
        wanted = np.zeros(len(rankings), np.uint64)
        asked = np.zeros(len(rankings), bool)
        wanted[order[open_]], asked[order[open_]] = keys[other], True
        has[query[asked[query] & (keys == wanted[query])]] = True
        free = ~has[order[open_]]
        intruder[order[open_[free]]] = other[free]
    rows = np.arange(query.size)
    touched = intruder[query] >= 0
    first = ranks_of_rows(rankings) == 1
    return with_documents_at(rankings, np.where(touched, np.where(first, intruder[query], rows - 1), rows))


def renamed(rankings: Rankings) -> Rankings:
    """Every document has another id."""
    ids = Ids.of([ANOTHER_ID + text for text in rankings.documents.texts()])
    return replace(rankings, documents=ids)
