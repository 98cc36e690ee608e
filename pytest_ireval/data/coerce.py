"""The door for queries, judgments and rankings: files, folders, tables and Python objects become the same arrays."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.formats.input_file import FilePath, is_address, open_input
from pytest_ireval.data.formats.reader import Content, Reader, Reading, run_reader
from pytest_ireval.data.formats.recognition import Format, choose_reader, list_fitting_readers
from pytest_ireval.data.join import assemble_rankings, find_unjudged_queries, join_judged_rows, join_judgments
from pytest_ireval.data.judged import Hits, JudgedRankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan import JudgedRows
from pytest_ireval.data.tables import FRACTIONS, is_stream
from pytest_ireval.data.views import concatenate_rankings
from pytest_ireval.errors import InputError, Mistakes, Problem, quote
from pytest_ireval.masking import public_address
from pytest_ireval.words import format_some

if TYPE_CHECKING:
    from pytest_ireval.data.queries import Queries


JudgmentsLike: TypeAlias = Any
"""``{query: {document: grade}}``, ``{query: {document: {subtopic: grade}}}``, rows of (query, document, grade), or a
data frame with such columns."""

RankingsLike: TypeAlias = Any
"""``{query: {document: score}}``, ``{query: [document, …]}`` best first, ``{query: [(document, score), …]}``, rows of
(query, document, score), or a data frame with such columns."""

QueriesLike: TypeAlias = Any
"""``{id: text}``, rows as dictionaries with ``id`` and ``text``, or a data frame with such columns."""

PLAINLY = Reading()
NUMBER_AT_END = re.compile(r"\D*(\d+)")
"""An id that ends with its only number."""


class JoinedRankings(NamedTuple):
    """Rankings joined with judgments, their origin, and their queries without judgments."""

    judged: JudgedRankings
    origin: str
    without_judgments: tuple[str, ...]
    contradicted: tuple[str, ...] = ()
    """Queries whose rank column contradicts the scores."""


def coerce_judgments(
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
        found, origin = _read_source(source, "judgments", readers, named, how, option)
        if isinstance(found, Judgments):
            return found
        from pytest_ireval.data.from_objects import convert_judgments

        return convert_judgments(found, grades=how.grades, origin=origin)
    except InputError as error:
        if not grades_option:
            raise
        remedy = f"to read fractional grades, use {grades_option}"
        problems = (replace(p, suggestion=remedy) if p.suggestion == FRACTIONS else p for p in error.problems)
        raise InputError(*problems) from None


def coerce_rankings(
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format = None,
    how: Reading = PLAINLY,
    option: str = "",
) -> Rankings:
    """Rankings from a file, a folder or pattern of files, or an object."""
    if (files := _list_files(source, readers, named)) is not None:
        return _concatenate(
            [coerce_rankings(file, readers, named, how, option) for file in files], name_files(files, source)
        )
    found, origin = _read_source(source, "rankings", readers, named, how, option)
    return _convert_rankings(found, how, origin)


def _convert_rankings(found: Any, how: Reading, origin: str) -> Rankings:
    if isinstance(found, Rankings):
        return found
    from pytest_ireval.data.from_objects import convert_rankings

    return convert_rankings(found, how.depth, by_id=how.by_id, origin=origin)


def coerce_queries(
    source: FilePath | Queries | QueriesLike, readers: Sequence[Reader], named: Format = None, option: str = ""
) -> Queries:
    """Queries from a file or an object."""
    from pytest_ireval.data.from_objects import convert_queries
    from pytest_ireval.data.queries import Queries

    found, origin = _read_source(source, "queries", readers, named, PLAINLY, option)
    if isinstance(found, Mapping) and found is not source:
        _refuse_other_objects(found, origin)
    return found if isinstance(found, Queries) else convert_queries(found, origin=origin)


def _refuse_other_objects(value: Mapping[Any, Any], origin: str) -> None:
    """Refuse a file with another object, such as the mapping of an index."""
    from pytest_ireval.data.tables import COLUMN_NAMES, normalize_name

    texts = {name for group in COLUMN_NAMES["text"] for name in group}
    for name, said in value.items():
        has_text = any(normalize_name(key) in texts for key in said) if isinstance(said, Mapping) else said is not None
        if not has_text or isinstance(said, bool | list):
            complaint = f"query {quote(name)} has no text"
            raise InputError(Problem(complaint, origin, allowed="{id: text}, or {id: {text: …, segment: …}}"))


def _read_source(
    source: Any, content: Content, readers: Sequence[Reader], named: Format, how: Reading, option: str
) -> tuple[Any, str]:
    """The content of a file from its reader, or the Python object; and its name in messages."""
    if isinstance(source, str | os.PathLike):
        with open_input(source) as file:
            reader = choose_reader(file, content, readers, named, option)
            return run_reader(reader, file, how._replace(recognised=named is None)), file.name
    if named is not None:
        name = named.name if isinstance(named, Reader) else named
        raise InputError(f"{content}_format={name!r} applies only to files, but these {content} come from Python")
    return source, content


def join_rankings(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format = None,
    how: Reading = PLAINLY,
    *,
    documents: bool,
    highest_grade: float | None = None,
    read_elsewhere: Callable[[Sequence[str]], Sequence[FileRankings]] | None = None,
) -> JoinedRankings:
    """Rankings joined with judgments. Unjudged documents may be left out, unless all ``documents`` are wanted.

    A folder or a pattern is all of its files. ``read_elsewhere`` does for all of them what :func:`read_rankings_file`
    does for one.
    """
    files = _list_files(source, readers, named, one=read_elsewhere is not None)
    if files is None:
        found = _join_source(judgments, source, readers, named, how, documents, highest_grade)
    else:
        read = (
            [read_rankings_file(judgments, file, readers, named, how, documents=documents) for file in files]
            if read_elsewhere is None
            else read_elsewhere(files)
        )
        found = _join_files(judgments, read, name_files(files, source), highest_grade)
    if found.without_judgments and not found.judged.present.any():
        queries = found.without_judgments
        complaint = f"none of its queries ({len(queries)}) is judged in {judgments.origin}"
        difference = describe_id_difference(queries, judgments.queries)
        suggestion = f"ranked: {format_some(queries)}; judged: {format_some(judgments.queries)}{difference}"
        raise InputError(Problem(complaint, place=found.origin, suggestion=suggestion))
    return found


def describe_id_difference(one: Sequence[str], other: Sequence[str]) -> str:
    """In which way ids of two files differ that look alike; nothing if they do not."""
    ones, others = ({unicodedata.normalize("NFC", each) for each in ids} for ids in (one, other))
    if ones & others:
        return "; ids differ only in the form of their accents (Unicode NFC and NFD)"
    if {each.casefold() for each in ones} & {each.casefold() for each in others}:
        return "; ids differ only in upper and lower case"
    found = ({each: NUMBER_AT_END.fullmatch(each) for each in ids} for ids in (ones, others))
    numbers, known = ({at[1].lstrip("0") or "0" if at else each: each for each, at in ids.items()} for ids in found)
    both = sorted(numbers.keys() & known.keys())
    if not both or len(both) < min(len(ones), len(others)):
        return ""
    first = both[0]
    return f"; ids differ only in letters or zeros before a number: {numbers[first]!r} and {known[first]!r}"


def _list_files(source: object, readers: Sequence[Reader], named: Format, *, one: bool = False) -> list[str] | None:
    """The files of a folder or a pattern; None for anything else, and for a folder that a reader takes as a whole.

    With ``one`` also a single file, unless it is a pipe.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    name = os.fspath(source)
    if os.path.isdir(name):
        with open_input(name) as folder:
            whole = named is None and list_fitting_readers(folder, "rankings", readers)
        return None if whole else list_ranking_files(name)
    if is_address(name) or any(character in name for character in PATTERN):
        found = list_ranking_files(name)
        if found is not None:
            return found
    return [name] if one and os.path.isfile(name) else None


