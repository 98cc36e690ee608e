"""Reads click logs in bounded memory: the lists that were shown, and what was clicked."""

from __future__ import annotations

import heapq
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from hashlib import blake2b
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, Mistakes, Problem, did_you_mean, shown
from pytest_ireval.judging.clicks import Searches
from pytest_ireval.judging.sampling import MOST, watched_lines
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.input_file import FilePath, InputFile, input_file
from pytest_ireval.retrieval.formats.row_files import delimited_rows, parsed
from pytest_ireval.retrieval.tables import COLUMN_NAMES, Unfit, id_in, plain_name
from pytest_ireval.text_table import counted

COLUMNS: dict[str, tuple[str, ...]] = {
    "query": ("query", "query_text", "text", "q", "query_id", "qid"),
    "session": ("session", "session_id", "user_session"),
    "time": ("time", "timestamp", "date"),
    "count": ("count", "searches", "frequency"),
    "documents": ("documents", "shown", "results"),
    "clicks": ("clicks", "clicked_documents"),
    "clicked_ranks": ("clicked_ranks", "click_ranks"),
    "document": tuple(name for group in COLUMN_NAMES["document"] for name in group),
    "rank": ("rank", "position"),
    "clicked": ("clicked", "click"),
}
"""Names of columns or fields of a log, the first has priority; blanks, hyphens and letter case do not matter."""
LISTS = "a line for each search: query, documents, clicks (or clicked_ranks); session, time and count if there are any"
ROWS = "a line for each document that was shown: query, session, document, rank, clicked"
REMEMBERED = 50_000
"""The searches after which a session may repeat one and still counts once."""
SKETCH = 1 << 15
"""The sessions that are counted exactly; above twice this number the count is an estimate, 0.6% off on average."""
MILLISECONDS = 1e11
"""A time above this is in milliseconds, not seconds: as seconds it is the year 5138."""


class Ignored(NamedTuple):
    """Searches or lines that do not count."""

    reason: str
    number: int
    first: str
    """The place of the first of them."""


class ClickLog(NamedTuple):
    """Click logs."""

    searches: Searches
    sessions: int
    exact: bool
    """False if the number of sessions is an estimate."""
    lines: int
    repeated: int
    """Searches that a session repeated; they count once, with all clicks."""
    span: tuple[float, float] | None
    """The first and the last time, in seconds since 1970."""
    left_out: tuple[Ignored, ...]


def read_clicks(logs: Iterable[FilePath], *, drop_invalid: bool = False, progress: Progress = SILENT) -> ClickLog:
    """Read logs with a line for each search, or for each document that was shown: CSV, TSV or JSON lines.

    Wrong lines are an error, unless they are dropped: then they are counted by complaint.
    """
    collected = _Collected(drop_invalid)
    for log in logs:
        with input_file(log) as file:
            progress.expect(file.bytes.size, "reading the log")
            collected.read(file, progress)
    collected.mistakes.refuse()
    return collected.log()


class _WrongLineError(ValueError):
    """A line that cannot be used; ``kind`` is the complaint without its particulars."""

    def __init__(self, complaint: str, kind: str = "", allowed: str = "") -> None:
        super().__init__(complaint)
        self.kind, self.allowed = kind or complaint, allowed


Cells = Sequence[Any]
"""Query, session, time and count; then documents, clicks, clicked ranks, or document, rank, clicked."""
Shown = tuple[int, tuple[int, ...]]
"""The number of a list, and the clicked ranks in the order of time."""


