"""Curves about metrics, a panel for each: p-values of all pairs of systems, and how orders of systems agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.reports.charts.chart import Chart, Row, Scale, Tick, cut_label, inert_text, label, line, place, scale
from pytest_ireval.reports.charts.recall_precision import Curve, Panel, RecallPrecisionPanels
from pytest_ireval.results.comparison import Discrimination
from pytest_ireval.text_table import counted

COLUMNS, WIDTH, HEIGHT, MARGIN, TOP, FOOT = 3, 200, 150, 44, 82, 84
MOST = 0.15
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
            columns * (WIDTH + MARGIN) + 10,
            place(TOP + lines * (HEIGHT + FOOT)),
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
    left, top = MARGIN + column * (WIDTH + MARGIN), TOP + row * (HEIGHT + FOOT)
    x = scale((math.floor(of.x[0]), math.ceil(of.x[1])) if of.powers else of.x, left, left + WIDTH, 3)
    if of.powers:
        whole = range(round(x.low), round(x.high) + 1)
        x = replace(x, ticks=tuple(Tick(x(n), label(10**n, 10**n)) for n in whole))
    y = scale(of.y, top + HEIGHT, top, 3)
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
            (0, MOST),
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
