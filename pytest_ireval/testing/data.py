"""The data of the contract kit, changes of them that affect most metrics or must not, and a metric's values of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.data.judged import Documents, Hits, JudgedRankings, Sessions
from pytest_ireval.data.judgments import Ideal, Judgments, Subtopics
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import join_side_data
from pytest_ireval.errors import MetricError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import compute_values, list_units

_SEED = 20240613
TOP = 3
"""The top of the scale, unless data say otherwise."""

T = TypeVar("T")
Graded: TypeAlias = Sequence[float | None]

GRADES: Graded = (None, None, 0, 0, 1, 1, 2, 3, -1)
"""Grades of random documents; None: not judged."""
GRADES_TO_4: Graded = (None, 0, 1, 2, 3, 4, 4)
GRADES_TO_5: Graded = (None, None, -1, 0, 0, 1, 2, 3, 4, 5)
FRACTIONS_TO_5: Graded = (None, None, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 4, 5)


@dataclass(eq=False)
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


@dataclass(eq=False)
class Data:
    """Some queries; ``top`` is that of the scale."""

    queries: tuple[Query, ...]
    top: float = TOP


def make_query(number: int, retrieved: Graded | None, missed: Sequence[float], scores: Sequence[float]) -> Query:
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
    "a relevant document after ten others": ([0] * 10 + [2], [1]),
    "a long list with few relevant documents": ([None] * 20 + [1] + [None] * 9, [0, 3]),
    "many judged, few retrieved": ([1, None], [3, 2, 1, 1, 1, 0, 0, 0, -1, 2, 1, 1]),
}
"""Retrieved grades, and missed ones."""


@cache
def make_corner_cases() -> Data:
    """All corner cases as queries of one evaluation."""
    cases = enumerate(CORNERS.values(), 1)
    return Data(
        tuple(make_query(i, retrieved, missed, make_descending_scores(retrieved)) for i, (retrieved, missed) in cases)
    )


def make_descending_scores(retrieved: Graded | None) -> list[float]:
    """A different score for every rank."""
    return [0.5 + len(retrieved or ()) - rank for rank in range(len(retrieved or ()))]


@cache
def make_random_data(size: int, *, tied: bool = False, grades: Graded = GRADES, count: int = 12) -> Data:
    """``count`` queries with up to ``size`` documents each; scores are all different, or ``tied`` in groups."""
    chance = np.random.default_rng([_SEED, size, tied])
    queries = []
    for number in range(1, count + 1):
        retrieved = [grades[i] for i in chance.integers(len(grades), size=chance.integers(1, size + 1))]
        missed = [grades[i] or 0 for i in chance.integers(len(grades), size=chance.integers(1, 5))]
        scores = make_descending_scores(retrieved)
        queries.append(make_query(number, retrieved, missed, [s // 3 for s in scores] if tied else scores))
    return Data(tuple(queries), top=max(grade for grade in grades if grade is not None))


def _make_long_lists() -> Data:
    chance = np.random.default_rng([_SEED, 300])
    graded = [[GRADES[i] for i in chance.integers(len(GRADES), size=300)] for _ in range(2)]
    return Data(
        tuple(
            make_query(i, retrieved, [1, 3], make_descending_scores(retrieved)) for i, retrieved in enumerate(graded, 1)
        )
    )


@cache
def make_deep_data(cutoff: int) -> tuple[Data, ...]:
    """Rankings longer than a cutoff, and one of just its length with every document judged."""
    retrieved = [(1, 0, 2)[i % 3] for i in range(cutoff)]
    judged_throughout = Data((make_query(1, retrieved, [1, 3], make_descending_scores(retrieved)),))
    return (judged_throughout, make_random_data(30), make_random_data(3 * cutoff))


def list_plain_data() -> tuple[Data, ...]:
    """Random data from small to large, the corner cases, and grades of a larger scale; no equal scores."""
    return (
        make_random_data(3),
        make_random_data(8),
        make_random_data(30),
        make_corner_cases(),
        make_random_data(6, grades=GRADES_TO_5),
    )


def make_fractions() -> Data:
    """Grades with fractions: each metric decides whether 0.5 is relevant."""
    return make_random_data(6, grades=FRACTIONS_TO_5)


@cache
def list_all_data() -> tuple[Data, ...]:
    """Everything, with corner cases by themselves, equal scores, long lists, and many queries."""
    return (
        *leave_each_alone(make_corner_cases()),
        *list_plain_data(),
        make_fractions(),
        make_random_data(8, tied=True),
        make_random_data(8, grades=GRADES_TO_4),
        _make_long_lists(),
        make_random_data(3, count=150),
    )


Change = Callable[[Data], Data]
AN_IRRELEVANT = "i0"
AN_UNJUDGED = "u0"
LONG_DOCUMENT = "https://shop.example/größe/コップ/{:05}"
LONG_QUERY = "größere-tasse-コップ-{:04}"


@lru_cache(maxsize=1000)
def apply_change(change: Change, data: Data) -> Data:
    """The data after a change; made once."""
    return change(data)


def _change_queries(data: Data, change: Callable[[Query], Query]) -> Data:
    return replace(data, queries=tuple(map(change, data.queries)))


def rename_documents(data: Data) -> Data:
    """Every document has a new id, and the new ids sort in another order."""
    return _change_queries(data, _rename_documents)


def rename_documents_at_length(data: Data) -> Data:
    """Every document has a long id with letters from several scripts."""
    return _change_queries(data, lambda query: _rename_documents(query, LONG_DOCUMENT))


def _rename_documents(query: Query, pattern: str = "r{:03}") -> Query:
    prime = 101 if max(query.numbers.values()) < 101 else 10007
    new = {name: pattern.format((37 * number + 11) % prime) for name, number in query.numbers.items()}
    return replace(
        query,
        grades={new[name]: grade for name, grade in query.grades.items()},
        ranking=query.ranking and tuple((new[name], score) for name, score in query.ranking),
        numbers={new[name]: number for name, number in query.numbers.items()},
    )


def rename_queries(data: Data) -> Data:
    """Every query has a new id, and the new ids sort in another order."""
    return _change_queries(data, lambda query: replace(query, name=f"x{(37 * query.number + 11) % 1009:03}"))


def rename_queries_at_length(data: Data) -> Data:
    """Every query has a long id with letters from several scripts."""
    return _change_queries(data, lambda query: replace(query, name=LONG_QUERY.format((37 * query.number + 11) % 1009)))


def shuffle_queries(data: Data) -> Data:
    """Queries are in another order."""
    order = np.random.default_rng(_SEED).permutation(len(data.queries)).tolist()
    moved = order if order != sorted(order) else order[::-1]
    return replace(data, queries=tuple(data.queries[i] for i in moved))


def shuffle_lines(data: Data) -> Data:
    """The lines of each ranking and of the judgments are in another order; scores decide the order of documents."""
    return _change_queries(
        data,
        lambda query: replace(
            query,
            grades=dict(list(query.grades.items())[::-1]),
            ranking=query.ranking and query.ranking[1::2] + query.ranking[::2],
        ),
    )


def scale_scores(data: Data) -> Data:
    """Every score is another one; the order is the same, and equal scores stay equal."""
    return _change_queries(
        data,
        lambda query: replace(
            query, ranking=query.ranking and tuple((name, 2.0 * score**3 + 100) for name, score in query.ranking)
        ),
    )


@lru_cache(maxsize=1000)
def make_perfect_rankings(data: Data, relevant_from: float | None) -> Data:
    """Every ranking is all relevant documents by grade, and nothing else."""
    return _change_queries(data, lambda query: _make_perfect_ranking(query, relevant_from))


def _make_perfect_ranking(query: Query, relevant_from: float | None) -> Query:
    relevant = {d: g for d, g in query.grades.items() if (g > 0 if relevant_from is None else g >= relevant_from)}
    return replace_ranking(query, sorted(relevant, key=lambda d: -relevant[d]))


def replace_ranking(query: Query, documents: list[str]) -> Query:
    """The query with these documents as its ranking."""
    return replace(query, ranking=tuple((d, float(len(documents) - i)) for i, d in enumerate(documents)))


@lru_cache(maxsize=1000)
def list_promotions(data: Data, relevant_from: float | None) -> tuple[Data, ...]:
    """The data with one relevant document of each query moved above the one before it, which has a lower grade.

    The k-th entry does this at the k-th possible place of each query.
    """
    found = [_list_promotions(query, relevant_from) for query in data.queries]
    most = max(map(len, found), default=0)
    pairs = list(zip(found, data.queries, strict=True))
    moved = (tuple(new[k] if k < len(new) else old for new, old in pairs) for k in range(most))
    return tuple(replace(data, queries=queries) for queries in moved)


def _list_promotions(query: Query, relevant_from: float | None) -> list[Query]:
    order = query.ordered
    grade = [max(query.grades.get(document, 0.0), 0.0) for document in order]
    lowest = relevant_from if relevant_from is not None and relevant_from > 0 else 0.0
    places = [i for i in range(1, len(order)) if grade[i] > grade[i - 1] and grade[i] >= lowest]
    return [replace_ranking(query, [*order[: i - 1], order[i], order[i - 1], *order[i + 1 :]]) for i in places]


@lru_cache(maxsize=1000)
def cut_to(top: float, data: Data) -> Data:
    """The data on a scale that ends at ``top``: higher grades are lowered to it."""
    if data.top <= top:
        return data
    lowered = {q: {d: min(grade, top) for d, grade in q.grades.items()} for q in data.queries}
    return replace(data, queries=tuple(replace(q, grades=lowered[q]) for q in data.queries), top=top)


@lru_cache(maxsize=1000)
def put_each_first(data: Data) -> tuple[Data, ...]:
    """The data once for each query, with that query first."""
    turned = (replace(data, queries=(*data.queries[i:], *data.queries[:i])) for i in range(1, len(data.queries)))
    return (data, *turned) if data.queries else ()


@lru_cache(maxsize=1000)
def leave_each_alone(data: Data) -> tuple[Data, ...]:
    """Every query by itself."""
    return tuple(replace(data, queries=(query,)) for query in data.queries)


@lru_cache(maxsize=1000)
def select_queries(data: Data, places: tuple[int, ...]) -> Data:
    """The queries at these places."""
    return replace(data, queries=tuple(data.queries[place] for place in places))


@lru_cache(maxsize=1000)
def select_deep_enough(data: Data, cutoff: int) -> Data:
    """Every ranking is ``cutoff`` judged documents; queries that have fewer are left out.

    Each also has a judged document that is not relevant and not ranked.
    """
    found = [[document for document in query.ordered if document in query.grades] for query in data.queries]
    pairs = zip(data.queries, found, strict=True)
    kept = [_add_spare(replace_ranking(query, judged[:cutoff])) for query, judged in pairs if len(judged) >= cutoff]
    return replace(data, queries=tuple(kept))


def _add_spare(query: Query) -> Query:
    numbers = {**query.numbers, AN_IRRELEVANT: 98, AN_UNJUDGED: 99}
    return replace(query, grades={**query.grades, AN_IRRELEVANT: 0.0}, numbers=numbers)


@lru_cache(maxsize=1000)
def lengthen(data: Data) -> Data:
    """Every ranking gets two more documents at its end: one judged not relevant, and an unjudged one."""
    return _change_queries(
        data,
        lambda query: replace_ranking(
            query, [*(d for d in query.ordered if d != AN_IRRELEVANT), AN_IRRELEVANT, AN_UNJUDGED]
        ),
    )


DOCUMENT_NEEDS = {"documents", "unjudged", "fields", "preferences"}
SUBTOPICS = ("s1", "s2", "s3")
COLLECTION = 1_000_000
"""The number of documents in the collection."""

Fields = Mapping[str, Sequence[Any]]


@dataclass
class MetricValues:
    """A value by unit, not checked yet; or ``raised``, the text of the error, with the error ``cause`` behind it."""

    by_unit: Mapping[str, float]
    raised: str = ""
    cause: BaseException | None = None

    @property
    def wrote(self) -> bool:
        """True if it failed because it tried to write into data that it may only read."""
        return isinstance(self.cause, ValueError) and "read-only" in str(self.cause)


def compute_metric_values(metric: Metric, judged: JudgedRankings) -> MetricValues:
    """The metric's values of judged rankings."""
    try:
        found = compute_values(metric, judged)
    except MetricError as error:
        return MetricValues({}, "; ".join(problem.complaint for problem in error.problems), error.__cause__)
    return MetricValues(dict(zip(list_units(metric, judged), found.tolist(), strict=True)))


