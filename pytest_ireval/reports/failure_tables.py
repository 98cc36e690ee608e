"""The two tables of a failure: slices with their figures, and the queries that a verdict rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_ireval.reports.figures import change, figure, interval, percent
from pytest_ireval.reports.sight import sight_words
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.text_table import aligned, cut, printable, width, wrapped

WIDEST = 32
"""An id that takes more columns pushes its own line only."""
WIDEST_QUERY = 48
"""Texts of queries are cut so that id and text take no more columns."""


class Spacing(NamedTuple):
    """How far apart the columns of figures stand, and in how many words."""

    gaps: tuple[int, ...]
    slash: str
    over: str
    brief: bool = False
    counts: bool = True


SPACINGS = (
    Spacing((3, 2, 3, 2, 3, 3), " / ", "    <- {}"),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}"),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}", brief=True),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}", brief=True, counts=False),
)
"""From the most readable to the narrowest."""


def figure_lines(outcome: Outcome, direction: str, limit: int) -> list[str]:
    """A line for each slice, and what the queries of the first can show."""
    if not outcome.figures:
        return []
    tables = (_slices(outcome.figures, spacing) for spacing in SPACINGS)
    lines: list[str] = []
    for lines in tables:
        if max(map(width, lines)) <= limit - 2:
            break
    return [*(f"  {line}" for line in lines), *_resolution(outcome.figures[0], direction, limit)]


def _slices(figures: Sequence[SliceFigures], spacing: Spacing) -> list[str]:
    """Without baselines there is no change to be shown."""
    compared = any(each.baseline is not None for each in figures)
    header = ["", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else [])]
    rows = [[each.slice, *_values(each, compared)] for each in figures]
    if spacing.counts or not compared:
        header.append("queries")
        rows = [[*row, f"{each.queries:,}"] for row, each in zip(rows, figures, strict=True)]
    right = range(1, len(header))
    cells = [spacing.slash.join(map(str, (each.worse, each.better, each.same))) if compared else "" for each in figures]
    broad = max(map(width, cells))
    last = [
        cell + (" " * (broad - width(cell)) + spacing.over.format(_decided(each, spacing.brief)) if each.over else "")
        for cell, each in zip(cells, figures, strict=True)
    ]
    header.append(spacing.slash.join(("worse", "better", "same")) if compared else "")
    gaps = spacing.gaps if compared else (3, 3, 0)
    wide = [[*row, cell] for row, cell in zip(rows, last, strict=True)]
    return aligned([header, *wide], right, gaps[: len(header) - 1], WIDEST)


def _values(each: SliceFigures, compared: bool) -> list[str]:
    if not compared:
        return [figure(each.now)]
    return [figure(each.baseline), figure(each.now), change(each.change), percent(each.relative)]


def _decided(each: SliceFigures, brief: bool) -> str:
    """A rule by evidence may be red although the change that was observed is within the tolerance."""
    if each.tolerance is None or abs(each.change or 0.0) <= each.tolerance:
        return "red" if brief else "breaks the rule"
    return "over" if brief else "over tolerance"


def _resolution(each: SliceFigures, direction: str, limit: int) -> list[str]:
    """The interval of the change, and the smallest change that so many queries can show."""
    moved = {"higher": "drop", "lower": "rise"}.get(direction, "change")
    parts = []
    if each.low is not None and each.high is not None:
        parts.append(f"{each.level * 100:.4g}% interval {interval(each.low, each.high)}")
    parts += filter(None, [sight_words(each, moved)])
    label = printable(each.slice.partition("=")[2] or each.slice)
    return wrapped("; ".join(parts), limit, f"  {label}: ", "    ") if parts else []


def query_lines(outcome: Outcome, depth: int, limit: int, shown: int | None) -> list[str]:
    """The first of the queries, how many more there are, and what stands on top of the first."""
    queries = outcome.queries[:shown]
    if not queries:
        return []
    table = _queries(queries, outcome, depth, limit)
    notes = [[f"    {line}" for line in wrapped(query.note, limit - 4)] if query.note else [] for query in queries]
    lines = [table[0]]
    for line, note in zip(table[1:], notes, strict=True):
        lines += [line, *note]
    return [*lines, *_more(len(outcome.queries) - len(queries), len(queries)), *_top(queries[0], limit)]


def _queries(queries: Sequence[QueryChange], outcome: Outcome, depth: int, limit: int) -> list[str]:
    """Columns that no query has anything in are left out."""
    compared = any(query.baseline is not None or (query.best and query.best.baseline) for query in queries)
    columns = [[outcome.metric or "value", *(moved(query) for query in queries)]]
    if not any(query.now is not None or query.baseline is not None for query in queries):
        columns = []
    gaps = [3][: len(columns)]
    if any(query.best for query in queries):
        columns.append(["best document was" if compared else "best document", *map(best_document, queries)])
        columns.append(["now at", *(now_at(query.best, depth) for query in queries)])
        gaps = [*gaps, 4 if gaps else 3, 2]
    right = [len(columns)] if len(columns) > 1 else []
    others = sum(max(w for cell in column if (w := width(printable(cell))) <= WIDEST) for column in columns)
    room = min(WIDEST_QUERY, limit - 2 - others - sum(gaps))
    names = [outcome.worst, *(_named(query, room) for query in queries)]
    return [f"  {line}" for line in aligned(list(zip(names, *columns, strict=True)), right, gaps, WIDEST_QUERY)]


def _named(query: QueryChange, room: int) -> str:
    """The id whole, and as much of the text as there is room for."""
    name, text = printable(query.query), " ".join(printable(query.text).split())
    left = room - width(name) - 3
    return f'{name} "{cut(text, left)}"' if text and left >= min(width(text), 6) else name


def moved(query: QueryChange) -> str:
    """A query's value in the baseline and now."""
    now = figure(query.now, 3)
    return now if query.baseline is None else f"{figure(query.baseline, 3)} -> {now}"


def best_document(query: QueryChange) -> str:
    """The best document, its grade and where it stood."""
    if query.best is None:
        return "-"
    rank = "" if query.best.baseline is None else f" #{query.best.baseline}"
    return f"{query.best.document} ({grade_words(query.best)}){rank}"


def now_at(best: Placed | None, depth: int) -> str:
    """Where the best document stands now."""
    if best is None:
        return "-"
    return f"#{best.now}" if best.now is not None else f"not in top {depth}" if depth else "gone"


def grade_words(placed: Placed) -> str:
    """``grade 3``, or that nobody judged it."""
    return "not judged" if placed.grade is None else f"grade {placed.grade:g}"


def _more(left: int, shown: int) -> Iterator[str]:
    """How many queries are not shown, and what shows them."""
    if left and left + shown <= 10:
        yield f"  … and {left} more: -v shows {'it' if left == 1 else 'them'}"
    elif left:
        yield f"  … and {left:,} more: {'-v shows ten, ' if shown < 10 else ''}-vv shows all"


def _top(query: QueryChange, limit: int) -> list[str]:
    """What stands on top now, and how it is judged."""
    if not query.top:
        return []
    documents = [printable(placed.document) for placed in query.top]
    if all(placed.grade is None for placed in query.top):
        text = f"{', '.join(documents)} ({'none' if len(documents) > 1 else 'not'} judged)"
    else:
        text = ", ".join(f"{name} ({grade_words(placed)})" for name, placed in zip(documents, query.top, strict=True))
    return wrapped(f"{printable(query.query)} top {len(query.top)} is now {text}", limit, "  ", "    ")
