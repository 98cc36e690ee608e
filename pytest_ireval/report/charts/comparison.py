"""Two rankings as one picture: how precision falls with recall, and what each query gained or lost."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from pytest_ireval.report.charts.chart import WIDTH, Chart, clean_text, count_queries
from pytest_ireval.report.charts.curves import LEVELS, make_recall_precision_chart
from pytest_ireval.report.charts.differences import make_differences_chart
from pytest_ireval.results.comparison import Comparison, MetricComparison
from pytest_ireval.results.suite_result import MetricFigures, QueryTable, RecallPrecision, SliceCurves, SuiteResult

CURVE_METRICS = (*(f"IPrec@{level:g}" for level in LEVELS), "Rprec")
"""Their means are the points of the curve, and its R-precision."""
TOP, GAP = 52, 12


@dataclass
class _Stack:
    """Charts below each other, each with its distance from the top."""

    heading: str
    facts: str
    charts: tuple[tuple[Chart, int], ...]
    height: int
    width: int = WIDTH


def make_comparison_chart(comparison: Comparison, metrics: Iterable[str]) -> Chart:
    """The curve of two rankings, and a chart of differences for each of ``metrics``; it also needs CURVE_METRICS.

    The sides of all charts are called *now* and *baseline*, as on the page of a run; the heading says which is which.
    """
    before = comparison.baseline or next(iter(comparison.rankings))
    now = next(name for name in comparison.rankings if name != before)
    title = f"{clean_text(now)} (now) compared with {clean_text(before)} (baseline)"
    differences = (_draw_differences(comparison, comparison[name], now, before) for name in metrics)
    charts = [chart for chart in (_draw_curve(comparison, now, before), *differences) if chart is not None]
    *tops, height = accumulate((math.ceil(chart.drawing.height) + GAP for chart in charts), initial=TOP)
    return Chart(
        "stack",
        title,
        " ".join(chart.said for chart in charts),
        _Stack(title, count_queries(comparison.queries), tuple(zip(charts, tops, strict=True)), height),
    )


def _draw_curve(comparison: Comparison, now: str, before: str) -> Chart | None:
    def curve_of(ranking: str) -> RecallPrecision:
        *levels, r_precision = (comparison[name].values[ranking] or 0.0 for name in CURVE_METRICS)
        return RecallPrecision(tuple(levels), r_precision)

    curves = SliceCurves("all", comparison.queries, curve_of(now), curve_of(before))
    return make_recall_precision_chart(SuiteResult("", "", "pass", (), curves=(curves,)))


def _draw_differences(comparison: Comparison, metric: MetricComparison, now: str, before: str) -> Chart | None:
    """None where no query has a value in both rankings, as of a metric of the whole run."""
    sides = [comparison.rankings[name][metric.name].values for name in (now, before)]
    ids = tuple(dict.fromkeys(unit for side in reversed(sides) for unit in side))
    columns = [{metric.name: tuple(side.get(unit) for unit in ids)} for side in sides]
    table = QueryTable(ids, ("",) * len(ids), now=columns[0], baseline=columns[1])
    paired = [unit for unit in ids if metric.aggregate == "mean" and all(unit in side for side in sides)]
    means = [fmean(side[unit] for unit in paired) if paired else None for side in sides]
    figures = MetricFigures(metric.name, metric.direction, metric.unit, metric.aggregate, means[0], means[1], means[0])
    return make_differences_chart(SuiteResult("", "", "pass", (), queries=table), figures)