class JudgedFile(NamedTuple):
    """The judged documents of the rankings in one of many files: all of them together need little memory.

    ``query`` has the positions of its queries in the judgments, and ``retrieved`` the number of documents of each.
    """

    origin: str
    query: Integers
    retrieved: Integers
    hits: Hits
    without_judgments: tuple[str, ...]
    contradicted: tuple[str, ...] = ()


FileRankings: TypeAlias = Rankings | JudgedFile
"""All documents of the rankings in a file, or the judged ones."""


def read_rankings_file(
    judgments: Judgments, file: str, readers: Sequence[Reader], named: Format, how: Reading, *, documents: bool
) -> FileRankings:
    """The rankings in one of many files, with all their ``documents`` or the judged ones; there may be none."""
    if documents:
        return coerce_rankings(file, readers, named, how)
    judged, origin, *queries = _join_source(judgments, file, readers, named, how, False, None)
    query = np.flatnonzero(judged.present)
    return JudgedFile(origin, query, judged.retrieved[query], judged.hits, *queries)


def _join_files(
    judgments: Judgments, files: Sequence[FileRankings], origin: str, highest_grade: float | None
) -> JoinedRankings:
    """The judged rankings of all files, whatever their order; a query in two of them is an error."""
    whole = [file for file in files if isinstance(file, Rankings)]
    if whole:
        return _join_all(judgments, _concatenate(whole, origin), highest_grade, True)
    judged = [file for file in files if isinstance(file, JudgedFile)]
    _refuse_twice(
        (file.origin, [*(judgments.queries[i] for i in file.query.tolist()), *file.without_judgments])
        for file in judged
    )
    hits = Hits(*(np.concatenate(columns) for columns in zip(*(file.hits for file in judged), strict=True)))
    query, retrieved = (np.concatenate(columns) for columns in zip(*(file[1:3] for file in judged), strict=True))
    without = tuple(name for file in judged for name in file.without_judgments)
    contradicted = tuple(name for file in judged for name in file.contradicted)
    found = assemble_rankings(judgments, query, retrieved, hits, None, highest_grade)
    return JoinedRankings(found, origin, without, contradicted)


