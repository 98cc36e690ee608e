"""What each rule that compares found: the change, its interval, and how much the rule lets pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pytest_ireval.plurals import counted
from pytest_ireval.reports.anchors import link_to, rule_anchor
from pytest_ireval.reports.charts.chart import WIDTH, Chart, Row, Scale, chart_name, cut_label, inert_text, place, scale
from pytest_ireval.reports.charts.differences import sides_of
from pytest_ireval.reports.figures import change
from pytest_ireval.results.outcome import VERDICTS, Outcome, SliceFigures
from pytest_ireval.results.suite_result import SuiteResult

LABELS, FIGURES = 212, WIDTH - 62
"""Where labels end and where figures begin; the intervals lie between."""
TOP, HEAD, STEP, FOOT = 60, 26, 20, 30
"""Heights: above all groups, of a group's head, of a row, and of a group's axis."""
LABEL = 27
"""Characters."""
HEADER = ("rule", "metric", "slice", "verdict", "baseline", "now", "change", "low", "high", "level", "tolerance")
TWO_SIDED = "equivalent"
"""The kind of rule whose tolerance holds in both directions."""


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
    """What is on the left, in words."""
    high: str
    rows: tuple[Interval, ...]


@dataclass(frozen=True)
class Intervals:
    """Where everything of such a chart stands."""

    height: float
    heading: str
    facts: str
    groups: tuple[Group, ...]
    verdicts: tuple[str, ...]
    """Those that there are, for the legend."""
    left: float = LABELS + 18
    right: float = FIGURES - 14
    width: int = WIDTH


def intervals_chart(suite: SuiteResult) -> Chart | None:
    """The chart of all rules of a suite that compare; None where there is none with a change to show."""
    shown = [each for each in suite.outcomes if _has_place(each)]
    if not any(_change(each) is not None for each in shown):
        return None
    found = [verdict for verdict in reversed(VERDICTS) if any(each.verdict == verdict for each in shown)]
    facts = ", ".join(f"{sum(each.verdict == verdict for each in shown)} {verdict}" for verdict in found)
    heading = "Change of each rule, its interval and its tolerance"
    groups = tuple(_groups(suite, shown))
    red = [each for each in shown if each.verdict == "fail"]
    return Chart(
        chart_name(suite.name, "intervals"),
        "intervals",
        f"{heading}, {inert_text(suite.name)}",
        f"{counted(len(shown), 'rule')} {'compares' if len(shown) == 1 else 'compare'} with a baseline: {facts}."
        + "".join(f" {cut_label(each.headline, 200)}." for each in red[:SAID])
        + (f" And {counted(len(red) - SAID, 'more failure')}." if len(red) > SAID else ""),
        Intervals(place(groups[-1].bottom + FOOT), heading, facts, groups, tuple(found)),
        HEADER,
        tuple(_row(each) for each in shown),
    )


SAID = 3
"""So many failures are told in words."""


def _has_place(outcome: Outcome) -> bool:
    """Whether there is a change, or at least should be one."""
    return outcome.compares and bool(outcome.metric) and (_change(outcome) is not None or outcome.verdict == "error")


def _first(outcome: Outcome) -> SliceFigures | None:
    return outcome.figures[0] if outcome.figures else None


def _change(outcome: Outcome) -> float | None:
    return _finite(outcome.figures[0].change) if outcome.figures else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _groups(suite: SuiteResult, shown: Sequence[Outcome]) -> Iterator[Group]:
    """A group for each metric, in the order of the rules."""
    directions = {each.name: each.direction for each in suite.metrics}
    top = float(TOP)
    for metric in dict.fromkeys(each.metric for each in shown):
        rules = [each for each in shown if each.metric == metric]
        bottom = top + HEAD + STEP * len(rules)
        yield _group(suite, rules, top, bottom, directions.get(metric, "higher"))
        top = bottom + FOOT


def _group(suite: SuiteResult, rules: Sequence[Outcome], top: float, bottom: float, direction: str) -> Group:
    sign = -1 if direction == "lower" else 1
    values = [0.0, *(sign * value for each in rules for value in _values(each, sign))]
    axis = scale(values, LABELS + 18, FIGURES - 14, 5, signed=True, turned=direction == "lower")
    ends = ("worse (lower is better)", "better") if sign < 0 else sides_of(direction)
    kinds = [each.kind for each in rules]
    usual = max(kinds, key=kinds.count)
    rows = (
        _interval(suite, each, top + HEAD + STEP * (number + 0.5), axis, sign, usual)
        for number, each in enumerate(rules)
    )
    return Group(cut_label(rules[0].metric, 60), place(top), place(bottom), axis, axis(0.0), *ends, tuple(rows))


def _values(outcome: Outcome, sign: int) -> Iterator[float]:
    """Changes that must have a place on the axis."""
    first = _first(outcome)
    if first is not None:
        found = (_change(outcome), first.low, first.high)
        yield from (value for value in found if _finite(value) is not None and value is not None)
        yield from (sign * tolerance for tolerance in _tolerances(outcome))


def _tolerances(outcome: Outcome) -> Iterable[float]:
    """As gains: the loss that is let pass is below 0."""
    first = _first(outcome)
    tolerance = None if first is None else _finite(first.tolerance)
    if tolerance is None:
        return ()
    return (-tolerance, tolerance) if outcome.kind == TWO_SIDED else (-tolerance,)


def _interval(suite: SuiteResult, outcome: Outcome, y: float, axis: Scale, sign: int, usual: str) -> Interval:
    first, found = _first(outcome), _change(outcome)
    ends = (None, None) if first is None else (_finite(first.low), _finite(first.high))
    low, high = sorted(axis(sign * end) for end in ends if end is not None) if None not in ends else (None, None)
    return Interval(
        y=place(y),
        label=cut_label(_label(outcome, usual), LABEL),
        verdict=outcome.verdict,
        said=f"{outcome.verdict}: {cut_label(outcome.headline, 200)}",
        link=link_to(rule_anchor(suite, outcome.id)),
        figure="no figure" if found is None else change(found),
        point=None if found is None else axis(sign * found),
        low=low,
        high=high,
        tolerances=tuple(axis(gain) for gain in _tolerances(outcome)),
    )


def _label(outcome: Outcome, usual: str) -> str:
    """What the suite calls the rule, or its slice; and its kind if most rules about the metric are of another."""
    name = outcome.name or outcome.slice
    return name if outcome.name or outcome.kind == usual else f"{name} ({outcome.kind})"


def _row(outcome: Outcome) -> Row:
    first = _first(outcome)
    about = (outcome.id, outcome.metric, outcome.slice, outcome.verdict)
    if first is None:
        return (*about, *(None,) * 7)
    return (*about, first.baseline, first.now, first.change, first.low, first.high, first.level, first.tolerance)