@dataclass(eq=False)
class Case:
    """A metric, and the values of fields for those that need them."""

    metric: Metric
    fields: Fields | None
    _first_values: dict[Data, MetricValues] = field(default_factory=dict)

    def values(self, data: Data) -> MetricValues:
        """The metric's values of data without anything remembered of earlier calls."""
        return compute_metric_values(self.metric, self.judged(data))

    def first_values(self, data: Data) -> MetricValues:
        """The values of the first such call: most promises begin with the same data."""
        if data not in self._first_values:
            self._first_values[data] = self.values(data)
        return self._first_values[data]

    def judged(self, data: Data) -> JudgedRankings:
        """The data as the metric gets them: only what it needs, and nothing remembered."""
        needs = self.metric.needs | ({"sessions"} if self.metric.unit == "session" else set())
        return _copy_arrays(_make_judged(data, frozenset(needs), Same(self.fields)))


class Same(Generic[T]):
    """A value as the key of a cache, compared by identity."""

    def __init__(self, value: T) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


@lru_cache(maxsize=1000)
def _convert_judgments(data: Data, subtopics: bool) -> Judgments:
    graded = {query.name: _collect_grades(query, subtopics) for query in data.queries}
    return convert_judgments(graded, grades="float")


@lru_cache(maxsize=1000)
def _convert_rankings(data: Data) -> Rankings:
    rankings = {query.name: list(query.ranking) for query in data.queries if query.ranking is not None}
    return convert_rankings(rankings)


