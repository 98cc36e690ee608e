"""The values of a metric for data: one for each unit, or the error that it raised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from pytest_ireval.errors import MetricError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import settled, units_of
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.from_objects import judgments_from, rankings_from
from pytest_ireval.retrieval.join import judge
from pytest_ireval.retrieval.judged import Documents, Hits, JudgedRankings, Sessions
from pytest_ireval.retrieval.judgments import Ideal, Subtopics
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.testing.changes import AN_IRRELEVANT, AN_UNJUDGED, Data, Query

DOCUMENT_NEEDS = {"documents", "unjudged", "fields", "preferences"}
SUBTOPICS = ("s1", "s2", "s3")
COLLECTION = 1_000_000
"""The number of documents in the collection."""

Fields = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class MetricValues:
    """A value by unit, not checked yet; or ``raised``, the text of the error, with the error ``cause`` behind it."""

    by_unit: Mapping[str, float]
    raised: str = ""
    cause: BaseException | None = None

    @property
    def wrote(self) -> bool:
        """True if it failed because it tried to write into data that it may only read."""
        return isinstance(self.cause, ValueError) and "read-only" in str(self.cause)


def values(metric: Metric, judged: JudgedRankings) -> MetricValues:
    """The metric's values of judged rankings."""
    try:
        found = settled(metric, judged)
    except MetricError as error:
        return MetricValues({}, "; ".join(problem.complaint for problem in error.problems), error.__cause__)
    return MetricValues(dict(zip(units_of(metric, judged), found.tolist(), strict=True)))


def values_of(metric: Metric, data: Data, fields: Fields | None) -> MetricValues:
    """The metric's values of data without anything remembered of earlier calls."""
    return values(metric, judged_of(metric, data, fields))


def judged_of(metric: Metric, data: Data, fields: Fields | None) -> JudgedRankings:
    """The data as the metric gets them: only what it needs, and nothing remembered."""
    needs = metric.needs | ({"sessions"} if metric.unit == "session" else set())
    return _copied(_judged(data, frozenset(needs), _Same(fields)))


class _Same:
    """A mapping as the key of a cache, compared by identity."""

    def __init__(self, fields: Fields | None) -> None:
        self.fields = fields

    def __hash__(self) -> int:
        return id(self.fields)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.fields is self.fields


@lru_cache(maxsize=1000)
def _judged(data: Data, needs: frozenset[str], same: _Same) -> JudgedRankings:
    graded = {query.name: _grades(query, "subtopics" in needs) for query in data.queries}
    judgments = judgments_from(graded, grades="float")
    numbers = [query.numbers[document] for query in data.queries for document in query.grades]
    columns = {name: [str(each[n % len(each)]) for n in numbers] for name, each in (same.fields or {}).items()}
    judgments = replace(judgments, columns=columns if "judgments" in needs else {})
    rankings = {query.name: list(query.ranking) for query in data.queries if query.ranking is not None}
    rankings.update({stranger: [("d1", 1.0)] for stranger in data.strangers})
    judged = judge(judgments, rankings_from(rankings), data.top)
    reference = judge(judgments, rankings_from({query.name: _reference(query) for query in data.queries}), data.top)
    brought = with_companions(
        judged,
        collection=COLLECTION,  # always there: some metrics ask for it under some arguments only
        sessions={q.name: _place(q) for q in data.queries} if "sessions" in needs else None,
        timings={q.name: 0.01 * q.number for q in data.queries} if "timings" in needs else None,
        queries=_queries(data, judged.queries) if "queries" in needs else None,
        preferences={q.name: _preferences(q) for q in data.queries} if "preferences" in needs else None,
        fields=_fields(data, same.fields or {}) if "fields" in needs else None,
        reference=reference if "reference" in needs else None,
    )
    return brought if needs & DOCUMENT_NEEDS else replace(brought, documents=None)


def _queries(data: Data, names: Sequence[str]) -> Queries:
    """Texts of one to three words, and a column segment."""
    number = {query.name: query.number for query in data.queries}
    texts = tuple(" ".join(["words"] * (number[name] % 3 + 1)) for name in names)
    return Queries(tuple(names), texts, {"segment": tuple("tail" if number[name] % 2 else "head" for name in names)})


def _grades(query: Query, subtopics: bool) -> dict[str, Any]:
    """Grades, or the grades for each subtopic of a document."""
    if not subtopics:
        return dict(query.grades)
    return {
        document: {s: grade for i, s in enumerate(SUBTOPICS) if query.numbers[document] % (i + 2) == 0} or {"s1": grade}
        for document, grade in query.grades.items()
    }


def _reference(query: Query) -> list[str]:
    """Most of the documents in another order, and others; those that a promise adds below the cutoff are last."""
    added = (AN_IRRELEVANT, AN_UNJUDGED)
    kept = (document for document, number in query.numbers.items() if number % 5 or document in added)
    return sorted(kept, key=lambda document: (document in added, 53 * query.numbers[document] % 101))


def _place(query: Query) -> tuple[str, int]:
    """Three queries make a session."""
    return f"session {query.number // 3}", query.number % 3 + 1


def _preferences(query: Query) -> list[tuple[str, str]]:
    """The better document first, for every two grades that differ."""
    return [(a, b) for a, x in query.grades.items() for b, y in query.grades.items() if x > y]


def _fields(data: Data, fields: Fields) -> dict[str, dict[str, Any]]:
    return {
        document: {name: allowed[number % len(allowed)] for name, allowed in fields.items()}
        for query in data.queries
        for document, number in query.numbers.items()
    }


def _copied(judged: JudgedRankings) -> JudgedRankings:
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
        reference=judged.reference and _copied(judged.reference),
        _memory={},
        _memory_of_ideal={},
    )


def _copy(part: Any) -> Any:
    return part.copy() if isinstance(part, np.ndarray) else part


def contents(judged: JudgedRankings) -> list[object]:
    """Copies of everything that a metric could write into, to be compared later."""
    parts = [judged.retrieved, judged.present, *judged.hits, *judged.ideal, judged.timings]
    parts += [*(judged.documents or ()), *(judged.sessions or ()), *(judged.subtopics or ())]
    arrays = [part.tobytes() for part in parts if isinstance(part, np.ndarray)]
    plain = [repr(judged.fields), repr(judged.preferences)]
    return [*arrays, *plain, *(contents(judged.reference) if judged.reference else [])]
