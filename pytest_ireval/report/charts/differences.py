"""The change of each query, sorted: the worst on the left, the best on the right, the unchanged between."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from pytest_ireval.report.charts.chart import (
    QUERY,
    WIDTH,
    Chart,
    Scale,
    cut_label,
    inert_text,
    isolated,
    place,
    scale,
    short,
    steps,
)
from pytest_ireval.report.commands import link_to, query_anchor, rule_anchor
from pytest_ireval.report.wording import change
from pytest_ireval.results.outcome import VERDICTS, Outcome, SliceFigures
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult
from pytest_ireval.words import format_count

TIE = 1e-12
"""A smaller difference is rounding, as it is where the gate counts."""
UTMOST = {"worse": "worst", "better": "best", "less": "least", "more": "most"}


def differences_chart(suite: SuiteResult, metric: MetricFigures) -> Chart | None:
    """The chart of one metric; None where no query has a value on both sides."""
    now, before = suite.queries.now.get(metric.name, ()), suite.queries.baseline.get(metric.name, ())
    sign = -1 if metric.direction == "lower" else 1
    every = [_gain(a, b, sign) for a, b in zip(now, before, strict=False)]
    gains = sorted(Changed(gain, number) for number, gain in enumerate(every) if gain is not None)
    if not gains:
        return None
    worse, better = [each for each in gains if each.gain < 0], [each for each in gains if each.gain > 0]
    same, left_out = len(gains) - len(worse) - len(better), len(suite.queries.ids) - len(gains)
    facts = _facts(metric, len(worse), len(better), same, left_out)
    low, high = (UTMOST[side] for side in _sides_of(metric.direction))
    heading = f"{inert_text(metric.name)}: change of each query"
    extremes = f" The {low} is {_said(suite, metric, worse[0])}." if worse else ""
    extremes += f" The {high} is {_said(suite, metric, better[-1])}." if better else ""
    return Chart(
        "differences",
        f"{heading}, {inert_text(suite.name)}",
        f"{inert_text(metric.name)} of each query, now minus baseline, sorted from the {low} to the {high}: {facts}."
        + extremes,
        _drawing(suite, metric, (heading, facts), worse, better, same),
        metric=metric.name,
    )


def _gain(now: float | None, before: float | None, sign: int) -> float | None:
    if now is None or before is None or not (math.isfinite(now) and math.isfinite(before)):
        return None
    gain = now - before
    return 0.0 if abs(gain) < TIE * max(1.0, abs(now), abs(before)) else sign * gain


def _facts(metric: MetricFigures, worse: int, better: int, same: int, left_out: int) -> str:
    down, up = _sides_of(metric.direction)
    mean = "mean" if metric.aggregate == "mean" else metric.aggregate
    parts = [f"{mean} change {change(metric.change)}"] if metric.change is not None else []
    parts += [f"{worse:,} {down}, {better:,} {up}, {same:,} the same"]
    parts += [f"{format_count(left_out, 'query')} without a value on both sides"] if left_out else []
    return "; ".join(parts)


def _said(suite: SuiteResult, metric: MetricFigures, changed: Changed) -> str:
    """``q060 “red mug”: 0.933 → 0.000``."""
    table, number = suite.queries, changed.place
    text = table.texts[number] if number < len(table.texts) else ""
    words = f" “{isolated(cut_label(text, QUERY))}”" if text else ""
    values = (side[metric.name][number] for side in (table.baseline, table.now))
    said = " → ".join("-" if each is None else short(each, 3) for each in values)
    return f"{isolated(cut_label(table.ids[number], QUERY))}{words}: {said}"


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


@dataclass(frozen=True)
class _Bar:
    """One query that changed."""

    path: str
    side: str
    said: str
    link: str


@dataclass(frozen=True)
class _Words:
    """A text and the middle of its place."""

    at: float
    text: str


@dataclass(frozen=True)
class _Differences:
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
    worse: _Words | None
    better: _Words | None
    same: _Words | None
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


def _sides_of(direction: str) -> tuple[str, str]:
    """The names of the left and the right side, by the direction of a metric."""
    return DIRECTIONS.get(direction, NEITHER)[0]


def _drawing(
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
    axis = scale(
        [0.0, *gains], LOW - 40 if flat else GROUND, TOP, 1 if flat else 5, signed=True, turned=direction == "lower"
    )
    if flat:
        axis = Scale(-1, 1, LOW - 30, TOP)
    room, few = room_for(len(worse), len(better), same), len(gains) <= _SINGLE
    names, below = DIRECTIONS.get(direction, NEITHER)
    sides = ((worse, room.worse, room.same), (better, room.better, room.end))
    bars = (bar for side, name in zip(sides, names, strict=True) for bar in _bars(suite, metric, side, axis, name))
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
        thick=place(thick - 1 if thick >= 4 else thick * 0.8),  # bars do not touch
        worse_path="" if few else outline(*sides[0], axis),
        better_path="" if few else outline(*sides[1], axis),
        worse=_words(room.worse, room.same, f"{len(worse):,} {names[0]}", -1) if worse else None,
        better=_words(room.better, room.end, f"{len(better):,} {names[1]}", 1) if better else None,
        same=_words(room.same, room.better, f"{same:,} the same") if same else None,
        same_from=place(room.same),
        same_to=place(room.better),
    )


def room_for(worse: int, better: int, same: int) -> Room:
    """Bars of one width, unless one side is so thin that it would vanish; all of it in the middle."""
    gap = 96.0 if same else 0.0  # room for its words
    space = RIGHT - LEFT - gap
    width = min(16.0, space / max(1, worse + better))
    sides = [max(THINNEST, count * width) if count else 0.0 for count in (worse, better)]
    sides = [min(side, space - THINNEST) if all(sides) else side for side in sides]
    start = LEFT + (space - sum(sides)) / 2
    return Room(start, start + sides[0], start + sides[0] + gap, start + sides[0] + gap + sides[1])


def _bars(
    suite: SuiteResult, metric: MetricFigures, of: tuple[Sequence[Changed], float, float], axis: Scale, name: str
) -> Iterator[_Bar]:
    side, start, end = of
    width = (end - start) / max(1, len(side))
    for number, each in enumerate(side):
        path = f"M{place(start + (number + 0.5) * width)} {axis(0.0)}V{_top(each.gain, axis)}"
        link = link_to(query_anchor(suite, suite.queries.ids[each.place]))
        yield _Bar(path, name, _said(suite, metric, each), link)


def outline(side: Sequence[Changed], start: float, end: float, axis: Scale) -> str:
    """Where there are more bars than pixels, each column is as high as the highest bar in it."""
    if not side:
        return ""
    count = min(len(side), max(1, math.ceil(end - start)))
    firsts = [number * len(side) // count for number in range(count + 1)]
    edges = [start + (end - start) * first / len(side) for first in firsts]
    ends = (side[first if side[0].gain < 0 else after - 1] for first, after in pairwise(firsts))
    return steps(edges, [_top(each.gain, axis) for each in ends], axis(0.0)) + "z"


def _top(gain: float, axis: Scale) -> float:
    zero, top = axis(0.0), axis(gain)
    return place(zero + math.copysign(max(0.8, abs(top - zero)), -gain))  # a bar of next to nothing is seen, too


def _words(start: float, end: float, text: str, towards: int = 0) -> _Words:
    """In the middle of its part; where that is narrow, on the side where no bars are in the way."""
    half = len(text) * 3.5
    middle = (start + end) / 2
    if towards:
        middle = min(middle, end - half) if towards < 0 else max(middle, start + half)
    return _Words(place(min(WIDTH - 4 - half, max(LEFT + half, middle))), text)


LABELS, FIGURES = 212, WIDTH - 62
"""The end of the labels and the beginning of the figures; the intervals are between."""
TOP_OF_INTERVALS, HEAD, STEP, FOOT = 60, 26, 20, 30
"""Heights: above all groups, of a group's head, of a row, and of a group's axis."""


@dataclass(frozen=True)
class Interval:
    """One rule; without a point there is no figure."""

    y: float
    label: str
    verdict: str
    said: str
    link: str
    figure: str
    point: float | None
    low: float | None
    high: float | None
    tolerances: tuple[float, ...]


@dataclass(frozen=True)
class Group:
    """The rules about one metric, on one axis."""

    metric: str
    top: float
    bottom: float
    axis: Scale
    zero: float
    low: str
    high: str
    rows: tuple[Interval, ...]


@dataclass(frozen=True)
class Intervals:
    """The places of everything in such a chart."""

    height: float
    heading: str
    facts: str
    groups: tuple[Group, ...]
    verdicts: tuple[str, ...]
    left: float = LABELS + 18
    right: float = FIGURES - 14
    width: int = WIDTH


def intervals_chart(suite: SuiteResult) -> Chart | None:
    """The chart of all rules of a suite that compare; None where there is none with a change to show."""
    compared = (each for each in suite.outcomes if each.compares and each.metric)
    shown = [each for each in compared if _change(each) is not None or each.verdict == "error"]
    if not any(_change(each) is not None for each in shown):
        return None
    found = [verdict for verdict in reversed(VERDICTS) if any(each.verdict == verdict for each in shown)]
    facts = ", ".join(f"{sum(each.verdict == verdict for each in shown)} {verdict}" for verdict in found)
    heading = "Change of each rule, its interval and its tolerance"
    groups = tuple(_groups(suite, shown))
    red = [each for each in shown if each.verdict == "fail"]
    return Chart(
        "intervals",
        f"{heading}, {inert_text(suite.name)}",
        f"{format_count(len(shown), 'rule')} {'compares' if len(shown) == 1 else 'compare'} with a baseline: {facts}."
        + "".join(f" {cut_label(each.headline, 200)}." for each in red[:SAID])
        + (f" And {format_count(len(red) - SAID, 'more failure')}." if len(red) > SAID else ""),
        Intervals(place(groups[-1].bottom + FOOT), heading, facts, groups, tuple(found)),
    )


SAID = 3
"""The number of failures that are put into words."""


def _first(outcome: Outcome) -> SliceFigures | None:
    return outcome.figures[0] if outcome.figures else None


def _change(outcome: Outcome) -> float | None:
    return _finite(outcome.figures[0].change) if outcome.figures else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _groups(suite: SuiteResult, shown: Sequence[Outcome]) -> Iterator[Group]:
    directions = {each.name: each.direction for each in suite.metrics}
    top = float(TOP_OF_INTERVALS)
    for metric in dict.fromkeys(each.metric for each in shown):
        rules = [each for each in shown if each.metric == metric]
        bottom = top + HEAD + STEP * len(rules)
        yield _group(suite, rules, top, bottom, directions.get(metric, "higher"))
        top = bottom + FOOT


def _group(suite: SuiteResult, rules: Sequence[Outcome], top: float, bottom: float, direction: str) -> Group:
    sign = -1 if direction == "lower" else 1
    values = [0.0, *(sign * value for each in rules for value in _values(each, sign))]
    axis = scale(values, LABELS + 18, FIGURES - 14, 5, signed=True, turned=direction == "lower")
    ends = ("worse (lower is better)", "better") if sign < 0 else _sides_of(direction)
    kinds = [each.kind for each in rules]
    usual = max(kinds, key=kinds.count)
    rows = (
        _interval(suite, each, top + HEAD + STEP * (number + 0.5), axis, sign, usual)
        for number, each in enumerate(rules)
    )
    return Group(cut_label(rules[0].metric, 60), place(top), place(bottom), axis, axis(0.0), *ends, tuple(rows))


def _values(outcome: Outcome, sign: int) -> Iterator[float]:
    if first := _first(outcome):
        yield from (value for value in map(_finite, (first.change, first.low, first.high)) if value is not None)
        yield from (sign * tolerance for tolerance in _tolerances(outcome))


def _tolerances(outcome: Outcome) -> Iterable[float]:
    """The tolerances as gains: the loss that is let pass is below 0."""
    first = _first(outcome)
    tolerance = None if first is None else _finite(first.tolerance)
    if first is None or tolerance is None:
        return ()
    return (-tolerance, tolerance) if first.two_sided else (-tolerance,)


def _interval(suite: SuiteResult, outcome: Outcome, y: float, axis: Scale, sign: int, usual: str) -> Interval:
    first, found = _first(outcome), _change(outcome)
    ends = (None, None) if first is None else (_finite(first.low), _finite(first.high))
    low, high = sorted(axis(sign * end) for end in ends if end is not None) if None not in ends else (None, None)
    label = outcome.name or outcome.slice  # with the kind, if most rules about the metric are of another
    label += "" if outcome.name or outcome.kind == usual else f" ({outcome.kind})"
    return Interval(
        y=place(y),
        label=cut_label(label, 27),
        verdict=outcome.verdict,
        said=f"{outcome.verdict}: {cut_label(outcome.headline, 200)}",
        link=link_to(rule_anchor(suite, outcome.id)),
        figure="no figure" if found is None else change(found),
        point=None if found is None else axis(sign * found),
        low=low,
        high=high,
        tolerances=tuple(axis(gain) for gain in _tolerances(outcome)),
    )
