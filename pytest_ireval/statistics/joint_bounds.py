"""The lowest and highest difference that unknown labels allow, where both sides share the labels.

For each query all labellings are tried, where there are few enough. Of values that are a sum over documents, divided by
something that depends only on how many documents have which label, fewer are enough: whatever the numbers are, the
lowest and the highest difference give the labels in the order of what one label does to each document. A plain sum
needs every document once with every label. What is left gets bounds that are not exact: of values that look only at
which documents are relevant each side alone, with its documents labelled from the top and from the bottom; of others
the range of the values. No bound is narrower than what labels can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.views import LEFT, Labellings
from pytest_ireval.statistics.differences import TIE, Floats, Mask

Integers = NDArray[np.int64]
Difference = Callable[[Labellings], Floats]
"""The difference for each labelling."""
ENUMERATED = 4096
"""Up to this many labellings of a query are tried."""
HEEDED = 64
"""This many labellings are enough to see whether labels matter."""
STEPPED = 50_000
"""Up to this many labellings of a query in the order of effects are tried."""
ROWS, TRIED_ROWS = 40_000_000, 24_000_000
"""The most rows of labellings in the order of effects, and of all labellings of some queries: some seconds."""
TOGETHER = 1_000_000
"""The most rows in memory at once."""
ANYTHING = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Asked:
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


class Alone(NamedTuple):
    """One side's values, which never fall (or never rise) when a relevant document changes places with a worse one.

    ``ranks`` are those of the open documents, 0 for documents that are not retrieved.
    """

    value: Difference
    ranks: Integers


class Shape(NamedTuple):
    """Facts of the values that are true for all labels."""

    plain: bool = False
    """True for a sum over documents, divided by nothing."""
    steps: Sequence[int] = ()
    """For a sum divided by something that depends on the labels alone: labels of different worth, ascending."""
    alone: tuple[Alone, Alone] | None = None
    """Both sides, if the only labels are relevant and not relevant."""
    range: tuple[float, float] = ANYTHING
    """The least and the greatest difference."""


class Bounds(NamedTuple):
    """Per query the lowest and the highest difference; per open document the effect of the top label.

    ``exact``: some labels give just these.
    """

    low: Floats
    high: Floats
    effect: Floats
    exact: bool


def joint_bounds(
    asked: Asked,
    as_it_is: Floats,
    shape: Shape,
    *,
    unknown: Mask | None = None,
    tried_rows: int = TRIED_ROWS,
    stepped_rows: int = ROWS,
) -> Bounds:
    """Bounds that contain the differences ``as_it_is``; of ``unknown`` queries no labelling is tried."""
    count = asked.count
    effect = effects(asked, as_it_is)
    low, high = as_it_is.copy(), as_it_is.copy()
    left = count > 0
    if unknown is not None:
        _widen_to(low, high, unknown, shape.range)
        left &= ~unknown
    exact = unknown is None or not unknown.any()
    if shape.plain:
        added = _added_up(asked, as_it_is, left)
        return Bounds(np.minimum(low, added[0]), np.maximum(high, added[1]), effect, exact)
    labellings, steps = _labellings_of(asked.labels, count), _steps_of(count, len(shape.steps))
    stepped = left & (steps <= STEPPED) & (2 * steps < labellings)
    stepped = _affordable(stepped, 2 * steps * asked.rows, stepped_rows)
    if stepped.any():
        _step(asked, shape.steps, stepped, low, high)
        left &= ~stepped
    tried = _affordable(left & (labellings <= ENUMERATED), labellings * asked.rows, tried_rows)
    if tried.any():
        number, query = _numbered(labellings, tried)
        _widen(low, high, query, _values(asked, query, number, _in_digits(asked.labels)))
        left &= ~tried
    if left.any() and shape.alone is not None:
        _widen_by_sides(asked, shape.alone, left, low, high)
        within = (np.maximum(low, shape.range[0]), np.minimum(high, shape.range[1]))
        low[left], high[left] = within[0][left], within[1][left]
    elif left.any():
        _widen_to(low, high, left, shape.range)
    return Bounds(low, high, effect, exact and not left.any())


def effects(asked: Asked, as_it_is: Floats) -> Floats:
    """The effect of each open document alone on the difference of its query; 0 within rounding.

    It is that of the top label. If that is 0, it is that of the label with the largest effect.
    """
    found = _each_alone(asked, as_it_is, asked.count > 0)
    found[np.abs(found) <= TIE] = 0.0
    most = found[np.arange(found.shape[0]), np.abs(found).argmax(axis=1)]
    return np.where(found[:, -1] != 0, found[:, -1], most)


def heeds_labels(asked: Asked) -> bool:
    """True if values differ among labels: one for all documents, one document alone, or some of all labellings."""
    wanted = asked.count > 0
    number, query = _numbered(asked.labels * wanted, wanted)
    if _differ(query, _values(asked, query, number, lambda number, place, _: number + 1 + 0 * place)):
        return True
    number, query = _numbered((asked.labels * asked.count + 1) * wanted, wanted)
    if _differ(query, _values(asked, query, number, _one_alone(asked.labels, others=1))):
        return True
    some = np.minimum(_labellings_of(asked.labels, asked.count), HEEDED)
    number, query = _numbered(some, wanted)
    spread = number * (_labellings_of(asked.labels, asked.count) // np.maximum(some, 1))[query]
    return _differ(query, _values(asked, query, spread, _in_digits(asked.labels)))


def affordable(count: Integers, rows: Integers, budget: int = ROWS) -> int:
    """The number of open documents of each query whose labels can be tried within the budget."""
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


def _each_alone(asked: Asked, as_it_is: Floats, wanted: Mask) -> Floats:
    """The effect of each open document (rows) with each label (columns) alone on the difference of its query."""
    number, query = _numbered(asked.count * asked.labels, wanted)
    moved = _values(asked, query, number, _one_alone(asked.labels)) - as_it_is[query]
    found = np.zeros((int(asked.first[-1]), asked.labels))
    found[np.repeat(wanted, asked.count)] = moved.reshape(-1, asked.labels)
    return found


def _added_up(asked: Asked, as_it_is: Floats, wanted: Mask) -> tuple[Floats, Floats]:
    """The ends of a plain sum: every document with the label of the largest effect."""
    alone = _each_alone(asked, as_it_is, wanted)
    query = np.repeat(np.arange(asked.count.size), asked.count)
    ends = (np.bincount(query, end, asked.count.size) for end in (alone.min(axis=1), alone.max(axis=1)))
    low, high = (as_it_is + end for end in ends)
    return low, high


def _step(asked: Asked, steps: Sequence[int], wanted: Mask, low: Floats, high: Floats) -> None:
    """Widen bounds of sums over a divisor by the labellings that give better labels to higher effects, or to lower."""
    lowest, highest = steps[0], steps[-1]
    number, query = _numbered(asked.count, wanted)
    effect = np.zeros(int(asked.first[-1]))
    effect[np.repeat(wanted, asked.count)] = _values(
        asked, query, number, lambda number, place, _: np.where(number == place, highest, lowest)
    )
    place = places(asked.first, effect)
    worth = np.array(steps, np.int64)
    number, query = _numbered(_steps_of(asked.count, len(steps)), wanted)
    for order in (place, np.repeat(asked.count, asked.count) - 1 - place):
        _widen(low, high, query, _values(asked, query, number, _in_steps(worth), order))


def _widen_by_sides(asked: Asked, sides: tuple[Alone, Alone], wanted: Mask, low: Floats, high: Floats) -> None:
    """Widen bounds by the values of each side alone, for every number of relevant documents."""

    def leading(number: Integers, place: Integers, _: Integers) -> Integers:
        """The top label for the documents at the first places, as many as the number says; the lowest for others."""
        return np.where(place < number, asked.labels, 1)

    number, query = _numbered(asked.count + 1, wanted)
    ends = []
    for side in sides:
        alone = Asked(asked.first, asked.rows, side.value, asked.labels)
        height = -np.where(side.ranks > 0, side.ranks, np.iinfo(np.int32).max).astype(np.float64)
        place = places(asked.first, height)
        orders = (place, np.repeat(asked.count, asked.count) - 1 - place)
        values = [_values(alone, query, number, leading, order) for order in orders]
        ends.append((np.minimum(*values), np.maximum(*values)))
    (now_low, now_high), (before_low, before_high) = ends
    _widen(low, high, query, now_low - before_high)
    _widen(low, high, query, now_high - before_low)


def _widen_to(low: Floats, high: Floats, queries: Mask, ends: tuple[float, float]) -> None:
    low[queries] = np.minimum(low[queries], ends[0])
    high[queries] = np.maximum(high[queries], ends[1])


def _affordable(wanted: Mask, cost: Integers, budget: int) -> Mask:
    cost = np.where(wanted, cost, 0)
    order = np.argsort(cost, kind="stable")
    within = np.zeros(cost.size, bool)
    within[order] = np.cumsum(cost[order]) <= budget
    return wanted & within


def _values(asked: Asked, query: Integers, number: Integers, label: _Labels, order: Integers | None = None) -> Floats:
    made = [np.zeros(0)]
    for part in _parts(asked.rows[query]):
        own, count = query[part], asked.count[query[part]]
        of = np.repeat(np.arange(own.size), count)
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
        place = np.arange(of.size) - first[of]
        if order is not None:
            place = order[asked.first[own[of]] + place]
        made.append(asked.difference(Labellings(own, first, label(number[part][of], place, count[of]))))
    return np.concatenate(made)


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


def _labellings_of(labels: int, count: Integers) -> Integers:
    most = np.log(float(MANY))
    few = count * np.log(float(max(labels, 2))) < most
    return np.where(few, np.power(labels, np.where(few, count, 0)), MANY)


def _steps_of(count: Integers, labels: int) -> Integers:
    """The number of labellings in the order of effects, or more than are tried."""
    if labels < 1:
        return np.full(count.shape, MANY)
    ways = [min(comb(n + labels - 1, labels - 1), MANY) for n in range(int(count.max(initial=0)) + 1)]
    return np.array(ways, np.int64)[count]


def _numbered(count: Integers, wanted: Mask) -> tuple[Integers, Integers]:
    """``count`` labellings of each wanted query: their numbers from 0, and their queries."""
    some = np.where(wanted, count, 0)
    query = np.repeat(np.arange(some.size), some)
    return np.arange(query.size) - (np.cumsum(some) - some)[query], query


def _one_alone(labels: int, others: int = LEFT) -> _Labels:
    """One document with one label: all labels of the first document, then of the second; ``others`` have another."""
    return lambda number, place, _: np.where(number // labels == place, number % labels + 1, others)


def _in_digits(labels: int) -> _Labels:
    def digits(number: Integers, place: Integers, _: Integers) -> Integers:
        worth = np.power(float(labels), np.minimum(place, 64))  # of higher places all digits are 0
        return (number // worth).astype(np.int64) % labels + 1

    return digits


def _in_steps(worth: Integers) -> _Labels:
    """Labels that fall from place to place."""

    def labels(number: Integers, place: Integers, count: Integers) -> Integers:
        found = np.zeros(place.size, np.int64)
        for size in np.unique(count).tolist():
            here = count == size
            found[here] = (place[here, None] < _borders(size, worth.size - 1)[number[here]]).sum(axis=1)
        return worth[found]

    return labels


@lru_cache(maxsize=200)
def _borders(count: int, borders: int) -> Integers:
    """All ways to divide ``count`` places by this many borders."""
    ways = list(combinations_with_replacement(range(count + 1), borders))
    return np.array(ways, np.int64).reshape(len(ways), borders)


def _differ(query: Integers, values: Floats) -> bool:
    """True if one of the queries, whose values are next to each other, has several values."""
    return bool(((query[1:] == query[:-1]) & (values[1:] != values[:-1])).any())
