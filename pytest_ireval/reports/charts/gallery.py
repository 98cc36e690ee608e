"""All charts of a suite, in the order of a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_ireval.reports.charts.chart import Chart
from pytest_ireval.reports.charts.differences import differences_chart
from pytest_ireval.reports.charts.distribution import distribution_chart
from pytest_ireval.reports.charts.intervals import intervals_chart
from pytest_ireval.reports.charts.names import told_apart
from pytest_ireval.reports.charts.recall_precision import recall_precision_chart
from pytest_ireval.reports.charts.trend import trend_chart
from pytest_ireval.results.suite_result import SuiteResult


def charts_of(suite: SuiteResult) -> tuple[Chart, ...]:
    """Rules first, then queries, then rankings, then values, then time; what has nothing to show is left out."""
    found = [replace(chart, metric=metric, slice=part) for metric, part, chart in _charts(suite) if chart is not None]
    names = told_apart(chart.name for chart in found)
    return tuple(replace(chart, name=name) for chart, name in zip(found, names, strict=True))


def _charts(suite: SuiteResult) -> Iterator[tuple[str, str, Chart | None]]:
    """Each with the metric and the slice that it is about."""
    yield "", "", intervals_chart(suite)
    yield from ((metric.name, "", differences_chart(suite, metric)) for metric in suite.metrics)
    yield "", "", recall_precision_chart(suite)
    yield from ((each.metric, "", distribution_chart(suite, each)) for each in suite.distributions)
    yield from ((each.metric, each.slice, trend_chart(suite, each)) for each in suite.trends)
