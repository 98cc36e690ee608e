"""What a page shows of queries: all of them as columns for the table, and the worst as views that need no script."""

import base64
import json
import zlib
from dataclasses import replace

from report.full_run import full_run

from pytest_ireval.report.query_data import MAX_CHARACTERS, format_query_data
from pytest_ireval.report.query_view import FigureRow, make_query_view, make_worst_views
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange
from pytest_ireval.results.suite_result import (
    BaselineInfo,
    MetricFigures,
    QueryCurve,
    QueryDocuments,
    QueryTable,
    RecallPrecision,
    RunResult,
    SuiteResult,
)

LOST = QueryDocuments(
    "red mug",
    (
        Placed("x1", None, 1, 30),
        Placed("d1", 3.0, 4, 1),
        Placed("d2", 0.0, 2, 2),
        Placed("far", 0.0, 40, 41),
        Placed("d3", 1.0, None, 35),
    ),
    now=QueryCurve((0.5,), (0.25,), RecallPrecision((0.25, 0.25), 0.0)),
    shares={"nDCG@10": (None, -0.56931, None, None, 0.0)},
    relevant=2,
)
SUITE = SuiteResult(
    "shop",
    "suites/shop.ireval.yaml",
    "fail",
    (
        Outcome(
            "no_regression::nDCG_10.all",
            "no_regression",
            "fail",
            "nDCG@10 fell 56.9%",
            metric="nDCG@10",
            queries=(QueryChange("red mug", "a red mug", 0.43, 1.0), QueryChange("q2", "tea", 0.5, 0.5)),
        ),
        Outcome("threshold::nDCG_10", "threshold", "pass", "nDCG@10 is 0.5", metric="nDCG@10"),
    ),
    metrics=(
        MetricFigures("nDCG@10", "higher", "query", "mean", 0.5, 0.9),
        MetricFigures("Cost", "lower", "query", "mean", 2.0, 1.0),
        MetricFigures("nsDCG", "higher", "session", "mean", 0.5, 0.9),
    ),
    queries=QueryTable(
        ids=("q2", "red mug"),
        texts=("tea", "a red mug"),
        weights=(1.0, 2.5),
        columns={"segment": ("tail", "tail")},
        now={"nDCG@10": (0.5, 0.43068), "Cost": (2.0, None)},
        baseline={"nDCG@10": (0.5, 1.0), "Cost": (1.0, None)},
    ),
    documents=(LOST,),
    documents_of=2,
    labels={"3": "perfect"},
    baseline=BaselineInfo("b.json", "2027-03-01T09:00:00Z", "", "", False, "", False, ()),
    depth=50,
)
RUN = RunResult("0.1.0", "2027-03-03T09:00:00Z", "fail", (SUITE,))


def data_of(run):
    return json.loads(format_query_data(run))


def documents_of(suite):
    return json.loads(zlib.decompress(base64.b64decode(suite["documents"])))


def test_rules_that_passed_say_nothing_of_the_queries_they_looked_at():
    passed = replace(SUITE.outcomes[0], verdict="pass")
    warned = replace(passed, warning=True)

    assert data_of(replace(RUN, suites=(replace(SUITE, outcomes=(passed,)),)))["suites"][0]["rules"] == []
    (shown,) = data_of(replace(RUN, suites=(replace(SUITE, outcomes=(warned,)),)))["suites"][0]["rules"]
    assert shown["verdict"] == "warning"
    assert make_query_view(replace(SUITE, outcomes=(warned,)), "q2").rules[0][0] == "warning"
    assert make_query_view(replace(SUITE, outcomes=(passed,)), "q2").rules == ()


def test_the_data_never_ends_the_element_it_stands_in():
    hostile = "</script><script>alert(1)</script><!-- & \u2028\u2029"
    suite = replace(SUITE, queries=replace(SUITE.queries, texts=(hostile, "\udc80 \x00 tea")))
    text = format_query_data(replace(RUN, suites=(suite,)))

    assert not set(text) & set("<>&\u2028\u2029")
    assert json.loads(text)["suites"][0]["texts"] == [hostile, "\ufffd \ufffd tea"]
    assert text.encode()


