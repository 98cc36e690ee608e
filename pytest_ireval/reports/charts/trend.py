"""One figure from run to run, with the runs in which a baseline was accepted or pinned."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_ireval.reports.charts.chart import (
    WIDTH,
    Chart,
    Scale,
    Tick,
    cut_label,
    inert_text,
    line,
    place,
    scale,
    short,
)
from pytest_ireval.results.suite_result import Accepted, SuiteResult, Trend, TrendPoint
from pytest_ireval.text_table import counted

LEFT, RIGHT, TOP, GROUND, HEIGHT = 62, WIDTH - 76, 82, 232, 268
LAST, APART, REASON = 400, 96.0, 60
"""The most runs that are drawn, the room of a date below the axis, and the most characters of a reason."""


@dataclass(frozen=True)
class Run:
    """One run; ``shape`` is its verdict, or ``none``."""

    x: float
    y: float
    shape: str
    this: bool
    said: str


@dataclass(frozen=True)
class Mark:
    """A moment that matters: accepted, or pinned as the anchor."""

    x: float
    anchor: bool
    said: str


@dataclass(frozen=True)
class TrendLine:
    """The places of everything in such a chart."""

    heading: str
    facts: str
    y: Scale
    dates: tuple[Tick, ...]
    path: str
    dots: str
    """The runs without a mark of their own."""
    runs: tuple[Run, ...]
    marks: tuple[Mark, ...]
    last: str
    last_at: float
    shapes: tuple[str, ...]
    top: float = TOP - 14
    left: float = LEFT
    right: float = RIGHT
    ground: float = GROUND
    height: int = HEIGHT
    width: int = WIDTH


def trend_chart(suite: SuiteResult, trend: Trend) -> Chart | None:
    """The chart of one figure; None where fewer than two runs have it."""
    every = [point for point in trend.points if math.isfinite(point.value)]
    if len(every) < 2:
        return None
    points = every[-LAST:]
    name = inert_text(trend.metric) + ("" if trend.slice == "all" else f" on {cut_label(trend.slice, REASON)}")
    heading = f"{name} from run to run"
    facts = _facts(points, len(every))
    return Chart(
        "trend",
        f"{heading}, {inert_text(suite.name)}",
        f"{heading}: {facts}. {_ends(points)}",
        _drawing(points, [each for each in suite.acceptances if each.anchor], heading, facts),
        metric=trend.metric,
        slice=trend.slice,
    )


def _facts(points: Sequence[TrendPoint], every: int) -> str:
    runs = f"the last {len(points)} of {every:,} runs" if every > len(points) else counted(every, "run")
    failed = sum(point.verdict == "fail" for point in points)
    accepted = sum(point.accepted for point in points)
    more = (f"{failed} failed" if failed else "", f"{accepted} accepted" if accepted else "")
    return ", ".join(filter(None, (runs, f"{points[0].date[:10]} to {points[-1].date[:10]}", *more)))


def _ends(points: Sequence[TrendPoint]) -> str:
    values = [point.value for point in points]
    return (
        f"From {short(values[0])} to {short(values[-1])}; the lowest was {short(min(values))}, "
        f"the highest {short(max(values))}."
    )


def _drawing(points: Sequence[TrendPoint], anchors: Sequence[Accepted], heading: str, facts: str) -> TrendLine:
    x = Scale(0, len(points) - 1, LEFT + 8, RIGHT - 8)
    y = scale(_wide([point.value for point in points]), GROUND, TOP, 4)
    places = [(x(number), y(point.value)) for number, point in enumerate(points)]
    special = [point.this or point.verdict not in (None, "pass") for point in points]
    dots = "".join(f"M{x} {y}h0" for (x, y), more in zip(places, special, strict=True) if not more)
    pairs = zip(points, places, special, strict=True)
    runs = tuple(Run(*at, each.verdict or "none", each.this, _said(each)) for each, at, more in pairs if more)
    accepted = (Mark(x(i), anchor=False, said=_said(each)) for i, each in enumerate(points) if each.accepted)
    marks = (*accepted, *_pinned(points, anchors, x))
    shapes = dict.fromkeys(run.shape for run in runs if run.shape not in ("pass", "none"))
    kinds = [kind for kind, there in (("accepted", False), ("anchor", True)) if any(m.anchor == there for m in marks)]
    return TrendLine(
        heading=heading,
        facts=facts,
        y=y,
        dates=tuple(_dates(points, x)),
        path=line(places),
        dots=dots,
        runs=runs,
        marks=marks,
        last=short(points[-1].value),
        last_at=places[-1][1],
        shapes=(*shapes, *kinds, *(["this"] if any(point.this for point in points) else [])),
    )


def _wide(values: Sequence[float]) -> list[float]:
    """The values, and a range around them in which a change of next to nothing looks like that."""
    low, high = min(values), max(values)
    missing = 0.02 * max(abs(low), abs(high)) - (high - low)
    return [*values, low - missing / 2, high + missing / 2] if missing > 0 else [*values]


def _said(point: TrendPoint) -> str:
    parts = [point.date[:16].replace("T", " "), inert_text(point.commit[:7]), short(point.value), point.verdict or ""]
    reason = f"accepted{': ' * bool(point.reason)}{cut_label(point.reason, REASON)}" if point.accepted else ""
    return ", ".join(filter(None, [*parts, reason, "this run" if point.this else ""]))


def _pinned(points: Sequence[TrendPoint], anchors: Sequence[Accepted], x: Scale) -> Iterator[Mark]:
    """Between the runs before and after it; one that is older than all of them is left to the words of the page."""
    dates = [point.date for point in points]
    for each in anchors:
        after = bisect_right(dates, each.date)
        if after:
            on_it = dates[after - 1] == each.date or after == len(dates)
            words = f"anchor, {each.date[:10]}{': ' * bool(each.reason)}{cut_label(each.reason, REASON)}"
            yield Mark(x(after - 1 if on_it else after - 0.5), anchor=True, said=words)


def _dates(points: Sequence[TrendPoint], x: Scale) -> Iterator[Tick]:
    """The first, the last, and as many days between as have room; no day twice."""
    last = len(points) - 1
    step = max(1, math.ceil(last / ((RIGHT - LEFT) // APART)))
    between = [number for number in range(last, 0, -step) if number == last or x(number) - x(0) >= APART]
    before = ""
    for number in (0, *reversed(between)):
        day = inert_text(points[number].date[:10])
        if day != before:
            yield Tick(place(x(number)), day)
        before = day
