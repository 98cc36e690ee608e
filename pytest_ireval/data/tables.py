"""Tables: named columns of files and data frames, and the names of each kind of column."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem, did_you_mean

if TYPE_CHECKING:
    from pytest_ireval.data.judgments import Judgments


PRODUCTS = (("sku",), ("product_id", "item_id"), ("product", "item"))
"""Names that shops use for documents; in a table of queries such a column may also be a slice."""

COLUMN_NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "q_id", "queryid"), ("query",)),
    "document": (("document", "document_id", "doc_id", "docno", "doc", "corpus_id", "did"), ("docid",), *PRODUCTS),
    "grade": (("grade", "relevance", "rel", "label", "rating"),),
    "score": (("score", "sim", "similarity"),),
    "rank": (("rank", "position"),),
    "subtopic": (("subtopic", "subtopic_id"),),
    "id": (("id", "_id", "query_id", "qid", "q_id", "queryid", "number", "topic_id"), ("question_id",)),
    "text": (("text", "query_text"), ("query",), ("title",), ("question",), ("query_txt",)),
    "judge": (("judge", "judge_id", "assessor", "annotator", "rater", "user_email"),),
    "date": (("date", "judged_at", "timestamp"),),
    "guideline": (("guideline", "guidelines", "guideline_version"),),
    "from": (("from", "old", "old_id"),),
    "to": (("to", "new", "new_id"),),
    "group": (("group", "group_id", "variant_of"),),
    "better": (("better", "preferred"),),
    "worse": (("worse", "other"),),
    "support": (("support", "weight"),),
    "seconds": (("seconds",),),
    "milliseconds": (("milliseconds", "ms"),),
}
"""Names of columns by kind. Names of one group mean the same; a later group counts if the earlier ones are missing.
Blanks, hyphens and letter case do not matter."""

Place = Callable[[int], str]
"""A function that gives the place of a row in words."""

BEIR_JUDGMENTS = ("query_id", "corpus_id", "score")
"""With exactly these three names, the score is a grade."""


@dataclass(eq=False)
class Table:
    """Columns of one length. ``place`` gives the place of a row."""

    columns: Mapping[str, Sequence[Any]]
    origin: str
    place: Place

    def __post_init__(self) -> None:
        """Refuse two columns with the same name."""
        names = Counter(normalize_name(name) for name in self.columns)
        twice = next((name for name, count in names.items() if count > 1), None)
        if twice is not None:
            alike = " and ".join(repr(name) for name in self.columns if normalize_name(name) == twice)
            raise InputError(Problem(f"columns {alike} have the same name", place=self.origin))

    @property
    def rows(self) -> range:
        """The numbers of its rows."""
        return range(len(next(iter(self.columns.values()), ())))

    def column(self, kind: str) -> Sequence[Any]:
        """The column of that kind; without one, an error that lists the columns."""
        return self.columns[require_column(self.columns, kind, self.origin)]


def is_stream(source: object) -> bool:
    """Tell whether it gives its rows as an Arrow stream: tables of PyArrow, polars, pandas, DuckDB and others."""
    return hasattr(type(source), "__arrow_c_stream__")


def tabulate_rows(rows: Iterable[tuple[Mapping[str, Any], str]], origin: str) -> Table:
    """A table of rows, each with its place."""
    placed = list(rows)
    return Table(collect_columns([row for row, _ in placed]), origin, lambda row: placed[row][1])


def collect_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of some rows; a name that a row lacks is an empty cell."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def tabulate_judgments(judgments: Judgments) -> Table:
    """Judgments as rows, one for each subtopic if they have subtopics."""
    row, grade = np.arange(len(judgments)), judgments.grade
    columns: dict[str, Sequence[Any]] = {}
    if judgments.subtopics is not None:
        row, grade = judgments.subtopics.row, judgments.subtopics.grade
        columns["subtopic"] = [judgments.subtopics.names[subtopic] for subtopic in judgments.subtopics.subtopic]
    rows = row.tolist()
    columns["query"] = [judgments.queries[judgments.query[i]] for i in rows]
    columns["document"] = judgments.documents.texts(row)
    columns["grade"] = grade.tolist()
    columns |= {name: [values[i] for i in rows] for name, values in judgments.columns.items()}
    order = ("query", "subtopic", "document", "grade", *judgments.columns)
    columns = {name: columns[name] for name in order if name in columns}
    return Table(columns, judgments.origin, lambda i: judgments.place(rows[i]))


def place_by_line(origin: str, lines: Sequence[int]) -> Place:
    """The places of rows on these lines of a file."""
    return lambda row: f"{origin}:{lines[row]}"


def place_by_number(origin: str) -> Place:
    """The places of rows in a source without lines."""
    return partial(_format_row, origin)  # which, unlike a local function, another process can have


def _format_row(origin: str, row: int) -> str:
    return f"{origin}, row {row + 1}"


def renumber_places(place: Place, rows: Sequence[int] | NDArray[np.int64]) -> Place:
    """The places of some rows under their new numbers."""
    return lambda row: place(int(rows[row]))


def select_rows(table: Table, rows: Sequence[int]) -> Table:
    """Some of its rows."""
    columns = {name: [values[row] for row in rows] for name, values in table.columns.items()}
    return Table(columns, table.origin, lambda row: table.place(rows[row]))


def normalize_name(name: object) -> str:
    """A column's name for comparison."""
    return re.sub(r"[\s\-]+", "_", str(name).strip().lower())