def _concatenate(parts: Sequence[Rankings], origin: str) -> Rankings:
    _refuse_twice((part.origin, part.queries) for part in parts)
    return concatenate_rankings(parts, origin)


def _join_source(
    judgments: Judgments,
    source: FilePath | Rankings | RankingsLike,
    readers: Sequence[Reader],
    named: Format,
    how: Reading,
    documents: bool,
    highest_grade: float | None,
) -> JoinedRankings:
    if not documents and named is None and is_stream(source):
        from pytest_ireval.data.formats.columnar import make_readable_twice, read_judged_in_stream

        with make_readable_twice(source, "rankings") as again:
            parts = read_judged_in_stream(again, "rankings", judgments, how)
            if parts is None:
                return _join_all(judgments, coerce_rankings(again, readers, named, how), highest_grade, documents)
            return _join_rows(judgments, parts, "rankings", highest_grade)
    if not isinstance(source, str | os.PathLike) or documents:
        return _join_all(judgments, coerce_rankings(source, readers, named, how), highest_grade, documents)
    with open_input(source) as file:
        reader = choose_reader(file, "rankings", readers, named)
        how = how._replace(recognised=named is None)
        parts = reader.hits(file, judgments, how) if reader.hits is not None else None
        if parts is None:
            return _join_all(
                judgments, _convert_rankings(run_reader(reader, file, how), how, file.name), highest_grade, documents
            )
        return _join_rows(judgments, parts, file.name, highest_grade)


def _join_rows(
    judgments: Judgments, parts: Sequence[JudgedRows], origin: str, highest_grade: float | None
) -> JoinedRankings:
    names = [query for part in parts for query in part.queries]
    contradicted = tuple(query for part in parts for query in part.contradicted)
    judged = join_judged_rows(judgments, parts, highest_grade)
    return JoinedRankings(judged, origin, find_unjudged_queries(judgments, names), contradicted)


def _join_all(judgments: Judgments, rankings: Rankings, highest_grade: float | None, documents: bool) -> JoinedRankings:
    judged = join_judgments(judgments, rankings, highest_grade, documents=documents)
    without = find_unjudged_queries(judgments, rankings.queries)
    return JoinedRankings(judged, rankings.origin, without, rankings.contradicted)


PATTERN = "*?["


def _refuse_twice(files: Iterable[tuple[str, Iterable[str]]]) -> None:
    home: dict[str, int] = {}
    names: list[str] = []
    mistakes = Mistakes()
    for number, (origin, queries) in enumerate(files):
        names.append(origin)
        for query in queries:
            first = home.setdefault(query, number)
            if first != number:
                complaint = f"query {quote(query)} is also in {names[first]}"
                mistakes.add(Problem(complaint, origin, suggestion="all rows of a query belong into one file"))
    mistakes.refuse()


def list_ranking_files(source: object) -> list[str] | None:
    """The files of a folder or a pattern, in the order of their names; None for anything else, such as one file.

    In a folder, names that begin with ``.`` or ``_`` are left out, as other tools leave them out.
    """
    if not isinstance(source, str | os.PathLike):
        return None
    name = os.fspath(source)
    if is_address(name):
        from pytest_ireval.data.formats.remote import list_remote_files

        return list_remote_files(name)
    if os.path.isdir(name):
        from pytest_ireval.data.formats.remote import select_data_files

        inside = [path.relative_to(name).as_posix() for path in Path(name).rglob("*") if path.is_file()]
        found = [str(Path(name, each)) for each in select_data_files(inside, name)]
    elif not os.path.exists(name) and any(character in name for character in PATTERN):
        found = [path for path in glob(name, recursive=True) if os.path.isfile(path)]
    else:
        return None
    if not found:
        raise InputError(Problem("there is no file", place=name))
    return sorted(found)


def name_files(names: Sequence[str], source: Any) -> str:
    """The name of several files, for messages and reports."""
    name = names[0] if len(names) == 1 else os.fspath(source)
    shown_name = public_address(name) if is_address(name) else name  # which may have a password
    return shown_name if len(names) == 1 else f"{shown_name} ({len(names):,} files)"
