"""The chart of rules, their intervals and their tolerances."""

from dataclasses import replace

from small_suites import make_scored_suite, rule, suite

from pytest_ireval.report.charts.intervals import make_intervals_chart


def test_each_metric_has_its_own_axis_in_the_order_of_the_rules():
    rules = (rule("all", 0.01, metric="P@5"), rule("all", 3.0, metric="Cost"), rule("tail", 0.02, metric="P@5"))

    groups = make_intervals_chart(suite(outcomes=rules)).drawing.groups

    assert [(group.metric, len(group.rows)) for group in groups] == [("P@5", 2), ("Cost", 1)]
    assert groups[0].bottom < groups[1].top


def test_where_lower_is_better_worse_is_on_the_left_all_the_same():
    found, _ = make_scored_suite(
        [], [], metric="Cost", direction="lower", outcomes=(rule("all", 5.0, metric="Cost", tolerance=2),)
    )

    (group,) = make_intervals_chart(found).drawing.groups

    assert group.rows[0].point < group.rows[0].tolerances[0] < group.zero
    assert group.axis.ticks[0].label == "+5"


def test_a_rule_that_wants_no_move_has_a_tolerance_on_both_sides():
    outcome = rule("all", 0.0)
    figures = tuple(replace(each, two_sided=True) for each in outcome.figures)
    (group,) = make_intervals_chart(suite(outcomes=(replace(outcome, figures=figures),))).drawing.groups

    low, high = group.rows[0].tolerances
    assert low < group.zero < high


def test_a_rule_is_called_as_the_suite_says_or_by_its_slice_and_an_unusual_kind():
    rules = (
        rule("all", 0.1),
        rule("segment=tail", 0.1),
        rule("all", 0.1, kind="worsened"),
        rule("all", 0.1, kind="worsened", name="nobody loses"),
    )

    (group,) = make_intervals_chart(suite(outcomes=rules)).drawing.groups

    assert [row.label for row in group.rows] == ["all", "segment=tail", "all (worsened)", "nobody loses"]


def test_an_error_has_a_row_and_no_figure():
    broken = replace(rule("segment=tail", 0, "error"), figures=())

    chart = make_intervals_chart(suite(outcomes=(rule("all", 0.1), broken)))

    row = chart.drawing.groups[0].rows[1]
    assert (row.point, row.figure, row.verdict) == (None, "no figure", "error")
