"""Which of many (query, document) pairs are judged: a bucket table over the keys of the judged pairs."""

from __future__ import annotations

import numpy as np

from pytest_ireval.retrieval.scan.chunk import Offsets, Words
from pytest_ireval.retrieval.scan.words import U

SMALLEST_TABLE = 17
"""Bits of the smallest table: one byte for each of 131,072 buckets stays in the cache."""


class JudgedPairs:
    """Finds keys among the keys of the judged pairs; most unjudged pairs end at one byte."""

    def __init__(self, keys: Words) -> None:
        self._row = np.argsort(keys)
        self._key = keys[self._row]
        bits = max(SMALLEST_TABLE, int(max(1, keys.size) - 1).bit_length() + 2)
        self._shift = U(64 - bits)
        self._occupied = np.zeros(1 << bits, bool)
        self._first = np.zeros(1 << bits, np.int32)
        self._deepest = 0
        if keys.size:
            self._fill()

    def _fill(self) -> None:
        bucket = (self._key >> self._shift).view(np.int64)
        first = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(bucket[1:] != bucket[:-1]) + 1))
        self._occupied[bucket[first]] = True
        self._first[bucket[first]] = first
        self._deepest = int(np.diff(np.append(first, bucket.size)).max())

    def suspects(self) -> Offsets:
        """Rows that share their key with another: a pair judged twice, or two pairs whose keys collide."""
        return not_unique(self._key, self._row)

    def find(self, keys: Words) -> tuple[Offsets, Offsets]:
        """Positions in ``keys`` that hold a judged pair's key, in no order, and the row of each pair."""
        bucket = (keys >> self._shift).view(np.int64)
        position = np.flatnonzero(self._occupied.take(bucket))
        wanted, at = keys[position], self._first[bucket[position]]
        found: list[tuple[Offsets, Offsets]] = []
        for _ in range(self._deepest):  # the keys of a bucket are neighbours, and buckets are small
            equal = self._key[at] == wanted
            found.append((position[equal], at[equal]))
            further = ~equal & (at < self._key.size - 1)
            position, wanted, at = position[further], wanted[further], at[further] + 1
        positions = np.concatenate([np.zeros(0, np.int64), *(position for position, _ in found)])
        rows = np.concatenate([np.zeros(0, np.int64), *(row for _, row in found)])
        return positions, self._row[rows]


def not_unique(sorted_keys: Words, rows: Offsets) -> Offsets:
    """The rows, ascending, whose key is also that of a neighbour."""
    equal = sorted_keys[1:] == sorted_keys[:-1]
    shared = np.zeros(rows.size, bool)
    shared[1:] |= equal
    shared[:-1] |= equal
    return np.sort(rows[shared])
