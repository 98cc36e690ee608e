"""Columns of ids, and which ids of one column are those of another."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers, Mask
from pytest_ireval.data.scan import Ids, PairIndex, concatenate_ids, number_pairs

__all__ = ["Ids", "NumberedIds", "are_among", "concatenate_ids", "find_ids", "find_unknown", "number_ids"]


class NumberedIds(NamedTuple):
    """The ``distinct`` ids of a column in order of appearance, and for each row the ``number`` of its id among them."""

    distinct: Ids
    number: Integers


def number_ids(ids: Ids) -> NumberedIds:
    """Give equal ids equal numbers."""
    first, number = number_pairs(np.zeros(len(ids), np.int64), ids)
    return NumberedIds(ids.take(first), number)


def find_ids(ids: Ids, distinct: Ids) -> Integers:
    """The row of each id among ``distinct`` ones; -1 where it is missing."""
    return PairIndex(np.zeros(len(distinct), np.int64), distinct).find(np.zeros(len(ids), np.int64), ids)


def are_among(ids: Ids, columns: Iterable[Ids]) -> Mask:
    """Tell which ids occur in one of some columns."""
    distinct, number = number_ids(ids)
    index = PairIndex(np.zeros(len(distinct), np.int64), distinct)
    known = np.zeros(len(distinct), bool)
    for column in columns if len(distinct) else ():
        rows = index.find(np.zeros(len(column), np.int64), column)
        known[rows[rows >= 0]] = True
    return known[number]


def find_unknown(texts: Collection[str], columns: Iterable[Ids]) -> set[str]:
    """The texts that are no id of any of some columns."""
    known = are_among(Ids.of(list(texts)), columns).tolist()
    return {text for text, is_known in zip(texts, known, strict=True) if not is_known}
