"""The change of each rule with its interval and its tolerance, by metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pytest_ireval.report.charts.chart import WIDTH, Chart, Scale, clean_text, make_scale, round_place, truncate_label
from pytest_ireval.report.charts.differences import _name_sides
from pytest_ireval.report.commands import make_fragment, make_rule_anchor
from pytest_ireval.report.formatting import format_change
from pytest_ireval.results.outcome import VERDICTS, Outcome, SliceFigures
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.words import format_count

LABELS, FIGURES = 212, WIDTH - 62
"""The end of the labels and the beginning of the figures; the intervals are between."""
TOP_OF_INTERVALS, HEAD, STEP, FOOT = 60, 26, 20, 30
"""Heights: above all groups, of a group's head, of a row, and of a group's axis."""


class Interval(NamedTuple):
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


class Group(NamedTuple):
    """The rules about one metric, on one axis."""

    metric: str
    top: float
    bottom: float
    axis: Scale
    zero: float
    low: str
    high: str
    rows: tuple[Interval, ...]


class Intervals(NamedTuple):
    """The places of everything in such a chart."""

    height: float
    heading: str
    facts: str
    groups: tuple[Group, ...]
    verdicts: tuple[str, ...]
    left: float = LABELS + 18
    right: float = FIGURES - 14
    width: int = WIDTH


def make_intervals_chart(suite: SuiteResult) -> Chart | None:
    """The chart of all rules of a suite that compare; None where there is none with a change to show."""
    compared = (outcome for outcome in suite.outcomes if outcome.compares and outcome.metric)
    shown = [each for each in compared if _get_change(each) is not None or each.verdict == "error"]
    if not any(_get_change(each) is not None for each in shown):
        return None
    found = [verdict for verdict in reversed(VERDICTS) if any(each.verdict == verdict for each in shown)]
    facts = ", ".join(f"{sum(each.verdict == verdict for each in shown)} {verdict}" for verdict in found)
    heading = "Change of each rule, its interval and its tolerance"
    groups = tuple(_make_groups(suite, shown))
    red = [each for each in shown if each.verdict == "fail"]
    return Chart(
        "intervals",
        f"{heading}, {clean_text(suite.name)}",
        f"{format_count(len(shown), 'rule')} {'compares' if len(shown) == 1 else 'compare'} with a baseline: {facts}."
        + "".join(f" {truncate_label(each.headline, 200)}." for each in red[:MAX_FAILURES_IN_WORDS])
        + (
            f" And {format_count(len(red) - MAX_FAILURES_IN_WORDS, 'more failure')}."
            if len(red) > MAX_FAILURES_IN_WORDS
            else ""
        ),
        Intervals(round_place(groups[-1].bottom + FOOT), heading, facts, groups, tuple(found)),
    )


MAX_FAILURES_IN_WORDS = 3
"""The number of failures that are put into words."""


def _first_figures(outcome: Outcome) -> SliceFigures | None:
    return outcome.figures[0] if outcome.figures else None


def _get_change(outcome: Outcome) -> float | None:
    return _drop_infinite(outcome.figures[0].change) if outcome.figures else None


def _drop_infinite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _make_groups(suite: SuiteResult, shown: Sequence[Outcome]) -> Iterator[Group]:
    directions = {each.name: each.direction for each in suite.metrics}
    top = float(TOP_OF_INTERVALS)
    for metric in dict.fromkeys(each.metric for each in shown):
        rules = [each for each in shown if each.metric == metric]
        bottom = top + HEAD + STEP * len(rules)
        yield _make_group(suite, rules, top, bottom, directions.get(metric, "higher"))
        top = bottom + FOOT


def _make_group(suite: SuiteResult, rules: Sequence[Outcome], top: float, bottom: float, direction: str) -> Group:
    sign = -1 if direction == "lower" else 1
    values = [0.0, *(sign * value for each in rules for value in _list_values(each, sign))]
    axis = make_scale(values, LABELS + 18, FIGURES - 14, 5, signed=True, turned=direction == "lower")
    ends = ("worse (lower is better)", "better") if sign < 0 else _name_sides(direction)
    kinds = [each.kind for each in rules]
    usual = max(kinds, key=kinds.count)
    rows = (
        _make_interval(suite, each, top + HEAD + STEP * (number + 0.5), axis, sign, usual)
        for number, each in enumerate(rules)
    )
    return Group(
        truncate_label(rules[0].metric, 60), round_place(top), round_place(bottom), axis, axis(0.0), *ends, tuple(rows)
    )


def _list_values(outcome: Outcome, sign: int) -> Iterator[float]:
    if first := _first_figures(outcome):
        yield from (value for value in map(_drop_infinite, (first.change, first.low, first.high)) if value is not None)
        yield from (sign * tolerance for tolerance in _list_tolerances(outcome))


def _list_tolerances(outcome: Outcome) -> Iterable[float]:
    """The tolerances as gains: the loss that is let pass is below 0."""
    first = _first_figures(outcome)
    tolerance = None if first is None else _drop_infinite(first.tolerance)
    if first is None or tolerance is None:
        return ()
    return (-tolerance, tolerance) if first.two_sided else (-tolerance,)


def _make_interval(suite: SuiteResult, outcome: Outcome, y: float, axis: Scale, sign: int, usual: str) -> Interval:
    first, found = _first_figures(outcome), _get_change(outcome)
    ends = (None, None) if first is None else (_drop_infinite(first.low), _drop_infinite(first.high))
    low, high = sorted(axis(sign * end) for end in ends if end is not None) if None not in ends else (None, None)
    label = outcome.name or outcome.slice  # with the kind, if most rules about the metric are of another
    label += "" if outcome.name or outcome.kind == usual else f" ({outcome.kind})"
    return Interval(
        y=round_place(y),
        label=truncate_label(label, 27),
        verdict=outcome.verdict,
        said=f"{outcome.verdict}: {truncate_label(outcome.headline, 200)}",
        link=make_fragment(make_rule_anchor(suite, outcome.id)),
        figure="no figure" if found is None else format_change(found),
        point=None if found is None else axis(sign * found),
        low=low,
        high=high,
        tolerances=tuple(axis(gain) for gain in _list_tolerances(outcome)),
    )