@lru_cache(maxsize=1000)
def _make_judged(data: Data, needs: frozenset[str], same: Same[Fields | None]) -> JudgedRankings:
    numbers = [query.numbers[document] for query in data.queries for document in query.grades]
    columns = {name: [str(each[n % len(each)]) for n in numbers] for name, each in (same.value or {}).items()}
    judgments = _convert_judgments(data, "subtopics" in needs)
    judgments = replace(judgments, columns=columns if "judgments" in needs else {})
    judged = join_judgments(judgments, _convert_rankings(data), data.top)
    reference = None
    if "reference" in needs:
        others = {query.name: _make_reference(query) for query in data.queries}
        reference = join_judgments(judgments, convert_rankings(others), data.top)
    brought = join_side_data(
        judged,
        collection=COLLECTION,  # always there: some metrics ask for it under some arguments only
        sessions={q.name: (f"session {q.number // 3}", q.number % 3 + 1) for q in data.queries}
        if "sessions" in needs
        else None,
        timings={q.name: 0.01 * q.number for q in data.queries} if "timings" in needs else None,
        queries=_make_queries(data, judged.queries) if "queries" in needs else None,
        preferences={q.name: _make_preferences(q) for q in data.queries} if "preferences" in needs else None,
        fields=_make_fields(data, same.value or {}) if "fields" in needs else None,
        reference=reference,
    )
    return brought if needs & DOCUMENT_NEEDS else replace(brought, documents=None)


