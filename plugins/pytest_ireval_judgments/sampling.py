"""Sets of queries that stand for the searches of a log: strata, random choice, weights, and a holdout."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import InputError
from pytest_ireval.plugin_api import SILENT, InputFile, Mistakes, Problem, Progress, format_count, quote
from pytest_ireval.tables import (
    FilePath,
    find_column,
    normalize_name,
    open_input,
    parse_json_lines,
    read_delimited_rows,
    require_column,
)

STRATA = ("head", "torso", "tail")
SESSION = ("session", "session_id", "user_session")
COUNT = ("count", "searches", "frequency")
"""Names of columns or fields of a log, beside those of texts; blanks, hyphens and letter case do not matter."""
MOST = 10**12
"""The highest count of a line: a sum of many is still a whole number of 64 bits."""
CHUNK = 1 << 14
"""Lines between two reports of progress."""


def normalize(text: str, *, keep_case: bool = False) -> str:
    """The text by which searches are the same query: Unicode NFC, single blanks, and letter case only if it is kept."""
    if text.isascii():
        plain = " ".join(text.split())
        return plain if keep_case else plain.lower()
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    return plain if keep_case else unicodedata.normalize("NFC", plain.casefold())


class SearchLog(NamedTuple):
    """The different queries of a log, the most frequent first."""

    names: tuple[str, ...]
    """Their normal texts."""
    texts: tuple[str, ...]
    """The most frequent spelling of each."""
    counts: NDArray[np.int64]
    searches: int
    """All searches that have a text."""
    blank: int
    """Searches without a text."""


def read_log(
    files: Iterable[FilePath], *, by_session: bool = False, keep_case: bool = False, progress: Progress = SILENT
) -> SearchLog:
    """Count the queries of logs: CSV, TSV or JSON lines with a column of texts, or a query on each line.

    With ``by_session`` a session counts once for a query, however often it asks it.
    """
    spellings: Counter[str] = Counter()
    seen: set[bytes] = set()
    for path in files:
        with open_input(path) as file:
            progress.expect(file.bytes.size, "reading the log")
            for text, session, count in _read_searches(file, by_session, progress):
                if by_session:
                    name = normalize(text, keep_case=keep_case)
                    key = blake2b(f"{session}\0{name}".encode(), digest_size=12).digest()
                    if name and key in seen:
                        continue
                    seen.add(key)
                    count = 1  # noqa: PLW2901 - of several searches, too
                spellings[text] += count
    del seen
    return _make_log(spellings, keep_case)


def _make_log(spellings: Counter[str], keep_case: bool) -> SearchLog:
    """Each query once; the counters are emptied on the way, for a log may have millions of queries."""
    tidy: Counter[str] = Counter()
    while spellings:
        spelling, count = spellings.popitem()
        tidy[normalize(spelling, keep_case=True)] += count
    blank = tidy.pop("", 0)
    total: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    while tidy:
        text, count = tidy.popitem()
        name = normalize(text, keep_case=keep_case)
        total[name] += count
        best[name] = min(best.get(name, (-count, text)), (-count, text))
    names = tuple(sorted(total, key=lambda name: (-total[name], name)))
    counts = np.array([total[name] for name in names], np.int64)
    return SearchLog(names, tuple(best[name][1] for name in names), counts, int(counts.sum()), blank)


_Lines = Iterator[tuple[int, Any, Any, Any]]
"""Number, text, session and count of each line."""


def _read_searches(file: InputFile, by_session: bool, progress: Progress) -> Iterator[tuple[str, Any, int]]:
    """Text, session and number of searches of each line."""
    mistakes = Mistakes()
    for number, text, session, count in _read_lines(file, watch_lines(file, progress), by_session, mistakes):
        complaint = ""
        if count != 1 or count is True:
            whole = _parse_number(count)
            if not (1 <= whole <= MOST and whole.is_integer()):
                complaint = f"count is {quote(str(count))}, not a whole number from 1 to {MOST:,}"
            count = int(whole) if not complaint else 0  # noqa: PLW2901 - from here on a number
        if not isinstance(text, str):
            complaint = f"the query is {quote(json.dumps(text))}, not text"
        elif by_session and (session is None or session == ""):
            complaint = "has no session"
        if complaint:
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}"))
        else:
            yield text, session, count
    mistakes.refuse()


def _parse_number(cell: object) -> float:
    """The number in a cell; 0 for anything else, such as ``1_000``, which Python would take for a number."""
    text = str(cell).strip()
    try:
        return float(text) if text.isascii() and "_" not in text else 0.0
    except ValueError:
        return 0.0


def watch_lines(file: InputFile, progress: Progress) -> Iterator[str]:
    """The lines of a log, with progress."""
    lines = file.lines()
    while chunk := list(islice(lines, CHUNK)):
        yield from chunk
        progress.advance(sum(map(len, chunk)))


def _read_lines(file: InputFile, lines: Iterator[str], by_session: bool, mistakes: Mistakes) -> _Lines:
    first = file.first_lines[0] if file.first_lines else ""
    ending = file.name.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]
    if first.lstrip().startswith("{") or ending in ("json", "jsonl", "ndjson"):
        return _read_objects(file, lines, by_session, mistakes)
    if "\t" in first or ending in ("csv", "tsv") or find_column(file.header, "text") is not None:
        return _read_rows(file, lines, by_session, mistakes)
    if by_session:
        suggestion = "use CSV, TSV or JSON lines with a session, or count searches"
        raise InputError(Problem("a log with a query on each line has no sessions", file.name, suggestion=suggestion))
    return ((number, line, "", 1) for number, line in enumerate(lines, 1))


def _read_objects(file: InputFile, lines: Iterator[str], by_session: bool, mistakes: Mistakes) -> _Lines:
    text, session, count = "", None, None
    for number, found in parse_json_lines(lines, file.name, mistakes):
        if text not in found or not text:
            text, session, count = _find_columns(list(found), f"{file.name}:{number}", by_session)
        yield number, found[text], found.get(session or ""), 1 if count is None else found.get(count, 1)


def _read_rows(file: InputFile, lines: Iterator[str], by_session: bool, mistakes: Mistakes) -> _Lines:
    rows = read_delimited_rows(lines, file.delimiter, file.name, file.lines)
    first, head = next(rows, (1, []))
    names = [name.strip() for name in head]
    text, session, count = (
        -1 if name is None else names.index(name) for name in _find_columns(names, f"{file.name}:{first}", by_session)
    )
    width = len(names)
    for number, cells in rows:
        if len(cells) == width:
            yield number, cells[text], cells[session], 1 if count < 0 else cells[count]
        else:
            complaint = f"has {format_count(len(cells), 'cell')}, not {width}"
            mistakes.add(Problem(complaint, place=f"{file.name}:{number}"))


def _find_columns(names: Sequence[str], place: str, by_session: bool) -> tuple[str, str | None, str | None]:
    """The names of texts, sessions and counts; None where there is none."""
    session, count = (
        next((name for name in names if normalize_name(name) in known), None) for known in (SESSION, COUNT)
    )
    if by_session and session is None:
        complaint = f"there is no column for the session: the columns are {', '.join(map(repr, names))}"
        raise InputError(Problem(complaint, place=place, allowed=f"one of {', '.join(SESSION)}"))
    return require_column(names, "text", place), session, count


class EarlierQuery(NamedTuple):
    """A query as the files of a set have it."""

    id: str
    text: str
    held_out: bool
    columns: Mapping[str, str]


class DrawnQuery(NamedTuple):
    """A query of a set."""

    name: str
    """Its normal text."""
    kept: EarlierQuery
    """As it was in the earlier set, or as it is now."""
    stratum: str
    """The tail, if the query is asked too seldom to be drawn, or is not in the log."""
    searches: int
    weight: float
    """The share of searches that it stands for; 0 if it is only kept."""


class LogStratum(NamedTuple):
    """A part of the queries of a log, in order of their frequency."""

    name: str
    queries: int
    searches: int
    share: float
    """Of the searches of all strata."""


class Sample(NamedTuple):
    """Queries drawn from a log."""

    strata: tuple[LogStratum, ...]
    drawn: tuple[DrawnQuery, ...]
    """In order of their frequency, those that are only kept last."""
    rare: int
    """Queries that are left out because they are asked too seldom."""
    rare_searches: int

    def part(self, stratum: str, *, held_out: bool) -> list[DrawnQuery]:
        """The queries of a stratum that have a weight, in the set or in the holdout."""
        return [
            each for each in self.drawn if each.weight and (each.stratum, each.kept.held_out) == (stratum, held_out)
        ]


def draw_sample(
    log: SearchLog,
    sizes: Sequence[int],
    shares: Sequence[int],
    *,
    least: int = 1,
    holdout: float = 0.0,
    seed: int = 7,
    kept: Mapping[str, EarlierQuery] | None = None,
) -> Sample:
    """Draw queries from each stratum with chances in proportion to their searches.

    The strata are the most frequent queries, which have the first share of all searches (in percent), those with the
    second share, and the rest. A weight is the query's share of searches divided by its chance, so the weighted mean is
    that of all searches on average over seeds: nearly exactly, because the choice has nearly these chances. A query
    that is drawn for sure stands for itself. All others of a stratum have the same weight.

    Each query has random numbers of its own, which depend on its text and the seed alone: from a later log mostly the
    same queries are drawn, and with the same holdout a query is always on the same side. The weights of the set and of
    the holdout each come to the shares of the strata; they then are ratios, with a bias that falls with their size.
    ``kept`` has earlier queries by normal text. They stay on their side; those that are not drawn have weight 0.
    """
    kept = kept or {}
    number = int(np.count_nonzero(log.counts >= least))
    counts = log.counts[:number].astype(np.float64)
    total = float(counts.sum())
    stratum = np.searchsorted(np.cumsum(shares)[:-1] * total / 100, np.cumsum(counts) - counts, side="right")
    weight, in_holdout = np.zeros(len(log.names)), np.zeros(len(log.names), bool)
    for place, size in enumerate(sizes):
        rows = np.flatnonzero(stratum == place)
        chance = compute_chances(counts[rows], size)
        chosen = draw_pareto(chance, np.array([_draw_number(log.names[row], seed, "draw") for row in rows.tolist()]))
        rows, chance = rows[chosen], chance[chosen]
        weight[rows] = counts[rows] / chance / total
        in_holdout[rows] = [_is_held_out(log.names[row], seed, holdout, kept) for row in rows.tolist()]
        whole = weight[rows].sum()
        for part in (rows[in_holdout[rows]], rows[~in_holdout[rows]]):
            weight[part] *= whole / (weight[part].sum() or 1.0)
    known = {name: row for row, name in enumerate(log.names) if name in kept} if kept else {}
    drawn = []
    for row in sorted({*np.flatnonzero(weight).tolist(), *known.values()}, key=lambda row: (not weight[row], row)):
        name = log.names[row]
        old = kept.get(name) or EarlierQuery(_make_id(name), log.texts[row], bool(in_holdout[row]), {})
        within = STRATA[stratum[row] if row < number else -1]
        drawn.append(DrawnQuery(name, old, within, int(log.counts[row]), float(weight[row])))
    drawn += [DrawnQuery(name, kept[name], STRATA[-1], 0, 0.0) for name in sorted(kept.keys() - known.keys())]
    strata = tuple(
        LogStratum(name, int((stratum == place).sum()), int(found), found / total if total else 0.0)
        for place, name in enumerate(STRATA)
        for found in [float(counts[stratum == place].sum())]
    )
    return Sample(strata, tuple(drawn), len(log.names) - number, log.searches - int(total))


def _is_held_out(name: str, seed: int, holdout: float, kept: Mapping[str, EarlierQuery]) -> bool:
    return kept[name].held_out if name in kept else _draw_number(name, seed, "holdout") < holdout


def _draw_number(name: str, seed: int, what: str) -> float:
    """A number in (0, 1) that a query always has."""
    digest = blake2b(f"{what} {seed} {name}".encode(), digest_size=8).digest()
    return ((int.from_bytes(digest, "big") >> 12) + 0.5) / 2**52


def _make_id(name: str) -> str:
    """An id that the same query always gets."""
    return "q" + blake2b(name.encode(), digest_size=6).hexdigest()


def compute_chances(counts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The chance of each query to be among ``size``: in proportion to its count, and at most 1."""
    chance = np.ones(counts.size)
    if size >= counts.size:
        return chance
    sure = np.zeros(counts.size, bool)
    while True:
        chance[~sure] = (size - int(sure.sum())) * counts[~sure] / counts[~sure].sum()
        over = ~sure & (chance >= 1)
        if not over.any():
            return chance
        sure |= over
        chance[over] = 1.0


def draw_pareto(chance: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Choose a fixed number of queries, each nearly with its chance; exactly with chances 0 and 1.

    B. Rosén 1997, On sampling with probability proportional to size, J. Statistical Planning and Inference 62: 159-191.
    """
    key = luck / (1 - luck) * (1 - chance) / np.maximum(chance, 1e-200)
    found = np.zeros(chance.size, bool)
    found[np.argsort(key, kind="stable")[: round(float(chance.sum()))]] = True
    return found


def count_effective(weights: Sequence[float]) -> int:
    """The number of equally weighted queries that tell as much (L. Kish 1965, Survey Sampling)."""
    counting = np.array([weight for weight in weights if weight > 0], np.float64)
    return round(float(counting.sum() ** 2 / (counting**2).sum())) if counting.size else 0
