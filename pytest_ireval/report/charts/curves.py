"""Charts of precision at each recall: of all queries, of slices, and of one query."""

from __future__ import annotations

from itertools import accumulate

from pytest_ireval.report.charts.chart import (
    MAX_QUERY_LENGTH,
    WIDTH,
    Chart,
    Scale,
    Tick,
    clean_text,
    count_queries,
    isolate_direction,
    make_path,
    round_place,
    truncate_label,
)
from pytest_ireval.report.charts.panels import DrawnCurve, DrawnPanel, PanelDrawing
from pytest_ireval.report.formatting import format_value
from pytest_ireval.results.suite_result import QueryCurve, QueryDocuments, RecallPrecision, SliceCurves, SuiteResult
from pytest_ireval.words import format_count

TOP = 62
MARGIN, FOOT, HEAD = 42, 44, 40
"""Of a panel: left of it, below it, above it."""
SLICE = {1: 60, 2: 34, 3: 21}
"""Characters of a slice's name, by the number of panels beside each other."""
SMALL = 320
"""The width of the chart of one query."""
LEVELS = tuple(level / 10 for level in range(11))


def make_recall_precision_chart(suite: SuiteResult) -> Chart | None:
    """A panel for all queries and one for each slice; None where nothing is relevant."""
    if not suite.curves:
        return None
    columns, size = _choose_grid(len(suite.curves))
    sides = ("now", "baseline") if any(each.baseline for each in suite.curves) else ("now",)
    heading = "Precision at each recall"
    panels = tuple(_make_panel(each, number, columns, size) for number, each in enumerate(suite.curves))
    rows = -(-len(panels) // columns)
    words = (
        (each, filter(None, [count_queries(each.queries), _describe_r_precision(each)])) for each in suite.curves[:4]
    )
    said = (f"{truncate_label(each.slice, MAX_QUERY_LENGTH)}: {', '.join(facts)}." for each, facts in words)
    return Chart(
        "curves",
        f"{heading}, {clean_text(suite.name)}",
        "Interpolated precision at 11 levels of recall, averaged over queries. " + " ".join(said),
        PanelDrawing(
            WIDTH, round_place(TOP + rows * (size[1] + HEAD + FOOT) - 4), heading, FACTS, sides, panels, straight=True
        ),
    )


FACTS = "interpolated at 11 levels of recall, averaged over queries"


def _choose_grid(count: int) -> tuple[int, tuple[float, float]]:
    columns = count if count < 3 else 2 if count == 4 else 3
    width = WIDTH / columns - MARGIN - 14
    return columns, (width, min(width, 230))


def _make_panel(of: SliceCurves, number: int, columns: int, size: tuple[float, float]) -> DrawnPanel:
    left = WIDTH / columns * (number % columns) + MARGIN
    top = TOP + HEAD + (number // columns) * (size[1] + HEAD + FOOT)
    x, y = _make_axes(left, top, size, 5 if columns == 1 else 2)
    sides = (("baseline", of.baseline), ("now", of.now))
    curves = tuple(_make_curve(side, each, x, y) for side, each in sides if each is not None and each.levels)
    below = f"recall ({count_queries(of.queries)})"
    return DrawnPanel(truncate_label(of.slice, SLICE[columns]), _describe_r_precision(of), below, x, y, curves)


def _make_axes(left: float, top: float, size: tuple[float, float], ticks: int) -> tuple[Scale, Scale]:
    values = [number / ticks for number in range(ticks + 1)]
    ends = (round_place(left), round_place(left + size[0])), (round_place(top + size[1]), round_place(top))
    bare = [Scale(0.0, 1.0, *each) for each in ends]
    x, y = (Scale(0.0, 1.0, s.start, s.end, tuple(Tick(s(v), f"{v:g}") for v in values)) for s in bare)
    return x, y


def _make_curve(side: str, curve: RecallPrecision, x: Scale, y: Scale) -> DrawnCurve:
    path = make_path([(x(level), y(value)) for level, value in zip(LEVELS, curve.levels, strict=False)])
    r = curve.r_precision
    if r is None:
        return DrawnCurve(side, path)
    return DrawnCurve(side, path, make_path([(x(0), y(1)), (x(r), y(r)), (x(1), y(0))]), x(r), y(r))


def _describe_r_precision(of: SliceCurves) -> str:
    sides = [None if each is None else each.r_precision for each in (of.baseline, of.now)]
    found = " → ".join(format_value(each, 3) for each in sides if each is not None)
    return f"R-precision {found}" if found else ""


def make_query_curve_chart(suite: SuiteResult, documents: QueryDocuments) -> Chart | None:
    """The points of one query's rankings, and the interpolated steps over them; None without a relevant document."""
    sides = [(name, curve) for name, curve in (("baseline", documents.baseline), ("now", documents.now)) if curve]
    if not sides:
        return None
    heading = f"Precision at each recall, {isolate_direction(truncate_label(documents.query, 20))}"
    x, y = _make_axes(MARGIN, TOP + 6, (SMALL - MARGIN - 14, 150), 2)
    relevant = "" if documents.relevant is None else f"{format_count(documents.relevant, 'relevant document')}"
    panel = DrawnPanel("", "", "recall", x, y, tuple(_make_query_curve(name, curve, x, y) for name, curve in sides))
    names = tuple(name for name, _ in reversed(sides))
    return Chart(
        "curves",
        f"{heading}, {clean_text(suite.name)}",
        f"{relevant}. " * bool(relevant) + " ".join(_describe_curve(name, curve) for name, curve in sides),
        PanelDrawing(SMALL, TOP + 156 + FOOT - 4, heading, relevant, names, (panel,), straight=False),
    )


def _make_query_curve(side: str, curve: QueryCurve, x: Scale, y: Scale) -> DrawnCurve:
    points = tuple((x(r), y(p)) for r, p in zip(curve.recall, curve.precision, strict=False))
    return DrawnCurve(side, _make_steps(curve, x, y), points=points)


def _make_steps(curve: QueryCurve, x: Scale, y: Scale) -> str:
    """At each recall the best precision there or later; nothing beyond the last document that was found."""
    best = [*accumulate(reversed(curve.precision), max)][::-1]
    path = f"M{x(0)} {y(best[0])}" if best else f"M{x(0)} {y(0)}"
    for recall, value in zip(curve.recall, best, strict=False):
        path += f"V{y(value)}H{x(recall)}"
    return path + f"V{y(0)}H{x(1)}"


def _describe_curve(side: str, curve: QueryCurve) -> str:
    last = f" up to recall {format_value(curve.recall[-1], 2)}" if curve.recall else ""
    return f"{side}: {format_count(len(curve.recall), 'relevant document')} found{last}."
