"""Lines of click logs: which columns there are, and what their cells say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from operator import itemgetter
from typing import Any

from pytest_ireval import InputError
from pytest_ireval.plugin_api import InputFile, Problem, Progress, did_you_mean, format_count, quote
from pytest_ireval.tables import COLUMN_NAMES, normalize_name, parse_json, read_delimited_rows
from pytest_ireval_judgments.sampling import MOST, watch_lines

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
MILLISECONDS = 1e11
"""A time above this is in milliseconds, not seconds: as seconds it is the year 5138."""

DIGITS = re.compile(r"(19|20)\d{6}(\d{4}(\d\d)?)?", re.ASCII)
"""A day, minute or second without signs between its parts; as numbers they are of no time when there were web logs."""
FIRST, END = -62_135_596_800, 253_402_300_800
"""The years 1 to 9999, in seconds since 1970."""
HEADERS = 1024
"""The different headers of objects that are remembered."""


class WrongLineError(ValueError):
    """A line that cannot be used; ``kind`` is the complaint without its particulars."""

    def __init__(self, complaint: str, kind: str = "", allowed: str = "") -> None:
        super().__init__(complaint)
        self.kind, self.allowed = kind or complaint, allowed


Cells = Sequence[Any]
"""Query, session, time and count; then documents, clicks, clicked ranks, or document, rank, clicked."""


def parse_whole(value: Any) -> int:
    """A whole number in a cell; one below 0 for anything else."""
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def parse_count(value: Any) -> int:
    """The searches of a line, by its count."""
    if value is None:
        return 1
    number = parse_whole(value)
    if not 1 <= number <= MOST:
        complaint = f"count is {quote(str(value))}, not a whole number from 1 to {MOST:,}"
        raise WrongLineError(complaint, "count is not a number")
    return number


def is_clicked(value: Any) -> bool:
    """Tell whether a cell stands for a click."""
    if isinstance(value, bool):
        return value
    number = (
        parse_whole(value)
        if not isinstance(value, str)
        else {"false": 0, "true": 1}.get(value.lower(), parse_whole(value))
    )
    if number < 0:
        allowed = "clicked is 0, or the number of clicks; or false or true"
        raise WrongLineError(f"clicked is {quote(str(value))}", "clicked is not a number", allowed)
    return number > 0


def parse_seconds(time: Any) -> float:
    """Seconds since 1970; without a zone, a time is in UTC."""
    text = str(time).strip()
    seconds = math.nan
    with suppress(ValueError, TypeError, OverflowError):
        if len(text) in (8, 12, 14) and DIGITS.fullmatch(text):
            text = f"{text[:4]}-{text[4:6]}-{text[6:8]}T{text[8:10] or '00'}:{text[10:12] or '00'}:{text[12:] or '00'}"
        else:
            number = float(time)
            seconds = number / 1000 if MILLISECONDS < abs(number) < MILLISECONDS * 1000 else number
    if math.isnan(seconds):
        with suppress(ValueError, OverflowError):
            found = datetime.fromisoformat(text.replace("Z", "+00:00"))
            seconds = (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()
    if FIRST <= seconds < END:
        return seconds
    allowed = "seconds or milliseconds since 1970, or ISO 8601, such as 2026-03-01T12:00:00; the years are 1 to 9999"
    raise WrongLineError(f"the time is {quote(str(time))}", "the time is not understood", allowed)


_Line = tuple[int, Cells]
Refuse = Callable[[WrongLineError, str], None]


def read_cells(file: InputFile, progress: Progress, refuse: Refuse) -> tuple[bool, Iterator[_Line]]:
    """True if a line is one document, not a search; and the cells of each line in the order of their kinds."""
    lines = watch_lines(file, progress)
    if file.head.lstrip().startswith("{"):
        first = file.first_object
        by_row, names = _name_columns(list(first or {}), f"{file.name}:1")
        return by_row, _read_objects(file, lines, [*names], refuse)
    rows = read_delimited_rows(lines, file.delimiter, file.name, file.lines)
    first_line, head = next(rows, (1, []))
    header = [name.strip() for name in head]
    by_row, names = _name_columns(header, f"{file.name}:{first_line}")
    return by_row, _read_rows(file, rows, header, [*names.values()], refuse)


def _name_columns(header: Sequence[str], place: str) -> tuple[bool, dict[str, str | None]]:
    """The name of each kind of column that such a line has, None where there is none; refused if they are too few."""
    found = _match_names(header)
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


def _match_names(header: Sequence[str]) -> dict[str, str | None]:
    plain = {normalize_name(name): name for name in reversed(header)}
    return {kind: next((plain[name] for name in known if name in plain), None) for kind, known in COLUMNS.items()}


def _read_objects(file: InputFile, lines: Iterator[str], kinds: Sequence[str], refuse: Refuse) -> Iterator[_Line]:
    """Objects need not have the same names: each has its own, which are the same for all objects with equal ones."""
    known: dict[tuple[str, ...], list[str | None]] = {}
    for number, line in enumerate(lines, 1):
        try:
            found = parse_json(line)
        except (ValueError, RecursionError) as error:
            if line.strip():
                refuse(WrongLineError(f"is not JSON ({error})", "is not JSON"), f"{file.name}:{number}")
            continue
        if not isinstance(found, dict):
            refuse(WrongLineError("is not a JSON object"), f"{file.name}:{number}")
            continue
        names = known.get(keys := tuple(found))
        if names is None:
            if len(known) >= HEADERS:
                known.clear()
            every = _match_names(keys)
            names = known[keys] = [every[kind] for kind in kinds]
        yield number, [None if name is None else found[name] for name in names]


def _read_rows(
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
            wrong = f"has {format_count(len(cells), 'cell')}, and the first line names {size}"
            refuse(WrongLineError(wrong, "another number of cells"), f"{file.name}:{number}")
