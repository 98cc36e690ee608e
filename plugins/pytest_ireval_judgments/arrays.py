"""Types of arrays, and arrays of several lists one after the other; list i is rows ``first[i]`` to ``first[i + 1]``."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


def number_lists(first: Integers) -> Integers:
    """The list of each row."""
    return np.repeat(np.arange(first.size - 1), np.diff(first))


def number_ranks(first: Integers) -> Integers:
    """The place of each row in its list, from 1."""
    rank: Integers = np.arange(1, int(first[-1]) + 1) - np.repeat(first[:-1], np.diff(first))
    return rank
