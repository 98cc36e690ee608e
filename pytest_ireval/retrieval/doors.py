"""The doors through which judgments and rankings come in: files and Python objects, as the same arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.trec_judgments import Grades, read_judgments
from pytest_ireval.retrieval.formats.trec_rankings import judged_in_file, read_rankings
from pytest_ireval.retrieval.join import judge, judged_hits, unjudged_queries
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings

FilePath: TypeAlias = str | os.PathLike[str]

JudgmentsLike: TypeAlias = Any
"""``{query: {document: grade}}``, ``{query: {document: {subtopic: grade}}}``, rows of (query, document, grade), or a
data frame with such columns."""

RankingsLike: TypeAlias = Any
"""``{query: {document: score}}``, ``{query: [document, …]}`` best first, ``{query: [(document, score), …]}``, rows of
(query, document, score), or a data frame with such columns."""

SHOWN_QUERIES = 5


class Brought(NamedTuple):
    """Rankings that were joined with judgments, where they came from, and their queries without judgments."""

    judged: JudgedRankings
    origin: str
    without_judgments: tuple[str, ...]


def as_judgments(
    source: FilePath | Judgments | JudgmentsLike, grades: Grades = "integer", progress: Progress = SILENT
) -> Judgments:
    """Judgments from whatever holds them."""
    if isinstance(source, Judgments):
        return source
    if isinstance(source, str | os.PathLike):
        return read_judgments(source, grades=grades, progress=progress)
    from pytest_ireval.retrieval.from_objects import judgments_from

    return judgments_from(source, grades=grades)


def as_rankings(
    source: FilePath | Rankings | RankingsLike, *, by_id: bool = True, progress: Progress = SILENT
) -> Rankings:
    """Whole rankings from whatever holds them. Equal scores are ordered by id, or as they stand."""
    if isinstance(source, Rankings):
        return source
    if isinstance(source, str | os.PathLike):
        return read_rankings(source, by_id=by_id, progress=progress)
    from pytest_ireval.retrieval.from_objects import rankings_from

    return rankings_from(source, by_id=by_id)


def brought(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    *,
    documents: bool,
    highest_grade: float | None = None,
    by_id: bool = True,
    progress: Progress = SILENT,
) -> Brought:
    """Rankings joined with judgments. Of a file only judged documents are kept, unless all ``documents`` are wanted."""
    if isinstance(source, str | os.PathLike) and not documents:
        parts = judged_in_file(source, judgments, by_id=by_id, progress=progress)
        queries: Sequence[str] = [name.decode() for part in parts for name in part.query_id]
        judged, origin = judged_hits(judgments, parts, highest_grade), os.fspath(source)
    else:
        rankings = as_rankings(source, by_id=by_id, progress=progress)
        queries = rankings.queries
        judged, origin = judge(judgments, rankings, highest_grade), rankings.origin
    return Brought(judged, origin, _without_judgments(judgments, queries, origin))


def _without_judgments(judgments: Judgments, queries: Sequence[str], origin: str) -> tuple[str, ...]:
    """Ranked queries that nobody judged; when that is all of them, the files do not belong together."""
    unjudged = unjudged_queries(judgments, queries)
    if queries and len(unjudged) == len(queries):
        raise InputError(
            Problem(
                f"none of its queries ({len(queries)}) is judged in {judgments.origin}",
                place=origin,
                suggestion=f"it ranks {some(queries)}; judged are {some(judgments.queries)}",
            )
        )
    return unjudged


def some(queries: Sequence[str]) -> str:
    """The first of many queries, and how many more there are."""
    more = f" and {len(queries) - SHOWN_QUERIES} more" if len(queries) > SHOWN_QUERIES else ""
    return ", ".join(map(repr, queries[:SHOWN_QUERIES])) + more