def list_column_names(kind: str) -> str:
    """The names of a kind of column, for messages."""
    return ", ".join(name for group in COLUMN_NAMES[kind] for name in group)


def _find_candidates(names: Iterable[Any], kind: str) -> list[Any]:
    """All columns that could be the one of that kind; of several, the user has to choose."""
    by_plain = {normalize_name(name): name for name in names}
    for group in COLUMN_NAMES[kind]:
        if found := [by_plain[name] for name in group if name in by_plain]:
            return found
    return []


def find_column(names: Iterable[Any], kind: str) -> Any:
    """The column of that kind, or None."""
    return next(iter(_find_candidates(names, kind)), None)


def require_column(names: Iterable[Any], kind: str, origin: str) -> Any:
    """The column of that kind; InputError if there is none, or if two could be it."""
    names = list(names)
    found = _find_candidates(names, kind)
    if len(found) == 1:
        return found[0]
    if found:
        which = f"columns {' and '.join(map(repr, found))} could both be the {kind}"
        raise InputError(Problem(which, place=origin, suggestion="rename or remove the column that you do not mean"))
    complaint = f"there is no column for the {kind}: the columns are {', '.join(map(repr, names))}"
    suggestion = did_you_mean(kind, map(str, names))
    raise InputError(
        Problem(complaint, place=origin, suggestion=suggestion, allowed=f"one of {list_column_names(kind)}")
    )


class RankingColumns(NamedTuple):
    """The names of the columns of rankings; ``number`` is the score, or the rank where there is no score."""

    query: Any
    document: Any
    number: Any
    by_rank: bool
    rank: Any = None
    """The ranks beside the scores, which only a note is about; None without them."""

    @property
    def names(self) -> list[Any]:
        """Those that are there."""
        return [self.query, self.document, self.number, *([] if self.rank is None else [self.rank])]


def find_ranking_columns(names: Iterable[Any], origin: str) -> RankingColumns:
    """The columns of rankings; InputError if one is missing, or if two could be it."""
    names = list(names)
    by_rank = find_column(names, "score") is None and find_column(names, "rank") is not None
    kinds = ("query", "document", "rank" if by_rank else "score")
    query, document, number = (require_column(names, kind, origin) for kind in kinds)
    if repeated := [name for name in (query, document, number) if names.count(name) > 1]:
        raise InputError(Problem(f"two columns are named {repeated[0]!r}", place=origin))
    rank = None if by_rank else find_column(names, "rank")
    return RankingColumns(query, document, number, by_rank, rank if names.count(rank) == 1 else None)


def find_id_column(names: Iterable[Any], origin: str) -> Any:
    """The column of query ids; ``query`` if no other column could be it, although it is text next to an id."""
    names = list(names)
    sure = {normalize_name(name) for name in _find_candidates(names, "id")} - {"question_id"}
    sole = [name for name in names if normalize_name(name) == "query" and not sure and _is_id_beside(names)]
    return sole[0] if sole else require_column(names, "id", origin)


def _is_id_beside(names: Sequence[Any]) -> bool:
    """Tell whether a column ``query`` is an id: it is the only column, or the text has its own."""
    return len(names) == 1 or bool({normalize_name(name) for name in names} & set(COLUMN_NAMES["text"][0]))


