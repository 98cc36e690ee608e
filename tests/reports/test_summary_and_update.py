"""The end of a run in the terminal: readable for one suite and for forty."""

from dataclasses import replace

from pytest_ireval.reports.summary_table import summary_lines, update_lines
from pytest_ireval.results.outcome import Cause, Outcome
from pytest_ireval.results.suite_result import BaselineInfo, Counts, MetricFigures, RunResult, SuiteResult
from pytest_ireval.text_table import width

NDCG = MetricFigures(
    *("nDCG@10", "higher", "query", "mean", 0.8714, 0.9020, 0.8714),
    low=-0.0521,
    high=-0.0091,
    worse=4,
    better=26,
    same=30,
    verdict="fail",
)
RECALL = MetricFigures("R@20", "higher", "query", "mean", 0.75, 0.75, 0.75, low=0.0, high=0.0, same=60, verdict="pass")
FAILED = Outcome("no_regression::nDCG_10", "no_regression", "fail", "nDCG@10 fell", metric="nDCG@10")
PASSED = Outcome("threshold::R_20", "threshold", "pass", "R@20 is 0.75", metric="R@20")
SHOP = SuiteResult(
    "product-search",
    "suites/product-search.ireval.yaml",
    "fail",
    (FAILED, PASSED),
    metrics=(NDCG, RECALL),
    counts=Counts(60, 60, unjudged=212, no_relevant=2),
)
RUN = RunResult("0.1.0", "2027-03-03T09:00:00Z", "fail", (SHOP,))


def text_of(run, limit=80, **options):
    return "\n".join(summary_lines(run, limit, **options)) + "\n"


def test_one_suite():
    run = replace(RUN, suites=(replace(SHOP, notes=("AP is uncut, and rankings end at 20",)),))

    assert (
        text_of(run, files=["ireval-report/results.json"])
        == """\
suite           metric      now  baseline   change  90% interval      verdict
product-search  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  fail
                R@20     0.7500    0.7500  +0.0000  +0.000 .. +0.000  pass

suite           queries  judged  no relevant  unjudged in the lists
product-search       60      60            2                    212

AP is uncut, and rankings end at 20

written: ireval-report/results.json

ireval: fail: 1 suite failed (product-search); 2 verdicts: 1 fail, 1 pass
"""
    )


def test_without_room_beside_the_figures_the_suite_stands_above_them():
    suite = replace(SHOP, name="product-search-in-all-the-countries.de")

    assert (
        text_of(replace(RUN, suites=(suite,)))
        == """\
  metric      now  baseline   change  90% interval      verdict
product-search-in-all-the-countries.de
  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  fail
  R@20     0.7500    0.7500  +0.0000  +0.000 .. +0.000  pass

product-search-in-all-the-countries.de: 60 queries, 60 judged; no relevant: 2;
  unjudged in the lists: 212

ireval: fail: 1 suite failed (product-search-in-all-the-countries.de); 2
  verdicts: 1 fail, 1 pass
"""
    )


def test_rules_without_a_metric_have_a_row_where_they_did_not_pass():
    expect = Outcome("expect::q044.order", "expect", "fail", "q044-d3 stands above q044-d0")
    fine = Outcome("inputs", "inputs", "pass", "all there")
    warned = Outcome("churn::RBO", "churn", "pass", "12 lists changed", warning=True, file="shop.ireval.yaml", line=22)
    suite = replace(SHOP, metrics=(), outcomes=(fine, expect, warned))

    assert (
        text_of(replace(RUN, suites=(suite,)))
        == """\
suite           metric  now  baseline  change  90% interval  verdict
product-search  churn                                        warning
                expect                                       fail

suite           queries  judged  no relevant  unjudged in the lists
product-search       60      60            2                    212

warning: shop.ireval.yaml:22: 12 lists changed

ireval: fail: 1 suite failed (product-search); 3 verdicts: 1 fail, 2 pass
"""
    )


def test_a_suite_that_could_not_be_judged_is_an_error():
    broken = SuiteResult("other", "o.yaml", "error", (), error="runs/x.trec:3: no score\n  five columns")

    assert (
        text_of(replace(RUN, verdict="error", suites=(SHOP, broken), problems=("a.yaml:3: unknown key\n  'metrc'",)))
        == """\
suite           metric      now  baseline   change  90% interval      verdict
product-search  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  fail
                R@20     0.7500    0.7500  +0.0000  +0.000 .. +0.000  pass
other           inputs                                                error

suite           queries  judged  no relevant  unjudged in the lists
product-search       60      60            2                    212

other: error: runs/x.trec:3: no score; five columns

problem: a.yaml:3: unknown key
  'metrc'

ireval: error: 1 suite could not be judged (other), 1 suite failed
  (product-search); 2 verdicts: 1 fail, 1 pass
"""
    )