class _Collected:
    """Searches so far; memory depends on the number of different queries, documents, lists and clicks."""

    def __init__(self, drop_invalid: bool) -> None:
        self.drop_invalid = drop_invalid
        self.mistakes = Mistakes()
        self.left_out: dict[str, list[Any]] = {}
        self.queries: dict[str, int] = {}
        self.documents: dict[str, int] = {}
        self.lists: dict[bytes, int] = {}
        """By a digest of the query and of what the line has as documents."""
        self.contents: list[array[int]] = []
        """Query and documents of each list."""
        self.known: dict[Any, tuple[int, ...]] = {}
        """Clicked ranks by list and what lines have as clicks."""
        self.counts: dict[Shown, int] = {}
        self.recent: dict[tuple[str, int], tuple[int, ...]] = {}
        self.before: dict[tuple[str, int], tuple[int, ...]] = {}
        self.sessions = _Distinct()
        self.anonymous = self.lines = self.repeated = 0
        self.span: tuple[float, float] | None = None
        self.last_time: Any = None

    def read(self, file: InputFile, progress: Progress) -> None:
        """Take all lines of a log."""

        def refuse(wrong: _WrongLineError, place: str) -> None:
            self.lines += 1
            self.refuse(wrong, place)

        by_row, lines = _cells(file, progress, refuse)
        rows = _Rows(self)
        take = rows.take if by_row else self._take
        for number, cells in lines:
            self.lines += 1
            try:
                take(cells, f"{file.name}:{number}")
            except _WrongLineError as wrong:
                self.refuse(wrong, f"{file.name}:{number}")
            except Unfit as wrong:
                self.refuse(_WrongLineError(str(wrong), "is not an id"), f"{file.name}:{number}")
        rows.end_all()

    def refuse(self, wrong: _WrongLineError, place: str) -> None:
        """Remember a wrong line."""
        if self.drop_invalid:
            self.leave_out(f"invalid: {wrong.kind}", place)
        else:
            self.mistakes.add(Problem(str(wrong), place, allowed=wrong.allowed))

    def leave_out(self, reason: str, place: str, number: int = 1) -> None:
        """Count what does not count, by reason."""
        self.left_out.setdefault(reason, [0, place])[0] += number

    def _take(self, cells: Cells, place: str) -> None:
        query, session, time, count, documents, clicks, ranks = cells
        known = self.list_of(query, documents)
        clicked_key = known, _hashable(clicks), _hashable(ranks)
        clicked = self.known.get(clicked_key)
        if clicked is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            clicked = self.known[clicked_key] = self._clicked(known, clicks, ranks)
        self.add(session, time, _count(count), known, clicked, place)

    def add(self, session: Any, time: Any, count: int, known: int, clicked: tuple[int, ...], place: str) -> None:
        """Take one search; one that its session has repeated lately counts once, with all clicks."""
        if time not in (None, "", self.last_time):
            self._see(time)
        if len(self.contents[known]) == 1:
            self.leave_out("no documents shown", place, count)
            return
        if session is None or session == "" or count > 1:
            self.anonymous += count
            self.counts[known, clicked] = self.counts.get((known, clicked), 0) + count
            return
        session = session if isinstance(session, str) else json.dumps(session)
        self.sessions.add(session)
        seen = session, known
        earlier = self.recent.get(seen)
        if earlier is None:
            earlier = self.before.pop(seen, None)
        if earlier is not None:
            self.repeated += 1
            clicked = (*(rank for rank in earlier if rank not in clicked), *clicked)
        self.recent[seen] = clicked
        if len(self.recent) >= REMEMBERED:
            self._forget()

    def _forget(self) -> None:
        """Count what was remembered before the last searches, which are kept."""
        for (_, known), clicked in self.before.items():
            self.counts[known, clicked] = self.counts.get((known, clicked), 0) + 1
        self.before, self.recent = self.recent, {}

    def list_of(self, query: Any, documents: Any) -> int:
        """The number of a list."""
        key = _digest(query, documents)
        known = self.lists.get(key)
        return self._new_list(key, query, documents) if known is None else known

    def _new_list(self, key: bytes, query: Any, documents: Any) -> int:
        text = query.strip() if isinstance(query, str) else _text(query)
        if not text:
            raise _WrongLineError("has no query")
        names = documents.split() if isinstance(documents, str) else documents
        if not isinstance(names, list | tuple):
            raise _WrongLineError(f"documents are {shown(json.dumps(names))}, not a list", "documents are not a list")
        ids = [id_in(name) for name in names]
        if len(set(ids)) < len(ids):
            twice = next(name for name in ids if ids.count(name) > 1)
            ranks = [rank for rank, name in enumerate(ids, 1) if name == twice]
            complaint = f"document {shown(twice)} is shown at ranks {ranks[0]} and {ranks[1]}"
            raise _WrongLineError(complaint, "a document is shown twice")
        numbers = (self.documents.setdefault(name, len(self.documents)) for name in ids)
        self.contents.append(array("i", [self.queries.setdefault(text, len(self.queries)), *numbers]))
        self.lists[key] = len(self.contents) - 1
        return len(self.contents) - 1

    def _clicked(self, known: int, clicks: Any, ranks: Any) -> tuple[int, ...]:
        """The clicked ranks, each once, in the order of the last click on each."""
        if (clicks is None) == (ranks is None):
            raise _WrongLineError(f"has {'no' if clicks is None else 'both'} clicks and clicked_ranks", "", LISTS)
        cell = ranks if clicks is None else clicks
        given = cell.split() if isinstance(cell, str) else cell
        if not isinstance(given, list | tuple):
            raise _WrongLineError(f"clicks are {shown(json.dumps(given))}, not a list", "clicks are not a list")
        found = self._ranks(known, given) if clicks is None else self._places(known, given)
        return tuple(dict.fromkeys(reversed(found)))[::-1]

    def _ranks(self, known: int, given: Sequence[Any]) -> list[int]:
        size, found = len(self.contents[known]) - 1, []
        for each in given:
            rank = _whole(each)
            if not 1 <= rank <= size:
                complaint = f"rank {shown(str(each))} is clicked, but {counted(size, 'document')} are shown"
                raise _WrongLineError(complaint, "a click on a rank that was not shown")
            found.append(rank)
        return found

    def _places(self, known: int, given: Sequence[Any]) -> list[int]:
        places = {document: rank for rank, document in enumerate(self.contents[known]) if rank}
        found = []
        for each in given:
            rank = places.get(self.documents.get(id_in(each), -1))
            if rank is None:
                complaint = f"document {shown(str(each))} is clicked, but it was not shown"
                one = len(places) == 1 and "ids have spaces between them: a b c; or are a list in JSON"
                raise _WrongLineError(complaint, "a click on a document that was not shown", one or "")
            found.append(rank)
        return found

    def _see(self, time: Any) -> None:
        seconds = _seconds(time)
        self.last_time = time
        if not (self.span and self.span[0] <= seconds <= self.span[1]):
            first, last = self.span or (seconds, seconds)
            self.span = (min(first, seconds), max(last, seconds))

    def log(self) -> ClickLog:
        """All that was read."""
        self._forget()
        self._forget()
        order = sorted(self.counts)
        first = np.cumsum([0, *(len(self.contents[known]) - 1 for known, _ in order)], dtype=np.int64)
        document, click = np.zeros(first[-1], np.int32), np.zeros(first[-1], np.int32)
        for row, (known, clicked) in enumerate(order):
            document[first[row] : first[row + 1]] = self.contents[known][1:]
            for place, rank in enumerate(clicked, 1):
                click[first[row] + rank - 1] = place
        searches = Searches(
            tuple(self.queries),
            tuple(self.documents),
            np.array([self.contents[known][0] for known, _ in order], np.int64),
            np.array([self.counts[each] for each in order], np.int64),
            first,
            document,
            click,
        )
        number, exact = self.sessions.number()
        ignored = tuple(Ignored(reason, *found) for reason, found in self.left_out.items())
        return ClickLog(searches, number + self.anonymous, exact, self.lines, self.repeated, self.span, ignored)