def find_grade_column(names: Iterable[Any], origin: str) -> Any:
    """The column of grades; in judgments of BEIR, that of scores."""
    names = list(names)
    if tuple(map(normalize_name, names)) == BEIR_JUDGMENTS:
        return names[2]
    return require_column(names, "grade", origin)


def has_judgment_columns(names: Iterable[Any]) -> bool:
    """Tell whether a table with these columns can be judgments."""
    names = list(names)
    graded = find_column(names, "grade") is not None or tuple(map(normalize_name, names)) == BEIR_JUDGMENTS
    return graded and find_column(names, "query") is not None and find_column(names, "document") is not None


def has_ranking_columns(names: Iterable[Any]) -> bool:
    """Tell whether a table with these columns can be rankings."""
    names = list(names)
    ordered = find_column(names, "score") is not None or find_column(names, "rank") is not None
    return ordered and find_column(names, "query") is not None and find_column(names, "document") is not None


def has_query_columns(names: Iterable[Any]) -> bool:
    """Tell whether a table with these columns can be queries; one with documents is not."""
    names = list(names)
    of_products = {name for group in PRODUCTS for name in group}
    document = find_column((name for name in names if normalize_name(name) not in of_products), "document")
    return has_query_id(names) and find_column(names, "text") is not None and document is None


def has_query_id(names: Sequence[Any]) -> bool:
    """Tell whether one of these columns is the id of a query."""
    return find_column(names, "id") is not None or ("query" in map(normalize_name, names) and _is_id_beside(names))


FRACTIONS = 'to read fractional grades, use grades="float" (command line: --grades float)'
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


class Unfit(ValueError):  # noqa: N818 - it says what a value is
    """A value that does not fit; the text is the complaint, and ``suggestion`` the remedy."""

    def __init__(self, complaint: str, suggestion: str = "") -> None:
        super().__init__(complaint)
        self.suggestion = suggestion


def check_id(value: Any) -> str:
    """An id as text; whole numbers are written out."""
    if isinstance(value, str) and value and (value.isascii() or _has_utf8(value)) and not value.isspace():
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    raise Unfit(f"{value!r} is not an id; ids are text (or whole numbers)")


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class NumberName(NamedTuple):
    """The name of a number in messages; its text is made only for a message."""

    kind: str
    document: Any
    query: Any

    def __str__(self) -> str:
        return f"the {self.kind} of document {self.document!r} for query {self.query!r}"


def check_number(value: Any, what: NumberName) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise Unfit(f"{what} is {value!r}, not a number")
    try:
        number = float(value)
    except OverflowError:
        raise Unfit(f"{what} is too large for a number") from None
    if not math.isfinite(number):
        raise Unfit(f"{what} is {number!r}, not finite")
    return number


def parse_number(value: Any, what: NumberName) -> float:
    """The same from a cell, in which a number may be text."""
    if not isinstance(value, str):
        return check_number(value, what)
    text = value.strip()  # of more than float() does
    if not NUMBER.fullmatch(text):
        point = text.replace(",", ".", 1)
        remedy = f": write {point}, with a point" if point != text and NUMBER.fullmatch(point) else ""
        raise Unfit(
            f"{what} is {value!r}, not a number{remedy}" if text else f"{what} is empty: fill it in, or remove its row"
        )
    number = check_number(float(text), what)
    if not number and what.kind == "grade" and text.lower().partition("e")[0].strip("+-.0"):
        raise Unfit(f"{what} is {value!r}, which is too close to 0 for a number")
    return number


def read_rank(value: Any) -> float:
    """A rank beside a score; NaN if it is no number, for no order depends on it."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def check_whole(number: float, value: Any, what: NumberName) -> float:
    """The number, if it has no fraction."""
    if not number.is_integer():
        raise Unfit(f"{what} is {value!r}, not a whole number", FRACTIONS)
    return number


def parse_id(value: Any) -> str:
    """An id from a cell: blanks around it do not count."""
    return check_id(value.strip() if isinstance(value, str) else value)


def is_quoted(cell: object) -> bool:
    """Tell whether it is in quotes."""
    return isinstance(cell, str) and len(cell) > 1 and cell[0] == cell[-1] == '"'


def parse_text(value: Any) -> str:
    """Text from a cell; empty for a missing one."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float | np.integer | np.floating):
        return str(value)
    raise Unfit(f"{value!r} is not text")


def format_cell(value: Any) -> str:
    """A cell as text; lists and objects are written as JSON."""
    if isinstance(value, dict | list):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
    return "" if value is None else value if isinstance(value, str) else str(value)
