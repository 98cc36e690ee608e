"""The reference: rankings and judgments read line by line with dictionaries, in the most obvious way."""

from __future__ import annotations

from typing import NamedTuple

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """Where a document stands in a ranking; ranks start at 1, ``tied_from`` to ``tied_to`` share its score."""

    rank: int
    document: str
    score: float
    tied_from: int
    tied_to: int


class Ranking(NamedTuple):
    """One query's ranking."""

    retrieved: int
    places: list[Place]


def slow_rankings(data: bytes, *, by_id: bool = True) -> dict[str, Ranking]:
    """Every ranking in the text of a rankings file."""
    lists: dict[str, list[tuple[bytes, float]]] = {}
    for query, _, document, _, score, *_ in _words(data):
        lists.setdefault(query.decode(), []).append((document, float(score)))
    return {query: Ranking(len(scored), _in_order(scored, by_id)) for query, scored in lists.items()}


def slow_judgments(data: bytes) -> dict[str, dict[str, float]]:
    """Every grade in the text of a judgments file, by query and document."""
    grades: dict[str, dict[str, float]] = {}
    for query, _, document, grade in _words(data):
        grades.setdefault(query.decode(), {})[document.decode()] = float(grade)
    return grades


def slow_hits(
    rankings: dict[str, Ranking], judgments: dict[str, dict[str, float]]
) -> dict[str, list[tuple[Place, float]]]:
    """The judged documents of every judged query that is ranked, with their grades."""
    return {
        query: [(place, grades[place.document]) for place in rankings[query].places if place.document in grades]
        for query, grades in judgments.items()
        if query in rankings
    }


def first_places(rankings: dict[str, Ranking], depth: int) -> dict[str, Ranking]:
    """Only the first places of each ranking; ties may reach further."""
    return {query: Ranking(ranking.retrieved, ranking.places[:depth]) for query, ranking in rankings.items()}


def _words(data: bytes) -> list[list[bytes]]:
    lines = [line.split() for line in data.removeprefix(BYTE_ORDER_MARK).split(b"\n")]
    return [words for words in lines if words and not words[0].startswith(b"#")]


def _in_order(scored: list[tuple[bytes, float]], by_id: bool) -> list[Place]:
    if by_id:
        scored = sorted(scored, key=lambda pair: pair[0], reverse=True)
    scored = sorted(scored, key=lambda pair: -pair[1])
    scores = [score for _, score in scored]
    return [
        Place(rank, document.decode(), score, scores.index(score) + 1, scores.index(score) + scores.count(score))
        for rank, (document, score) in enumerate(scored, 1)
    ]