class _Rows:
    """Rows of searches that are not over: one at rank 1 begins a search, and ends the last of its session and query."""

    def __init__(self, collected: _Collected) -> None:
        self.collected = collected
        self.open: dict[tuple[Any, Any], _Open] = {}
        """By session and query, the oldest first."""

    def take(self, cells: Cells, place: str) -> None:
        """Take a row."""
        query, session, time, count, document, rank, clicked = cells
        if session is None or session == "":
            raise _WrongLineError("has no session, so the rows of its search are not known")
        key = _hashable(session), _hashable(query)
        at, is_clicked, times = _whole(rank), _is_clicked(clicked), _count(count)
        if at == 1:
            self._end(key)
            self.open[key] = _Open(session, query, time, times, place, [], [])
        found = self.open.get(key)
        if found is None or at != len(found.documents) + 1:
            before = f"rank {len(found.documents)}" if found is not None else "nothing"
            allowed = f"ranks of a search are 1, 2, 3, …; other searches may be between, up to {REMEMBERED:,}"
            complaint = f"rank {shown(str(rank))} comes after {before} of this session and query"
            raise _WrongLineError(complaint, "a rank that does not follow the last one", allowed)
        found.documents.append(id_in(document))
        if is_clicked:
            found.clicked.append(at)
        if len(self.open) > REMEMBERED:
            self._end(next(iter(self.open)))

    def end_all(self) -> None:
        """End all searches."""
        for key in list(self.open):
            self._end(key)

    def _end(self, key: tuple[Any, Any]) -> None:
        if (found := self.open.pop(key, None)) is not None:
            collected = self.collected
            try:
                known = collected.list_of(found.query, tuple(found.documents))
                collected.add(found.session, found.time, found.times, known, tuple(found.clicked), found.place)
            except _WrongLineError as wrong:
                collected.refuse(wrong, found.place)


