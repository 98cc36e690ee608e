"""The end of a run in the terminal: readable for one suite and for forty."""

from dataclasses import replace

from pytest_ireval.report.terminal_summary import format_summary
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import Counts, MetricFigures, RunResult, SuiteResult

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
    return "\n".join(format_summary(run, limit, **options)) + "\n"


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
  (product-search)
"""
    )


def test_no_suites():
    assert text_of(RunResult("0.1.0", "", "error", ())) == "ireval: error, no suites\n"


def test_a_message_of_several_lines_is_one_sentence_among_the_notes():
    missing = replace(
        PASSED, metric="", kind="expect", warning=True, file="s.yaml", line=9, headline="no anchor\n  pin it"
    )
    run = replace(RUN, suites=(replace(SHOP, outcomes=(missing,)),), warnings=("a.yaml: unknown\n  known: b",))

    text = text_of(run)

    assert "warning: s.yaml:9: no anchor; pin it\n" in text
    assert "warning: a.yaml: unknown; known: b\n" in text
