"""The table of figures: each verdict stands beside the figures that decided it."""

from dataclasses import replace

from report.runs import FAILED, PASSED, SHOP

from pytest_ireval.report.figure_rows import format_figure_row, list_figure_rows


def rows_of(*outcomes, baseline=0.8764):
    (metric,) = SHOP.metrics
    suite = replace(SHOP, metrics=(replace(metric, baseline=baseline),), outcomes=outcomes)
    return [(cells[0], cells[3], cells[-1]) for cells in map(format_figure_row, list_figure_rows(suite))]


def test_a_slice_or_another_reference_that_decided_has_a_row_of_its_own():
    against = replace(FAILED, slice="all", against="run: live.trec")

    assert rows_of(PASSED, FAILED) == [("nDCG@10", "+0.0000", "pass"), ("nDCG@10, segment=tail", "-0.3284", "fail")]
    assert rows_of(against, baseline=None) == [("nDCG@10, against run: live.trec", "-0.3284", "fail")]


def test_a_slice_that_passed_has_none():
    assert rows_of(replace(FAILED, verdict="pass")) == [("nDCG@10", "+0.0000", "pass")]


def test_a_rule_that_failed_for_another_reason_than_the_change_is_named():
    counted = replace(FAILED, kind="worsened", slice="all", figures=(replace(FAILED.figures[1], tolerance=None),))

    assert rows_of(counted) == [("nDCG@10", "+0.0000", "fail (worsened)")]


def test_of_many_red_slices_the_first_have_figures():
    _, *rows = rows_of(*(replace(FAILED, slice=f"shop={number}") for number in range(6)))

    assert [name.partition(", ")[2] for name, *_ in rows] == ["shop=0", "shop=1", "shop=2", "3 more slices"]
    assert rows[-1][-1] == "fail"
