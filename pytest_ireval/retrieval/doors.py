"""The doors through which judgments and rankings come in: files and Python objects, as the same arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.formats.input_file import input_file
from pytest_ireval.retrieval.formats.reader import Reader, Reading, read_by
from pytest_ireval.retrieval.formats.recognised import Format, reader_for
from pytest_ireval.retrieval.join import judge, judged_hits, unjudged_queries
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings

if TYPE_CHECKING:
    from pytest_ireval.retrieval.queries import Queries

FilePath: TypeAlias = str | os.PathLike[str]

JudgmentsLike: TypeAlias = Any
"""``{query: {document: grade}}``, ``{query: {document: {subtopic: grade}}}``, rows of (query, document, grade), or a
data frame with such columns."""

RankingsLike: TypeAlias = Any
"""``{query: {document: score}}``, ``{query: [document, …]}`` best first, ``{query: [(document, score), …]}``, rows of
(query, document, score), or a data frame with such columns."""

QueriesLike: TypeAlias = Any
"""``{id: text}``, rows as dictionaries with ``id`` and ``text``, or a data frame with such columns."""

PLAINLY = Reading()
SHOWN_QUERIES = 5


class Brought(NamedTuple):
    """Rankings that were joined with judgments, where they came from, and their queries without judgments."""

    judged: JudgedRankings
    origin: str
    without_judgments: tuple[str, ...]


def as_judgments(
    source: FilePath | Judgments | JudgmentsLike,
    readers: Sequence[Reader],
    name: Format = None,
    how: Reading = PLAINLY,
) -> Judgments:
    """Judgments from whatever holds them; ``name`` is the format of a file, unless it is to be recognised."""
    if isinstance(source, str | os.PathLike):
        with input_file(source) as file:
            reader = reader_for(file, "judgments", readers, name)
            found = read_by(reader, file, how._replace(recognised=name is None))
            return found if isinstance(found, Judgments) else _judgments(found, how, file.name)
    _refuse_format(name, "judgments")
    return source if isinstance(source, Judgments) else _judgments(source, how, "judgments")


def _judgments(found: Any, how: Reading, origin: str) -> Judgments:
    from pytest_ireval.retrieval.from_objects import judgments_from

    return judgments_from(found, grades=how.grades, origin=origin)


def as_rankings(
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    name: Format = None,
    how: Reading = PLAINLY,
) -> Rankings:
    """Rankings from whatever holds them."""
    if isinstance(source, str | os.PathLike):
        with input_file(source) as file:
            reader = reader_for(file, "rankings", readers, name)
            found = read_by(reader, file, how._replace(recognised=name is None))
            return found if isinstance(found, Rankings) else _rankings(found, how, file.name)
    _refuse_format(name, "rankings")
    return source if isinstance(source, Rankings) else _rankings(source, how, "rankings")


def _rankings(found: Any, how: Reading, origin: str) -> Rankings:
    from pytest_ireval.retrieval.from_objects import rankings_from

    return rankings_from(found, how.depth, by_id=how.by_id, origin=origin)


def as_queries(source: FilePath | Queries | QueriesLike, readers: Sequence[Reader], name: Format = None) -> Queries:
    """Queries from whatever holds them."""
    from pytest_ireval.retrieval.queries import Queries

    if isinstance(source, str | os.PathLike):
        with input_file(source) as file:
            reader = reader_for(file, "queries", readers, name)
            found = read_by(reader, file, Reading(recognised=name is None))
            return found if isinstance(found, Queries) else _queries(found, file.name)
    _refuse_format(name, "queries")
    return source if isinstance(source, Queries) else _queries(source, "queries")


def _queries(found: Any, origin: str) -> Queries:
    from pytest_ireval.retrieval.from_objects import queries_from

    return queries_from(found, origin=origin)


def _refuse_format(name: Format, content: str) -> None:
    if name is not None:
        shown_name = name.name if isinstance(name, Reader) else name
        raise InputError(f"{content}_format={shown_name!r} is for files, and these {content} come from Python")


def brought(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    name: Format = None,
    how: Reading = PLAINLY,
    *,
    documents: bool,
    highest_grade: float | None = None,
) -> Brought:
    """Rankings joined with judgments. Unjudged documents may be left out, unless all ``documents`` are wanted."""
    if isinstance(source, str | os.PathLike) and not documents:
        with input_file(source) as file:
            reader = reader_for(file, "rankings", readers, name)
            if reader.hits is not None:
                parts = reader.hits(file, judgments, how._replace(recognised=name is None))
                names = [query.decode() for part in parts for query in part.query_id]
                judged = judged_hits(judgments, parts, highest_grade)
                return Brought(judged, file.name, _without_judgments(judgments, names, file.name))
            found = read_by(reader, file, how._replace(recognised=name is None))
            source = found if isinstance(found, Rankings) else _rankings(found, how, file.name)
            name = None
    rankings = as_rankings(source, readers, name, how)
    judged = judge(judgments, rankings, highest_grade)
    return Brought(judged, rankings.origin, _without_judgments(judgments, rankings.queries, rankings.origin))


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
