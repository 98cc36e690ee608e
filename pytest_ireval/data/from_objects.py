"""Judgments and rankings from Python objects: mappings, lists, rows and data frames, as the arrays files give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.judgments import Judgments, Subtopics, join_texts, make_judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings, rank_columns, rank_lists
from pytest_ireval.data.scan import Ids
from pytest_ireval.data.tables import (
    NumberName,
    Table,
    Unfit,
    check_id,
    check_number,
    check_whole,
    collect_columns,
    find_column,
    find_grade_column,
    find_id_column,
    find_ranking_columns,
    format_cell,
    is_stream,
    parse_id,
    parse_number,
    parse_text,
    place_by_number,
    read_rank,
    require_column,
)
from pytest_ireval.errors import InputError, Mistakes, Problem, quote


def convert_judgments(source: Any, *, grades: str = "integer", origin: str = "judgments") -> Judgments:
    """Judgments from a table, or any of the forms that :func:`~pytest_ireval.evaluating.evaluation.evaluate` takes."""
    table = _convert_table(source, origin)
    if table is not None:
        return make_judgments_of_table(rename_judgment_columns(table), grades)
    with _name_origin(origin):
        rows = _list_graded_rows(source, origin)
        queries = {name: i for i, name in enumerate(dict.fromkeys(query for query, _, _ in rows))}
        query = np.array([queries[name] for name, _, _ in rows], np.int64)
        grade = np.array([_check_grade(g, grades, name, document) for name, document, g in rows], np.float64)
    subtopics = _collect_subtopics(rows) if any(isinstance(g, Mapping) for _, _, g in rows) else None
    documents = Ids.of([document for _, document, _ in rows])
    return make_judgments(
        list(queries), query, documents, grade + 0.0, origin=origin, place=place_by_number(origin), subtopics=subtopics
    )


def convert_rankings(
    source: Any, depth: int | None = None, *, by_id: bool = True, origin: str = "rankings"
) -> Rankings:
    """Rankings from a table, or any of the forms that ``evaluate`` takes; a list of ids scores -position."""
    if is_stream(source):
        from pytest_ireval.data.formats.columnar import make_readable_twice, read_stream_rankings

        with make_readable_twice(source, origin) as stream:
            found = read_stream_rankings(stream, origin, Reading(depth=depth, by_id=by_id))
            if found is not None:
                return found
            table = _convert_table(stream, origin)
    else:
        table = _convert_table(source, origin)
    if table is not None:
        return _convert_ranking_table(table, depth, by_id=by_id)
    with _name_origin(origin):
        lists = _list_rankings(source, origin)
    return rank_lists(lists, origin, depth, by_id=by_id)


def convert_queries(source: Any, *, origin: str = "queries") -> Queries:
    """Queries from ``{id: text}``, rows as dictionaries with ``id`` and ``text``, or a data frame with such columns."""
    table = _convert_table(source, origin)
    if table is not None:
        return make_queries_of_table(table)
    if isinstance(source, Mapping):
        rows = [
            {"id": query, **(each if isinstance(each, Mapping) else {"text": each})} for query, each in source.items()
        ]
    elif isinstance(source, Iterable) and not isinstance(source, str | bytes):
        rows = list(source)
    else:
        raise _make_error(origin, f"{type(source).__name__} is not a supported type of {origin}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise _make_error(origin, f"row {number} is {row!r}, not a dictionary with id and text")
    return make_queries_of_table(Table(collect_columns(rows), origin, place_by_number(origin)))


def _convert_table(source: Any, origin: str) -> Table | None:
    """The table, or the data frame as a table; None for a source without named columns."""
    if isinstance(source, Table) or source is None:
        return source
    kind = type(source)
    if is_stream(source) and not (hasattr(kind, "columns") and hasattr(kind, "__iter__")):  # data frames have both
        from pytest_ireval.data.formats.columnar import read_stream_table

        return read_stream_table(source, origin)
    if hasattr(kind, "collect_schema") and not is_stream(source):
        raise _make_error(origin, f"{kind.__name__} has no rows yet; call its method collect()")
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):
        return Table({name: list(source[name]) for name in source.columns}, origin, place_by_number(origin))
    return None


def _list_graded_rows(source: Any, origin: str) -> list[tuple[str, str, Any]]:
    if isinstance(source, Mapping):
        _refuse_text_and_number(source, origin)
        for query, documents in source.items():
            if not isinstance(documents, Mapping):
                raise _make_error(origin, f"judgments of query {query!r} are {type(documents).__name__}, not a mapping")
            if not documents:
                raise _make_error(origin, f"query {query!r} has no judgments; leave it out, or judge a document")
        return [
            (check_id(query), check_id(document), grade)
            for query, documents in source.items()
            for document, grade in documents.items()
        ]
    return _list_rows(source, "grade", origin)


def _refuse_text_and_number(source: Mapping[Any, Any], origin: str) -> None:
    for query in source:
        if not isinstance(query, str) and str(query) in source:
            raise _make_error(origin, f"query {str(query)!r} occurs twice, as text and as a number")


def _list_rankings(source: Any, origin: str) -> dict[str, list[tuple[str, float]]]:
    if isinstance(source, Mapping):
        _refuse_text_and_number(source, origin)
        return {check_id(query): _list_ranking(query, ranking, origin) for query, ranking in source.items()}
    lists: dict[str, list[tuple[str, float]]] = {}
    for query, document, score in _list_rows(source, "score", origin):
        lists.setdefault(query, []).append((document, _check_score(score, query, document)))
    return lists


def _list_ranking(query: Any, ranking: Any, origin: str) -> list[tuple[str, float]]:
    """One query's documents with scores."""
    if isinstance(ranking, Mapping):
        return [(check_id(d), _check_score(score, query, d)) for d, score in ranking.items()]
    if isinstance(ranking, str | bytes | set | frozenset) or not isinstance(ranking, Iterable):
        raise _make_error(
            origin, f"the ranking of query {query!r} is {type(ranking).__name__}, not a list or a mapping"
        )
    entries = list(ranking)
    if any(isinstance(entry, tuple | list) for entry in entries):
        return [_check_pair(query, entry, origin) for entry in entries]
    return [(check_id(document), -float(position)) for position, document in enumerate(entries)]


