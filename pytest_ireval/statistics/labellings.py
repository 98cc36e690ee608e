"""Ways to give labels to the open documents of a query: how many there are, and each by its number."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.labelled import LEFT
from pytest_ireval.statistics.differences import Floats, Mask

Integers = NDArray[np.int64]
Labels = Callable[[Integers, Integers, Integers], Integers]
"""Labels by the number of the labelling, the place of each document in the order of its query, and how many it has."""

MANY = 1_000_000
"""More labellings of a query are not counted."""


def labellings_of(labels: int, count: Integers) -> Integers:
    """How many labellings there are, or more than are tried."""
    most = np.log(float(MANY))
    few = count * np.log(float(max(labels, 2))) < most
    found: Integers = np.where(few, np.power(labels, np.where(few, count, 0)), MANY)
    return found


def steps_of(count: Integers, labels: int) -> Integers:
    """How many labellings there are in the order of effects, or more than are tried."""
    if labels < 1:
        return np.full(count.shape, MANY)
    ways = [min(comb(n + labels - 1, labels - 1), MANY) for n in range(int(count.max(initial=0)) + 1)]
    return np.array(ways, np.int64)[count]


def numbered(count: Integers, wanted: Mask) -> tuple[Integers, Integers]:
    """``count`` labellings of each wanted query: their numbers from 0, and their queries."""
    some = np.where(wanted, count, 0)
    query = np.repeat(np.arange(some.size), some)
    return np.arange(query.size) - (np.cumsum(some) - some)[query], query


def same_label(number: Integers, place: Integers, _: Integers) -> Integers:
    """The same label for all documents."""
    return number + 1 + 0 * place


def one_alone(labels: int) -> Labels:
    """One document alone with one label: all labels of the first document, then of the second."""
    return lambda number, place, _: np.where(number // labels == place, number % labels + 1, LEFT)


def one_among(labels: int) -> Labels:
    """The same among documents with the lowest label; the last labelling is these alone."""
    return lambda number, place, _: np.where(number // labels == place, number % labels + 1, 1)


def one_above(lowest: int, highest: int) -> Labels:
    """One document with the label of the highest worth among others with that of the lowest."""
    return lambda number, place, _: np.where(number == place, highest, lowest)


def leading(labels: int) -> Labels:
    """The top label for the documents at the first places, as many as the number says; the lowest for others."""
    return lambda number, place, _: np.where(place < number, labels, 1)


def in_digits(labels: int) -> Labels:
    """The number, in as many digits as there are documents."""

    def digits(number: Integers, place: Integers, _: Integers) -> Integers:
        worth = np.power(float(labels), np.minimum(place, 64))  # of higher places all digits are 0
        found: Integers = (number // worth).astype(np.int64) % labels + 1
        return found

    return digits


def in_steps(worth: Integers) -> Labels:
    """Labels that fall from place to place."""

    def labels(number: Integers, place: Integers, count: Integers) -> Integers:
        found = np.zeros(place.size, np.int64)
        for size in np.unique(count).tolist():
            here = count == size
            found[here] = (place[here, None] < _borders(size, worth.size - 1)[number[here]]).sum(axis=1)
        chosen: Integers = worth[found]
        return chosen

    return labels


@lru_cache(maxsize=200)
def _borders(count: int, borders: int) -> Integers:
    """All ways to part ``count`` places by this many borders."""
    ways = list(combinations_with_replacement(range(count + 1), borders))
    return np.array(ways, np.int64).reshape(len(ways), borders)


def differ(query: Integers, values: Floats) -> bool:
    """Whether a query, whose values stand together, has several."""
    return bool(((query[1:] == query[:-1]) & (values[1:] != values[:-1])).any())
