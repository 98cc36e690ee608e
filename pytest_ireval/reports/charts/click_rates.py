"""The click rate of each rank."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.reports.charts.chart import Chart, line, scale
from pytest_ireval.reports.charts.recall_precision import Curve, Panel, RecallPrecisionPanels
from pytest_ireval.text_table import counted

WIDTH, HEIGHT, LEFT, TOP, FOOT = 420, 200, 44, 82, 84


def click_rates_chart(shown: Sequence[int], clicks: Sequence[int]) -> Chart:
    """A curve over the ranks, which are at least one."""
    rates = [of / max(1, among) for of, among in zip(clicks, shown, strict=True)]
    x = scale((1, max(2, len(rates))), LEFT, LEFT + WIDTH, 5)
    y = scale((0, max(rates)), TOP + HEIGHT, TOP, 4)
    points = tuple((x(rank), y(rate)) for rank, rate in enumerate(rates, 1))
    facts = f"{counted(sum(clicks), 'click')} on {shown[0]:,} lists"
    panel = Panel("all queries", facts, "rank", x, y, (Curve("now", line(points), points=points),))
    heading = "Click rate by rank"
    size = (WIDTH + LEFT + 10, TOP + HEIGHT + FOOT)
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