def test_documents_stop_where_a_page_would_get_too_large():
    long = QueryDocuments("q2", (Placed("d" * MAX_CHARACTERS, None, 1),))
    (suite,) = data_of(replace(RUN, suites=(replace(SUITE, documents=(LOST, long)),)))["suites"]

    assert [each["query"] for each in documents_of(suite)] == [1]


def test_a_broken_suite_has_no_queries():
    broken = SuiteResult("shop", "shop.ireval.yaml", "error", (), error="no judgments")

    (suite,) = data_of(replace(RUN, suites=(broken,)))["suites"]
    assert (suite["ids"], suite["metrics"]) == ([], [])
    assert make_worst_views(broken) == ()


def test_the_worst_of_each_failing_rule_are_viewed_once():
    again = replace(SUITE.outcomes[0], id="worsened::nDCG_10")
    suite = replace(SUITE, outcomes=(*SUITE.outcomes, again))

    assert [view.query for view in make_worst_views(suite)] == ["red mug", "q2"]
    assert make_worst_views(replace(SUITE, outcomes=SUITE.outcomes[1:])) == ()
    assert len(make_worst_views(full_run().suites[0])) == 3


def test_however_many_rules_fail_a_suite_has_twenty_views():
    ids = tuple(f"q{number:03}" for number in range(100))
    table = QueryTable(ids=ids, texts=ids, now={"nDCG@10": (0.0,) * 100}, baseline={"nDCG@10": (1.0,) * 100})
    red = [replace(SUITE.outcomes[0], queries=(QueryChange(query, query, 0.0, 1.0),)) for query in ids]
    suite = replace(SUITE, metrics=SUITE.metrics[:1], queries=table, documents=(), outcomes=tuple(red))

    assert [view.query for view in make_worst_views(suite)] == list(ids[:20])


def test_grades_below_what_counts_as_relevant_are_not_taken_for_it():
    view = make_worst_views(replace(SUITE, relevant_from=2.0))[0]

    assert {each.document: each.relevant for each in view.rankings.baseline} == {"d1": True, "d2": False, "x1": False}


def test_shares_of_a_metric_that_is_no_better_either_way_are_shown_with_the_others():
    neither = replace(SUITE.metrics[0], name="NumNonRelRet", direction="neither")
    lost = replace(LOST, shares={"NumNonRelRet": (None, None, None, -1.0, None), **LOST.shares})
    shares = make_query_view(
        replace(SUITE, metrics=(*SUITE.metrics, neither), documents=(lost,)), "red mug"
    ).rankings.shares

    assert [(row.document, row.shares) for row in shares] == [
        ("far", (("-1.0000", ""), ("-", ""))),
        ("d1", (("-", ""), ("-0.5693", "worse"))),
    ]


def test_a_cost_that_rose_is_worse():
    assert make_query_view(SUITE, "q2").figures[1] == FigureRow("Cost", "1.0000", "2.0000", "+1.0000", "worse")


def test_without_a_baseline_there_is_one_side():
    both = make_query_view(replace(SUITE, baseline=None), "red mug").rankings

    assert not both.compared
    assert {each.arrow for each in both.now} == {""}


def test_a_query_without_judgments_says_so():
    suite = replace(SUITE, documents=(replace(LOST, relevant=None),))

    assert make_query_view(suite, "red mug").rankings.known == "This query has no judgments."


def test_metrics_that_nobody_can_explain_have_no_command():
    silent = replace(SUITE.outcomes[0], explained=False)
    suite = replace(SUITE, outcomes=(silent,))

    assert data_of(replace(RUN, suites=(suite,)))["suites"][0]["metrics"][0]["why"] == ""
    assert make_query_view(suite, "q2").why == "ireval why Cost --suite suites/shop.ireval.yaml --query q2"