def _check_pair(query: Any, entry: Any, origin: str) -> tuple[str, float]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise _make_error(
            origin, f"the ranking of query {query!r} holds {entry!r}, which is not a pair (document, score)"
        )
    return check_id(entry[0]), _check_score(entry[1], query, entry[0])


def _list_rows(source: Any, value: str, origin: str) -> list[tuple[str, str, Any]]:
    """(query, document, value) from rows in that order or with these names."""
    if isinstance(source, str) or not isinstance(source, Iterable):
        raise _make_error(origin, f"{type(source).__name__} is not a supported type of {origin}")
    rows = []
    for number, given in enumerate(source, 1):
        row = given
        if (fields := getattr(given, "_fields", None)) is not None:
            row = [getattr(given, require_column(fields, kind, origin)) for kind in ("query", "document", value)]
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != 3:
            raise _make_error(origin, f"row {number} is {row!r}, not (query, document, {value})")
        rows.append((check_id(row[0]), check_id(row[1]), row[2]))
    return rows


def _check_score(value: Any, query: Any, document: Any) -> float:
    return check_number(value, NumberName("score", document, query))


def _check_grade(value: Any, grades: str, query: str, document: str) -> float:
    """A grade; with subtopics, the highest of them."""
    what = NumberName("grade", document, query)
    if isinstance(value, Mapping):
        if any(isinstance(grade, Mapping) for grade in value.values()):
            raise Unfit(f"{what} is {value!r}, nested too deeply")
        return max((_check_grade(grade, grades, query, document) for grade in value.values()), default=0.0)
    number = check_number(value, what)
    return check_whole(number, value, what) if grades == "integer" else number


@contextmanager
def _name_origin(origin: str) -> Iterator[None]:
    """Turn the error of a value into one with the origin of the value."""
    try:
        yield
    except Unfit as unfit:
        raise InputError(Problem(str(unfit), place=origin, suggestion=unfit.suggestion)) from None


