"""The two tables of a failure: slices with their figures, and the queries that a verdict rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.reports.figures import change, figure, interval, percent
from pytest_ireval.reports.sight import sight_words
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.text_table import cut, cut_in_the_middle, laid_out, printable, width, wrapped

WIDEST = 32
"""What follows an id that takes more columns stands below it."""
NARROW = 12
"""The same where there is little room."""
WIDEST_METRIC = 16
"""The name of a metric is cut above its figures: the command below has it whole."""
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
CLOSE = Spacing((1, 1, 1, 1, 1, 1), "/", " <- {}", brief=True, counts=False)
"""For counts of millions."""


def figure_lines(outcome: Outcome, direction: str, limit: int) -> list[str]:
    """A line for each slice, and what the queries of the first can show."""
    if not outcome.figures:
        return []
    tries = [*((spacing, WIDEST) for spacing in SPACINGS), *((spacing, NARROW) for spacing in (SPACINGS[-1], CLOSE))]
    rows: list[list[str]] = []
    for spacing, most in tries:
        rows = _slices(outcome.figures, spacing, most)
        if max(width(row[-1]) for row in rows) <= limit - 2:
            break
    lines = [f"  {line}" for row in rows for line in row]
    return [*lines, *_resolution(outcome.figures[0], direction, limit)]


def _slices(figures: Sequence[SliceFigures], spacing: Spacing, most: int) -> list[list[str]]:
    """Without baselines there is no change to be shown."""
    compared = any(each.baseline is not None for each in figures)
    header = ["", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else [])]
    rows = [[each.label, *_values(each, compared)] for each in figures]
    if spacing.counts or not compared:
        header.append("queries")
        rows = [[*row, f"{each.queries:,}"] for row, each in zip(rows, figures, strict=True)]
    right = range(1, len(header))
    cells = [spacing.slash.join(_counts(each)) if compared else "" for each in figures]
    broad = max(map(width, cells))
    last = [
        cell + (" " * (broad - width(cell)) + spacing.over.format(_decided(each, spacing.brief)) if each.over else "")
        for cell, each in zip(cells, figures, strict=True)
    ]
    header.append(spacing.slash.join(("worse", "better", "same")) if compared else "")
    gaps = spacing.gaps if compared else (3, 3, 0)
    wide = [[*row, cell] for row, cell in zip(rows, last, strict=True)]
    return laid_out([header, *wide], right, gaps[: len(header) - 1], most)


def _counts(each: SliceFigures) -> list[str]:
    return [f"{number:,}" for number in (each.worse, each.better, each.same)]


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
    lines = table[0]
    for row, note in zip(table[1:], notes, strict=True):
        lines = [*lines, *row, *note]
    return [*lines, *_more(outcome, len(queries)), *_top(queries[0], limit)]


def _queries(queries: Sequence[QueryChange], outcome: Outcome, depth: int, limit: int) -> list[list[str]]:
    """The lines of the header and of each query; columns that no query has anything in are left out."""
    compared = any(query.baseline is not None or (query.best and query.best.baseline) for query in queries)
    columns = [[cut(outcome.metric, WIDEST_METRIC) or "value", *(moved(query) for query in queries)]]
    if not any(query.now is not None or query.baseline is not None for query in queries):
        columns = []
    gaps = [3][: len(columns)]
    if any(query.best for query in queries):
        documents = [_fitting_document(query, max(WIDEST_METRIC, limit // 3)) for query in queries]
        columns.append(["best document was" if compared else "best document", *documents])
        columns.append(["now at", *(now_at(query.best, depth) for query in queries)])
        gaps = [*gaps, 4 if gaps else 3, 2]
    right = [len(columns)] if len(columns) > 1 else []
    others = sum(max(width(printable(cell)) for cell in column) for column in columns)
    room = max(NARROW, min(WIDEST_QUERY, limit - 2 - others - sum(gaps)))
    names = [outcome.worst, *(_named(query, room) for query in queries)]
    rows = laid_out(list(zip(names, *columns, strict=True)), right, gaps, {0: max(room, width(outcome.worst))})
    return [[f"  {line}" for line in row] for row in rows]


def _fitting_document(query: QueryChange, room: int) -> str:
    """The best document; of an id that is longer than a table has room for, both ends: ids often begin alike."""
    whole = best_document(query)
    if query.best is None or width(printable(whole)) <= room:
        return whole
    name = printable(query.best.document)
    short = cut_in_the_middle(name, room - width(printable(whole)) + width(name))
    return best_document(replace(query, best=replace(query.best, document=short)))


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


def _more(outcome: Outcome, shown: int) -> Iterator[str]:
    """How many queries are not shown, and what shows them."""
    left, listed = outcome.query_count - shown, len(outcome.queries)
    if left and outcome.query_count <= 10:
        yield f"  … and {left} more: -v shows {'it' if left == 1 else 'them'}"
    elif left:
        most = "all" if not outcome.more_queries else f"the worst {listed:,}"
        ways = [*(["-v shows ten"] if shown < 10 else []), *([f"-vv shows {most}"] if shown < listed else [])]
        yield f"  … and {left:,} more" + (f": {', '.join(ways)}" if ways else "")


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
