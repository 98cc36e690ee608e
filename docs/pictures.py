"""Draws the pictures of the pages, from the same functions that the gate decides with, and that reports draw with.

python docs/pictures.py        writes docs/pictures/*.svg
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_ireval import Policies, compare
from pytest_ireval.report.charts.comparison import CURVE_METRICS, make_comparison_chart
from pytest_ireval.report.charts.drawing import draw_file
from pytest_ireval.statistics.resolution import resolution

FOLDER = Path(__file__).parent / "pictures"
DATA = Path(__file__).parents[1] / "examples" / "data"
INK, FAINT, GOOD, BAD, OPEN = "#24292f", "#d0d7de", "#1a7f37", "#a40e26", "#9a6700"
VERDICTS = (
    ("pass: it fell by less than 2%, whatever the interval", -5.0, -1.2, 2.6, GOOD),
    ("pass: it fell, but by less than 2%", -2.6, -1.5, -0.4, GOOD),
    ("fail: beyond 2%, and chance is ruled out", -5.2, -3.1, -1.0, BAD),
    ("inconclusive: beyond 2%, and it may be chance", -7.4, -3.1, 1.2, OPEN),
    ("fail: beyond the hard limit of 10%, whatever the interval", -11.4, -10.5, 0.6, BAD),
)
"""Words, the lower end of the interval, the observed change, and the upper end, in per cent."""
SPREADS = ((0.4, "reciprocal rank"), (0.1, "nDCG"), (0.03, "few changed"))
"""Standard deviations of the differences, and where they are usual."""
SHOWN = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
DROPS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def pictures() -> dict[str, str]:
    """Each file's text by its name."""
    return {"verdicts.svg": verdicts(), "queries.svg": queries(), "comparison.svg": comparison()}


def comparison() -> str:
    """Two rankings of the example, as ``ireval compare --svg`` draws them."""
    rankings = {name: DATA / f"{name}.txt" for name in ("rankings", "reranked")}
    found = compare(
        DATA / "judgments.txt", rankings, ["nDCG@10", *CURVE_METRICS], policies=Policies(missing_queries="zero")
    )
    return draw_file(make_comparison_chart(found, ["nDCG@10"]))


def verdicts() -> str:
    """The observed change decides first, then whether the interval reaches no change."""
    left, scale, top = 520.0, 44.0, 56.0
    lines = [text(left, 24, "no change", anchor="middle"), line(left, 34, left, 262)]
    for limit, words in ((2, "tolerance"), (10, "hard limit")):
        x = left - limit * scale
        lines += [text(x, 24, f"{words} {limit}%", BAD, anchor="middle"), line(x, 34, x, 262, BAD, dashed=True)]
    for row, (label, low, change, high, colour) in enumerate(VERDICTS):
        y = top + 44 * row
        lines.append(line(left + low * scale, y + 14, left + high * scale, y + 14, colour, width=4))
        lines.append(dot(left + change * scale, y + 14, colour))
        lines.append(text(16, y - 2, label, colour))
    return drawn("The change with its 90% interval, and the verdict", 640, 284, lines)


def queries() -> str:
    """The smallest drop that so many queries show, for usual spreads of the differences."""
    lines = [text(16, 24, "smallest drop of the mean that is shown in 80% of cases, by the spread of the differences")]
    for drop in DROPS:
        lines += [line(70, _y(drop), 610, _y(drop), FAINT), text(62, _y(drop) + 4, f"{drop:g}", anchor="end")]
    lines += [text(_x(count), 318, f"{count:,}", anchor="middle") for count in SHOWN]
    lines.append(text(610, 342, "queries", anchor="end"))
    for spread, label in SPREADS:
        points = [(_x(count), _y(resolution(spread, count) or 1.0)) for count in SHOWN]
        lines.append(path(points))
        x, y = points[4]
        lines.append(text(x + 4, y - 8, f"{spread:g}: {label}"))
    return drawn("How many queries show how small a drop", 640, 356, lines)


def _x(count: int) -> float:
    low, high = math.log(SHOWN[0]), math.log(SHOWN[-1])
    return 80 + (math.log(count) - low) / (high - low) * 510


def _y(drop: float) -> float:
    low, high = math.log(DROPS[-1]), math.log(DROPS[0])
    return 296 - (math.log(drop) - low) / (high - low) * 240


def drawn(title: str, width: int, height: int, lines: Sequence[str]) -> str:
    """A whole picture, with a name for those who cannot see it."""
    return "\n".join(_drawn(title, width, height, lines)) + "\n"


def _drawn(title: str, width: int, height: int, lines: Sequence[str]) -> Iterator[str]:
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="system-ui, sans-serif" font-size="13">'
    )
    yield f"<title>{title}</title>"
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    yield from lines
    yield "</svg>"


def line(
    x: float, y: float, to_x: float, to_y: float, colour: str = INK, width: int = 1, *, dashed: bool = False
) -> str:
    """A straight line."""
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{dashes}/>'
    )


def path(points: Sequence[tuple[float, float]]) -> str:
    """A line through points."""
    through = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{through}" fill="none" stroke="{INK}" stroke-width="2"/>'


def dot(x: float, y: float, colour: str) -> str:
    """A point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'


def text(x: float, y: float, words: str, colour: str = INK, anchor: str = "start") -> str:
    """Words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


if __name__ == "__main__":
    for name, content in pictures().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
