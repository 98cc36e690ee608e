"""How low and how high a difference can come under labels that nobody knows, where both sides share the labels.

For each query its open documents get the top label one by one, which gives each an effect; then in the order of these
effects the first, the first two, … and the last, the last two, …: where a difference adds up over documents, over an
ideal that depends only on how many are relevant, one of these is the lowest and one the highest there is. For other
differences all labellings are tried where there are few enough; what is found else is approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.labelled import IRRELEVANT, LEFT, TOP, Labellings
from pytest_ireval.statistics.differences import TIE, Floats, Mask

Integers = NDArray[np.int64]
Difference = Callable[[Labellings], Floats]
"""The difference for each labelling."""
Chosen = Callable[[Integers, Integers], Mask]
"""Which documents get the top label, by their places in the order of their query and the numbers of the labellings."""

ENUMERATED = 12
"""Of so many open documents all labellings are tried."""
ROWS, TRIED_ROWS = 40_000_000, 12_000_000
"""So many rows labellings may make in the order of effects, and all labellings of some queries: some seconds."""
TOGETHER = 1_000_000
"""So many rows are held at once."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Queries with open documents: those of query i are ``first[i]`` to ``first[i + 1]``.

    ``rows`` is what one labelling of each query costs: so many rows are made for it.
    """

    first: Integers
    rows: Integers
    difference: Difference

    @property
    def count(self) -> Integers:
        """How many open documents each query has."""
        return np.diff(self.first)


class Bounds(NamedTuple):
    """Per query the lowest and the highest difference; per open document what the top label does to its query's.

    ``exact``: no labels give less or more.
    """

    low: Floats
    high: Floats
    effect: Floats
    exact: bool


def joint_bounds(asked: Asked, as_it_is: Floats, *, additive: bool, budget: int = TRIED_ROWS) -> Bounds:
    """Bounds that hold the differences ``as_it_is``; ``additive`` ones do not tell unjudged from irrelevant."""
    count = asked.count
    effect = effects(asked, as_it_is)
    low, high = as_it_is.copy(), as_it_is.copy()
    tried = np.zeros(count.size, bool) if additive else _affordable(asked, budget)
    if tried.any():
        number, query = _numbered(1 << np.where(tried, count, 0), tried)
        _widen(low, high, query, _values(asked, query, number, _binary, IRRELEVANT))
    left = (count > 0) & ~tried
    if left.any():
        other = LEFT if additive else IRRELEVANT
        place = places(asked.first, effect)
        for order in (place, np.repeat(count, count) - 1 - place):
            number, query = _numbered(count + 1, left)
            _widen(low, high, query, _values(asked, query, number, _leading, other, order))
    return Bounds(low, high, effect, additive or not left.any())


def effects(asked: Asked, as_it_is: Floats) -> Floats:
    """What the top label of one open document alone does to the difference of its query; 0 within rounding."""
    number, query = _numbered(asked.count, asked.count > 0)
    effect: Floats = _values(asked, query, number, np.equal, LEFT) - as_it_is[query]
    effect[np.abs(effect) <= TIE] = 0.0
    return effect


def heeds_labels(asked: Asked) -> bool:
    """Whether values differ among labels: all documents at the top or none of them, or one alone."""
    wanted = asked.count > 0
    return any(
        _differ(query, _values(asked, query, number, chosen, IRRELEVANT))
        for chosen, count in ((_all, 2 * wanted), (_one, (asked.count + 1) * wanted))
        for number, query in [_numbered(count, wanted)]
    )


def affordable(count: Integers, rows: Integers, budget: int = ROWS) -> int:
    """Of how many open documents of each query labels can be tried within the budget."""
    low, high = 1, max(1, int(count.max(initial=1)))
    while low < high:
        middle = (low + high + 1) // 2
        few = np.minimum(count, middle)
        low, high = (middle, high) if int(((3 * few + 2) * rows)[few > 0].sum()) <= budget else (low, middle - 1)
    return low


def places(first: Integers, effect: Floats) -> Integers:
    """The place of each open document among those of its query, the highest effect first, from 0."""
    query = np.repeat(np.arange(first.size - 1), np.diff(first))
    order = np.lexsort((-effect, query))
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size) - first[query]
    return place


def _affordable(asked: Asked, budget: int) -> Mask:
    """Which queries can have all their labellings tried: those with the fewest first."""
    count = asked.count
    few = (count > 0) & (count <= ENUMERATED)
    cost = np.where(few, (1 << np.minimum(count, ENUMERATED)) * asked.rows, 0)
    order = np.argsort(cost, kind="stable")
    within = np.zeros(count.size, bool)
    within[order] = np.cumsum(cost[order]) <= budget
    found: Mask = few & within
    return found


def _numbered(count: Integers, wanted: Mask) -> tuple[Integers, Integers]:
    """``count`` labellings of each wanted query: their numbers from 0, and their queries."""
    some = np.where(wanted, count, 0)
    query = np.repeat(np.arange(some.size), some)
    return np.arange(query.size) - (np.cumsum(some) - some)[query], query


def _all(place: Integers, number: Integers) -> Mask:
    """All documents where the labelling's number is not 0."""
    return (number > 0) & (place >= 0)


def _one(place: Integers, number: Integers) -> Mask:
    """The document at the place, counted from 1, that the labelling's number says."""
    chosen: Mask = place + 1 == number
    return chosen


def _leading(place: Integers, number: Integers) -> Mask:
    """The documents at the first places, as many as the labelling's number says."""
    return place < number


def _binary(place: Integers, number: Integers) -> Mask:
    """The labelling's number in binary."""
    chosen: Mask = (number >> place) & 1 == 1
    return chosen


def _values(
    asked: Asked, query: Integers, number: Integers, chosen: Chosen, other: int, order: Integers | None = None
) -> Floats:
    """The differences of labellings; documents that are not ``chosen`` have the ``other`` label."""
    made = [np.zeros(0)]
    for part in _parts(asked.rows[query]):
        own, count = query[part], asked.count[query[part]]
        of = np.repeat(np.arange(own.size), count)
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
        place = np.arange(of.size) - first[of]
        if order is not None:
            place = order[asked.first[own[of]] + place]
        label = np.where(chosen(place, number[part][of]), TOP, other).astype(np.int8)
        made.append(asked.difference(Labellings(own, first, label)))
    return np.concatenate(made)


def _differ(query: Integers, values: Floats) -> bool:
    """Whether a query, whose values stand together, has several."""
    return bool(((query[1:] == query[:-1]) & (values[1:] != values[:-1])).any())


def _parts(rows: Integers) -> Iterator[slice]:
    """Stretches of labellings that together make few enough rows."""
    total = np.cumsum(rows)
    start = 0
    while start < rows.size:
        so_far = int(total[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(total, so_far + TOGETHER, side="right")))
        yield slice(start, end)
        start = end


def _widen(low: Floats, high: Floats, query: Integers, values: Floats) -> None:
    """Let bounds hold the values of their queries, which stand together."""
    if not query.size:
        return
    begin = np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1])))
    of = query[begin]
    low[of] = np.minimum(low[of], np.minimum.reduceat(values, begin))
    high[of] = np.maximum(high[of], np.maximum.reduceat(values, begin))
