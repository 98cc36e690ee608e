"""Reads click logs in bounded memory: the lists that were shown, and what was clicked."""

from __future__ import annotations

import heapq
import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval import InputError
from pytest_ireval.plugin_api import SILENT, InputFile, Mistakes, Problem, Progress, format_count, quote
from pytest_ireval.tables import FilePath, Unfit, open_input, parse_id
from pytest_ireval_judgments.click_lines import (
    LISTS,
    Cells,
    WrongLineError,
    is_clicked,
    parse_count,
    parse_seconds,
    parse_whole,
    read_cells,
)
from pytest_ireval_judgments.clicks import Searches

REMEMBERED = 50_000
"""The searches after which a session may repeat one and still counts once."""
SKETCH = 1 << 15
"""The sessions that are counted exactly; above twice this number the count is an estimate, 0.6% off on average."""


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
    collected = _Collector(drop_invalid)
    for log in logs:
        with open_input(log) as file:
            progress.expect(file.bytes.size, "reading the log")
            collected.read(file, progress)
    try:
        collected.mistakes.refuse()
    except InputError as error:
        raise InputError(*error.problems, "--invalid drop leaves such lines out") from None
    return collected.log()


Shown = tuple[int, tuple[int, ...]]
"""The number of a list, and the clicked ranks in the order of time."""


class _Collector:
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
        self.sessions = _DistinctTexts()
        self.anonymous = self.lines = self.repeated = 0
        self.span: tuple[float, float] | None = None
        self.last_time: Any = None

    def read(self, file: InputFile, progress: Progress) -> None:
        """Take all lines of a log."""

        def refuse(wrong: WrongLineError, place: str) -> None:
            self.lines += 1
            self.refuse(wrong, place)
            if rows.last is not None:  # the line is probably of the same search
                rows.last.wrong = True

        rows = _RowCollector(self)
        by_row, lines = read_cells(file, progress, refuse)
        take = rows.take if by_row else self._take
        for number, cells in lines:
            self.lines += 1
            try:
                take(cells, f"{file.name}:{number}")
            except WrongLineError as wrong:
                self.refuse(wrong, f"{file.name}:{number}")
            except Unfit as wrong:
                self.refuse(WrongLineError(str(wrong), "is not an id"), f"{file.name}:{number}")
        rows.end_all()

    def refuse(self, wrong: WrongLineError, place: str) -> None:
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
        clicked_key = known, _make_hashable(clicks), _make_hashable(ranks)
        clicked = self.known.get(clicked_key)
        if clicked is None:
            if len(self.known) >= REMEMBERED:
                self.known.clear()
            clicked = self.known[clicked_key] = self._clicked(known, clicks, ranks)
        self.add(session, time, parse_count(count), known, clicked, place)

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
        text = query.strip() if isinstance(query, str) else _clean_query(query)
        if not text:
            raise WrongLineError("has no query")
        names = documents.split() if isinstance(documents, str) else documents
        if not isinstance(names, list | tuple):
            raise WrongLineError(f"documents are {quote(json.dumps(names))}, not a list", "documents are not a list")
        ids = [parse_id(name) for name in names]
        if len(set(ids)) < len(ids):
            twice = next(name for name in ids if ids.count(name) > 1)
            ranks = [rank for rank, name in enumerate(ids, 1) if name == twice]
            complaint = f"document {quote(twice)} is shown at ranks {ranks[0]} and {ranks[1]}"
            raise WrongLineError(complaint, "a document is shown twice")
        numbers = (self.documents.setdefault(name, len(self.documents)) for name in ids)
        self.contents.append(array("i", [self.queries.setdefault(text, len(self.queries)), *numbers]))
        self.lists[key] = len(self.contents) - 1
        return len(self.contents) - 1

    def _clicked(self, known: int, clicks: Any, ranks: Any) -> tuple[int, ...]:
        """The clicked ranks, each once, in the order of the last click on each."""
        if (clicks is None) == (ranks is None):
            raise WrongLineError(f"has {'no' if clicks is None else 'both'} clicks and clicked_ranks", "", LISTS)
        cell = ranks if clicks is None else clicks
        given = cell.split() if isinstance(cell, str) else cell
        if not isinstance(given, list | tuple):
            raise WrongLineError(f"clicks are {quote(json.dumps(given))}, not a list", "clicks are not a list")
        found = self._ranks(known, given) if clicks is None else self._places(known, given)
        return tuple(dict.fromkeys(reversed(found)))[::-1]

    def _ranks(self, known: int, given: Sequence[Any]) -> list[int]:
        size, found = len(self.contents[known]) - 1, []
        for each in given:
            rank = parse_whole(each)
            if not 1 <= rank <= size:
                complaint = f"rank {quote(str(each))} is clicked, but {format_count(size, 'document')} are shown"
                raise WrongLineError(complaint, "a click on a rank that was not shown")
            found.append(rank)
        return found

    def _places(self, known: int, given: Sequence[Any]) -> list[int]:
        places = {document: rank for rank, document in enumerate(self.contents[known]) if rank}
        found = []
        for each in given:
            rank = places.get(self.documents.get(parse_id(each), -1))
            if rank is None:
                complaint = f"document {quote(str(each))} is clicked, but it was not shown"
                one = len(places) == 1 and "ids have spaces between them: a b c; or are a list in JSON"
                raise WrongLineError(complaint, "a click on a document that was not shown", one or "")
            found.append(rank)
        return found

    def _see(self, time: Any) -> None:
        seconds = parse_seconds(time)
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


