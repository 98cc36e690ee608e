"""The charts of recall and precision."""

from small_suites import suite

from pytest_ireval.report.charts.curves import make_query_curve_chart, make_recall_precision_chart
from pytest_ireval.results.suite_result import QueryCurve, QueryDocuments, RecallPrecision


def test_the_curve_of_a_query_has_its_points_and_steps_that_are_never_below_a_later_point():
    interpolated = RecallPrecision((1.0,) * 11)
    documents = QueryDocuments("q1", (), now=QueryCurve((0.5, 1.0), (0.5, 1.0), interpolated), relevant=2)

    chart = make_query_curve_chart(suite(), documents)

    (curve,) = chart.drawing.panels[0].curves
    assert chart.drawing.width == 320
    assert curve.points == ((174, 143), (306, 68))
    assert curve.path == "M42 68V68H174V68H306V218H306"
    assert chart.said == "2 relevant documents. now: 2 relevant documents found up to recall 1.00."


def test_a_query_without_curves_has_no_chart():
    assert make_query_curve_chart(suite(), QueryDocuments("q1", ())) is None
    assert make_recall_precision_chart(suite()) is None
