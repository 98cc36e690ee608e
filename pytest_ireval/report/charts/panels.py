"""Curves in panels: what the template draws, and pictures of curves for commands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from pytest_ireval.report.charts.chart import (
    Chart,
    Scale,
    Tick,
    clean_text,
    format_label,
    make_path,
    make_scale,
    round_place,
    truncate_label,
)


class DrawnCurve(NamedTuple):
    """One side of a panel."""

    side: str
    path: str
    straight: str = ""
    """The line that follows from R-precision alone."""
    r_x: float = 0
    r_y: float = 0
    points: tuple[tuple[float, float], ...] = ()


class DrawnPanel(NamedTuple):
    """One pair of axes."""

    label: str
    facts: str
    below: str
    x: Scale
    y: Scale
    curves: tuple[DrawnCurve, ...]
    """The baseline first: the current curve is drawn over it."""


class PanelDrawing(NamedTuple):
    """The places of everything in such a chart."""

    width: int
    height: float
    heading: str
    facts: str
    sides: tuple[str, ...]
    panels: tuple[DrawnPanel, ...]
    straight: bool


class Curve(NamedTuple):
    """A curve through points of a panel."""

    points: Sequence[tuple[float, float]]
    dashed: bool = False
    marks: bool = False
    """Each point has a mark."""


class CurvePanel(NamedTuple):
    """Curves over the same axes."""

    label: str
    facts: str
    below: str
    """What the horizontal axis shows."""
    curves: Sequence[Curve]
    """Later ones are drawn over earlier ones."""
    x: tuple[float, float]
    """The least and the greatest value of the axis."""
    y: tuple[float, float] = (0, 1)
    powers: bool = False
    """Values of the horizontal axis are powers of ten."""


COLUMNS, MARGIN, TOP, FOOT = 3, 44, 82, 84
SIZE, SIZE_ALONE = (200, 150), (560, 210)
"""Width and height of a panel among several, and of one by itself."""


def draw_curves(heading: str, facts: str, panels: Sequence[CurvePanel], summary: str = "") -> str:
    """Draw the panels as an SVG file, up to three beside each other.

    ``summary`` says in a sentence what the picture shows, for readers who cannot see it; without one, the facts of the
    panels do.
    """
    from pytest_ireval.report.charts.drawing import draw_file  # imports Jinja, which a command without a picture avoids

    columns = min(COLUMNS, len(panels))
    width, height = SIZE_ALONE if len(panels) == 1 else SIZE
    drawn = []
    for number, panel in enumerate(panels):
        row, column = divmod(number, columns)
        left, top = MARGIN + column * (width + MARGIN), TOP + row * (height + FOOT)
        drawn.append(_place_panel(panel, (left, left + width), (top + height, top), alone=len(panels) == 1))
    rows = -(-len(panels) // columns)
    drawing = PanelDrawing(
        columns * (width + MARGIN) + 10,
        round_place(TOP + rows * (height + FOOT)),
        heading,
        facts,
        (),
        tuple(drawn),
        straight=False,
    )
    summary = summary or " ".join(f"{clean_text(each.label)}: {each.facts}." for each in panels)
    return draw_file(Chart("curves", heading, summary, drawing))


def _place_panel(panel: CurvePanel, across: tuple[float, float], up: tuple[float, float], *, alone: bool) -> DrawnPanel:
    ends = (math.floor(panel.x[0]), math.ceil(panel.x[1])) if panel.powers else panel.x
    x = make_scale(ends, *across, 6 if alone else 3)
    y = make_scale(panel.y, *up, 4 if alone else 3)
    if panel.powers:
        whole = range(round(x.low), round(x.high) + 1)
        x = x._replace(ticks=tuple(Tick(x(n), format_label(10**n, 10**n)) for n in whole))
    curves = tuple(_place_curve(curve, x, y) for curve in panel.curves)
    return DrawnPanel(truncate_label(panel.label, 80 if alone else 24), panel.facts, panel.below, x, y, curves)


def _place_curve(curve: Curve, x: Scale, y: Scale) -> DrawnCurve:
    points = tuple((x(one), y(other)) for one, other in curve.points)
    return DrawnCurve("baseline" if curve.dashed else "now", make_path(points), points=points if curve.marks else ())