def test_missing_queries_and_waivers_are_listed():
    suite = replace(
        SHOP,
        counts=Counts(60, 55, tuple(f"q{n}" for n in range(7)), ("q50",), ("q60",), 3, 20, ("q17",)),
        waived=("q17 until 2027-04-01: SEARCH-9: supplier feed broken",),
    )

    assert (
        text_of(replace(RUN, suites=(suite,)))
        == """\
suite           metric      now  baseline   change  90% interval      verdict
product-search  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  fail
                R@20     0.7500    0.7500  +0.0000  +0.000 .. +0.000  pass

product-search: 60 queries, 55 judged; missing: 7; empty: 1; no judgments: 1; no
  relevant: 3; waived: 1; unjudged in the lists: 20

missing: q0, q1, q2, q3, q4 and 2 more
empty: q50
without judgments: q60
waived: q17 until 2027-04-01: SEARCH-9: supplier feed broken

ireval: fail: 1 suite failed (product-search); 2 verdicts: 1 fail, 1 pass; 1 of
  60 queries is waived
"""
    )


def test_forty_suites_are_a_row_each_and_one_note_for_all():
    suites = tuple(
        replace(
            SHOP,
            name=f"shop.{number:02}",
            verdict="fail" if number in (3, 5) else "pass",
            metrics=(replace(NDCG, verdict="pass"),),
            outcomes=(replace(FAILED, verdict="fail" if number in (3, 5) else "pass"),),
            notes=("judgments changed",),
        )
        for number in range(40)
    )

    lines = summary_lines(replace(RUN, suites=suites), 80)

    assert lines[4] == "shop.03  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  fail"
    assert lines[42] == "suite    queries  judged  no relevant  unjudged in the lists"
    assert lines[-4:] == [
        "shop.00, shop.01, shop.02, shop.03, shop.04 and 35 more: judgments changed",
        "",
        "ireval: fail: 2 suites failed (shop.03, shop.05), 38 suites passed; 40 verdicts:",
        "  2 fail, 38 pass",
    ]
    assert len(lines) == 40 + 1 + 1 + 40 + 1 + 1 + 1 + 1 + 2
    assert max(map(width, lines)) <= 80


def test_all_is_well():
    fine = replace(SHOP, verdict="pass", outcomes=(PASSED,), metrics=(RECALL,), counts=Counts(60, 60))

    assert (
        text_of(replace(RUN, verdict="pass", suites=(fine,)))
        == """\
suite           metric     now  baseline   change  90% interval      verdict
product-search  R@20    0.7500    0.7500  +0.0000  +0.000 .. +0.000  pass

suite           queries  judged
product-search       60      60

ireval: pass: 1 suite passed; 1 verdict: 1 pass
"""
    )


def test_no_suites():
    assert text_of(RunResult("0.1.0", "", "error", ())) == "ireval: error, no suites\n"


def test_an_update_shows_what_was_and_what_is():
    was = BaselineInfo("b.json", "2027-03-01", "3f9c2e1", "main", False, "start", False, ())
    suite = replace(
        SHOP,
        verdict="pass",
        outcomes=(replace(FAILED, verdict="pass", accepted=True),),
        baseline=was,
        cause=Cause(rankings=34, compared=60),
    )
    run = replace(RUN, verdict="pass", suites=(suite, replace(SHOP, name="other")), accepted=("product-search",))

    assert (
        "\n".join(update_lines(run)) + "\n"
        == """\
product-search: new baseline
  metric      was     now   change  worse / better / same
  nDCG@10  0.9020  0.8714  -0.0306  4 / 26 / 30
  R@20     0.7500  0.7500  +0.0000  0 / 0 / 60
  rankings changed; queries, judgments, source and metrics are those of the
    baseline
"""
    )
    assert "product-search  nDCG@10  0.8714    0.9020  -0.0306  -0.052 .. -0.009  accepted" in summary_lines(run, 100)


def test_a_first_baseline_has_nothing_before_it():
    new = replace(SHOP, metrics=(replace(NDCG, baseline=None),))

    assert (
        "\n".join(update_lines(replace(RUN, suites=(new,), accepted=("product-search",)))) + "\n"
        == """\
product-search: first baseline
  metric   was     now  change
  nDCG@10    -  0.8714       -
"""
    )
