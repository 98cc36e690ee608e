"""The smallest change of a rate that an A/B test shows, by the days that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.reports.charts.chart import WIDTH, Chart, line, scale
from pytest_ireval.reports.charts.recall_precision import Curve, Panel, RecallPrecisionPanels

LEFT, RIGHT, TOP, GROUND, HEIGHT = 62, WIDTH - 14, 72, 262, 310
HIGHEST = 4
"""The chart ends at this many times the last change, or above the change that was asked for: day 1 shows little."""


def detectable_chart(points: Sequence[tuple[int, float]], changes: Sequence[float], rate: float) -> Chart:
    """A curve over days; dashes are the changes that were asked for."""
    heading = "The smallest change that shows, by days"
    facts = f"change of a rate of {rate:g}; dashes: the changes worth finding" if changes else f"of a rate of {rate:g}"
    most = min(points[0][1], max(HIGHEST * points[-1][1], *(1.2 * each for each in changes), 0.0))
    x = scale((0, points[-1][0]), LEFT, RIGHT, 7)
    y = scale((0, most), GROUND, TOP, 4)
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
            WIDTH, HEIGHT, heading, facts, (), (Panel("", "", "", x, y, tuple(curves)),), straight=False
        ),
        ("day", "change"),
        tuple(points),
    )
