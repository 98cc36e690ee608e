"""Runs that the tests of reports show: one with a hidden tail, and large ones."""

from dataclasses import replace

from pytest_ireval.results.outcome import Cause, Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import BaselineInfo, Counts, MetricFigures, RunResult, SuiteResult

TAIL = SliceFigures("segment=tail", 12, 0.6154, 0.9438, 4, 0, 8, 0.01, 0.0283, True, -0.58, -0.077, 0.37)
ALL = SliceFigures("all", 59, 0.8764, 0.8764, 4, 26, 29)
NDCG = MetricFigures(
    *("nDCG@10", "higher", "query", "mean", 0.8764, 0.8764, 0.8764, False, -0.062, 0.062, 4, 26, 29, "fail"),
    sd=0.29,
    resolution=0.093,
)


def make_lost_query(number, text):
    query = f"q{number:03}"
    top = tuple(Placed(f"{query}-n{i}", None, i) for i in (1, 2, 3))
    return QueryChange(query, text, 0.0, 1.0, 16.0, Placed(f"{query}-d0", 3.0, 14, 1), top)


FAILED = Outcome(
    "no_regression::nDCG_10.segment-tail",
    "no_regression",
    "fail",
    "nDCG@10 fell 34.8% on segment=tail (tolerance 3%)",
    "4 of 12 tail queries (1.0% of all searches) lost their best document.",
    "suites/product-search.ireval.yaml",
    17,
    metric="nDCG@10",
    slice="segment=tail",
    acceptable=True,
    figures=(TAIL, ALL),
    queries=(make_lost_query(52, "aeropress filter"), make_lost_query(60, "red mug")),
    facts=("with this spread, a harmless change would exceed the tolerance 42.0% of the time",),
    compares=True,
    numbers={"value": 0.6154, "baseline": 0.9438, "change": -0.3283, "tolerance": 0.0283},
)
PASSED = Outcome(
    "threshold::nDCG_10",
    "threshold",
    "pass",
    "nDCG@10 is 0.8764 (must be >= 0.85)",
    file="suites/product-search.ireval.yaml",
    line=15,
    metric="nDCG@10",
    numbers={"value": 0.8764, "min": 0.85},
)
WARNED = replace(
    PASSED,
    id="expect::q044.order",
    kind="expect",
    metric="",
    headline="q044-d0 #2, q044-d3 #1",
    warning=True,
    line=24,
    numbers={},
)
SHOP = SuiteResult(
    "product-search",
    "suites/product-search.ireval.yaml",
    "fail",
    (PASSED, FAILED, WARNED),
    "@acme/search-team",
    metrics=(NDCG,),
    counts=Counts(60, 60),
    cause=Cause(rankings=34, compared=59),
    baseline=BaselineInfo("b.json", "2027-03-01T09:00:00Z", "3f9c2e1d8a77", "main", False, "start", False, ()),
    depth=20,
    waived=("q017 until 2099-12-31: SEARCH-9: supplier feed broken",),
)
RUN = RunResult("0.1.0", "2027-03-03T09:00:00Z", "fail", (SHOP,), "3b1c0ffee000abcd", "synonyms")
GREEN = replace(RUN, verdict="pass", suites=(replace(SHOP, verdict="pass", outcomes=(PASSED,)),))
UNFINISHED = RunResult("0.1.0", "2027-03-03T09:00:00Z", "error", (), problems=("the run did not end",))


def make_suite_of_red_rules(number, name="product-search"):
    """A suite in which ``number`` rules are red."""
    outcomes = [
        replace(FAILED, id=f"no_regression::nDCG_10.segment-s{i}", headline=f"nDCG@10 fell 34.8% on segment=s{i}")
        for i in range(number)
    ]
    return replace(SHOP, name=name, outcomes=(PASSED, *outcomes))


def suites(number, red=0):
    """A run of so many suites, the first of them red."""
    made = [
        replace(SHOP, name=f"shop-{i:02}")
        if i < red
        else replace(SHOP, name=f"shop-{i:02}", verdict="pass", outcomes=(PASSED,))
        for i in range(number)
    ]
    return replace(RUN, suites=tuple(made))
