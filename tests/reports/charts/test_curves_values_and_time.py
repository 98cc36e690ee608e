"""The charts of recall and precision, of how values are spread, and of a figure from run to run."""

from itertools import pairwise

import pytest
from small_suites import suite

from pytest_ireval.reports.charts.curves import query_curve_chart, recall_precision_chart
from pytest_ireval.reports.charts.distribution import distribution_chart
from pytest_ireval.reports.charts.trend import trend_chart
from pytest_ireval.results.suite_result import (
    Accepted,
    Distribution,
    QueryCurve,
    QueryDocuments,
    RecallPrecision,
    SliceCurves,
    Trend,
    TrendPoint,
)

FALLING = RecallPrecision(tuple(1 - level / 10 for level in range(11)), 0.5)
FLAT = RecallPrecision((0.5,) * 11, 0.25)


def test_a_panel_has_both_curves_and_what_r_precision_says_of_each():
    chart = recall_precision_chart(suite(curves=(SliceCurves("all", 12, FLAT, FALLING),)))

    (panel,) = chart.drawing.panels
    baseline, now = panel.curves
    assert (panel.x.start, panel.x.end, panel.y.start, panel.y.end) == (42, 626, 332, 102)
    assert now.path.startswith("M42 217L100.4 217L")
    assert baseline.path.startswith("M42 102L100.4 125L")
    assert baseline.straight == "M42 102L334 217L626 332"
    assert now.straight == "M42 102L188 274.5L626 332"
    assert chart.said.endswith("all: 12 queries, R-precision 0.500 → 0.250.")


@pytest.mark.parametrize(("slices", "columns"), [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (12, 3)])
def test_slices_are_small_panels_beside_each_other(slices, columns):
    curves = tuple(SliceCurves(f"locale={number}", 3, FALLING) for number in range(slices))

    drawing = recall_precision_chart(suite(curves=curves)).drawing

    assert len(drawing.panels) == slices
    assert len({panel.x.start for panel in drawing.panels}) == columns
    assert max(panel.y.start for panel in drawing.panels) < drawing.height
    assert drawing.sides == ("now",)


def test_the_curve_of_a_query_has_its_points_and_steps_that_are_never_below_a_later_point():
    interpolated = RecallPrecision((1.0,) * 11)
    documents = QueryDocuments("q1", (), now=QueryCurve((0.5, 1.0), (0.5, 1.0), interpolated), relevant=2)

    chart = query_curve_chart(suite(), documents)

    (curve,) = chart.drawing.panels[0].curves
    assert chart.drawing.width == 320
    assert curve.points == ((174, 143), (306, 68))
    assert curve.path == "M42 68V68H174V68H306V218H306"
    assert chart.said == "2 relevant documents. now: 2 relevant documents found up to recall 1.00."


def test_a_query_without_curves_has_no_chart():
    assert query_curve_chart(suite(), QueryDocuments("q1", ())) is None
    assert recall_precision_chart(suite()) is None


def test_a_histogram_has_bars_now_and_an_outline_before():
    chart = distribution_chart(suite(), Distribution("P@5", (0.0, 0.5, 1.0), (1, 3), (4, 0)))

    drawing = chart.drawing
    assert drawing.now == "M62 232V192H344V112H626V232"
    assert drawing.baseline == "M62 232V72H344V232H626V232"
    assert [tick.label for tick in drawing.y.ticks] == ["0", "1", "2", "3", "4"]
    assert chart.said == (
        "P@5: how many queries have which value, 4 queries. Most of them now: 3 from 0.5 to 1. "
        "Most of them in the baseline: 4 from 0 to 0.5."
    )


def test_values_that_are_all_the_same_are_a_bar_that_can_be_seen():
    drawing = distribution_chart(suite(), Distribution("P@5", (0.5, 0.5), (60,))).drawing

    assert drawing.now == "M340 232V72H348V232"
    assert drawing.baseline == ""


def test_no_values_are_no_histogram():
    assert distribution_chart(suite(), Distribution("P@5", (0, 1), (0,))) is None


def runs(*values, **special):
    return tuple(
        TrendPoint(f"2027-01-{day:02}T09:00:00Z", value, **special.get(f"on_{day}", {"verdict": "pass"}))
        for day, value in enumerate(values, 1)
    )


def test_runs_stand_in_order_and_those_that_are_special_are_marked():
    points = runs(0.5, 0.6, 0.7, on_2={"verdict": "fail"}, on_3={"accepted": True, "reason": "v2", "this": True})

    drawing = trend_chart(suite(), Trend("P@5", "all", points)).drawing

    assert drawing.path == "M70 232L313 157L556 82"
    assert drawing.dots == "M70 232h0"
    assert [(run.x, run.shape, run.this) for run in drawing.runs] == [(313, "fail", False), (556, "none", True)]
    assert [(mark.x, mark.anchor) for mark in drawing.marks] == [(556, False)]
    assert drawing.runs[1].said == "2027-01-03 09:00, 0.7000, accepted: v2, this run"
    assert [tick.label for tick in drawing.dates] == ["2027-01-01", "2027-01-02", "2027-01-03"]
    assert drawing.last == "0.7000"


def test_a_change_of_next_to_nothing_is_no_cliff():
    drawing = trend_chart(suite(), Trend("P@5", "all", runs(0.8, 0.80001))).drawing

    assert [tick.label for tick in drawing.y.ticks] == ["0.790", "0.795", "0.800", "0.805", "0.810"]
    assert drawing.path == "M70 157L556 156.9"


def test_an_anchor_stands_between_the_runs_before_and_after_it():
    anchors = tuple(
        Accepted(f"{date}:00Z", reason="4.2", anchor=True)
        for date in ("2026-12-01T00:00", "2027-01-01T12:00", "2027-01-02T09:00", "2027-05-01T00:00")
    )
    points = runs(0.5, 0.6, 0.7)

    marks = trend_chart(suite(acceptances=(*anchors, Accepted("2027-01-01T12:00:00Z"))), Trend("P@5", "all", points))

    assert [(mark.x, mark.said) for mark in marks.drawing.marks] == [
        (191.5, "anchor, 2027-01-01: 4.2"),
        (313, "anchor, 2027-01-02: 4.2"),
        (556, "anchor, 2027-05-01: 4.2"),
    ]


def test_of_very_many_runs_the_last_are_drawn_which_is_said():
    chart = trend_chart(suite(), Trend("P@5", "tail", runs(*[0.5, 0.6] * 500)))

    assert chart.drawing.facts.startswith("the last 400 of 1,000 runs")
    assert len(chart.drawing.dates) <= 7


@pytest.mark.parametrize("number", [2, 3, 5, 8, 9, 12, 27, 60])
def test_dates_below_the_axis_stand_apart(number):
    chart = trend_chart(suite(), Trend("P@5", "tail", runs(*[0.5] * (number - 1), 0.6)))

    places = [tick.at for tick in chart.drawing.dates]
    assert places[0] < 80
    assert places[-1] > 540
    assert all(after - before >= 90 for before, after in pairwise(places))


def test_one_run_is_no_trend():
    assert trend_chart(suite(), Trend("P@5", "all", runs(0.5))) is None
