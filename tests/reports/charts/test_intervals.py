"""The chart of rules, their intervals and their tolerances."""

from dataclasses import replace
from itertools import pairwise

from small_suites import rule, scored, suite

from pytest_ireval.reports.charts.differences import intervals_chart
from pytest_ireval.reports.charts.drawing import draw_on_page


def test_a_rule_is_a_point_an_interval_and_a_tolerance_on_the_axis_of_its_metric():
    found = suite(outcomes=(rule("segment=tail", -0.05, "fail", (-0.1, 0.0), 0.02),))

    chart = intervals_chart(found)

    (group,) = chart.drawing.groups
    (row,) = group.rows
    assert [(tick.label, tick.at) for tick in group.axis.ticks] == [
        ("-0.10", 230),
        ("-0.08", 296.8),
        ("-0.06", 363.6),
        ("-0.04", 430.4),
        ("-0.02", 497.2),
        ("0.00", 564),
    ]
    assert (row.low, row.point, row.high, row.tolerances, group.zero) == (230, 397, 564, (497.2,), 564)
    assert (row.label, row.figure, row.verdict) == ("segment=tail", "-0.0500", "fail")
    assert row.link == "#shop::no_regression::segment=tail"
    assert chart.said == ("1 rule compares with a baseline: 1 fail. nDCG@10 moved by -0.05 on segment=tail.")


def test_each_metric_has_its_own_axis_in_the_order_of_the_rules():
    rules = (rule("all", 0.01, metric="P@5"), rule("all", 3.0, metric="Cost"), rule("tail", 0.02, metric="P@5"))

    groups = intervals_chart(suite(outcomes=rules)).drawing.groups

    assert [(group.metric, len(group.rows)) for group in groups] == [("P@5", 2), ("Cost", 1)]
    assert groups[0].bottom < groups[1].top


def test_where_lower_is_better_worse_is_on_the_left_all_the_same():
    found, _ = scored(
        [], [], metric="Cost", direction="lower", outcomes=(rule("all", 5.0, metric="Cost", tolerance=2),)
    )

    (group,) = intervals_chart(found).drawing.groups

    assert group.rows[0].point < group.rows[0].tolerances[0] < group.zero
    assert group.axis.ticks[0].label == "+5"


def test_a_rule_that_wants_no_move_has_a_tolerance_on_both_sides():
    outcome = rule("all", 0.0)
    figures = tuple(replace(each, two_sided=True) for each in outcome.figures)
    (group,) = intervals_chart(suite(outcomes=(replace(outcome, figures=figures),))).drawing.groups

    low, high = group.rows[0].tolerances
    assert low < group.zero < high


def test_a_rule_is_called_as_the_suite_says_or_by_its_slice_and_an_unusual_kind():
    rules = (
        rule("all", 0.1),
        rule("segment=tail", 0.1),
        rule("all", 0.1, kind="worsened"),
        rule("all", 0.1, kind="worsened", name="nobody loses"),
    )

    (group,) = intervals_chart(suite(outcomes=rules)).drawing.groups

    assert [row.label for row in group.rows] == ["all", "segment=tail", "all (worsened)", "nobody loses"]


def test_an_error_has_a_row_and_no_figure():
    broken = replace(rule("segment=tail", 0, "error"), figures=())

    chart = intervals_chart(suite(outcomes=(rule("all", 0.1), broken)))

    row = chart.drawing.groups[0].rows[1]
    assert (row.point, row.figure, row.verdict) == (None, "no figure", "error")


def test_what_does_not_compare_has_no_row():
    plain = replace(rule("all", 0.1), compares=False)

    assert intervals_chart(suite(outcomes=(plain,))) is None
    assert intervals_chart(suite()) is None


def test_each_verdict_has_a_shape_of_its_own():
    verdicts = ("pass", "fail", "inconclusive", "error")
    drawn = draw_on_page(intervals_chart(suite(outcomes=tuple(rule(each, 0.1, each) for each in verdicts))))

    assert [drawn.count(f'class="shape {each}"') for each in verdicts] == [2, 2, 2, 2]  # a row, and the legend


def test_two_hundred_rules_stand_below_each_other():
    rules = tuple(rule(f"locale={number}", number / 1000, interval=(-1, 1)) for number in range(200))

    drawing = intervals_chart(suite(outcomes=rules)).drawing

    rows = drawing.groups[0].rows
    assert {round(b.y - a.y, 1) for a, b in pairwise(rows)} == {20}
    assert drawing.height > rows[-1].y
