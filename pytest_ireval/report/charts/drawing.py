"""Charts as SVG: inside a page, or as a file of its own."""

from __future__ import annotations

import re

from markupsafe import Markup

from pytest_ireval.report.charts.chart import Chart
from pytest_ireval.report.templates import get_environment

COLOURS = {
    "panel": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "soft": ("#59636e", "#9da7b3"),
    "line": ("#d1d9e0", "#3d444d"),
    "worse": ("#96162c", "#ffb3a8"),
    "better": ("#4393c3", "#3d7fae"),
    "same": ("#8c959f", "#8b949e"),
    "now": ("#0b5cad", "#79b8ff"),
    "baseline": ("#6e7781", "#9da7b3"),
    "accent": ("#6639ba", "#c9a8ff"),
    "warn": ("#9a6700", "#d4a72c"),
}
"""Of a file of its own, light and dark; a page has custom properties of these names. Programs that draw SVG without a
browser know no such properties, so a file has the colours themselves."""
VARIABLE = re.compile(r"var\(--(\w+)(?:-fill, var\(--\1\))?\)")


def draw_on_page(chart: Chart) -> Markup:
    """Classes only, whose style the page brings along; bars and rules are links within the page."""
    return _draw(chart)


def draw_file(chart: Chart) -> str:
    """With its own style, light and dark, and without links, as nothing is there to lead to."""
    return f"{_draw(chart, make_style())}\n"


def _draw(chart: Chart, style: str = "") -> Markup:
    macros = get_environment().get_template("charts.svg.jinja").module
    drawn: Markup = macros.svg(chart, style)  # type: ignore[attr-defined]
    return drawn


def make_style() -> str:
    """The style of charts with its colours in it, light and dark."""
    plain = f"svg.chart {{ background: var(--panel) }}\n{get_environment().get_template('charts.css').render()}"
    return f"{_insert_colours(plain, 0)}@media (prefers-color-scheme: dark) {{\n{_insert_colours(plain, 1)}}}\n"


def _insert_colours(style: str, scheme: int) -> str:
    return VARIABLE.sub(lambda found: COLOURS[found[1]][scheme], style)
