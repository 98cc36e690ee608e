"""How the values of a metric are spread over the queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_ireval.reports.charts.chart import WIDTH, Chart, Scale, counted_queries, inert_text, scale, steps
from pytest_ireval.results.suite_result import Distribution, SuiteResult

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
        metric=of.metric,
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
