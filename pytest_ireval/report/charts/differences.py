"""The change of each query, sorted: the worst on the left, the best on the right, the unchanged between."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from pytest_ireval.report.charts.chart import (
    MAX_QUERY_LENGTH,
    WIDTH,
    Chart,
    Scale,
    clean_text,
    format_short,
    isolate_direction,
    make_outline,
    make_scale,
    round_place,
    truncate_label,
)
from pytest_ireval.report.commands import make_fragment, make_query_anchor
from pytest_ireval.report.formatting import format_change
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult
from pytest_ireval.words import format_count

TIE = 1e-12
"""A smaller difference is rounding, as it is where the gate counts."""
UTMOST = {"worse": "worst", "better": "best", "less": "least", "more": "most"}


def make_differences_chart(suite: SuiteResult, metric: MetricFigures) -> Chart | None:
    """The chart of one metric; None where no query has a value on both sides."""
    now, before = suite.queries.now.get(metric.name, ()), suite.queries.baseline.get(metric.name, ())
    sign = -1 if metric.direction == "lower" else 1
    every = [_compute_gain(a, b, sign) for a, b in zip(now, before, strict=False)]
    compared = len(every) - every.count(None)
    if not compared:
        return None
    changed = sorted(Changed(gain, number) for number, gain in enumerate(every) if gain)
    worse, better = [each for each in changed if each.gain < 0], [each for each in changed if each.gain > 0]
    same, left_out = compared - len(changed), len(suite.queries.ids) - compared
    facts = _describe_changes(metric, len(worse), len(better), same, left_out)
    low, high = (UTMOST[side] for side in _name_sides(metric.direction))
    heading = f"{clean_text(metric.name)}: change of each query"
    extremes = f" The {low} is {_describe_query(suite, metric, worse[0])}." if worse else ""
    extremes += f" The {high} is {_describe_query(suite, metric, better[-1])}." if better else ""
    return Chart(
        "differences",
        f"{heading}, {clean_text(suite.name)}",
        f"{clean_text(metric.name)} of each query, now minus baseline, sorted from the {low} to the {high}: {facts}."
        + extremes,
        _make_drawing(suite, metric, (heading, facts), worse, better, same),
        metric=metric.name,
    )


def _compute_gain(now: float | None, before: float | None, sign: int) -> float | None:
    if now is None or before is None or not (math.isfinite(now) and math.isfinite(before)):
        return None
    if now == before:  # as most are
        return 0.0
    gain = now - before
    return 0.0 if abs(gain) < TIE * max(1.0, abs(now), abs(before)) else sign * gain


def _describe_changes(metric: MetricFigures, worse: int, better: int, same: int, left_out: int) -> str:
    down, up = _name_sides(metric.direction)
    mean = "mean" if metric.aggregate == "mean" else metric.aggregate
    parts = [f"{mean} change {format_change(metric.change)}"] if metric.change is not None else []
    parts += [f"{worse:,} {down}, {better:,} {up}, {same:,} the same"]
    parts += [f"{format_count(left_out, 'query')} without a value on both sides"] if left_out else []
    return "; ".join(parts)


def _describe_query(suite: SuiteResult, metric: MetricFigures, changed: Changed) -> str:
    """``q060 “red mug”: 0.933 → 0.000``."""
    table, number = suite.queries, changed.place
    text = table.texts[number] if number < len(table.texts) else ""
    words = f" “{isolate_direction(truncate_label(text, MAX_QUERY_LENGTH))}”" if text else ""
    values = (side[metric.name][number] for side in (table.baseline, table.now))
    said = " → ".join("-" if each is None else format_short(each, 3) for each in values)
    return f"{isolate_direction(truncate_label(table.ids[number], MAX_QUERY_LENGTH))}{words}: {said}"


_SINGLE = 200
"""The most bars that are elements of their own, with a name and a link."""
LEFT, RIGHT, TOP, GROUND, HEIGHT = 62, WIDTH - 10, 62, 262, 290
LOW = 120
"""The height where there is nothing to draw but a line."""
THINNEST = 3.0
"""The least width of the worse or the better queries among thousands, so that they are seen."""


class Changed(NamedTuple):
    """A query and its gain: below 0 is worse, whichever values of the metric are better."""

    gain: float
    place: int


class _Bar(NamedTuple):
    """One query that changed."""

    path: str
    side: str
    said: str
    link: str


class _PlacedText(NamedTuple):
    """A text and the middle of its place."""

    at: float
    text: str


class _Differences(NamedTuple):
    """The places of everything in such a chart."""

    height: int
    heading: str
    facts: str
    axis: Scale
    zero: float
    left: float
    right: float
    sides: tuple[str, str]
    """The names of the bars down and up, in classes and in words."""
    below: str
    bars: tuple[_Bar, ...]
    thick: float
    worse_path: str
    better_path: str
    worse: _PlacedText | None
    better: _PlacedText | None
    same: _PlacedText | None
    same_from: float
    same_to: float
    width: int = WIDTH


class Room(NamedTuple):
    """The beginnings of the parts; the next one is the end of a part."""

    worse: float
    same: float
    better: float
    end: float


NEITHER = ("less", "more"), "neither more nor less is better"
DIRECTIONS = {
    "lower": (("worse", "better"), "down is worse: lower values are better"),
    "higher": (("worse", "better"), "down is worse"),
}
"""The names of the bars down and up, in classes and in words, and the words below them."""


def _name_sides(direction: str) -> tuple[str, str]:
    """The names of the left and the right side, by the direction of a metric."""
    return DIRECTIONS.get(direction, NEITHER)[0]


def _make_drawing(
    suite: SuiteResult,
    metric: MetricFigures,
    words: tuple[str, str],
    worse: Sequence[Changed],
    better: Sequence[Changed],
    same: int,
) -> _Differences:
    """The bars of those that changed, sorted, and a gap for those that did not."""
    flat, direction = not worse and not better, metric.direction
    gains = [each.gain for each in (*worse, *better)]
    axis = make_scale(
        [0.0, *gains], LOW - 40 if flat else GROUND, TOP, 1 if flat else 5, signed=True, turned=direction == "lower"
    )
    if flat:
        axis = Scale(-1, 1, LOW - 30, TOP)
    room, few = divide_room(len(worse), len(better), same), len(gains) <= _SINGLE
    names, below = DIRECTIONS.get(direction, NEITHER)
    sides = ((worse, room.worse, room.same), (better, room.better, room.end))
    bars = (bar for side, name in zip(sides, names, strict=True) for bar in _make_bars(suite, metric, side, axis, name))
    thick = (room.end - room.better + room.same - room.worse) / max(1, len(gains))
    return _Differences(
        height=LOW if flat else HEIGHT,
        heading=words[0],
        facts=words[1],
        axis=axis,
        zero=axis(0.0),
        left=LEFT,
        right=RIGHT,
        sides=names,
        below=below,
        bars=tuple(bars) if few else (),
        thick=round_place(thick - 1 if thick >= 4 else thick * 0.8),  # bars do not touch
        worse_path="" if few else make_side_outline(*sides[0], axis),
        better_path="" if few else make_side_outline(*sides[1], axis),
        worse=_place_words(room.worse, room.same, f"{len(worse):,} {names[0]}", -1) if worse else None,
        better=_place_words(room.better, room.end, f"{len(better):,} {names[1]}", 1) if better else None,
        same=_place_words(room.same, room.better, f"{same:,} the same") if same else None,
        same_from=round_place(room.same),
        same_to=round_place(room.better),
    )


def divide_room(worse: int, better: int, same: int) -> Room:
    """Bars of one width, unless one side is so thin that it would vanish; all of it in the middle."""
    gap = 96.0 if same else 0.0  # room for its words
    space = RIGHT - LEFT - gap
    width = min(16.0, space / max(1, worse + better))
    sides = [max(THINNEST, count * width) if count else 0.0 for count in (worse, better)]
    sides = [min(side, space - THINNEST) if all(sides) else side for side in sides]
    start = LEFT + (space - sum(sides)) / 2
    return Room(start, start + sides[0], start + sides[0] + gap, start + sides[0] + gap + sides[1])


def _make_bars(
    suite: SuiteResult, metric: MetricFigures, of: tuple[Sequence[Changed], float, float], axis: Scale, name: str
) -> Iterator[_Bar]:
    side, start, end = of
    width = (end - start) / max(1, len(side))
    for number, each in enumerate(side):
        path = f"M{round_place(start + (number + 0.5) * width)} {axis(0.0)}V{_compute_top(each.gain, axis)}"
        link = make_fragment(make_query_anchor(suite, suite.queries.ids[each.place]))
        yield _Bar(path, name, _describe_query(suite, metric, each), link)


def make_side_outline(side: Sequence[Changed], start: float, end: float, axis: Scale) -> str:
    """Where there are more bars than pixels, each column is as high as the highest bar in it."""
    if not side:
        return ""
    count = min(len(side), max(1, math.ceil(end - start)))
    firsts = [number * len(side) // count for number in range(count + 1)]
    edges = [start + (end - start) * first / len(side) for first in firsts]
    ends = (side[first if side[0].gain < 0 else after - 1] for first, after in pairwise(firsts))
    return make_outline(edges, [_compute_top(each.gain, axis) for each in ends], axis(0.0)) + "z"


def _compute_top(gain: float, axis: Scale) -> float:
    zero, top = axis(0.0), axis(gain)
    return round_place(zero + math.copysign(max(0.8, abs(top - zero)), -gain))  # a bar of next to nothing is seen, too


def _place_words(start: float, end: float, text: str, towards: int = 0) -> _PlacedText:
    """In the middle of its part; where that is narrow, on the side where no bars are in the way."""
    half = len(text) * 3.5
    middle = (start + end) / 2
    if towards:
        middle = min(middle, end - half) if towards < 0 else max(middle, start + half)
    return _PlacedText(round_place(min(WIDTH - 4 - half, max(LEFT + half, middle))), text)
