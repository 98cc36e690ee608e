"""The p-values of all pairs of systems, for each metric: the lower the curve, the better it tells them apart."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.reports.charts.chart import Chart, cut_label, inert_text, line, place, scale
from pytest_ireval.reports.charts.recall_precision import Curve, Panel, RecallPrecisionPanels
from pytest_ireval.results.comparison import Discrimination
from pytest_ireval.text_table import counted

COLUMNS, WIDTH, HEIGHT, MARGIN, TOP, FOOT = 3, 200, 150, 44, 82, 84
MOST = 0.15
"""P-values above this are at the upper edge."""


def significance_chart(found: Sequence[Discrimination], alpha: float) -> Chart:
    """A panel for each metric; the straight line is alpha."""
    columns = min(COLUMNS, len(found))
    rows = -(-len(found) // columns)
    heading = "P-values of all pairs of systems"
    said = (f"{inert_text(each.metric)}: {_facts(each)}." for each in found)
    return Chart(
        "significance",
        "recall_precision",  # the same drawing: panels with curves
        heading,
        " ".join(said),
        RecallPrecisionPanels(
            columns * (WIDTH + MARGIN) + 10,
            place(TOP + rows * (HEIGHT + FOOT)),
            heading,
            f"from the least to the most significant pair; dashes: alpha {alpha:g}",
            (),
            tuple(_panel(each, alpha, number % columns, number // columns) for number, each in enumerate(found)),
            straight=False,
        ),
        ("metric", "pair", "p"),
        tuple((each.metric, number, p) for each in found for number, p in enumerate(each.curve, 1)),
    )


def _panel(of: Discrimination, alpha: float, column: int, row: int) -> Panel:
    left, top = MARGIN + column * (WIDTH + MARGIN), TOP + row * (HEIGHT + FOOT)
    x = scale((0, max(1, of.pairs)), left, left + WIDTH, 3)
    y = scale((0, MOST), top + HEIGHT, top, 3)
    points = [(x(number), y(p)) for number, p in enumerate(of.curve, 1)]
    curves = (
        Curve("baseline", line([(x.start, y(alpha)), (x.end, y(alpha))])),
        Curve("now", line(points), points=tuple(points)),
    )
    return Panel(cut_label(of.metric, 24), _facts(of), "pair", x, y, curves)


def _facts(of: Discrimination) -> str:
    return f"{of.significant} of {counted(of.pairs, 'pair')} significant ({of.share:.1%})"