class _Open(NamedTuple):
    session: Any
    query: Any
    time: Any
    times: int
    place: str
    documents: list[str]
    clicked: list[int]


class _Distinct:
    """Counts different texts in bounded memory, by the smallest of their hashes.

    Z. Bar-Yossef et al. 2002, Counting distinct elements in a data stream, RANDOM.
    """

    def __init__(self) -> None:
        self.hashes: set[int] = set()
        self.limit = 1 << 64
        self.last = ""

    def add(self, text: str) -> None:
        """Count it if it is new."""
        if text == self.last:
            return
        self.last = text
        key = int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        if key < self.limit:
            self.hashes.add(key)
            if len(self.hashes) > 2 * SKETCH:
                kept = heapq.nsmallest(SKETCH, self.hashes)
                self.limit = kept[-1]
                self.hashes = set(kept)

    def number(self) -> tuple[int, bool]:
        """The number of texts, and whether it is exact."""
        if self.limit == 1 << 64:
            return len(self.hashes), True
        below = sum(key <= self.limit for key in self.hashes)
        return round(below / (self.limit / (1 << 64))), False


def _digest(query: Any, documents: Any) -> bytes:
    """A key for two cells that takes little memory."""
    plain = isinstance(query, str) and isinstance(documents, str)
    text = f"{len(query)} {query}{documents}" if plain else repr((query, documents))
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _hashable(cell: Any) -> Any:
    """A key for a cell or value of JSON; ``1`` and ``true`` have two."""
    if cell is None or isinstance(cell, str | tuple):
        return cell
    if isinstance(cell, list) and {*map(type, cell)} <= {str}:
        return tuple(cell)
    return None, json.dumps(cell)


def _text(query: Any) -> str:
    if query is None or (isinstance(query, int) and not isinstance(query, bool)):
        return "" if query is None else str(query)
    raise _WrongLineError(f"the query is {shown(json.dumps(query))}, not text", "the query is not text")


