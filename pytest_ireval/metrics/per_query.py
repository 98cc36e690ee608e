"""Metrics written as a plain function of one ranking, and the ranking that such a function gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, SupportsFloat, cast

from pytest_ireval.errors import LONGEST_QUOTE, MetricError
from pytest_ireval.metrics.metric import Metric, Need, NotANumberError, collect_needs, metric, validate_metric

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from pytest_ireval.data.judged import JudgedRankings
    from pytest_ireval.data.judgments import Subtopics
    from pytest_ireval.metrics.metric import Batch, MetricKeywords

    OfOneRanking = Callable[Concatenate["Ranking", ...], SupportsFloat]

__tracebackhide__ = methodcaller("errisinstance", MetricError)
"""pytest then shows the line of a user's file that makes a metric, and none of the frames behind it."""


@dataclass(slots=True)
class Ranking:
    """One query's ranking. The parts behind ``top_grade`` are there when the metric ``needs`` them, else None.

    Everything is in order of rank. With a ``cutoff``, ``grades``, ``judged`` and ``subtopics`` hold that many places
    (places that no document fills have grade 0 and are not judged); without, one for each retrieved document, as
    ``documents``, ``scores``, ``tied_from``, ``tied_to`` and ``fields`` always do.
    """

    query: str
    grades: NDArray[np.float64]
    """The grade at each rank; 0 for unjudged documents."""
    judged: NDArray[np.bool_]
    """True where the document at a rank is judged."""
    retrieved: int
    """The number of documents that the system returned."""
    ideal: NDArray[np.float64]
    """The grades of all judged documents of the query, retrieved or not, highest first."""
    top_grade: float
    """The top of the scale, or else the highest grade of the whole judgments."""
    documents: Sequence[str] | None = None
    """The ids of the retrieved documents."""
    scores: NDArray[np.float64] | None = None
    tied_from: NDArray[np.int64] | None = None
    """The first rank that has the same score."""
    tied_to: NDArray[np.int64] | None = None
    """The last rank that has the same score."""
    fields: Sequence[Mapping[str, Any]] | None = None
    """The fields of each retrieved document."""
    text: str = ""
    """The text of the query."""
    columns: Mapping[str, str] | None = None
    """The other columns of the query, by name."""
    unretrieved: Mapping[str, float] | None = None
    """The grades of the judged documents that were not retrieved, by id, highest first."""
    subtopics: Sequence[Mapping[str, float]] | None = None
    """For each rank, the grade for every subtopic the document is judged for."""
    session: tuple[str, int] | None = None
    """The session's name and the query's place in it."""
    preferences: Sequence[tuple[str, str]] = ()
    """Pairs of document ids, the better one first."""
    collection: int | None = None
    """The number of documents in the collection."""
    seconds: float | None = None
    """The time that the system took."""
    reference: Ranking | None = None
    """The ranking it is compared with."""


def per_query_metric(
    *,
    name: str,
    at: str | None = "cutoff",
    empty: float | None = 0.0,
    needs: tuple[Need, ...] = (),
    **keywords: Unpack[MetricKeywords],
) -> Callable[[OfOneRanking], Metric]:
    """Make a metric of ``function(ranking, *, cutoff: int, …) -> float``.

    It is called once a query. An empty ranking scores ``empty``, and a query without relevant documents
    ``no_relevant`` (both 0 unless given; None: the function is asked). A metric for which lower is better has to give
    both. ``keywords`` set any other field of :class:`~pytest_ireval.metrics.metric.Metric`.

    >>> from pytest_ireval import evaluate, per_query_metric
    >>> @per_query_metric(name="TopGrade")
    ... def top_grade(ranking, *, cutoff: int):
    ...     '''Share of the first documents that carry the top grade.'''
    ...     return (ranking.grades == ranking.top_grade).mean()
    >>> evaluate({"mug": {"a": 3, "b": 1}}, {"mug": ["a", "b"]}, top_grade @ 2)["TopGrade@2"].mean
    0.5
    """
    if keywords.get("direction") == "lower" and "no_relevant" not in keywords:
        raise MetricError(f"metric {name!r}: lower is better, so empty= and no_relevant= must be given")

    def make(function: OfOneRanking) -> Metric:
        def batch(judged: JudgedRankings, **arguments: Any) -> NDArray[np.float64]:
            import numpy as np

            cutoff = arguments.get("cutoff")
            rankings = _split_rankings(judged, cutoff if isinstance(cutoff, int) else None, needs)
            asked = _mark_queries_to_score(
                judged, empty, made.no_relevant if made.judged else None, arguments.get("rel")
            )
            values = [
                _convert_to_float(function(ranking, **arguments), ranking.query) if ask else np.nan
                for ranking, ask in zip(rankings, asked, strict=True)
            ]
            return np.array(values, np.float64)

        # The function lends its docstring and its parameters.
        described = metric(name=name, at=at, **keywords)(cast("Batch", function))
        collect_needs(name, needs)
        kept: tuple[Need, ...] = needs
        if {"scores", "ties", "fields", "preferences"} & set(needs) and "documents" not in needs:
            kept = (*needs, "documents")
        batch.__module__ = function.__module__
        made = validate_metric(replace(described, batch=batch, empty=empty, needs=collect_needs(name, kept)))
        return made

    return make