def _collect_subtopics(rows: Sequence[tuple[str, str, Any]]) -> Subtopics:
    entries = [
        (i, subtopic, grade)
        for i, (_, _, grades) in enumerate(rows)
        for subtopic, grade in (grades.items() if isinstance(grades, Mapping) else [("", grades)])
    ]
    names = {name: i for i, name in enumerate(dict.fromkeys(subtopic for _, subtopic, _ in entries))}
    return Subtopics(
        tuple(map(str, names)),
        np.array([row for row, _, _ in entries], np.int64),
        np.array([names[subtopic] for _, subtopic, _ in entries], np.int64),
        np.array([float(grade) for _, _, grade in entries], np.float64),
    )


def _make_error(origin: str, complaint: str) -> InputError:
    return InputError(Problem(complaint, place=origin))


OWN = ("query", "document", "grade", "subtopic")
JUDGED_BY = ("judge", "date", "guideline")
"""Columns of judgments that are kept under these names, whatever their names in the table."""


def rename_judgment_columns(table: Table) -> Table:
    """The same under our own names: the columns of a judgment, then all others as text."""
    names = list(table.columns)
    if not table.rows:
        raise InputError(Problem("it contains no judgments", place=table.origin))
    used = {kind: require_column(names, kind, table.origin) for kind in ("query", "document")}
    used["grade"] = find_grade_column(names, table.origin)
    if (subtopic := find_column(names, "subtopic")) is not None:
        used["subtopic"] = subtopic
    ours = {find_column(names, kind): kind for kind in JUDGED_BY}
    columns: dict[str, Sequence[Any]] = {kind: table.columns[name] for kind, name in used.items()}
    for kind in ("query", "document"):
        columns[kind] = [cell.strip() if isinstance(cell, str) else cell for cell in columns[kind]]
    for name in names:
        if name not in used.values():
            own = str(ours.get(name, name))
            columns[f"{own}_text" if own in columns else own] = [format_cell(value) for value in table.columns[name]]
    return Table(columns, table.origin, table.place)


def read_graded_rows(table: Table, grades: str = "integer") -> list[tuple[str, str, float]]:
    """Query, document and grade of every row, checked."""
    columns = [table.columns[name] for name in ("query", "document", "grade")]
    rows = list(_check_rows(table, columns, lambda q, d, g: (parse_id(q), parse_id(d), _parse_grade(q, d, g, grades))))
    if not rows:
        raise InputError(Problem("it contains no judgments", place=table.origin))
    return rows


def make_judgments_of_table(table: Table, grades: str = "integer") -> Judgments:
    """Judgments from columns under our own names; with subtopics, grades of the parts of a query."""
    rows = read_graded_rows(table, grades)
    if "subtopic" in table.columns:
        return _make_judgments_with_subtopics(table, rows, [format_cell(name) for name in table.columns["subtopic"]])
    code = {query: i for i, query in enumerate(dict.fromkeys(query for query, _, _ in rows))}
    return make_judgments(
        list(code),
        np.array([code[query] for query, _, _ in rows], np.int64),
        Ids.of([document for _, document, _ in rows]),
        np.array([grade for _, _, grade in rows], np.float64) + 0.0,
        origin=table.origin,
        place=table.place,
        columns=_select_other_columns(table),
    )


def _parse_grade(query: Any, document: Any, value: Any, grades: str) -> float:
    what = NumberName("grade", document, query)
    number = parse_number(value, what)
    return check_whole(number, value, what) if grades == "integer" else number


def _select_other_columns(table: Table) -> dict[str, Sequence[str]]:
    """The columns with other facts about a judgment."""
    return {name: values for name, values in table.columns.items() if name not in OWN}


