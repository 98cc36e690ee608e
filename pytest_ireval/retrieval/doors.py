"""The entrances for judgments and rankings: files and Python objects become the same arrays."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pytest_ireval.errors import InputError, Problem, shown
from pytest_ireval.retrieval.formats.input_file import FilePath, input_file, is_address
from pytest_ireval.retrieval.formats.reader import Content, Reader, Reading, read_by
from pytest_ireval.retrieval.formats.recognised import Format, reader_for, readers_that_fit
from pytest_ireval.retrieval.join import judge, judged_hits, unjudged_queries
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.parts import (
    PATTERN,
    JudgedPart,
    judged_in_parts,
    origin_of,
    part_of,
    ranking_files,
    together,
)
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.scan.kept import KeptRows
from pytest_ireval.retrieval.tables import FRACTIONS, is_stream

if TYPE_CHECKING:
    from pytest_ireval.retrieval.queries import Queries

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
BEFORE_NUMBER = re.compile(r"^\D*0*(?=\d+$)")
"""The part of an id before its number."""


class Brought(NamedTuple):
    """Rankings joined with judgments, their origin, and their queries without judgments."""

    judged: JudgedRankings
    origin: str
    without_judgments: tuple[str, ...]


def as_judgments(
    source: FilePath | Judgments | JudgmentsLike,
    readers: Sequence[Reader],
    named: Format = None,
    how: Reading = PLAINLY,
    option: str = "",
    grades_option: str = "",
) -> Judgments:
    """Judgments from a file or an object; ``named`` is the format of a file, unless it is to be recognised.

    ``option`` and ``grades_option`` are the user's options for the format and for fractional grades, for messages.
    """
    try:
        found, origin = _held(source, "judgments", readers, named, how, option)
        if isinstance(found, Judgments):
            return found
        from pytest_ireval.retrieval.from_objects import judgments_from

        return judgments_from(found, grades=how.grades, origin=origin)
    except InputError as error:
        if not grades_option:
            raise
        remedy = f"to read fractional grades, use {grades_option}"
        problems = (replace(p, suggestion=remedy) if p.suggestion == FRACTIONS else p for p in error.problems)
        raise InputError(*problems) from None


def as_rankings(
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format = None,
    how: Reading = PLAINLY,
    option: str = "",
) -> Rankings:
    """Rankings from a file, a folder or pattern of files, or an object."""
    if (files := _files(source, readers, named)) is not None:
        return together([as_rankings(file, readers, named, how, option) for file in files], origin_of(files, source))
    found, origin = _held(source, "rankings", readers, named, how, option)
    return _rankings(found, how, origin)


def _rankings(found: Any, how: Reading, origin: str) -> Rankings:
    if isinstance(found, Rankings):
        return found
    from pytest_ireval.retrieval.from_objects import rankings_from

    return rankings_from(found, how.depth, by_id=how.by_id, origin=origin)


def as_queries(
    source: FilePath | Queries | QueriesLike, readers: Sequence[Reader], named: Format = None, option: str = ""
) -> Queries:
    """Queries from a file or an object."""
    from pytest_ireval.retrieval.from_objects import queries_from
    from pytest_ireval.retrieval.queries import Queries

    found, origin = _held(source, "queries", readers, named, PLAINLY, option)
    if isinstance(found, Mapping) and found is not source:
        _refuse_other_objects(found, origin)
    return found if isinstance(found, Queries) else queries_from(found, origin=origin)


def _refuse_other_objects(value: Mapping[Any, Any], origin: str) -> None:
    """Refuse a file with another object, such as the mapping of an index."""
    from pytest_ireval.retrieval.tables import COLUMN_NAMES, plain_name

    texts = {name for group in COLUMN_NAMES["text"] for name in group}
    for name, said in value.items():
        has_text = any(plain_name(key) in texts for key in said) if isinstance(said, Mapping) else said is not None
        if not has_text or isinstance(said, bool | list):
            complaint = f"query {shown(name)} has no text"
            raise InputError(Problem(complaint, origin, allowed="{id: text}, or {id: {text: …, segment: …}}"))


def _held(
    source: Any, content: Content, readers: Sequence[Reader], named: Format, how: Reading, option: str
) -> tuple[Any, str]:
    """The content of a file from its reader, or the Python object; and its name in messages."""
    if isinstance(source, str | os.PathLike):
        with input_file(source) as file:
            reader = reader_for(file, content, readers, named, option)
            return read_by(reader, file, how._replace(recognised=named is None)), file.name
    if named is not None:
        name = named.name if isinstance(named, Reader) else named
        raise InputError(f"{content}_format={name!r} applies only to files, but these {content} come from Python")
    return source, content


def brought(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format = None,
    how: Reading = PLAINLY,
    *,
    documents: bool,
    highest_grade: float | None = None,
) -> Brought:
    """Rankings joined with judgments. Unjudged documents may be left out, unless all ``documents`` are wanted.

    A folder or a pattern is all of its files, and rankings may also be parts that were joined elsewhere.
    """
    given = parts_in(source)
    if given and documents:
        raise InputError(Problem("parts have only judged documents, and all documents are needed", given[0].origin))
    if not given and not documents and (files := _files(source, readers, named)) is not None:
        given = [part_in(judgments, file, readers, named, how) for file in files]
    if given:
        judged = judged_in_parts(judgments, given, highest_grade, by_id=how.by_id)
        without = tuple(query for part in given for query in part.without_judgments)
        found = Brought(judged, origin_of([part.origin for part in given], source), without)
    else:
        found = _brought(judgments, source, readers, named, how, documents, highest_grade)
    if found.without_judgments and not found.judged.present.any():
        queries = found.without_judgments
        complaint = f"none of its queries ({len(queries)}) is judged in {judgments.origin}"
        suggestion = (
            f"ranked: {some(queries)}; judged: {some(judgments.queries)}{how_ids_differ(queries, judgments.queries)}"
        )
        raise InputError(Problem(complaint, place=found.origin, suggestion=suggestion))
    return found


def how_ids_differ(one: Sequence[str], other: Sequence[str]) -> str:
    """In which way ids of two files differ that look alike; nothing if they do not."""
    ones, others = ({unicodedata.normalize("NFC", each) for each in ids} for ids in (one, other))
    if ones & others:
        return "; ids differ only in the form of their accents (Unicode NFC and NFD)"
    if {each.casefold() for each in ones} & {each.casefold() for each in others}:
        return "; ids differ only in upper and lower case"
    numbers, known = ({BEFORE_NUMBER.sub("", each): each for each in ids} for ids in (ones, others))
    both = sorted(numbers.keys() & known.keys())
    if not both or len(both) < min(len(ones), len(others)):
        return ""
    first = both[0]
    return f"; ids differ only in letters or zeros before a number: {numbers[first]!r} and {known[first]!r}"


def _files(source: object, readers: Sequence[Reader], named: Format) -> list[str] | None:
    """The files of a folder or a pattern; None for anything else, and for a folder that a reader takes as a whole."""
    if not isinstance(source, str | os.PathLike):
        return None
    name = os.fspath(source)
    if os.path.isdir(name):
        with input_file(name) as folder:
            whole = named is None and readers_that_fit(folder, "rankings", readers)
        return None if whole else ranking_files(name)
    return ranking_files(name) if is_address(name) or any(character in name for character in PATTERN) else None


def parts_in(source: object) -> list[JudgedPart]:
    """The parts that were given; none if it is something else."""
    given = source if isinstance(source, list | tuple) else [source]
    found = [each for each in given if isinstance(each, JudgedPart)]
    if found and len(found) < len(given):
        other = next(type(each).__name__ for each in given if not isinstance(each, JudgedPart))
        raise InputError(Problem(f"{other} is not a part", "rankings", suggestion="make all of them with judged_part"))
    return found


def part_in(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format,
    how: Reading,
) -> JudgedPart:
    """The judged documents of some rankings; there may be none."""
    found = _brought(judgments, source, readers, named, how, False, None)
    return part_of(found.judged, found.origin, found.without_judgments, judgments.fingerprint, by_id=how.by_id)


def _brought(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format,
    how: Reading,
    documents: bool,
    highest_grade: float | None,
) -> Brought:
    if not documents and named is None and is_stream(source):
        from pytest_ireval.retrieval.formats.columnar import judged_in_stream, read_again

        with read_again(source, "rankings") as again:
            parts = judged_in_stream(again, "rankings", judgments, how)
            if parts is None:
                return _judged(judgments, as_rankings(again, readers, named, how), highest_grade, documents)
            return _kept(judgments, parts, "rankings", highest_grade)
    if not isinstance(source, str | os.PathLike) or documents:
        return _judged(judgments, as_rankings(source, readers, named, how), highest_grade, documents)
    with input_file(source) as file:
        reader = reader_for(file, "rankings", readers, named)
        told = how._replace(recognised=named is None)
        parts = reader.hits(file, judgments, told) if reader.hits is not None else None
        if parts is None:
            return _judged(judgments, _rankings(read_by(reader, file, told), how, file.name), highest_grade, documents)
        return _kept(judgments, parts, file.name, highest_grade)


def _kept(judgments: Judgments, parts: Sequence[KeptRows], origin: str, highest_grade: float | None) -> Brought:
    names = [query.decode() for part in parts for query in part.query_id]
    return Brought(judged_hits(judgments, parts, highest_grade), origin, unjudged_queries(judgments, names))


def _judged(judgments: Judgments, rankings: Rankings, highest_grade: float | None, documents: bool) -> Brought:
    judged = judge(judgments, rankings, highest_grade, documents=documents)
    return Brought(judged, rankings.origin, unjudged_queries(judgments, rankings.queries))


def some(queries: Sequence[str]) -> str:
    """The first of many queries, and the number of the others."""
    more = f" and {len(queries) - SHOWN_QUERIES} more" if len(queries) > SHOWN_QUERIES else ""
    return ", ".join(map(repr, queries[:SHOWN_QUERIES])) + more
