"""The smallest data on which a promise is still broken: fewer queries, fewer documents, smaller grades."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pytest_ireval.testing.breaking import Broken
from pytest_ireval.testing.data import Data, Query

MOST_ATTEMPTS = 600

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
        for i in range(len(data.queries)):
            yield replace(data, queries=(*data.queries[:i], *data.queries[i + 1 :]))
    for i, query in enumerate(data.queries):
        for smaller in _with_less(query):
            yield replace(data, queries=(*data.queries[:i], smaller, *data.queries[i + 1 :]))


def _with_less(query: Query) -> Iterator[Query]:
    """The query without one document, without one judgment, or with one grade nearer to 0."""
    for document in query.numbers:
        grades = {d: grade for d, grade in query.grades.items() if d != document}
        if grades:
            ranking = query.ranking and tuple(pair for pair in query.ranking if pair[0] != document)
            numbers = {d: number for d, number in query.numbers.items() if d != document}
            yield replace(query, grades=grades, ranking=ranking, numbers=numbers)
    for document, grade in query.grades.items():
        if len(query.grades) > 1 and query.ranking and document in dict(query.ranking):
            yield replace(query, grades={d: g for d, g in query.grades.items() if d != document})
        if grade not in (0, 1):
            yield replace(query, grades={**query.grades, document: grade - 1 if grade > 0 else grade + 1})
