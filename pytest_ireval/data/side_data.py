"""Data in addition to judgments and rankings: size of the collection, queries, timings, fields and the like."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_ireval.data.arrays import Floats
from pytest_ireval.data.formats.input_file import FilePath, InputFile, open_input
from pytest_ireval.data.formats.recognition import is_arrow, is_parquet
from pytest_ireval.data.formats.row_files import read_delimited_rows, read_delimited_table, read_json_lines
from pytest_ireval.data.judged import JudgedRankings, Sessions
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.tables import (
    COLUMN_NAMES,
    NumberName,
    Table,
    Unfit,
    find_column,
    format_cell,
    normalize_name,
    parse_id,
    parse_number,
    require_column,
)
from pytest_ireval.errors import InputError, IrevalError, Mistakes, Problem, quote
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from pytest_ireval.data.coerce import QueriesLike, RankingsLike
    from pytest_ireval.data.rankings import Rankings

Fields: TypeAlias = Mapping[str, Mapping[str, Any]]
"""By document, its fields by name."""
Preferences: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]
"""By query, pairs of documents, the better one first; a pair with a weight is a :class:`WeightedPair`."""
IDS = ("id", "_id", *(normalize_name(name) for group in COLUMN_NAMES["document"] for name in group))
"""Names of the field of the id, the first has priority."""
MOST_FIELDS = 12
"""The most fields of a document that are shown."""


class WeightedPair(tuple[str, str]):
    """A pair of documents, the better one first; ``weight`` is how much it counts in weighted metrics."""

    weight: float

    def __new__(cls, pair: Iterable[str], weight: float = 1.0) -> WeightedPair:
        """The pair with its weight."""
        made = super().__new__(cls, pair)
        made.weight = weight
        return made


@dataclass(frozen=True, eq=False, kw_only=True)
class SideData:
    """What some metrics need in addition to judgments and rankings; a path is a file that is read.

    >>> from pytest_ireval import SideData, evaluate
    >>> side_data = SideData(timings={"mug": 0.25})
    >>> evaluate({"mug": {"a": 1}}, {"mug": ["a"]}, "Latency", side_data=side_data)["Latency"].value
    250.0
    """

    collection: int | None = None
    """The number of documents in the collection."""
    sessions: Mapping[str, tuple[str, int]] | None = None
    """By query, its session and its position there, from 1."""
    timings: FilePath | Mapping[str, float] | None = None
    """By query, the seconds that it took."""
    fields: FilePath | Fields | None = None
    """By document, its fields by name."""
    preferences: FilePath | Preferences | None = None
    """By query, pairs of documents, the better one first."""
    queries: FilePath | Queries | QueriesLike | None = None
    """The text and the other columns of each query; two columns may give the sessions."""
    reference: FilePath | Rankings | RankingsLike | None = None
    """Other rankings of the same queries, to compare with."""

    def __post_init__(self) -> None:
        size = self.collection
        if size is not None and not (isinstance(size, Integral) and not isinstance(size, bool) and size >= 1):
            raise IrevalError(f"collection={size!r} is not a whole number of documents")


def join_side_data(
    judged: JudgedRankings,
    *,
    collection: int | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    timings: FilePath | Mapping[str, float] | None = None,
    fields: FilePath | Fields | None = None,
    preferences: FilePath | Preferences | None = None,
    queries: Queries | None = None,
    reference: JudgedRankings | None = None,
) -> JudgedRankings:
    """The same with the given data, checked and in the order of the queries; a path is read.

    Of a file of fields only those of ranked documents are read. Sessions may be two columns of the queries.
    """
    if isinstance(fields, str | os.PathLike):
        fields = None if judged.documents is None else read_fields(fields, set(judged.documents.ids.texts()))
    if isinstance(preferences, str | os.PathLike):
        preferences = read_preferences(preferences)
    if isinstance(timings, str | os.PathLike):
        timings = read_timings(timings)
    for document, known in _list_entries(fields, "fields"):
        if not isinstance(known, Mapping):
            raise _make_error("fields", f"document {document!r} has {known!r}, not a mapping")
    for query, pairs in _list_entries(preferences, "preferences"):
        if isinstance(pairs, str) or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
            raise _make_error("preferences", f"query {query!r} has {pairs!r}, not pairs (better, worse)")
    if collection is not None:
        _check_collection(judged, collection)
    if queries is not None:
        judged = _add_queries(judged, queries)
        sessions = _find_sessions(queries, set(judged.queries)) if sessions is None else sessions
    return replace(
        judged,
        collection=collection,
        sessions=None if sessions is None else _make_sessions(judged.queries, sessions),
        timings=None if timings is None else _make_timings(judged, timings),
        fields=fields,
        preferences=preferences,
        reference=reference and replace(reference, collection=collection),
        _memory={},
    )


def read_fields(path: FilePath, wanted: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Read JSON lines, a table with a header (CSV, TSV) or Parquet; only the wanted documents are kept.

    The first row of a document counts. Fields of an object in a field are put next to the others.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for document, fields in _read_documents(path):
        if document in wanted and document not in found:
            found[document] = {name: simplify_field(value) for name, value in flatten_fields(fields)}
        if len(found) == len(wanted):
            break
    return found


def read_document_fields(path: FilePath) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The id and the other fields of each document in such a file, as :func:`read_fields` has them."""
    for document, fields in _read_documents(path):
        yield document, dict(flatten_fields(fields))