def _convert_to_float(value: Any, query: str) -> float:
    """The number that a function returned; raises NotANumberError for anything else."""
    if value is None:
        raise NotANumberError(f"returned None for query {query!r}: a return statement is missing")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise NotANumberError(
            f"returned {repr(value)[:LONGEST_QUOTE]} for query {query!r}, which is not a number"
        ) from None


def _mark_queries_to_score(
    judged: JudgedRankings, empty: float | None, no_relevant: float | None, rel: float | None
) -> list[bool]:
    """True for queries whose score the function decides: neither ``empty`` nor ``no_relevant`` settles it."""
    asked = judged.retrieved >= 0
    if empty is not None:
        asked &= judged.retrieved > 0
    if no_relevant is not None:
        asked &= judged.relevant_count(rel) > 0
    answer: list[bool] = asked.tolist()
    return answer


def _split_rankings(judged: JudgedRankings, cutoff: int | None, needs: Sequence[str]) -> Iterator[Ranking]:
    import numpy as np

    hits, first, first_ideal = judged.hits, judged.first.tolist(), judged.first_ideal.tolist()
    retrieved = judged.retrieved.tolist()
    references = None
    if "reference" in needs and judged.reference is not None:
        references = _split_rankings(judged.reference, cutoff, [need for need in needs if need != "reference"])
    for i, query in enumerate(judged.queries):
        size = retrieved[i] if cutoff is None else cutoff
        place = hits.rank[first[i] : first[i + 1]] - 1
        grade = hits.grade[first[i] : first[i + 1]]
        if cutoff is not None:
            place, grade = place[place < cutoff], grade[place < cutoff]
        grades, known = np.zeros(size), np.zeros(size, bool)
        grades[place] = grade
        known[place] = True
        ideal = judged.ideal.grade[first_ideal[i] : first_ideal[i + 1]]
        ranking = Ranking(query, grades, known, retrieved[i], ideal, judged.highest_grade)
        yield _add_needs(ranking, judged, i, needs, next(references) if references else None)


def _add_needs(
    ranking: Ranking, judged: JudgedRankings, i: int, needs: Sequence[str], reference: Ranking | None
) -> Ranking:
    import numpy as np

    if not needs:
        return ranking
    added: dict[str, Any] = {"reference": reference, "collection": judged.collection}
    documents = judged.documents
    if documents is not None:
        rows = documents.of(i)
        ids = documents.ids.texts(np.arange(rows.start, rows.stop))
        added.update(documents=ids, scores=documents.score[rows])
        added.update(tied_from=documents.tied_from[rows], tied_to=documents.tied_to[rows])
        if judged.fields is not None:
            added.update(fields=[MappingProxyType(judged.fields.get(document, {})) for document in ids])
    if judged.query_texts is not None and judged.columns is not None and "queries" in needs:
        cells = {name: values[i] for name, values in judged.columns.items()}
        added.update(text=judged.query_texts[i], columns=MappingProxyType(cells))
    if judged.unretrieved is not None and "unretrieved" in needs:
        left = judged.unretrieved
        there = np.arange(*np.searchsorted(left.query, [i, i + 1]))
        added.update(unretrieved=dict(zip(left.ids.texts(there), left.grade[there].tolist(), strict=True)))
    if judged.subtopics is not None and "subtopics" in needs:
        added.update(subtopics=_group_subtopics(judged, judged.subtopics, i, ranking.grades.size))
    if judged.sessions is not None and judged.sessions.session[i] >= 0:
        name = judged.sessions.names[judged.sessions.session[i]]
        added.update(session=(name, int(judged.sessions.position[i])))
    if judged.preferences is not None:
        added.update(preferences=judged.preferences.get(ranking.query, ()))
    if judged.timings is not None:
        added.update(seconds=float(judged.timings[i]))
    return replace(ranking, **added)


def _group_subtopics(judged: JudgedRankings, subtopics: Subtopics, i: int, size: int) -> list[Mapping[str, float]]:
    import numpy as np

    by_rank: list[dict[str, float]] = [{} for _ in range(size)]
    for row in range(int(judged.first[i]), int(judged.first[i + 1])):
        rank, judgment = int(judged.hits.rank[row]), judged.hits.judgment[row]
        if rank <= size:
            low, high = np.searchsorted(subtopics.row, [judgment, judgment + 1])
            names = [subtopics.names[s] for s in subtopics.subtopic[low:high].tolist()]
            by_rank[rank - 1] = dict(zip(names, subtopics.grade[low:high].tolist(), strict=True))
    return list(by_rank)
