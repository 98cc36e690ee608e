"""Pairs of query and document: found by their keys, confirmed by their bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.scan.chunks import Bytes, Words
from pytest_ireval.data.scan.ids import Ids
from pytest_ireval.data.scan.keys import U, mix_again

MOST_SEEDS = 16
"""Hash functions that are tried. Ids collide by chance once in 10^10 collections; under 16 functions they never do."""
SMALLEST_TABLE = 17
"""Bits of the smallest table: one byte for each of 131,072 buckets stays in the cache."""
_SEVERAL = 255
"""The mark of a bucket with several keys; a bucket with one has a byte of it, and an empty one has 0."""


class CollidingIdsError(Exception):
    """Different ids have the same keys under all hash functions: they were made for that."""


class RepeatedRows(NamedTuple):
    """Rows with the same pair: the ``first`` one, and each ``later`` one, in order of the later ones."""

    first: Integers
    later: Integers


class KeyTable:
    """Finds keys among the keys of some rows; most unknown keys end at one byte."""

    def __init__(self, keys: Words) -> None:
        self._row = np.argsort(keys)
        self._key = keys[self._row]
        bits = max(SMALLEST_TABLE, int(max(1, keys.size) - 1).bit_length() + 1)
        self._shift = U(64 - bits)
        self._mark = np.zeros(1 << bits, np.uint8)
        self._first = np.zeros(1 << bits, np.int32)
        self._deepest = 0
        if keys.size:
            bucket = (self._key >> self._shift).view(np.int64)
            first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(bucket[1:] != bucket[:-1]) + 1))
            count = np.diff(np.append(first, bucket.size))
            self._mark[bucket[first]] = np.where(count == 1, _compute_marks(self._key[first]), _SEVERAL)
            self._first[bucket[first]] = first
            self._deepest = int(count.max())

    def find_shared(self) -> Integers:
        """The rows that share their key with another one."""
        return _find_shared(self._key, self._row)

    def find(self, keys: Words) -> tuple[Integers, Integers]:
        """Positions in ``keys`` whose key is in the table, in no order, and the row of each."""
        bucket = (keys >> self._shift).view(np.int64)
        mark = self._mark.take(bucket)
        position = np.flatnonzero((mark == _compute_marks(keys)) | (mark == _SEVERAL))
        wanted, at = keys[position], self._first[bucket[position]]
        positions, rows = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for _ in range(self._deepest):  # the keys of a bucket are neighbours, and buckets are small
            equal = self._key[at] == wanted
            positions.append(position[equal])
            rows.append(self._row[at[equal]])
            further = ~equal & (at < self._key.size - 1)
            position, wanted, at = position[further], wanted[further], at[further] + 1
        return np.concatenate(positions), np.concatenate(rows)


class PairIndex:
    """Finds rows by query and document, given as a number and an id.

    Where a pair is in several rows, ``repeated`` has them, and only one of them is found.
    """

    def __init__(self, query: Integers, documents: Ids) -> None:
        self.query = query
        self.documents = documents
        for seed in range(MOST_SEEDS):
            keys = hash_pairs(query, documents, seed)
            self.seed, self.table = seed, KeyTable(keys)
            shared = self.table.find_shared()
            self.repeated = find_repeated_rows(query, documents, shared)
            # np.unique imports numpy.ma, and mostly no rows share a key.
            if not shared.size or np.unique(keys[shared]).size == shared.size - self.repeated.later.size:
                return  # rows share a key only where they have the same pair
        raise CollidingIdsError

    def find(self, query: Integers, documents: Ids) -> Integers:
        """The row of each pair; -1 for one that is not in the index."""
        at, row = self.table.find(hash_pairs(query, documents, self.seed))
        sure = query[at] == self.query[row]
        sure[sure] = documents.equal(at[sure], self.documents, row[sure])
        rows = np.full(query.size, -1, np.int64)
        rows[at[sure]] = row[sure]
        return rows


def _compute_marks(keys: Words) -> Bytes:
    """From 1 to 254, by bits that do not choose the bucket."""
    marks: Bytes = keys.astype(np.uint8).clip(1, _SEVERAL - 1)
    return marks


def hash_pairs(query: Integers, documents: Ids, seed: int) -> Words:
    return documents.hash(seed) ^ mix_again(query.astype(np.uint64))


def find_repeated_rows(query: Integers, documents: Ids, rows: Integers) -> RepeatedRows:
    """The pairs that occur more than once in some rows."""
    first: dict[tuple[int, bytes], int] = {}
    earlier, later = [], []
    for row, name, token in zip(rows.tolist(), query[rows].tolist(), documents.tokens(rows), strict=True):
        one = first.setdefault((name, token), row)
        if one != row:
            earlier.append(one)
            later.append(row)
    return RepeatedRows(np.array(earlier, np.int64), np.array(later, np.int64))


def find_rows_with_equal_keys(keys: Words) -> Integers:
    """The rows, ascending, that share their key with another row; usually there are none, which costs no sort."""
    if not _has_equal_keys(keys):
        return np.zeros(0, np.int64)
    row = np.argsort(keys)
    return _find_shared(keys[row], row)


def _find_shared(sorted_keys: Words, rows: Integers) -> Integers:
    equal = sorted_keys[1:] == sorted_keys[:-1]
    shared = np.zeros(rows.size, bool)
    shared[1:] |= equal
    shared[:-1] |= equal
    return np.sort(rows[shared])


def _has_equal_keys(keys: Words) -> bool:
    """Every row writes its number to the place of its key; rows that another key has overwritten try again."""
    bits = max(8, int(keys.size).bit_length() + 2)  # about four places for every row
    table = np.empty(1 << bits, np.int32)
    while keys.size:
        place = (keys >> U(64 - bits)).view(np.int64)
        own = np.arange(keys.size, dtype=np.int32)
        table[place] = own
        winner = table[place]
        lost = np.flatnonzero(winner != own)
        if (keys[winner[lost]] == keys[lost]).any():
            return True
        keys = keys[lost]
    return False


class NumberedRows(NamedTuple):
    """Different pairs, numbered in order of appearance: the ``first`` row of each, and the ``number`` of each row."""

    first: Integers
    number: Integers


def number_pairs(query: Integers, documents: Ids) -> NumberedRows:
    every = np.arange(query.size)
    for seed in range(MOST_SEEDS):
        _, first, number = np.unique(hash_pairs(query, documents, seed), return_index=True, return_inverse=True)
        same = first[number]
        if (query[same] == query).all() and documents.equal(every, documents, same).all():
            order = np.argsort(first)
            place = np.empty(order.size, np.int64)
            place[order] = np.arange(order.size)
            return NumberedRows(first[order], place[number])
    raise CollidingIdsError


def order_by_ids(queries: Sequence[str], query: Integers, documents: Ids) -> Integers:
    """The rows in an order that depends on ids alone, for draws that must not depend on the order of a file."""
    return np.argsort(documents.hash() ^ mix_again(Ids.of(queries).hash())[query])
