"""The steps of every built-in metric come to its value, under every sensible argument, on random and on odd data."""

import math

import pytest
from graded_rankings import complete_judgments, side_data_for

from pytest_ireval import Policies, why
from pytest_ireval.data.coerce import coerce_judgments, coerce_rankings
from pytest_ireval.metrics.steps import find_steps
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.testing.breaking import make_variants
from pytest_ireval.testing.data import make_corner_cases, make_random_data

METRICS = sorted(
    (metric for metric in installed_registry().metrics.values() if metric.unit != "run"), key=lambda metric: metric.name
)
CASES = [
    pytest.param(some, id=f"{metric.name} {len(some)}", marks=mark)
    for metric in METRICS
    if not metric.needs & {"fields", "timings"}  # tests/gate/test_guardrails.py explains them
    for some, mark in ((make_variants(metric)[:2], ()), (make_variants(metric)[2:], pytest.mark.slow))
    if some
]
"""Each metric under two choices of arguments, and under all others in the long search."""
WITHOUT_SHARES = {
    "Empty": "what is missing is no document",
    "NumQ": "a query is no document",
    "NumRel": "no ranking changes it",
    "NoAnswer": "what is right is no document",
    "FalseAnswers": "a query without a ranking shows as many documents as it can",
    "IDCG": "no ranking changes it",
    "RBPResidual": "what is settled is taken away, and most of the rest stands below the list",
    "Utility": "with miss or rest, documents that are not there are worth something, too",
    **dict.fromkeys(("ED", "EC", "ETC"), "readers go on below the list"),
    "residual": "it is a difference of two readings",
    "YAAP": "a logarithm of odds is no sum",
    **dict.fromkeys(("KendallTau", "TauAP", "SpearmanRho", "WeightedTau"), "documents of the other list count, too"),
    **dict.fromkeys(("RPP", "LexiRecall", "LexiPrecision"), "documents of the other list count, too"),
    "ESL": "it ends at the cutoff",
    **dict.fromkeys(("Latency", "Instant"), "no document makes it"),
    "max": "documents below both lists count",
}

OF_QUERIES_WITHOUT_ANSWER = ("NoAnswer", "FalseAnswers")
"""These have no value for other queries."""


def test_every_built_in_metric_describes_its_steps():
    assert [metric.name for metric in METRICS if find_steps(metric) is None] == []


def explain(metric):
    """Explain a metric on queries of all kinds; ``why`` itself refuses steps that do not come to the value."""
    for data in (make_random_data(8, tied=True), make_corner_cases()):
        grades = {query.name: dict(query.grades) for query in data.queries}
        judgments = coerce_judgments(complete_judgments(metric, grades), readers=())
        rankings = {query.name: list(query.ranking) for query in data.queries if query.ranking is not None}
        rankings = coerce_rankings(rankings, readers=())
        orders = {query.name: query.ordered for query in data.queries}
        side_data = side_data_for(metric, grades, orders, collection=1000)
        names = ["s"] if metric.unit == "session" else [query.name for query in data.queries[::3]]
        if metric.name in OF_QUERIES_WITHOUT_ANSWER:
            names = [query.name for query in data.queries if max(dict(query.grades).values(), default=0) < 1]
        for name in names:
            yield why(metric, judgments, rankings, name, policies=Policies(scale=3), side_data=side_data)


@pytest.mark.parametrize("some", CASES)
def test_steps_come_to_the_value_and_so_do_the_shares_of_documents_and_the_last_line(some):
    explanations = [(metric, explanation) for metric in some for explanation in explain(metric)]
    assert explanations
    for metric, explanation in explanations:
        explained = explanation.first
        if "counts as" not in explained.steps.arithmetic:
            assert compute_value(explained.steps.arithmetic) == pytest.approx(explained.steps.value, abs=3e-3, rel=2e-3)
        if explained.special_case:
            worst = metric.bounds[metric.direction == "lower"]
            declared = {"empty": metric.empty, "relevant": metric.no_relevant, "without a ranking": worst}
            assert explained.value == next(value for word, value in declared.items() if word in explained.special_case)
            continue
        assert explained.steps.value == pytest.approx(explained.value, abs=1e-9)
        assert not explained.steps.generic
        if explained.steps.shares is None:
            assert {metric.name, *map(str, metric.arguments.values())} & WITHOUT_SHARES.keys()
        else:
            shares = [share or 0 for share in explained.steps.shares.values]
            assert math.fsum(shares) == pytest.approx(explained.value, abs=1e-9)


def compute_value(arithmetic):
    """The value of the last line, whose figures are rounded; our own metrics wrote it."""
    return eval(arithmetic.replace("^", "**"), {"log": math.log})


@pytest.mark.parametrize("name", ["CG@5", "DCG@5", "DCG", "ERR", "ERR@5"])
def test_the_running_sum_ends_in_the_value(name):
    grades = [3, 0, None, 2, 1, 0, 1]
    judgments = {"q": {f"d{i}": grade for i, grade in enumerate(grades) if grade is not None}}

    explained = why(name, judgments, {"q": [f"d{i}" for i in range(7)]}).first

    assert {c.name: c for c in explained.steps.columns}["sum"].values[-1] == pytest.approx(explained.value)
