"""Charts of curves in panels: recall and precision, times, clicks, metrics of many systems, and changes that show."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from pytest_ireval.report.charts.chart import (
    QUERY,
    WIDTH,
    Chart,
    Scale,
    Tick,
    counted_queries,
    cut_label,
    inert_text,
    isolated,
    label,
    line,
    place,
    scale,
)
from pytest_ireval.report.wording import figure
from pytest_ireval.results.suite_result import QueryCurve, QueryDocuments, RecallPrecision, SliceCurves, SuiteResult
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from pytest_ireval.results.comparison import Discrimination

TOP = 62
MARGIN, FOOT, HEAD = 42, 44, 40
"""Of a panel: left of it, below it, above it."""
SLICE = {1: 60, 2: 34, 3: 21}
"""Characters of a slice's name, by the number of panels beside each other."""
SMALL = 320
"""The width of the chart of one query."""
LEVELS = tuple(level / 10 for level in range(11))


@dataclass(frozen=True)
class _Curve:
    """One side of a panel."""

    side: str
    path: str
    straight: str = ""
    """The line that follows from R-precision alone."""
    r_x: float = 0
    r_y: float = 0
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class _Panel:
    """One pair of axes, from 0 to 1."""

    label: str
    facts: str
    below: str
    x: Scale
    y: Scale
    curves: tuple[_Curve, ...]
    """The baseline first: the current curve is drawn over it."""


@dataclass(frozen=True)
class _Panels:
    """The places of everything in such a chart."""

    width: int
    height: float
    heading: str
    facts: str
    sides: tuple[str, ...]
    panels: tuple[_Panel, ...]
    straight: bool