def _read_documents(path: FilePath) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with open_input(path) as file:
        for fields in _read_field_rows(file):
            by_name = {normalize_name(name): name for name in fields}
            name = next((by_name[name] for name in IDS if name in by_name), None)
            if name is None:
                some = ", ".join(map(quote, list(fields)[:MOST_FIELDS]))
                complaint = f"no field is the id of a document: the fields are {some}"
                allowed = f"a field {', '.join(dict.fromkeys(IDS))}"
                raise InputError(Problem(complaint, file.name, allowed=allowed))
            yield format_cell(fields[name]).strip(), {each: fields[each] for each in fields if each != name}


def _read_field_rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    if is_parquet(file) or is_arrow(file):
        from pytest_ireval.data.formats.columnar import read_columnar_table  # as other readers: imported when needed

        columns = read_columnar_table(file).columns
        yield from (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    elif file.head.lstrip().startswith("{"):
        yield from _read_json_rows(file)
    else:
        yield from _read_table_rows(file)


def _read_json_rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(file.lines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            complaint = "" if isinstance(fields, dict) else "is not a JSON object"
        except (ValueError, RecursionError) as error:
            complaint = f"is not JSON: {error}"
        if complaint:
            raise InputError(Problem(complaint, f"{file.name}:{number}", allowed="one object a line"))
        yield fields


def _read_table_rows(file: InputFile) -> Iterator[Mapping[str, Any]]:
    rows = read_delimited_rows(file.lines(), file.delimiter, file.name, file.lines)
    _, names = next(rows, (1, []))
    for number, row in rows:
        if len(row) != len(names):
            raise InputError(
                Problem(f"has {format_count(len(row), 'cell')}, not {len(names)}", f"{file.name}:{number}")
            )
        yield dict(zip(names, row, strict=True))


def flatten_fields(fields: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All fields; those of an object in a field, such as ``metadata``, are put next to the others."""
    for name, value in fields.items():
        yield from ((str(each), part) for each, part in (value if isinstance(value, dict) else {name: value}).items())


def simplify_field(value: Any) -> Any:
    """A value as JSON can hold it: dates as text of ISO 8601, numbers of other kinds as numbers, NaN as None."""
    if callable(item := getattr(value, "item", None)) and getattr(value, "ndim", None) == 0:
        value = item()  # a number of numpy, or a tensor that holds one
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | Decimal | Fraction):
        return float(value) if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): simplify_field(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        found = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        return [simplify_field(each) for each in found]
    return value.isoformat() if isinstance(value, date) else str(value)


def read_preferences(path: FilePath) -> dict[str, list[tuple[str, str]]]:
    """The pairs of a file with the columns query, better and worse (TSV, CSV, JSON lines).

    They weigh as much as the column ``support`` or ``weight`` says, if there is one.
    """
    found: dict[str, list[tuple[str, str]]] = {}

    def take(query: str, better: object, worse: object, weight: object = 1.0) -> None:
        pair = WeightedPair(
            (parse_id(better), parse_id(worse)), parse_number(weight, NumberName("weight", better, query))
        )
        if pair[0] == pair[1]:
            raise Unfit(f"document {pair[0]!r} is better than itself")
        if pair.weight < 0:
            raise Unfit(f"{NumberName('weight', better, query)} is {weight!r}, which is below 0")
        found.setdefault(query, []).append(pair)

    table = read_table(path)
    weighted = ("support",) if find_column(table.columns, "support") is not None else ()
    _read_rows(table, ("better", "worse", *weighted), take)
    return found


def read_timings(path: FilePath) -> dict[str, float]:
    """The seconds of each query, of a file with the columns query and seconds, or query and milliseconds."""
    found: dict[str, float] = {}
    table = read_table(path)
    units = [unit for unit in ("seconds", "milliseconds") if find_column(table.columns, unit) is not None]
    if len(units) != 1:
        what = "the columns seconds and milliseconds are both there" if units else "no column says the unit of time"
        complaint = f"{what}: the columns are {', '.join(map(repr, table.columns))}"
        raise InputError(Problem(complaint, place=table.origin, allowed="one column: seconds, or milliseconds (ms)"))

    def take(query: str, value: object) -> None:
        try:
            time = float(str(value))
        except ValueError:
            time = -1.0
        if not isfinite(time) or time < 0 or isinstance(value, bool):
            raise Unfit(f"the time of query {query!r} is {value!r}, not a number of {units[0]}")
        if query in found:
            raise Unfit(f"query {query!r} has two times")
        found[query] = time / (1000 if units[0] == "milliseconds" else 1)

    _read_rows(table, (units[0],), take)
    return found


def read_table(path: FilePath) -> Table:
    """The rows of a file of JSON lines, CSV or TSV."""
    with open_input(path) as file:
        return read_json_lines(file) if file.head.lstrip().startswith("{") else read_delimited_table(file)


def _read_rows(table: Table, kinds: Sequence[str], take: Callable[..., None]) -> None:
    """Call ``take(query, …)`` for each row; all rows that it refuses are one error."""
    names = [require_column(table.columns, kind, table.origin) for kind in ("query", *kinds)]
    if not table.rows:
        raise InputError(Problem("it has no rows", place=table.origin))
    mistakes = Mistakes()
    for row in table.rows:
        query, *cells = (table.columns[name][row] for name in names)
        try:
            take(parse_id(query), *cells)
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=table.place(row), suggestion=unfit.suggestion))
    mistakes.refuse()


def _add_queries(judged: JudgedRankings, queries: Queries) -> JudgedRankings:
    """The same with the text and the columns of each query."""
    unknown = [query for query in judged.queries if query not in queries.position]
    if unknown:
        raise InputError(Problem(f"query {unknown[0]!r} is judged, but it is not in this file", place=queries.origin))
    rows = [queries.position[query] for query in judged.queries]
    columns = {name: tuple(cells[row] for row in rows) for name, cells in queries.columns.items()}
    return replace(judged, query_texts=tuple(queries.text[row] for row in rows), columns=columns)


def _find_sessions(queries: Queries, judged: set[str]) -> dict[str, tuple[str, int]] | None:
    """The session of each judged query and its place there, from two columns of the queries."""
    if not {"session", "position"} <= set(queries.columns):
        return None
    places: dict[str, tuple[str, int]] = {}
    rows = zip(queries.ids, queries.columns["session"], queries.columns["position"], strict=True)
    for row, (query, session, position) in enumerate(rows):
        if session and query in judged:
            if not position.isdigit() or int(position) < 1:
                raise InputError(Problem(f"position is {position!r}, not a whole number from 1", queries.place(row)))
            places[query] = (session, int(position))
    return places


def _check_collection(judged: JudgedRankings, size: int) -> None:
    """Refuse a size below the number of documents that one query judges or retrieves."""
    known = np.diff(judged.first_ideal) + judged.retrieved - np.diff(judged.first)
    most = int(known.argmax()) if known.size else 0
    if known.size and known[most] > size:
        complaint = (
            f"{size:,} documents are too few: {known[most]:,} are judged or retrieved for query "
            f"{judged.queries[most]!r}"
        )
        raise _make_error("collection", complaint)


def _list_entries(mapping: object, what: str) -> list[tuple[Any, Any]]:
    if mapping is None:
        return []
    if not isinstance(mapping, Mapping):
        raise _make_error(what, f"{type(mapping).__name__} is not a mapping")
    return list(mapping.items())


def _make_sessions(queries: Sequence[str], sessions: Mapping[str, tuple[str, int]]) -> Sessions:
    known = set(queries)
    taken: dict[tuple[Any, ...], str] = {}
    for query, place in _list_entries(sessions, "sessions"):
        if query not in known:
            raise _make_error("sessions", f"query {query!r} is not judged")
        if not _is_place(place):
            raise _make_error(
                "sessions", f"query {query!r} has {place!r}, not (session, position); positions start at 1"
            )
        other = taken.setdefault(tuple(place), query)
        if other != query:
            raise _make_error(
                "sessions", f"queries {other!r} and {query!r} have the same position in session {place[0]!r}"
            )
    names = {name: i for i, name in enumerate(dict.fromkeys(sessions[q][0] for q in queries if q in sessions))}
    places = [sessions.get(query) for query in queries]
    return Sessions(
        tuple(names),
        np.array([names[place[0]] if place else -1 for place in places], np.int64),
        np.array([place[1] if place else 0 for place in places], np.int64),
    )


def _is_place(place: object) -> bool:
    if not isinstance(place, tuple | list) or len(place) != 2:
        return False
    name, position = place
    whole = isinstance(position, Integral) and not isinstance(position, bool)
    return isinstance(name, str) and whole and 1 <= position < 2**62


def _make_timings(judged: JudgedRankings, timings: Mapping[str, float]) -> Floats:
    for query, seconds in _list_entries(timings, "timings"):
        if not isinstance(seconds, Real) or isinstance(seconds, bool) or not 0 <= float(seconds) < np.inf:
            raise _make_error("timings", f"query {query!r} took {seconds!r}, which is not a number of seconds")
    for query, there in zip(judged.queries, judged.present.tolist(), strict=True):
        if there and query not in timings:
            raise _make_error("timings", f"query {query!r} has no timing")
    return np.array([timings.get(query, np.nan) for query in judged.queries], np.float64)


def _make_error(what: str, complaint: str) -> InputError:
    return InputError(Problem(complaint, place=what))