def _make_queries(data: Data, names: Sequence[str]) -> Queries:
    """Texts of one to three words, and a column segment."""
    number = {query.name: query.number for query in data.queries}
    texts = tuple(" ".join(["words"] * (number[name] % 3 + 1)) for name in names)
    return Queries(tuple(names), texts, {"segment": tuple("tail" if number[name] % 2 else "head" for name in names)})


def _collect_grades(query: Query, subtopics: bool) -> dict[str, Any]:
    """Grades, or the grades for each subtopic of a document."""
    if not subtopics:
        return dict(query.grades)
    return {
        document: {s: grade for i, s in enumerate(SUBTOPICS) if query.numbers[document] % (i + 2) == 0} or {"s1": grade}
        for document, grade in query.grades.items()
    }


def _make_reference(query: Query) -> list[str]:
    """Most of the documents in another order, and others; those that a promise adds below the cutoff are last."""
    added = (AN_IRRELEVANT, AN_UNJUDGED)
    kept = (document for document, number in query.numbers.items() if number % 5 or document in added)
    return sorted(kept, key=lambda document: (document in added, 53 * query.numbers[document] % 101))


def _make_preferences(query: Query) -> list[tuple[str, str]]:
    """The better document first, for every two grades that differ."""
    return [(a, b) for a, x in query.grades.items() for b, y in query.grades.items() if x > y]


def _make_fields(data: Data, fields: Fields) -> dict[str, dict[str, Any]]:
    return {
        document: {name: allowed[number % len(allowed)] for name, allowed in fields.items()}
        for query in data.queries
        for document, number in query.numbers.items()
    }


def _copy_arrays(judged: JudgedRankings) -> JudgedRankings:
    """The same in arrays of its own: other calls do not see what a metric writes."""
    return replace(
        judged,
        retrieved=judged.retrieved.copy(),
        present=judged.present.copy(),
        hits=Hits(*map(_copy, judged.hits)),
        ideal=Ideal(*map(_copy, judged.ideal)),
        documents=judged.documents and Documents(*map(_copy, judged.documents)),
        subtopics=judged.subtopics and Subtopics(*map(_copy, judged.subtopics)),
        sessions=judged.sessions and Sessions(*map(_copy, judged.sessions)),
        timings=None if judged.timings is None else judged.timings.copy(),
        fields=judged.fields and {d: dict(known) for d, known in judged.fields.items()},
        preferences=judged.preferences and {q: list(pairs) for q, pairs in judged.preferences.items()},
        reference=judged.reference and _copy_arrays(judged.reference),
        _memory={},
        _memory_of_ideal={},
    )


def _copy(part: Any) -> Any:
    return part.copy() if isinstance(part, np.ndarray) else part


def read_contents(judged: JudgedRankings) -> list[object]:
    """Copies of everything that a metric could write into, to be compared later."""
    parts = [judged.retrieved, judged.present, *judged.hits, *judged.ideal, judged.timings]
    parts += [*(judged.documents or ()), *(judged.sessions or ()), *(judged.subtopics or ())]
    arrays = [part.tobytes() for part in parts if isinstance(part, np.ndarray)]
    plain = [repr(judged.fields), repr(judged.preferences)]
    return [*arrays, *plain, *(read_contents(judged.reference) if judged.reference else [])]