def recall_precision_chart(suite: SuiteResult) -> Chart | None:
    """A panel for all queries and one for each slice; None where nothing is relevant."""
    if not suite.curves:
        return None
    columns, size = _grid(len(suite.curves))
    sides = ("now", "baseline") if any(each.baseline for each in suite.curves) else ("now",)
    heading = "Precision at each recall"
    panels = tuple(_panel(each, number, columns, size) for number, each in enumerate(suite.curves))
    rows = -(-len(panels) // columns)
    words = ((each, filter(None, [counted_queries(each.queries), _r_words(each)])) for each in suite.curves[:4])
    said = (f"{cut_label(each.slice, QUERY)}: {', '.join(facts)}." for each, facts in words)
    return Chart(
        "curves",
        f"{heading}, {inert_text(suite.name)}",
        "Interpolated precision at 11 levels of recall, averaged over queries. " + " ".join(said),
        _Panels(WIDTH, place(TOP + rows * (size[1] + HEAD + FOOT) - 4), heading, FACTS, sides, panels, straight=True),
    )


FACTS = "interpolated at 11 levels of recall, averaged over queries"


def _grid(count: int) -> tuple[int, tuple[float, float]]:
    columns = count if count < 3 else 2 if count == 4 else 3
    width = WIDTH / columns - MARGIN - 14
    return columns, (width, min(width, 230))


def _panel(of: SliceCurves, number: int, columns: int, size: tuple[float, float]) -> _Panel:
    left = WIDTH / columns * (number % columns) + MARGIN
    top = TOP + HEAD + (number // columns) * (size[1] + HEAD + FOOT)
    x, y = _axes(left, top, size, 5 if columns == 1 else 2)
    sides = (("baseline", of.baseline), ("now", of.now))
    curves = tuple(_curve(side, each, x, y) for side, each in sides if each is not None and each.levels)
    below = f"recall ({counted_queries(of.queries)})"
    return _Panel(cut_label(of.slice, SLICE[columns]), _r_words(of), below, x, y, curves)


def _axes(left: float, top: float, size: tuple[float, float], ticks: int) -> tuple[Scale, Scale]:
    values = [number / ticks for number in range(ticks + 1)]
    ends = (place(left), place(left + size[0])), (place(top + size[1]), place(top))
    bare = [Scale(0.0, 1.0, *each) for each in ends]
    x, y = (Scale(0.0, 1.0, s.start, s.end, tuple(Tick(s(v), f"{v:g}") for v in values)) for s in bare)
    return x, y


def _curve(side: str, curve: RecallPrecision, x: Scale, y: Scale) -> _Curve:
    path = line([(x(level), y(value)) for level, value in zip(LEVELS, curve.levels, strict=False)])
    r = curve.r_precision
    if r is None:
        return _Curve(side, path)
    return _Curve(side, path, line([(x(0), y(1)), (x(r), y(r)), (x(1), y(0))]), x(r), y(r))


def _r_words(of: SliceCurves) -> str:
    sides = [None if each is None else each.r_precision for each in (of.baseline, of.now)]
    found = " → ".join(figure(each, 3) for each in sides if each is not None)
    return f"R-precision {found}" if found else ""


def load_chart(suite: str, levels: Sequence[tuple[str, float, float, float]], said: str) -> Chart:
    """Times over throughput; a level is its name, its throughput, and two percentiles in milliseconds, 50 and 95."""
    width, top, height = WIDTH - MARGIN - 28, TOP + 6, 230
    x = scale([0.0, *(each[1] for each in levels)], MARGIN + 14, MARGIN + 14 + width, 6)
    y = scale([0.0, *(each[3] for each in levels)], top + height, top)
    places = {"baseline": [(x(each[1]), y(each[3])) for each in levels], "now": [(x(e[1]), y(e[2])) for e in levels]}
    curves = tuple(_Curve(side, line(points), points=tuple(points)) for side, points in places.items())
    panel = _Panel("", "", "", x, y, curves)
    heading = "Milliseconds by queries answered in a second"
    facts = f"median, and the 95th percentile dashed; from {levels[0][0]} to {levels[-1][0]}"
    drawing = _Panels(WIDTH, top + height + FOOT, heading, facts, (), (panel,), straight=False)
    return Chart("curves", f"{heading}, {inert_text(suite)}", said, drawing)


def query_curve_chart(suite: SuiteResult, documents: QueryDocuments) -> Chart | None:
    """The points of one query's rankings, and the interpolated steps over them; None without a relevant document."""
    sides = [(name, curve) for name, curve in (("baseline", documents.baseline), ("now", documents.now)) if curve]
    if not sides:
        return None
    heading = f"Precision at each recall, {isolated(cut_label(documents.query, 20))}"
    x, y = _axes(MARGIN, TOP + 6, (SMALL - MARGIN - 14, 150), 2)
    relevant = "" if documents.relevant is None else f"{format_count(documents.relevant, 'relevant document')}"
    panel = _Panel("", "", "recall", x, y, tuple(_query_curve(name, curve, x, y) for name, curve in sides))
    names = tuple(name for name, _ in reversed(sides))
    return Chart(
        "curves",
        f"{heading}, {inert_text(suite.name)}",
        f"{relevant}. " * bool(relevant) + " ".join(_found(name, curve) for name, curve in sides),
        _Panels(SMALL, TOP + 156 + FOOT - 4, heading, relevant, names, (panel,), straight=False),
    )


def _query_curve(side: str, curve: QueryCurve, x: Scale, y: Scale) -> _Curve:
    points = tuple((x(r), y(p)) for r, p in zip(curve.recall, curve.precision, strict=False))
    return _Curve(side, _steps(curve, x, y), points=points)


def _steps(curve: QueryCurve, x: Scale, y: Scale) -> str:
    """At each recall the best precision there or later; nothing beyond the last document that was found."""
    best = [*accumulate(reversed(curve.precision), max)][::-1]
    path = f"M{x(0)} {y(best[0])}" if best else f"M{x(0)} {y(0)}"
    for recall, value in zip(curve.recall, best, strict=False):
        path += f"V{y(value)}H{x(recall)}"
    return path + f"V{y(0)}H{x(1)}"


def _found(side: str, curve: QueryCurve) -> str:
    last = f" up to recall {figure(curve.recall[-1], 2)}" if curve.recall else ""
    return f"{side}: {format_count(len(curve.recall), 'relevant document')} found{last}."


COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, PANEL_MARGIN, PANEL_TOP, PANEL_FOOT = 3, 200, 150, 44, 82, 84
MOST_P = 0.15
"""P-values above this are at the upper edge."""


class CurvePanel(NamedTuple):
    """Curves of one metric; the side ``baseline`` is dashed, and ``now`` has a mark at each point."""

    label: str
    facts: str
    below: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
    x: tuple[float, float]
    """The least and the greatest value of the axis."""
    y: tuple[float, float] = (0, 1)
    powers: bool = False
    """Values of the horizontal axis are powers of ten."""


def curves_chart(heading: str, facts: str, panels: Sequence[CurvePanel]) -> Chart:
    """All panels, up to three beside each other."""
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    said = (f"{inert_text(each.label)}: {each.facts}." for each in panels)
    return Chart(
        "curves",
        heading,
        " ".join(said),
        _Panels(
            columns * (PANEL_WIDTH + PANEL_MARGIN) + 10,
            place(PANEL_TOP + lines * (PANEL_HEIGHT + PANEL_FOOT)),
            heading,
            facts,
            (),
            tuple(_plain_panel(each, number % columns, number // columns) for number, each in enumerate(panels)),
            straight=False,
        ),
    )


def _plain_panel(of: CurvePanel, column: int, row: int) -> _Panel:
    left, top = PANEL_MARGIN + column * (PANEL_WIDTH + PANEL_MARGIN), PANEL_TOP + row * (PANEL_HEIGHT + PANEL_FOOT)
    x = scale((math.floor(of.x[0]), math.ceil(of.x[1])) if of.powers else of.x, left, left + PANEL_WIDTH, 3)
    if of.powers:
        whole = range(round(x.low), round(x.high) + 1)
        x = replace(x, ticks=tuple(Tick(x(n), label(10**n, 10**n)) for n in whole))
    y = scale(of.y, top + PANEL_HEIGHT, top, 3)
    curves = tuple(_plain_curve(side, points, x, y) for side, points in of.curves.items())
    return _Panel(cut_label(of.label, 24), of.facts, of.below, x, y, curves)


def _plain_curve(side: str, points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> _Curve:
    placed = [(x(one), y(other)) for one, other in points]
    return _Curve(side, line(placed), points=tuple(placed) if side == "now" else ())


def significance_chart(found: Sequence[Discrimination], alpha: float) -> Chart:
    """The p-values of all pairs, a panel for each metric: the lower, the better. The straight line is alpha."""
    panels = [
        CurvePanel(
            each.metric,
            f"{each.significant} of {format_count(each.pairs, 'pair')} significant ({each.share:.1%})",
            "pair",
            {"baseline": [(0, alpha), (most, alpha)], "now": [*enumerate(each.curve, 1)]},
            (0, most),
            (0, MOST_P),
        )
        for each in found
        for most in [max(1, each.pairs)]
    ]
    facts = f"from the least to the most significant pair; dashes: alpha {alpha:g}"
    return curves_chart("P-values of all pairs of systems", facts, panels)


def click_rates_chart(shown: Sequence[int], clicks: Sequence[int]) -> Chart:
    """A curve over the ranks, which are at least one."""
    rates = [of / max(1, among) for of, among in zip(clicks, shown, strict=True)]
    width, height = 420, 200
    x = scale((1, max(2, len(rates))), PANEL_MARGIN, PANEL_MARGIN + width, 5)
    y = scale((0, max(rates)), PANEL_TOP + height, PANEL_TOP, 4)
    points = tuple((x(rank), y(rate)) for rank, rate in enumerate(rates, 1))
    facts = f"{format_count(sum(clicks), 'click')} on {shown[0]:,} lists"
    panel = _Panel("all queries", facts, "rank", x, y, (_Curve("now", line(points), points=points),))
    heading = "Click rate by rank"
    size = (width + PANEL_MARGIN + 10, PANEL_TOP + height + PANEL_FOOT)
    drawing = _Panels(*size, heading, "clicks, as a share of impressions", (), (panel,), straight=False)
    said = f"From {rates[0]:.1%} at rank 1 to {rates[-1]:.1%} at rank {len(rates)}."
    return Chart("curves", heading, said, drawing)


_HIGHEST = 4
"""The chart ends at this many times the last change, or above the change that was asked for: day 1 shows little."""


def detectable_chart(points: Sequence[tuple[int, float]], changes: Sequence[float], rate: float) -> Chart:
    """A curve over days; dashes are the changes that were asked for."""
    heading = "The smallest change that shows, by days"
    facts = f"change of a rate of {rate:g}; dashes: the changes worth finding" if changes else f"of a rate of {rate:g}"
    most = min(points[0][1], max(_HIGHEST * points[-1][1], *(1.2 * each for each in changes), 0.0))
    x = scale((0, points[-1][0]), 62, WIDTH - 14, 7)
    y = scale((0, most), 262, 72, 4)
    within = [(x(day), y(change)) for day, change in points if change <= y.high]
    curves = [_Curve("baseline", line([(x.start, y(each)), (x.end, y(each))])) for each in changes if each <= y.high]
    curves.append(_Curve("now", line(within)))
    (first, before), (last, after) = points[0], points[-1]
    return Chart(
        "curves",
        heading,
        f"{heading}: {before:.3g} after day {first}, {after:.3g} after day {last}.",
        _Panels(WIDTH, 310, heading, facts, (), (_Panel("", "", "", x, y, tuple(curves)),), straight=False),
    )
