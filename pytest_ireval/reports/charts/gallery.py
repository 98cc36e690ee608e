"""All charts of a suite, in the order of a page."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_ireval.reports.charts.chart import (
    WIDTH,
    Chart,
    Row,
    Scale,
    chart_name,
    counted_queries,
    inert_text,
    scale,
    steps,
    told_apart,
)
from pytest_ireval.reports.charts.curves import recall_precision_chart
from pytest_ireval.reports.charts.differences import differences_chart, intervals_chart
from pytest_ireval.reports.charts.trend import trend_chart
from pytest_ireval.results.suite_result import Distribution, SuiteResult

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup


def charts_of(suite: SuiteResult) -> tuple[Chart, ...]:
    """Rules first, then queries, then rankings, then values, then time; what has nothing to show is left out."""
    found = [replace(chart, metric=metric, slice=part) for metric, part, chart in _charts(suite) if chart is not None]
    names = told_apart(chart.name for chart in found)
    return tuple(replace(chart, name=name) for chart, name in zip(found, names, strict=True))


def _charts(suite: SuiteResult) -> Iterator[tuple[str, str, Chart | None]]:
    yield "", "", intervals_chart(suite)
    yield from ((metric.name, "", differences_chart(suite, metric)) for metric in suite.metrics)
    yield "", "", recall_precision_chart(suite)
    yield from ((each.metric, "", distribution_chart(suite, each)) for each in suite.distributions)
    yield from ((each.metric, each.slice, trend_chart(suite, each)) for each in suite.trends)


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


def svg_of(chart: Chart, environment: jinja2.Environment) -> Markup:
    """For a page: classes only, whose style the page brings along; bars and rules are links within the page."""
    return _drawn(chart, environment, alone=False)


def svg_file(chart: Chart, environment: jinja2.Environment) -> str:
    """For a file: with its own style, light and dark, and without links, as nothing is there to lead to."""
    return f"{_drawn(chart, environment, alone=True)}\n"


def _drawn(chart: Chart, environment: jinja2.Environment, *, alone: bool) -> Markup:
    macros = environment.get_template("charts.svg.jinja").module
    drawn: Markup = macros.svg(chart, own_style(environment) if alone else "")  # type: ignore[attr-defined]
    return drawn


def own_style(environment: jinja2.Environment) -> str:
    """The style of charts with its colours in it, light and dark."""
    plain = f"svg.chart {{ background: var(--panel) }}\n{environment.get_template('charts.css').render()}"
    return f"{_coloured(plain, 0)}@media (prefers-color-scheme: dark) {{\n{_coloured(plain, 1)}}}\n"


def _coloured(style: str, scheme: int) -> str:
    return VARIABLE.sub(lambda found: COLOURS[found[1]][scheme], style)


FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""The beginnings that a spreadsheet takes for those of a formula."""


def csv_of(chart: Chart) -> str:
    """The numbers with all their digits; a text that would be a formula gets an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(chart.header)
    for row in chart.rows:
        writer.writerow(f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in row)
    return text.getvalue()


LEFT, RIGHT, TOP, GROUND, HEIGHT = 62, WIDTH - 14, 72, 232, 270


@dataclass(frozen=True)
class Histogram:
    """The places of everything in such a chart."""

    heading: str
    facts: str
    x: Scale
    y: Scale
    now: str
    baseline: str
    """Empty without one."""
    metric: str
    sides: tuple[str, ...]
    height: int = HEIGHT
    width: int = WIDTH


def distribution_chart(suite: SuiteResult, of: Distribution) -> Chart | None:
    """The chart of one metric; None where no query has a value."""
    count = sum(of.now)
    if not count or len(of.edges) < 2 or not all(map(math.isfinite, of.edges)):
        return None
    before = sum(of.baseline)
    x = scale((of.edges[0], of.edges[-1]), LEFT, RIGHT, 5)
    most = max(1, *of.now, *of.baseline)
    y = scale((0, most), GROUND, TOP, min(4, most))  # from 0, with ticks at whole numbers only
    name = inert_text(of.metric)
    heading = f"{name}: how many queries have which value"
    facts = counted_queries(count) + (f" now, {before:,} in the baseline" if before and before != count else "")
    return Chart(
        chart_name(suite.name, "distribution", of.metric),
        "distribution",
        f"{heading}, {inert_text(suite.name)}",
        f"{heading}, {facts}. {_most('now', of.edges, of.now)}"
        + (f" {_most('in the baseline', of.edges, of.baseline)}" if before else ""),
        Histogram(
            heading,
            facts,
            x,
            y,
            _outline(of.edges, of.now, x, y),
            _outline(of.edges, of.baseline, x, y) if before else "",
            name,
            ("now", "baseline") if before else ("now",),
        ),
        ("metric", "from", "to", "now", "baseline"),
        tuple(_rows(of)),
    )


def _outline(edges: Sequence[float], counts: Sequence[int], x: Scale, y: Scale) -> str:
    """The outline of the bars; edges that are one value are a bar all the same."""
    places = [x(edge) for edge in edges]
    if places[0] == places[-1]:
        places = [places[0] - 4 + 8 * number / len(counts) for number in range(len(places))]
    return steps(places, [y(count) for count in counts], GROUND)


def _most(side: str, edges: Sequence[float], counts: Sequence[int]) -> str:
    most = max(counts)
    at = counts.index(most)
    return f"Most of them {side}: {most:,} from {edges[at]:g} to {edges[at + 1]:g}."


def _rows(of: Distribution) -> Iterator[Row]:
    for number, count in enumerate(of.now):
        before = of.baseline[number] if number < len(of.baseline) else None
        yield of.metric, of.edges[number], of.edges[number + 1], count, before
