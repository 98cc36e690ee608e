"""What a metric is tried on: seeded random queries, and corner cases picked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

SEED = 20240613
TOP = 3
"""The top of the scale, unless data say otherwise."""

Graded: TypeAlias = Sequence[float | None]

GRADES: Graded = (None, None, 0, 0, 1, 1, 2, 3, -1)
"""What a random document is worth; None: nobody judged it."""
GRADES_TO_4: Graded = (None, 0, 1, 2, 3, 4, 4)
GRADES_TO_5: Graded = (None, None, -1, 0, 0, 1, 2, 3, 4, 5)
FRACTIONS_TO_5: Graded = (None, None, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 4, 5)


@dataclass(frozen=True, eq=False)
class Query:
    """One query: the grade of every judged document, and its ranking as pairs (document, score), None if it has none.

    ``numbers`` says which document is which, whatever it is called; ``number`` does it for the query.
    """

    name: str
    number: int
    grades: Mapping[str, float]
    ranking: tuple[tuple[str, float], ...] | None
    numbers: Mapping[str, int]

    @property
    def ordered(self) -> list[str]:
        """The documents in order of rank: by score, equal scores by id descending."""
        by_rank = sorted(self.ranking or (), key=lambda pair: (pair[1], pair[0].encode()), reverse=True)
        return [document for document, _ in by_rank]


@dataclass(frozen=True, eq=False)
class Data:
    """Some queries; ``strangers`` are queries that were ranked and that nobody judged, ``top`` is that of the scale."""

    queries: tuple[Query, ...]
    strangers: tuple[str, ...] = ()
    top: float = TOP


def query(number: int, retrieved: Graded | None, missed: Sequence[float], scores: Sequence[float]) -> Query:
    """A query from the grade at each rank (None: not judged) and those of judged documents not retrieved."""
    size = len(retrieved or ()) + len(missed)
    prime = 97 if size <= 97 else 9973  # so that names are short, differ, and sort in an order of their own
    names = [f"d{1 + 7 * (i + number) % prime}" for i in range(size)]
    graded = zip(names, [*(retrieved or ()), *missed], strict=True)
    return Query(
        name=f"q{number}",
        number=number,
        grades={name: float(grade) for name, grade in graded if grade is not None},
        ranking=None if retrieved is None else tuple(zip(names, scores, strict=False)),
        numbers={name: int(name[1:]) for name in names},
    )


CORNERS: dict[str, tuple[Graded | None, Sequence[float]]] = {
    "an empty ranking": ([], [1, 2]),
    "an empty ranking, and nothing relevant": ([], [0]),
    "no ranking at all": (None, [1, 0]),
    "no relevant documents": ([0, None, 0], [0]),
    "no relevant documents, and none judged retrieved": ([None, None], [0]),
    "all judged, none relevant": ([0, 0, 0, 0], []),
    "relevant documents, none retrieved": ([0, None, 0, None], [1, 3]),
    "only unjudged documents retrieved": ([None, None, None], [2]),
    "one relevant document": ([1], []),
    "one document, not relevant": ([0], [2]),
    "one document, not judged": ([None], [1]),
    "one document of the top grade": ([TOP], []),
    "grades below 0 among others": ([-1, 2, -2, 0, 1], [-1, 1]),
    "grades below 0 only": ([-1, -1], [-2]),
    "the best order": ([3, 2, 1, 0], []),
    "the worst order": ([0, 0, 1, 2, 3], []),
    "top grades throughout": ([TOP] * 12, []),
    "a relevant document behind ten others": ([0] * 10 + [2], [1]),
    "a long list with little in it": ([None] * 20 + [1] + [None] * 9, [0, 3]),
    "many judged, few retrieved": ([1, None], [3, 2, 1, 1, 1, 0, 0, 0, -1, 2, 1, 1]),
}
"""Retrieved grades, and missed ones."""


@cache
def corner_cases() -> Data:
    """All corner cases as queries of one evaluation."""
    return Data(
        tuple(
            query(number, retrieved, missed, descending(retrieved))
            for number, (retrieved, missed) in enumerate(CORNERS.values(), 1)
        )
    )


@cache
def single_corner_cases() -> tuple[Data, ...]:
    """Each corner case as the only query of an evaluation."""
    return tuple(Data((each,)) for each in corner_cases().queries)


def descending(retrieved: Graded | None) -> list[float]:
    """A different score for every rank."""
    return [0.5 + len(retrieved or ()) - rank for rank in range(len(retrieved or ()))]


@cache
def random_data(size: int, *, tied: bool = False, grades: Graded = GRADES, count: int = 12) -> Data:
    """``count`` queries with up to ``size`` documents each; scores are all different, or ``tied`` in groups."""
    chance = np.random.default_rng([SEED, size, tied])
    queries = []
    for number in range(1, count + 1):
        retrieved = [grades[i] for i in chance.integers(len(grades), size=chance.integers(1, size + 1))]
        missed = [grades[i] or 0 for i in chance.integers(len(grades), size=chance.integers(1, 5))]
        scores = descending(retrieved)
        queries.append(query(number, retrieved, missed, [s // 3 for s in scores] if tied else scores))
    return Data(tuple(queries), top=max(grade for grade in grades if grade is not None))


@cache
def long_lists() -> Data:
    """Two queries with 300 documents each."""
    chance = np.random.default_rng([SEED, 300])
    graded = [[GRADES[i] for i in chance.integers(len(GRADES), size=300)] for _ in range(2)]
    return Data(tuple(query(i, retrieved, [1, 3], descending(retrieved)) for i, retrieved in enumerate(graded, 1)))


@cache
def judged_throughout(size: int) -> Data:
    """One query with so many documents retrieved, all judged."""
    retrieved = [(1, 0, 2)[i % 3] for i in range(size)]
    return Data((query(1, retrieved, [1, 3], descending(retrieved)),))


def plain_data() -> tuple[Data, ...]:
    """Random data from small to large, the corner cases, and grades of a larger scale; no equal scores."""
    return (random_data(3), random_data(8), random_data(30), corner_cases(), random_data(6, grades=GRADES_TO_5))


def fractions() -> Data:
    """Grades that are no whole numbers: whether 0.5 is relevant is for a metric to say."""
    return random_data(6, grades=FRACTIONS_TO_5)


def all_data() -> tuple[Data, ...]:
    """Everything, with corner cases by themselves, equal scores, long lists, and many queries."""
    return (
        *single_corner_cases(),
        *plain_data(),
        fractions(),
        random_data(8, tied=True),
        random_data(8, grades=GRADES_TO_4),
        long_lists(),
        random_data(3, count=150),
    )
