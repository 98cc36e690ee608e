"""Charts of curves: p-values of pairs of systems, orders of systems, click rates, and changes that a test shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.reports.charts.chart import (
    WIDTH,
    Chart,
    Row,
    Scale,
    Tick,
    cut_label,
    inert_text,
    label,
    line,
    place,
    scale,
)
from pytest_ireval.reports.charts.recall_precision import Curve, Panel, RecallPrecisionPanels
from pytest_ireval.results.comparison import Discrimination
from pytest_ireval.text_table import counted

COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, MARGIN, TOP, FOOT = 3, 200, 150, 44, 82, 84
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


def curves_chart(
    name: str, heading: str, facts: str, panels: Sequence[CurvePanel], header: tuple[str, ...], rows: Sequence[Row]
) -> Chart:
    """All panels, up to three beside each other."""
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    said = (f"{inert_text(each.label)}: {each.facts}." for each in panels)
    return Chart(
        name,
        "recall_precision",  # the same drawing: panels with curves
        heading,
        " ".join(said),
        RecallPrecisionPanels(
            columns * (PANEL_WIDTH + MARGIN) + 10,
            place(TOP + lines * (PANEL_HEIGHT + FOOT)),
            heading,
            facts,
            (),
            tuple(_panel(each, number % columns, number // columns) for number, each in enumerate(panels)),
            straight=False,
        ),
        header,
        tuple(rows),
    )


def _panel(of: CurvePanel, column: int, row: int) -> Panel:
    left, top = MARGIN + column * (PANEL_WIDTH + MARGIN), TOP + row * (PANEL_HEIGHT + FOOT)
    x = scale((math.floor(of.x[0]), math.ceil(of.x[1])) if of.powers else of.x, left, left + PANEL_WIDTH, 3)
    if of.powers:
        whole = range(round(x.low), round(x.high) + 1)
        x = replace(x, ticks=tuple(Tick(x(n), label(10**n, 10**n)) for n in whole))
    y = scale(of.y, top + PANEL_HEIGHT, top, 3)
    curves = tuple(_curve(side, points, x, y) for side, points in of.curves.items())
    return Panel(cut_label(of.label, 24), of.facts, of.below, x, y, curves)


def _curve(side: str, points: Sequence[tuple[float, float]], x: Scale, y: Scale) -> Curve:
    placed = [(x(one), y(other)) for one, other in points]
    return Curve(side, line(placed), points=tuple(placed) if side == "now" else ())


def significance_chart(found: Sequence[Discrimination], alpha: float) -> Chart:
    """The p-values of all pairs, a panel for each metric: the lower, the better. The straight line is alpha."""
    panels = [
        CurvePanel(
            each.metric,
            f"{each.significant} of {counted(each.pairs, 'pair')} significant ({each.share:.1%})",
            "pair",
            {"baseline": [(0, alpha), (most, alpha)], "now": [*enumerate(each.curve, 1)]},
            (0, most),
            (0, MOST_P),
        )
        for each in found
        for most in [max(1, each.pairs)]
    ]
    return curves_chart(
        "significance",
        "P-values of all pairs of systems",
        f"from the least to the most significant pair; dashes: alpha {alpha:g}",
        panels,
        ("metric", "pair", "p"),
        [(each.metric, number, p) for each in found for number, p in enumerate(each.curve, 1)],
    )


def click_rates_chart(shown: Sequence[int], clicks: Sequence[int]) -> Chart:
    """A curve over the ranks, which are at least one."""
    rates = [of / max(1, among) for of, among in zip(clicks, shown, strict=True)]
    width, height = 420, 200
    x = scale((1, max(2, len(rates))), MARGIN, MARGIN + width, 5)
    y = scale((0, max(rates)), TOP + height, TOP, 4)
    points = tuple((x(rank), y(rate)) for rank, rate in enumerate(rates, 1))
    facts = f"{counted(sum(clicks), 'click')} on {shown[0]:,} lists"
    panel = Panel("all queries", facts, "rank", x, y, (Curve("now", line(points), points=points),))
    heading = "Click rate by rank"
    size = (width + MARGIN + 10, TOP + height + FOOT)
    drawing = RecallPrecisionPanels(*size, heading, "clicks, as a share of impressions", (), (panel,), straight=False)
    said = f"From {rates[0]:.1%} at rank 1 to {rates[-1]:.1%} at rank {len(rates)}."
    rows = tuple((rank, *counts) for rank, counts in enumerate(zip(shown, clicks, rates, strict=True), 1))
    return Chart(
        "click_rates",
        "recall_precision",  # the same drawing: a panel with a curve
        heading,
        said,
        drawing,
        ("rank", "shown", "clicks", "click_rate"),
        rows,
    )


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
    curves = [Curve("baseline", line([(x.start, y(each)), (x.end, y(each))])) for each in changes if each <= y.high]
    curves.append(Curve("now", line(within)))
    (first, before), (last, after) = points[0], points[-1]
    return Chart(
        "detectable",
        "recall_precision",  # the same drawing: a panel with curves
        heading,
        f"{heading}: {before:.3g} after day {first}, {after:.3g} after day {last}.",
        RecallPrecisionPanels(
            WIDTH, 310, heading, facts, (), (Panel("", "", "", x, y, tuple(curves)),), straight=False
        ),
        ("day", "change"),
        tuple(points),
    )
