"""Ways to change data, each of which most metrics have an opinion about: none, or a one-sided one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from pytest_ireval.testing.data import SEED, Data, Query

Change = Callable[[Data], Data]
AN_IRRELEVANT = "i0"
AN_UNJUDGED = "u0"
LONG_DOCUMENT = "https://shop.example/größe/コップ/{:05}"
LONG_QUERY = "größere-tasse-コップ-{:04}"


@lru_cache(maxsize=1000)
def changed(change: Change, data: Data) -> Data:
    """The data after a change; made once."""
    return change(data)


def each_query(data: Data, change: Callable[[Query], Query]) -> Data:
    """The data with every query changed by itself."""
    return replace(data, queries=tuple(map(change, data.queries)))


def documents_renamed(data: Data) -> Data:
    """Every document has a new id, and the new ids sort in another order."""
    return each_query(data, _documents_renamed)


def documents_renamed_at_length(data: Data) -> Data:
    """Every document has a long id with letters from several scripts."""
    return each_query(data, lambda query: _documents_renamed(query, LONG_DOCUMENT))


def _documents_renamed(query: Query, pattern: str = "r{:03}") -> Query:
    prime = 101 if max(query.numbers.values()) < 101 else 10007
    new = {name: pattern.format((37 * number + 11) % prime) for name, number in query.numbers.items()}
    return replace(
        query,
        grades={new[name]: grade for name, grade in query.grades.items()},
        ranking=query.ranking and tuple((new[name], score) for name, score in query.ranking),
        numbers={new[name]: number for name, number in query.numbers.items()},
    )


def queries_renamed(data: Data) -> Data:
    """Every query has a new id, and the new ids sort in another order."""
    return each_query(data, lambda query: replace(query, name=f"x{(37 * query.number + 11) % 1009:03}"))


def queries_renamed_at_length(data: Data) -> Data:
    """Every query has a long id with letters from several scripts."""
    return each_query(data, lambda query: replace(query, name=LONG_QUERY.format((37 * query.number + 11) % 1009)))


def queries_shuffled(data: Data) -> Data:
    """Queries stand in another order, among them one that was ranked and that nobody judged."""
    order = np.random.default_rng(SEED).permutation(len(data.queries)).tolist()
    moved = order if order != sorted(order) else order[::-1]
    return replace(data, queries=tuple(data.queries[i] for i in moved), strangers=("nobody judged this",))


def lines_shuffled(data: Data) -> Data:
    """The lines of each ranking and of the judgments stand in another order; scores say what the order is."""
    return each_query(data, _lines_shuffled)


def _lines_shuffled(query: Query) -> Query:
    return replace(
        query,
        grades=dict(list(query.grades.items())[::-1]),
        ranking=query.ranking and query.ranking[1::2] + query.ranking[::2],
    )


def scores_scaled(data: Data) -> Data:
    """Every score is another one, in the same order, equal where they were equal."""
    return each_query(
        data,
        lambda query: replace(
            query, ranking=query.ranking and tuple((name, 2.0 * score**3 + 100) for name, score in query.ranking)
        ),
    )


def perfected(data: Data, relevant_from: float | None) -> Data:
    """Every ranking is all relevant documents by grade, and nothing else."""
    return each_query(data, lambda query: _perfected(query, relevant_from))


def _perfected(query: Query, relevant_from: float | None) -> Query:
    relevant = {d: g for d, g in query.grades.items() if (g > 0 if relevant_from is None else g >= relevant_from)}
    best = sorted(relevant, key=lambda d: -relevant[d])
    return ranked(query, best)


def ranked(query: Query, documents: list[str]) -> Query:
    """The query with these documents as its ranking."""
    return replace(query, ranking=tuple((d, float(len(documents) - i)) for i, d in enumerate(documents)))


@lru_cache(maxsize=1000)
def promotions(data: Data, relevant_from: float | None) -> tuple[Data, ...]:
    """The data with one relevant document of each query having passed the one above it, which has a lower grade.

    The k-th entry does this at the k-th place of each query where it can be done.
    """
    found = [_promotions(query, relevant_from) for query in data.queries]
    most = max(map(len, found), default=0)
    return tuple(
        replace(
            data, queries=tuple(new[k] if k < len(new) else old for new, old in zip(found, data.queries, strict=True))
        )
        for k in range(most)
    )


def _promotions(query: Query, relevant_from: float | None) -> list[Query]:
    order = query.ordered
    grade = [max(query.grades.get(document, 0.0), 0.0) for document in order]
    lowest = relevant_from if relevant_from is not None and relevant_from > 0 else 0.0
    places = [i for i in range(1, len(order)) if grade[i] > grade[i - 1] and grade[i] >= lowest]
    return [ranked(query, [*order[: i - 1], order[i], order[i - 1], *order[i + 1 :]]) for i in places]


@lru_cache(maxsize=1000)
def up_to(top: float, data: Data) -> Data:
    """The data on a scale that ends at ``top``: higher grades are lowered to it."""
    if data.top <= top:
        return data
    lowered = {q: {d: min(grade, top) for d, grade in q.grades.items()} for q in data.queries}
    return replace(data, queries=tuple(replace(q, grades=lowered[q]) for q in data.queries), top=top)


@lru_cache(maxsize=1000)
def each_first(data: Data) -> tuple[Data, ...]:
    """The data as often as there are queries, with each query standing in front once."""
    return tuple(replace(data, queries=(*data.queries[i:], *data.queries[:i])) for i in range(len(data.queries)))


@lru_cache(maxsize=1000)
def each_alone(data: Data) -> tuple[Data, ...]:
    """Every query by itself."""
    return tuple(replace(data, queries=(query,)) for query in data.queries)


def deep_enough(data: Data, cutoff: int) -> Data:
    """Every ranking is ``cutoff`` judged documents; queries that have fewer are gone.

    Each has a judged document besides that is not relevant.
    """
    found = [[document for document in query.ordered if document in query.grades] for query in data.queries]
    pairs = zip(data.queries, found, strict=True)
    kept = [_with_spare(ranked(query, judged[:cutoff])) for query, judged in pairs if len(judged) >= cutoff]
    return replace(data, queries=tuple(kept))


def _with_spare(query: Query) -> Query:
    numbers = {**query.numbers, AN_IRRELEVANT: 98, AN_UNJUDGED: 99}
    return replace(query, grades={**query.grades, AN_IRRELEVANT: 0.0}, numbers=numbers)


def lengthened(data: Data) -> Data:
    """Behind every ranking stand a document judged not relevant, and an unjudged one."""
    return each_query(
        data,
        lambda query: ranked(query, [*(d for d in query.ordered if d != AN_IRRELEVANT), AN_IRRELEVANT, AN_UNJUDGED]),
    )
