"""How the values of a metric are spread over the queries, now and before."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_ireval.plurals import counted
from pytest_ireval.reports.charts.chart import WIDTH, Chart, Row, Scale, chart_name, inert_text, scale, steps
from pytest_ireval.results.suite_result import Distribution, SuiteResult

LEFT, RIGHT, TOP, GROUND, HEIGHT = 62, WIDTH - 14, 72, 232, 270


@dataclass(frozen=True)
class Histogram:
    """Where everything of such a chart stands."""

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
    y = _counts((*of.now, *of.baseline))
    name = inert_text(of.metric)
    heading = f"{name}: how many queries have which value"
    facts = _counted_queries(count) + (f" now, {before:,} in the baseline" if before and before != count else "")
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


def _counted_queries(count: int) -> str:
    """``7,000 queries``."""
    return counted(count, "query").replace(str(count), f"{count:,}", 1)


def _counts(counts: Sequence[int]) -> Scale:
    """From 0; with ticks at whole numbers only."""
    most = max(1, *counts)
    return scale((0, most), GROUND, TOP, min(4, most))


def _outline(edges: Sequence[float], counts: Sequence[int], x: Scale, y: Scale) -> str:
    """Edges that are one value are a bar all the same."""
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
