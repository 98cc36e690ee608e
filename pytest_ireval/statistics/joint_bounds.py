"""The lowest and highest difference that unknown labels allow, where both sides share the labels.

For each query all labellings are tried, where there are few enough. Of a query with more, those are tried that give the
top label to the documents that help most, or to those that harm most. They contain the lowest and the highest
difference if values are a sum over documents, divided by something that depends only on how many have which label, and
there are two labels: whatever the divisor is, the best documents to label are those with the greatest effect. For other
values these bounds are approximate. Each end of the bounds is the difference under some labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.data.views import LEFT, Labellings
from pytest_ireval.statistics.differences import TIE, Floats, Mask

Integers = NDArray[np.int64]
Difference = Callable[[Labellings], Floats]
"""The difference for each labelling."""
ENUMERATED = 4096
"""Up to this many labellings of a query are tried."""
SAMPLED = 64
"""This many labellings are enough to see whether labels matter."""
ROWS, TRIED_ROWS = 40_000_000, 24_000_000
"""The most rows of labellings in the order of effects, and of all labellings of some queries: some seconds."""
TOGETHER = 200_000
"""The most rows in memory at once: more take a quarter longer, because they leave the caches of a processor."""


@dataclass(eq=False)
class OpenQueries:
    """Queries with open documents: those of query i are ``first[i]`` to ``first[i + 1]``.

    ``rows`` is the cost of one labelling of each query: this many rows are made for it. Labels are 1 to ``labels``, the
    last is the top.
    """

    first: Integers
    rows: Integers
    difference: Difference
    labels: int = 2

    @property
    def count(self) -> Integers:
        """The number of open documents of each query."""
        return np.diff(self.first)


class Bounds(NamedTuple):
    """Per query the lowest and the highest difference; per open document its effect alone.

    ``exact``: no labels give more or less.
    """

    low: Floats
    high: Floats
    effect: Floats
    exact: bool


def joint_bounds(queries: OpenQueries, as_it_is: Floats, *, adds_up: bool, tried_rows: int = TRIED_ROWS) -> Bounds:
    """Bounds that contain the differences ``as_it_is``.

    ``adds_up`` tells whether values are a sum over documents, divided by something that depends only on the labels.
    """
    count = queries.count
    effect = measure_effects(queries, as_it_is)
    low, high = as_it_is.copy(), as_it_is.copy()
    labellings = _count_labellings(queries.labels, count)
    tried = _select_affordable((count > 0) & (labellings <= ENUMERATED), labellings * queries.rows, tried_rows)
    number, query = _number_labellings(labellings, tried)
    _widen(low, high, query, _try(queries, query, number, _label_by_digits(queries.labels)))
    left = (count > 0) & ~tried
    number, query = _number_labellings(count + 1, left)
    for order in (rank_by_effect(queries.first, effect), rank_by_effect(queries.first, -effect)):
        _widen(low, high, query, _try(queries, query, number, _label_first(queries.labels), order))
    return Bounds(low, high, effect, exact=not left.any() or (adds_up and queries.labels == 2))


def measure_effects(queries: OpenQueries, as_it_is: Floats) -> Floats:
    """The effect of each open document alone on the difference of its query; 0 within rounding.

    It is that of the top label. If that is 0, it is that of the label with the largest effect: to bpref, a document
    that is judged not relevant counts.
    """
    number, query = _number_labellings(queries.count * queries.labels, queries.count > 0)
    moved = _try(queries, query, number, _label_one(queries.labels)) - as_it_is[query]
    effects = np.where(np.abs(moved) <= TIE, 0.0, moved).reshape(-1, queries.labels)
    most = effects[np.arange(effects.shape[0]), np.abs(effects).argmax(axis=1)]
    return np.where(effects[:, -1] != 0, effects[:, -1], most)


def depends_on_labels(queries: OpenQueries) -> bool:
    """True if values differ among labels: one for all documents, one document alone, or some of all labellings."""
    wanted = queries.count > 0
    number, query = _number_labellings(queries.labels * wanted, wanted)
    if _have_several_values(query, _try(queries, query, number, lambda number, place, _: number + 1 + 0 * place)):
        return True
    number, query = _number_labellings((queries.labels * queries.count + 1) * wanted, wanted)
    if _have_several_values(query, _try(queries, query, number, _label_one(queries.labels, others=1))):
        return True
    labellings = _count_labellings(queries.labels, queries.count)
    some = np.minimum(labellings, SAMPLED)
    number, query = _number_labellings(some, wanted)
    spread = number * (labellings // np.maximum(some, 1))[query]
    return _have_several_values(query, _try(queries, query, spread, _label_by_digits(queries.labels)))


def count_rows(count: Integers, rows: Integers) -> int:
    """The rows of one label for each document alone, and of labellings in the order of effects."""
    return int(((3 * count + 2) * rows)[count > 0].sum())


def rank_by_effect(first: Integers, effect: Floats) -> Integers:
    """The place of each open document among those of its query, the highest effect first, from 0."""
    query = np.repeat(np.arange(first.size - 1), np.diff(first))
    order = np.lexsort((-effect, query))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size) - first[query]
    return place


def _select_affordable(wanted: Mask, cost: Integers, budget: int) -> Mask:
    cost = np.where(wanted, cost, 0)
    order = np.argsort(cost, kind="stable")
    within = np.zeros(cost.size, bool)
    within[order] = np.cumsum(cost[order]) <= budget
    return wanted & within


def _try(
    queries: OpenQueries, query: Integers, number: Integers, label: _Labels, order: Integers | None = None
) -> Floats:
    made = [np.zeros(0)]
    for part in _split_rows(queries.rows[query]):
        own, count = query[part], queries.count[query[part]]
        of = np.repeat(np.arange(own.size), count)
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
        place = np.arange(of.size) - first[of]
        if order is not None:
            place = order[queries.first[own[of]] + place]
        made.append(queries.difference(Labellings(own, first, label(number[part][of], place, count[of]))))
    return np.concatenate(made)


def _split_rows(rows: Integers) -> Iterator[slice]:
    """Stretches of labellings that together make few enough rows."""
    total = np.cumsum(rows)
    start = 0
    while start < rows.size:
        so_far = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, so_far + TOGETHER, side="right")))
        yield slice(start, end)
        start = end


def _widen(low: Floats, high: Floats, query: Integers, values: Floats) -> None:
    """Make bounds contain the values of their queries, which are next to each other."""
    if not query.size:
        return
    begin = np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1])))
    of = query[begin]
    low[of] = np.minimum(low[of], np.minimum.reduceat(values, begin))
    high[of] = np.maximum(high[of], np.maximum.reduceat(values, begin))


_Labels = Callable[[Integers, Integers, Integers], Integers]
"""Labels by the number of the labelling, the place of each document in the order of its query, and how many it has."""

MANY = 1_000_000
"""The most labellings of a query that are counted."""


def _count_labellings(labels: int, count: Integers) -> Integers:
    most = np.log(float(MANY))
    few = count * np.log(float(max(labels, 2))) < most
    return np.where(few, np.power(labels, np.where(few, count, 0)), MANY)


def _number_labellings(count: Integers, wanted: Mask) -> tuple[Integers, Integers]:
    """``count`` labellings of each wanted query: their numbers from 0, and their queries."""
    some = np.where(wanted, count, 0)
    query = np.repeat(np.arange(some.size), some)
    return np.arange(query.size) - (np.cumsum(some) - some)[query], query


def _label_one(labels: int, others: int = LEFT) -> _Labels:
    """One document with one label: all labels of the first document, then of the second; ``others`` have another."""
    return lambda number, place, _: np.where(number // labels == place, number % labels + 1, others)


def _label_first(labels: int) -> _Labels:
    """The top label for the documents at the first places, as many as the number says; the lowest for others."""
    return lambda number, place, _: np.where(place < number, labels, 1)


def _label_by_digits(labels: int) -> _Labels:
    def digits(number: Integers, place: Integers, _: Integers) -> Integers:
        worth = np.power(float(labels), np.minimum(place, 64))  # of higher rank_by_effect all digits are 0
        return (number // worth).astype(np.int64) % labels + 1

    return digits


def _have_several_values(query: Integers, values: Floats) -> bool:
    """True if one of the queries, whose values are next to each other, has several values."""
    return bool(((query[1:] == query[:-1]) & (values[1:] != values[:-1])).any())
