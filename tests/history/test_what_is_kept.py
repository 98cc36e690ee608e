"""Of a run the history keeps figures of suites, metrics and slices, verdicts and acceptances."""

import pytest
from made_runs import COMMIT, outcome, run, suite, tail

from pytest_ireval.errors import HistoryError
from pytest_ireval.history.kept import KeptFigures, kept_run
from pytest_ireval.reports.data_files import results_text, run_of
from pytest_ireval.results.suite_result import MetricFigures


def figures(*outcomes, **more):
    ((kept,)) = kept_run(run("2026-03-01T10:00:00Z", suite("shop", 0.8, *outcomes, **more))).suites
    return kept.figures


def test_the_run_has_its_date_commit_branch_and_verdict():
    kept = kept_run(run(dirty=True, verdict="fail"))

    assert (kept.date, kept.commit, kept.branch, kept.dirty, kept.verdict) == (
        "2026-03-01T10:00:00Z",
        COMMIT,
        "main",
        True,
        "fail",
    )


def test_a_metric_has_its_figures_over_all_queries():
    (kept,) = figures()

    assert kept == KeptFigures("nDCG@10", "all", 0.8, 0.75, pytest.approx(0.05), 0.1, 3, -0.1, 0.2, "pass")


def test_without_a_baseline_the_queries_with_a_value_are_counted():
    alone = MetricFigures("nDCG@10", "higher", "query", "mean", 0.6, None)

    (kept,) = figures(metrics=(alone,))

    assert (kept.now, kept.baseline, kept.change, kept.queries) == (0.6, None, None, 2)


def test_a_metric_without_a_figure_is_left_out():
    lists = MetricFigures("RBO", "higher", "query", "mean", None, None, lists=True)

    assert figures(metrics=(lists,)) == ()


def test_a_slice_that_a_rule_compared_has_figures_of_its_own():
    kept = figures(outcome("segment=tail", "fail", tail(), tail(slice="all", sd=None)))

    assert [(each.slice, each.now, each.sd, each.queries, each.verdict) for each in kept] == [
        ("all", 0.8, 0.1, 3, ""),
        ("segment=tail", 0.6, 0.3, 12, "fail"),
    ]


def test_of_two_rules_about_a_slice_the_one_that_knows_the_spread_is_kept_and_the_worst_verdict():
    first = outcome("segment=tail", "pass", tail(sd=None))
    second = outcome("segment=tail", "fail", tail(sd=0.2), id="worsened::nDCG_10.segment-tail")

    (_, kept) = figures(first, second)

    assert (kept.sd, kept.verdict) == (0.2, "fail")


@pytest.mark.parametrize(
    "other",
    [
        outcome("segment=tail", "pass", tail(baseline=None)),
        outcome("segment=tail", "pass", tail(), against="an older ranking"),
        outcome("segment=tail", "pass", tail(), metric="RBO"),
    ],
    ids=["compares with nothing", "compares with something else", "is about no metric of the suite"],
)
def test_a_slice_has_no_figures_of_a_rule_that(other):
    assert [each.slice for each in figures(other)] == ["all"]


def test_what_was_selected_is_told_apart_from_what_was_planned():
    (kept,) = kept_run(run("2026-03-01T10:00:00Z", suite(planned=("a", "b", "c")))).suites

    assert (kept.judged, kept.planned) == (1, 3)


def test_acceptances_are_those_of_the_suites_that_were_written():
    kept = kept_run(run("2026-03-01T10:00:00Z", suite("shop"), suite("blog"), accepted=("blog",), reason="synonyms"))

    assert [(each.name, each.accepted, each.reason) for each in kept.suites] == [
        ("shop", False, ""),
        ("blog", True, "synonyms"),
    ]


def test_the_file_of_a_run_tells_of_the_same_run():
    whole = run("2026-03-01T10:00:00Z", suite("shop", 1 / 3, outcome("segment=tail", "fail", tail(now=0.1 + 0.2))))

    assert kept_run(run_of(results_text(whole)), "results").key == kept_run(whole).key


@pytest.mark.parametrize("date", ["yesterday", "", "2026-03-01"])
def test_a_run_without_a_date_is_refused(date):
    with pytest.raises(HistoryError) as caught:
        kept_run(run(date), "results", "old/results.json")

    assert str(caught.value) == (
        f"old/results.json: date\n  {date!r} is not a valid date of a run\n  as in 2026-03-01T10:00:00Z".replace(
            "2026-03-01T10:00:00Z", "2026-11-20T19:20:00Z"
        )
    )
