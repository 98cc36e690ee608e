"""The charts of recall and precision."""

import pytest
from small_suites import suite

from pytest_ireval.reports.charts.curves import query_curve_chart, recall_precision_chart
from pytest_ireval.results.suite_result import QueryCurve, QueryDocuments, RecallPrecision, SliceCurves

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
