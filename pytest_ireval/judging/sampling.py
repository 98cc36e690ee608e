"""Sets of queries that stand for the traffic of a log: strata, random choice, weights, and a holdout."""

from __future__ import annotations

import csv
import json
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Mistakes, Problem, did_you_mean, shown
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.retrieval.formats.input_file import FilePath, InputFile, input_file
from pytest_ireval.retrieval.tables import plain_name

STRATA = ("head", "torso", "tail")
COLUMNS = {
    "query": ("query", "query_text", "text", "q"),
    "session": ("session", "session_id", "user_session"),
    "count": ("count", "searches", "frequency"),
}
"""Names of columns or fields of a log; blanks, hyphens and letter case do not matter."""
CHUNK = 1 << 16
"""Lines between two reports of progress."""


def normal_text(text: str, *, keep_case: bool = False) -> str:
    """The text by which searches are the same query: Unicode NFC, single blanks, and letter case unless it is kept."""
    plain = unicodedata.normalize("NFC", " ".join(text.split()))
    return plain if keep_case else unicodedata.normalize("NFC", plain.casefold())


class Asked(NamedTuple):
    """The different queries of a log, by their normal text, the most frequent first."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    """The most frequent spelling of each."""
    counts: NDArray[np.int64]
    searches: int
    """All searches that have a text."""
    blank: int
    """Lines without a query."""


def asked_in(
    logs: Iterable[FilePath], *, by_session: bool = False, keep_case: bool = False, progress: Progress = SILENT
) -> Asked:
    """Count the queries of logs: CSV, TSV or JSON lines with a query, or plain text with a query on each line.

    With ``by_session`` a session counts once for a query, however often it asks it.
    """
    spellings: Counter[str] = Counter()
    seen: set[bytes] = set()
    for log in logs:
        with input_file(log) as file:
            progress.expect(file.bytes.size, "reading the log")
            for text, session, count in _searches(file, by_session, progress):
                if by_session:
                    name = normal_text(text, keep_case=keep_case)
                    key = blake2b(f"{session}\0{name}".encode("utf-8", "replace"), digest_size=12).digest()
                    if name and key in seen:
                        continue
                    seen.add(key)
                spellings[text] += count
    return _asked(spellings, keep_case)


def _asked(spellings: Mapping[str, int], keep_case: bool) -> Asked:
    tidy: Counter[str] = Counter()
    for spelling, count in spellings.items():
        tidy[normal_text(spelling, keep_case=True)] += count
    total: Counter[str] = Counter()
    best: dict[str, tuple[int, str]] = {}
    for text, count in tidy.items():
        name = normal_text(text, keep_case=keep_case)
        total[name] += count
        best[name] = min(best.get(name, (-count, text)), (-count, text))
    blank = total.pop("", 0)
    order = sorted(total, key=lambda name: (-total[name], name))
    counts = np.array([total[name] for name in order], np.int64)
    return Asked(tuple(order), tuple(best[name][1] for name in order), counts, int(counts.sum()), blank)


def _searches(file: InputFile, by_session: bool, progress: Progress) -> Iterator[tuple[str, str, int]]:
    """Text, session and number of searches of each line."""
    mistakes = Mistakes()
    first = file.first_lines[0] if file.first_lines else ""
    read = _of_objects if first.lstrip().startswith("{") else _of_rows if _has_names(file, first) else _of_lines
    lines = _counted(file, progress)
    for number, (text, session, count) in read(file, lines, by_session):
        told = _mistake(text, session, count, by_session)
        if told:
            mistakes.add(Problem(told, place=f"{file.name}:{number}"))
        else:
            yield text, str(session), int(count)
    mistakes.refuse()


def _mistake(text: Any, session: Any, count: Any, by_session: bool) -> str:
    if not isinstance(text, str):
        return f"the query is {shown(json.dumps(text))}, not text"
    if by_session and (session is None or session == ""):
        return "has no session"
    number = -1.0
    with suppress(TypeError, ValueError):
        number = float(count)
    return "" if number >= 1 and number.is_integer() else f"count is {shown(str(count))}, not a whole number from 1"


def _counted(file: InputFile, progress: Progress) -> Iterator[str]:
    done = 0
    for number, line in enumerate(file.lines()):
        done += len(line)
        if number % CHUNK == 0:
            progress.advance(done)
            done = 0
        yield line


_Line = tuple[int, tuple[Any, Any, Any]]


def _of_objects(file: InputFile, lines: Iterator[str], by_session: bool) -> Iterator[_Line]:
    keys: dict[str, str | None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(Problem(f"is not JSON ({error})", place=f"{file.name}:{number}")) from None
        if not isinstance(found, dict):
            raise InputError(Problem("is not a JSON object", place=f"{file.name}:{number}"))
        if not keys or keys["query"] not in found:
            keys = _names(list(found), f"{file.name}:{number}", by_session)
        query, session, count = (keys[kind] for kind in COLUMNS)
        yield number, (found[query], found.get(session), 1 if count is None else found.get(count, 1))


def _of_rows(file: InputFile, lines: Iterator[str], by_session: bool) -> Iterator[_Line]:
    rows = (
        enumerate((line.rstrip("\r\n").split("\t") for line in lines), 1)
        if file.delimiter == "\t"
        else _csv_rows(file, lines)
    )
    _, head = next(rows)
    names = [name.strip() for name in head]
    keys = _names(names, f"{file.name}:1", by_session)
    at = [names.index(name) if name is not None else None for name in (keys[kind] for kind in COLUMNS)]
    for number, cells in rows:
        if len(cells) != len(names):
            if not any(cells):
                continue
            complaint = f"has {len(cells)} cells, and the first line names {len(names)}"
            raise InputError(Problem(complaint, place=f"{file.name}:{number}"))
        query, session, count = (None if i is None else cells[i] for i in at)
        yield number, (query, session, 1 if count is None else count)


def _csv_rows(file: InputFile, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, delimiter=file.delimiter, strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(Problem(f"is not CSV ({error})", place=f"{file.name}:{reader.line_num}")) from None


def _of_lines(file: InputFile, lines: Iterator[str], by_session: bool) -> Iterator[_Line]:
    if by_session:
        suggestion = "use CSV, TSV or JSON lines with a session, or count lines"
        raise InputError(Problem("a log with a query on each line has no sessions", file.name, suggestion=suggestion))
    for number, line in enumerate(lines, 1):
        yield number, (line, "", 1)


def _has_names(file: InputFile, first: str) -> bool:
    """Tell whether the first line names columns; a table whose columns are not named is a mistake."""
    cells = [plain_name(cell.strip().strip('"')) for cell in first.rstrip("\r\n").split(file.delimiter)]
    if any(cell in COLUMNS["query"] for cell in cells):
        return True
    if "\t" in first or file.name.lower().removesuffix(".gz").removesuffix(".zst").endswith((".csv", ".tsv")):
        _names(first.rstrip("\r\n").split(file.delimiter), f"{file.name}:1", by_session=False)
    return False


def _names(names: Sequence[str], place: str, by_session: bool) -> dict[str, Any]:
    """The name of each kind of column, None where there is none."""
    plain = {plain_name(name): name for name in reversed(names)}
    found = {kind: next((plain[name] for name in known if name in plain), None) for kind, known in COLUMNS.items()}
    for kind in ("query", "session") if by_session else ("query",):
        if found[kind] is None:
            complaint = f"there is no {kind}: the columns are {', '.join(map(repr, names[:20]))}"
            allowed = f"one of {', '.join(COLUMNS[kind])}"
            raise InputError(Problem(complaint, place, (), did_you_mean(kind, list(names)), allowed))
    return found


class Drawn(NamedTuple):
    """A query of a set."""

    name: str
    """Its normal text."""
    text: str
    stratum: str
    """Empty if it is not in the log any more."""
    searches: int
    weight: float
    """The share of searches that it stands for; 0 if it is only kept."""
    held_out: bool


class Stratum(NamedTuple):
    """A part of the queries of a log, in order of their frequency."""

    name: str
    queries: int
    searches: int
    share: float
    """Of the searches of all strata."""


class Sample(NamedTuple):
    """Queries drawn from a log."""

    strata: tuple[Stratum, ...]
    drawn: tuple[Drawn, ...]
    """In order of their frequency, those that are only kept last."""
    rare: int
    """Queries that are left out because they are asked too seldom."""
    rare_searches: int


def sampled(
    asked: Asked,
    sizes: Sequence[int],
    shares: Sequence[float],
    *,
    least: int = 1,
    holdout: float = 0.0,
    seed: int = 7,
    kept: Mapping[str, tuple[str, bool]] | None = None,
) -> Sample:
    """Draw queries from each stratum with chances in proportion to their searches.

    The strata are the most frequent queries, which have the first share of all searches, those with the second share,
    and the rest. A weight is a query's number of searches divided by its chance, so weighted means estimate those of
    all searches. A query that is drawn for sure stands for itself, all others of a stratum weigh the same.

    Each query has random numbers of its own, which depend on its text and the seed alone: from a later log mostly the
    same queries are drawn, and whether a query is held out never changes. ``kept`` has the spelling of queries by
    normal text, and whether they are held out; those that are not drawn have weight 0.
    """
    kept = kept or {}
    number = int(np.searchsorted(-asked.counts, -least, side="right"))
    counts = asked.counts[:number].astype(np.float64)
    total = float(counts.sum())
    limits = np.cumsum(shares)[:-1] * total
    stratum = np.searchsorted(limits, np.cumsum(counts) - counts, side="right")
    weight = np.zeros(number)
    for place, size in enumerate(sizes):
        rows = np.flatnonzero(stratum == place)
        if rows.size:
            luck = np.array([_luck(asked.names[row], seed, "draw") for row in rows.tolist()])
            chance = chances(counts[rows], size)
            chosen = pareto(chance, luck)
            weight[rows[chosen]] = counts[rows[chosen]] / chance[chosen] / total
    held = np.zeros(number, bool)
    rows = np.flatnonzero(weight)
    held[rows] = [_held_out(asked.names[row], seed, holdout, kept) for row in rows.tolist()]
    if holdout:
        for place in range(len(sizes)):
            inside = stratum == place
            whole = weight[inside].sum()
            for part in (inside & held, inside & ~held):
                weight[part] *= whole / (weight[part].sum() or 1.0)
    drawn = [
        Drawn(
            asked.names[row],
            _text(asked, row, kept),
            STRATA[stratum[row]],
            int(counts[row]),
            float(weight[row]),
            bool(held[row]),
        )
        for row in rows.tolist()
    ]
    row_of = {name: row for row, name in enumerate(asked.names)}
    for name in kept.keys() - {each.name for each in drawn}:
        row = row_of.get(name, number)
        within = STRATA[stratum[row]] if row < number else ""
        searches = int(asked.counts[row_of[name]]) if name in row_of else 0
        drawn.append(Drawn(name, kept[name][0], within, searches, 0.0, kept[name][1]))
    drawn.sort(key=lambda each: (not each.weight, -each.searches, each.name))
    strata = tuple(
        Stratum(name, int((stratum == place).sum()), int(found), found / total if total else 0.0)
        for place, name in enumerate(STRATA)
        for found in [float(counts[stratum == place].sum())]
    )
    return Sample(strata, tuple(drawn), len(asked.names) - number, asked.searches - int(total))


def _text(asked: Asked, row: int, kept: Mapping[str, tuple[str, bool]]) -> str:
    return kept[asked.names[row]][0] if asked.names[row] in kept else asked.texts[row]


def _held_out(name: str, seed: int, holdout: float, kept: Mapping[str, tuple[str, bool]]) -> bool:
    return kept[name][1] if name in kept else _luck(name, seed, "holdout") < holdout


def _luck(name: str, seed: int, what: str) -> float:
    """A number in (0, 1) that a query always has."""
    digest = blake2b(f"{what} {seed} {name}".encode("utf-8", "replace"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") + 0.5) / 2**64


def chances(counts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The chance of each query to be among ``size``: in proportion to its count, and at most 1."""
    sure = np.zeros(counts.size, bool)
    while True:
        rest = max(0, size - int(sure.sum()))
        chance = np.where(sure, 1.0, rest * counts / max(counts[~sure].sum(), 1e-300))
        over = ~sure & (chance >= 1)
        if not over.any():
            return chance
        sure |= over


def pareto(chance: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Choose a fixed number of queries with these chances.

    B. Rosén 1997, On sampling with probability proportional to size, J. Statistical Planning and Inference 62: 159-191.
    """
    sure = chance >= 1
    size = round(float(chance.sum())) - int(sure.sum())
    key = np.where(sure, np.inf, luck / (1 - luck) * (1 - chance) / np.maximum(chance, 1e-300))
    found = sure.copy()
    found[np.argsort(key, kind="stable")[:size]] = True
    return found


def id_of_query(name: str) -> str:
    """An id that the same query always gets."""
    return "q" + blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