def _make_judgments_with_subtopics(
    table: Table, rows: Sequence[tuple[str, str, float]], subtopics: Sequence[str]
) -> Judgments:
    """One judgment a document, its grade the highest of its subtopics."""
    code: dict[str, int] = {}
    pair: dict[tuple[str, str], int] = {}
    name: dict[str, int] = {}
    first: dict[tuple[int, int], tuple[int, float]] = {}
    mistakes = Mistakes()
    for row, ((query, document, grade), subtopic) in enumerate(zip(rows, subtopics, strict=True)):
        code.setdefault(query, len(code))
        key = pair.setdefault((query, document), len(pair)), name.setdefault(subtopic, len(name))
        earlier, other = first.setdefault(key, (row, grade))
        if other != grade:
            complaint = (
                f"document {quote(document)} is judged twice for subtopic {quote(subtopic)} of query "
                f"{quote(query)}: grade {grade:g} here, grade {other:g} at {table.place(earlier)}"
            )
            mistakes.add(Problem(complaint, place=table.place(row)))
    mistakes.refuse()
    entries = sorted((row, subtopic, grade) for (row, subtopic), (_, grade) in first.items())
    highest = np.full(len(pair), -np.inf)
    of_row = np.array([row for row, _, _ in entries], np.int64)
    grades = np.array([grade for _, _, grade in entries], np.float64) + 0.0
    np.maximum.at(highest, of_row, grades)
    lines: list[list[int]] = [[] for _ in pair]
    for row, (query, document, _) in enumerate(rows):
        lines[pair[query, document]].append(row)
    return make_judgments(
        list(code),
        np.array([code[query] for query, _ in pair], np.int64),
        Ids.of([document for _, document in pair]),
        highest,
        origin=table.origin,
        place=lambda row: table.place(lines[row][0]),
        subtopics=Subtopics(tuple(name), of_row, np.array([s for _, s, _ in entries], np.int64), grades),
        columns={
            name: [join_texts(values[row] for row in group) for group in lines]
            for name, values in _select_other_columns(table).items()
        },
    )


def _convert_ranking_table(table: Table, depth: int | None = None, *, by_id: bool = True) -> Rankings:
    """Rankings by score, descending; by rank if there are no scores."""
    wanted = find_ranking_columns(table.columns, table.origin)
    columns = [table.columns[name] for name in wanted[:3]]
    code: dict[str, int] = {}
    query: list[int] = []
    documents: list[str] = []
    scores: list[float] = []
    for name, document, number in _check_rows(table, columns, _parse_ranked_row):
        query.append(code.setdefault(name, len(code)))
        documents.append(document)
        scores.append(-number if wanted.by_rank else number)
    if not code:
        raise InputError(Problem("it contains no rankings", place=table.origin))
    ranks = None if wanted.rank is None else np.array(list(map(read_rank, table.columns[wanted.rank])), np.float64)
    return rank_columns(
        list(code),
        np.array(query, np.int64),
        Ids.of(documents),
        np.array(scores, np.float64),
        table.origin,
        depth,
        by_id=by_id,
        place=table.place,
        rank=ranks,
    )


def _parse_ranked_row(query: Any, document: Any, score: Any) -> tuple[str, str, float]:
    return parse_id(query), parse_id(document), parse_number(score, NumberName("score", document, query))


def make_queries_of_table(table: Table) -> Queries:
    """Queries, one a row; every column but id and text is kept."""
    names = list(table.columns)
    if not table.rows:
        raise InputError(Problem("it contains no queries", place=table.origin))
    id_name = find_id_column(names, table.origin)
    others = [name for name in names if name != id_name]
    text_name = require_column(others, "text", table.origin) if find_column(others, "text") is not None else id_name
    columns = [table.columns[id_name], table.columns[text_name]]
    rows = list(_check_rows(table, columns, lambda query, text: (parse_id(query), parse_text(text))))
    first: dict[str, int] = {}
    mistakes = Mistakes()
    for row, (query, _) in enumerate(rows):
        if first.setdefault(query, row) != row:
            complaint = f"query {quote(query)} occurs twice, first at {table.place(first[query])}"
            mistakes.add(Problem(complaint, place=table.place(row)))
    mistakes.refuse()
    return Queries(
        ids=tuple(query for query, _ in rows),
        text=tuple(text for _, text in rows),
        columns={
            str(name): tuple(format_cell(value) for value in table.columns[name])
            for name in others
            if name != text_name
        },
        origin=table.origin,
        places=tuple(map(table.place, table.rows)),
    )


def _check_rows(table: Table, columns: Sequence[Sequence[Any]], make: Any) -> Iterator[Any]:
    """The result of ``make`` for every row; all unfit rows are refused together, at the end."""
    mistakes = Mistakes()
    for row, cells in enumerate(zip(*columns, strict=True)):
        try:
            made = make(*cells)
        except Unfit as unfit:
            mistakes.add(Problem(str(unfit), place=table.place(row), suggestion=unfit.suggestion))
            continue
        yield made
    mistakes.refuse()
