"""The smallest data on which a promise is still broken: fewer queries, fewer documents, smaller grades."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pytest_ireval.testing.breaking import Broken
from pytest_ireval.testing.data import Data, Query

MOST_ATTEMPTS = 600
MANY = 40
"""More documents or queries than this are left out in groups first."""

T = TypeVar("T")
Attempt = Callable[[Data], Broken | None]


def smallest(data: Data, broken: Broken, attempt: Attempt) -> Broken:
    """The breach on the smallest data that were found by leaving out one thing after the other."""
    left = MOST_ATTEMPTS
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(data):
            left -= 1
            if left < 0:
                return broken
            if found := attempt(smaller):
                data, broken, progress = smaller, found, True
                break
    return broken


def _smaller(data: Data) -> Iterator[Data]:
    """The data with one thing less each, the largest steps first."""
    if len(data.queries) > 2:
        yield from (replace(data, queries=(query,)) for query in data.queries)
    if len(data.queries) > 1:
        for dropped in _dropped(data.queries):
            yield replace(data, queries=tuple(query for query in data.queries if query not in dropped))
    for i, query in enumerate(data.queries):
        for smaller in _with_less(query):
            yield replace(data, queries=(*data.queries[:i], smaller, *data.queries[i + 1 :]))


def _dropped(things: Sequence[T]) -> Iterator[set[T]]:
    """What is left out together: of many things first halves, quarters and so on, then each by itself."""
    size = len(things) // 2 if len(things) > MANY else 1
    while size > 1:
        yield from (set(things[i : i + size]) for i in range(0, len(things), size))
        size //= 2
    yield from ({thing} for thing in things)


def _with_less(query: Query) -> Iterator[Query]:
    """The query without one document, without one judgment, or with one grade nearer to 0."""
    for dropped in _dropped(list(query.numbers)):
        grades = {d: grade for d, grade in query.grades.items() if d not in dropped}
        if grades:
            ranking = query.ranking and tuple(pair for pair in query.ranking if pair[0] not in dropped)
            numbers = {d: number for d, number in query.numbers.items() if d not in dropped}
            yield replace(query, grades=grades, ranking=ranking, numbers=numbers)
    for document, grade in query.grades.items():
        if len(query.grades) > 1 and query.ranking and document in dict(query.ranking):
            yield replace(query, grades={d: g for d, g in query.grades.items() if d != document})
        for nearer in _nearer_to_0(grade):
            yield replace(query, grades={**query.grades, document: nearer})


def _nearer_to_0(grade: float) -> list[float]:
    """A grade without its fraction, and one less; never what it was before."""
    if not grade.is_integer():
        return [float(int(grade))] + ([grade - 1] if grade > 1 else [])
    return [] if grade in (0, 1) else [grade - 1 if grade > 0 else grade + 1]
