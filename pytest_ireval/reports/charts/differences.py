"""What each query gained or lost, sorted: the worst on the left, the best on the right, the unchanged between."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_ireval.plurals import counted
from pytest_ireval.reports.anchors import link_to, query_anchor
from pytest_ireval.reports.charts.chart import Chart, Row
from pytest_ireval.reports.charts.difference_bars import SINGLE, Bar, Changed, Differences, drawing_of, sides_of
from pytest_ireval.reports.charts.inert import QUERY, cut, inert, isolated
from pytest_ireval.reports.charts.names import chart_name
from pytest_ireval.reports.charts.scales import short
from pytest_ireval.reports.figures import change
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult

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
    low, high = (UTMOST[side] for side in sides_of(metric.direction))
    heading = f"{inert(metric.name)}: change of each query"
    return Chart(
        chart_name(suite.name, "differences", metric.name),
        "differences",
        f"{heading}, {inert(suite.name)}",
        f"{inert(metric.name)} of each query, now minus baseline, sorted from the {low} to the {high}: {facts}."
        + _extremes(suite, metric, worse, better),
        _drawing(suite, metric, (heading, facts), worse, better, same),
        ("query", "text", "baseline", "now", "change"),
        tuple(_rows(suite, metric, gains)),
    )


def _gain(now: float | None, before: float | None, sign: int) -> float | None:
    if now is None or before is None or not (math.isfinite(now) and math.isfinite(before)):
        return None
    gain = now - before
    return 0.0 if abs(gain) < TIE * max(1.0, abs(now), abs(before)) else sign * gain


def _facts(metric: MetricFigures, worse: int, better: int, same: int, left_out: int) -> str:
    down, up = sides_of(metric.direction)
    mean = "mean" if metric.aggregate == "mean" else metric.aggregate
    parts = [f"{mean} change {change(metric.change)}"] if metric.change is not None else []
    parts += [f"{worse:,} {down}, {better:,} {up}, {same:,} the same"]
    parts += [f"{counted(left_out, 'query')} without a value on both sides"] if left_out else []
    return "; ".join(parts)


def _extremes(suite: SuiteResult, metric: MetricFigures, worse: Sequence[Changed], better: Sequence[Changed]) -> str:
    low, high = (UTMOST[side] for side in sides_of(metric.direction))
    first = f" The {low} is {_said(suite, metric, worse[0])}." if worse else ""
    return first + (f" The {high} is {_said(suite, metric, better[-1])}." if better else "")


def _said(suite: SuiteResult, metric: MetricFigures, changed: Changed) -> str:
    """``q060 “red mug”: 0.933 → 0.000``."""
    table, number = suite.queries, changed.place
    text = table.texts[number] if number < len(table.texts) else ""
    words = f" “{isolated(cut(text, QUERY))}”" if text else ""
    values = (side[metric.name][number] for side in (table.baseline, table.now))
    said = " → ".join("-" if each is None else short(each, 3) for each in values)
    return f"{isolated(cut(table.ids[number], QUERY))}{words}: {said}"


def _drawing(
    suite: SuiteResult,
    metric: MetricFigures,
    words: tuple[str, str],
    worse: Sequence[Changed],
    better: Sequence[Changed],
    same: int,
) -> Differences:
    drawing = drawing_of(words, worse, better, same, metric.direction)
    if len(worse) + len(better) > SINGLE:
        return drawing
    bars = zip(drawing.bars, (*worse, *better), strict=True)
    return replace(drawing, bars=tuple(_named(suite, metric, bar, changed) for bar, changed in bars))


def _named(suite: SuiteResult, metric: MetricFigures, bar: Bar, changed: Changed) -> Bar:
    link = link_to(query_anchor(suite, suite.queries.ids[changed.place]))
    return replace(bar, said=_said(suite, metric, changed), link=link)


def _rows(suite: SuiteResult, metric: MetricFigures, gains: Sequence[Changed]) -> Iterator[Row]:
    """The sorted ones, then those without a value on both sides."""
    table = suite.queries
    now, before = table.now[metric.name], table.baseline[metric.name]
    for _, i in gains:
        a, b = now[i], before[i]
        yield table.ids[i], table.texts[i], b, a, None if a is None or b is None else a - b
    there = {each.place for each in gains}
    for i, (query, text) in enumerate(zip(table.ids, table.texts, strict=True)):
        if i not in there:
            yield query, text, before[i], now[i], None