def _whole(value: Any) -> int:
    """A whole number in a cell; one below 0 for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _count(value: Any) -> int:
    if value is None:
        return 1
    number = _whole(value)
    if not 1 <= number <= MOST:
        complaint = f"count is {shown(str(value))}, not a whole number from 1 to {MOST:,}"
        raise _WrongLineError(complaint, "count is not a number")
    return number


def _is_clicked(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    number = _whole(value) if not isinstance(value, str) else {"false": 0, "true": 1}.get(value.lower(), _whole(value))
    if number < 0:
        allowed = "clicked is 0, or the number of clicks; or false or true"
        raise _WrongLineError(f"clicked is {shown(str(value))}", "clicked is not a number", allowed)
    return number > 0


def _seconds(time: Any) -> float:
    """Seconds since 1970; without a zone, a time is in UTC."""
    with suppress(ValueError, TypeError, OverflowError):
        number = float(time)
        if abs(number) < MILLISECONDS * 1000:  # neither infinite nor NaN
            return number / 1000 if abs(number) > MILLISECONDS else number
    with suppress(ValueError, TypeError, AttributeError, OverflowError):
        found = datetime.fromisoformat(time.strip().replace("Z", "+00:00"))
        return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    allowed = "seconds or milliseconds since 1970, or ISO 8601, such as 2026-03-01T12:00:00"
    raise _WrongLineError(f"the time is {shown(str(time))}", "the time is not understood", allowed)


_Line = tuple[int, Cells]
Refuse = Callable[[_WrongLineError, str], None]


def _cells(file: InputFile, progress: Progress, refuse: Refuse) -> tuple[bool, Iterator[_Line]]:
    """True if a line is one document, not a search; and the cells of each line in the order of their kinds."""
    lines = watched_lines(file, progress)
    if file.head.lstrip().startswith("{"):
        first = file.first_object
        by_row, names = _names(list(first or {}), f"{file.name}:1")
        return by_row, _of_objects(file, lines, [name or kind for kind, name in names.items()], refuse)
    rows = delimited_rows(lines, file.delimiter, file.name)
    first_line, head = next(rows, (1, []))
    header = [name.strip() for name in head]
    by_row, names = _names(header, f"{file.name}:{first_line}")
    return by_row, _of_rows(file, rows, header, [*names.values()], refuse)


def _names(header: Sequence[str], place: str) -> tuple[bool, dict[str, str | None]]:
    """The name of each kind of column, None where there is none."""
    plain = {plain_name(name): name for name in reversed(header)}
    found = {kind: next((plain[name] for name in known if name in plain), None) for kind, known in COLUMNS.items()}
    by_row = found["documents"] is None and found["document"] is not None
    needed = ("query", "session", "document", "rank", "clicked") if by_row else ("query", "documents")
    missing = [kind for kind in needed if found[kind] is None]
    ways = [kind for kind in ("clicks", "clicked_ranks") if found[kind] is not None]
    if missing or (not by_row and len(ways) != 1):
        kind = missing[0] if missing else "clicks"
        complaint = f"there is no column {kind}: the columns are {', '.join(map(repr, header[:20]))}"
        if not missing and ways:
            complaint = "clicks and clicked_ranks are both there, and one is enough"
        allowed = ROWS if by_row else f"{LISTS}; or {ROWS}"
        raise InputError(Problem(complaint, place, (), did_you_mean(kind, header, 0.75), allowed))
    kinds = ("document", "rank", "clicked") if by_row else ("documents", "clicks", "clicked_ranks")
    return by_row, {kind: found[kind] for kind in ("query", "session", "time", "count", *kinds)}


def _of_objects(file: InputFile, lines: Iterator[str], names: Sequence[str | None], refuse: Refuse) -> Iterator[_Line]:
    for number, line in enumerate(lines, 1):
        try:
            found = parsed(line)
        except (ValueError, RecursionError) as error:
            if line.strip():
                refuse(_WrongLineError(f"is not JSON ({error})", "is not JSON"), f"{file.name}:{number}")
            continue
        if not isinstance(found, dict):
            refuse(_WrongLineError("is not a JSON object"), f"{file.name}:{number}")
            continue
        yield number, [found.get(name) for name in names]


def _of_rows(
    file: InputFile,
    rows: Iterator[tuple[int, list[str]]],
    header: Sequence[str],
    names: Sequence[str | None],
    refuse: Refuse,
) -> Iterator[_Line]:
    size = len(header)
    pick = itemgetter(*(size if name is None else header.index(name) for name in names))
    for number, cells in rows:
        if len(cells) == size:
            yield number, pick([*cells, None])
        else:
            wrong = f"has {counted(len(cells), 'cell')}, and the first line names {size}"
            refuse(_WrongLineError(wrong, "another number of cells"), f"{file.name}:{number}")
