"""Arrays of groups that follow each other: group i is rows ``begins[i]`` to ``begins[i + 1]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Ranks = NDArray[np.int32]

BLOCK = 1 << 16
"""Rows that are worked on at a time: their temporary arrays fit into the caches of a processor."""


def compute_begins(lengths: NDArray[Any]) -> Integers:
    """The begin of each group, and the end of the last one."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def number_groups(begins: Integers) -> Integers:
    """The group of each row."""
    return np.repeat(np.arange(begins.size - 1), np.diff(begins))


def compute_ranks(begins: Integers) -> Integers:
    """The place of each row in its group, from 1."""
    rank = np.arange(1, int(begins[-1]) + 1)
    rank -= np.repeat(begins[:-1], np.diff(begins))
    return rank


def compute_small_ranks(begins: Integers) -> Ranks:
    """The same in half of the memory."""
    rank = np.arange(1, int(begins[-1]) + 1, dtype=np.int32)
    rank -= np.repeat(begins[:-1].astype(np.int32), np.diff(begins))
    return rank


def list_rows(begin: Integers, length: Integers) -> Integers:
    """The rows of some groups, one group's after the other's, given where each begins and how long it is."""
    before = np.cumsum(length) - length
    return np.repeat(begin - before, length) + np.arange(int(length.sum()))


def cut_between_groups(begins: Integers, size: int) -> Iterator[tuple[int, int]]:
    """Neighbouring groups, from the first to behind the last, that have about ``size`` rows in all; at least one."""
    at, last = 0, begins.size - 1
    while at < last:
        end = max(at + 1, int(np.searchsorted(begins, begins[at] + size, side="right")) - 1)
        yield at, min(end, last)
        at = end


def look_up(names: Sequence[str], position: Mapping[str, int]) -> Integers:
    """The position of each name; -1 for one that has none."""
    return np.fromiter(map(position.get, names, repeat(-1)), np.int64, len(names))
