"""A metric that breaks its promises is an error that names metric, query and distribution."""

import numpy as np
import pytest

from pytest_ireval import MetricError, evaluate, metric, per_query_metric
from pytest_ireval.plugins.registry import Origin, registered

JUDGMENTS = {"q1": {"a": 1}, "q2": {"b": 1}}
RANKINGS = {"q1": ["a"], "q2": ["c", "b"]}


def message(toy):
    registry = registered([(Origin("acme", "acme-metrics", "2.1"), [toy])], [])
    with pytest.raises(MetricError) as caught:
        evaluate(JUDGMENTS, RANKINGS, [toy.name], registry=registry)
    return str(caught.value)


def test_a_function_of_one_ranking_that_raises():
    @per_query_metric(name="Bad")
    def bad(ranking):
        """Works for one query."""
        return 1 / (2 - ranking.retrieved)

    assert message(bad) == (
        "Bad\n  raised ZeroDivisionError: division by zero for query 'q2'\n  the metric comes from acme-metrics 2.1"
    )


def test_a_batch_metric_that_raises():
    @metric(name="Bad")
    def bad(judged):
        """Works for one query."""
        if "q2" in judged.queries:
            raise KeyError("no such thing")
        return np.zeros(judged.count)

    assert message(bad) == (
        "Bad\n  raised KeyError: 'no such thing' for query 'q2'\n  the metric comes from acme-metrics 2.1"
    )


def test_nan():
    @metric(name="Bad")
    def bad(judged):
        """Zero divided by zero, for one query."""
        return np.array([1.0, np.nan])

    assert message(bad) == "Bad\n  returned NaN for query 'q2'\n  the metric comes from acme-metrics 2.1"


@pytest.mark.parametrize(("value", "shown"), [(1.5, "1.5"), (-0.1, "-0.1"), (np.inf, "inf")])
def test_a_value_outside_the_declared_range(value, shown):
    @metric(name="Bad", range=(0, 1))
    def bad(judged):
        """Too much, or too little."""
        return np.array([0.5, value])

    assert message(bad) == (
        f"Bad\n  returned {shown}, outside its range 0 to 1 for query 'q2'\n  the metric comes from acme-metrics 2.1"
    )


def test_a_value_outside_by_rounding_is_pulled_back():
    @metric(name="Rounded", range=(0, 1))
    def rounded(judged):
        """One, and a little."""
        return np.array([1 + 1e-12, -1e-12])

    registry = registered([(Origin("acme"), [rounded])], [])
    (result,) = evaluate(JUDGMENTS, RANKINGS, ["Rounded"], registry=registry).metrics

    assert list(result.values.values()) == [1.0, 0.0]


def test_what_is_no_number():
    @per_query_metric(name="Bad")
    def bad(ranking):
        """Text."""
        return "much"

    assert "raised ValueError: could not convert string to float: 'much' for query 'q1'" in message(bad)


def test_a_grade_above_max_grade_is_refused():
    with pytest.raises(MetricError, match=r"grade 5 is above max_grade=4"):
        evaluate({"q": {"a": 5}}, {"q": ["a"]}, ["ERR(max_grade=4)"])


def test_lower_is_better_has_to_say_what_nothing_scores():
    with pytest.raises(MetricError, match="lower is better, so say what empty= and no_relevant= score"):
        per_query_metric(name="Effort", direction="lower")