class _RowCollector:
    """Rows of searches that are not over: one at rank 1 begins a search, and ends the last of its session and query.

    A search with a wrong row does not count: without the row it would be another search, such as one without clicks.
    """

    def __init__(self, collected: _Collector) -> None:
        self.collected = collected
        self.open: dict[tuple[Any, Any], _OpenSearch] = {}
        """By session and query, the oldest first."""
        self.last: _OpenSearch | None = None
        """The search of the last row."""

    def take(self, cells: Cells, place: str) -> None:
        """Take a row."""
        query, session, time, count, document, rank, clicked = cells
        if session is None or session == "":
            raise WrongLineError("has no session, so the rows of its search are not known")
        key = _make_hashable(session), _make_hashable(query)
        at = parse_whole(rank)
        found = self.open.get(key)
        if found is None or at == 1:
            self._end(key)
            found = self.open[key] = _OpenSearch(session, query, time, place)
        self.last = found
        before, found.rank = found.rank, max(at, found.rank)
        try:
            _add_row(found, before, rank, count)
            has_click = is_clicked(clicked)
            found.documents.append(parse_id(document))
        except (WrongLineError, Unfit):
            found.wrong = True
            raise
        if has_click:
            found.clicked.append(at)
        if len(self.open) > REMEMBERED:
            self._end(next(iter(self.open)))

    def end_all(self) -> None:
        """End all searches."""
        for key in list(self.open):
            self._end(key)

    def _end(self, key: tuple[Any, Any]) -> None:
        if (found := self.open.pop(key, None)) is None:
            return
        if found.wrong:
            self.collected.leave_out("searches with a wrong row", found.place, found.times)
            return
        try:
            known = self.collected.list_of(found.query, tuple(found.documents))
            self.collected.add(found.session, found.time, found.times, known, tuple(found.clicked), found.place)
        except WrongLineError as wrong:
            self.collected.refuse(wrong, found.place)


@dataclass
class _OpenSearch:
    session: Any
    query: Any
    time: Any
    place: str
    times: int = 1
    rank: int = 0
    documents: list[str] = field(default_factory=list)
    clicked: list[int] = field(default_factory=list)
    wrong: bool = False


def _add_row(found: _OpenSearch, before: int, rank: Any, count: Any) -> None:
    """Check that a row follows the one at the rank before, with the same count; after a wrong row this is unknown."""
    if parse_whole(rank) != before + 1 and not found.wrong:
        allowed = f"ranks of a search are 1, 2, 3, …; other searches may be between, up to {REMEMBERED:,}"
        last = f"rank {before}" if before else "nothing"
        complaint = f"rank {quote(str(rank))} comes after {last} of this session and query"
        raise WrongLineError(complaint, "a rank that does not follow the last one", allowed)
    times = parse_count(count)
    if not before:
        found.times = times
    elif times != found.times and count is not None and not found.wrong:
        complaint = f"count is {times:,}, and {found.times:,} at rank 1 of the same search"
        raise WrongLineError(complaint, "another count than at rank 1 of the same search")


class _DistinctTexts:
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


def _make_hashable(cell: Any) -> Any:
    """A key for a cell or value of JSON; ``1`` and ``true`` have two."""
    if cell is None or isinstance(cell, str | tuple):
        return cell
    if isinstance(cell, list) and {*map(type, cell)} <= {str}:
        return tuple(cell)
    return None, json.dumps(cell)


def _clean_query(query: Any) -> str:
    if query is None or (isinstance(query, int) and not isinstance(query, bool)):
        return "" if query is None else str(query)
    raise WrongLineError(f"the query is {quote(json.dumps(query))}, not text", "the query is not text")
