"""Who leaves queries out gains nothing by it: a query that the rankings lack scores the worst value there is."""

import math

import numpy as np
import pytest

from pytest_ireval import MetricError, Policies, SideData, compare, evaluate, metric, per_query_metric, why

QUERIES = [f"q{i:02}" for i in range(30)]
JUDGMENTS = {query: {"good": 1, "bad": 0} for query in QUERIES}
ONE_OF_30 = {"q00": ["good", "bad", "x"]}
ALL = {query: ["good", "bad", "x"] for query in QUERIES}
LOWER = ["FallOut@10", "Unjudged@10"]
WITH_ZEROS = {"policies": Policies(missing_queries="zero"), "side_data": SideData(collection=1000)}


@pytest.mark.more_metrics
@pytest.mark.parametrize("name", LOWER)
def test_a_missing_query_scores_1_where_that_is_the_worst(name):
    values = evaluate(JUDGMENTS, ONE_OF_30, name, **WITH_ZEROS)[name].values

    assert values["q00"] < 0.2
    assert [values[query] for query in QUERIES[1:]] == [1.0] * 29


@pytest.mark.more_metrics
@pytest.mark.parametrize("name", LOWER)
def test_an_empty_ranking_scores_what_the_metric_says(name):
    values = evaluate(JUDGMENTS, {**ALL, "q01": []}, name, **WITH_ZEROS)[name].values

    assert values["q01"] == 0


@pytest.mark.more_metrics
def test_rankings_of_one_query_of_thirty_win_nothing():
    comparison = compare(JUDGMENTS, {"all": ALL, "lazy": ONE_OF_30}, [*LOWER, "AP", "Judged@10"], **WITH_ZEROS)

    assert {metric.name: metric.best for metric in comparison.metrics} == {
        "FallOut@10": ("all",),
        "Unjudged@10": ("all",),
        "AP": ("all",),
        "Judged@10": ("all",),
    }
    assert [metric.pairs[0].better for metric in comparison.metrics] == ["all"] * 4


@pytest.mark.parametrize(("low", "direction"), [(-1.0, "higher"), (-2.0, "lower")])
def test_the_worst_value_is_that_of_the_range(low, direction):
    @per_query_metric(name="Odd", direction=direction, range=(low, 3.0), empty=0.5, no_relevant=0.5)
    def odd(ranking):
        """Nothing in particular."""
        return 0.25

    values = evaluate({"a": {"d": 1}, "b": {"d": 1}, "c": {"d": 1}}, {"a": ["d"], "b": []}, [odd], **WITH_ZEROS)

    assert values["Odd"].values == {"a": 0.25, "b": 0.5, "c": {"higher": low, "lower": 3.0}[direction]}


@pytest.mark.more_metrics
@pytest.mark.parametrize("name", ["Utility", "nDCG(gains={0: -1, 1: 2})"])
def test_where_no_value_is_the_worst_it_has_to_be_said_what_becomes_of_missing_queries(name):
    with pytest.raises(MetricError) as caught:
        evaluate(JUDGMENTS, {query: ALL[query] for query in QUERIES[2:]}, name, **WITH_ZEROS)

    assert str(caught.value).partition("\n")[2] == (
        "  2 queries without a ranking cannot be scored, because the metric has no worst value: 'q00', 'q01'\n"
        '  missing_queries="ignore" (command line: --missing ignore) leaves them out, "error" refuses them'
    )
    assert len(evaluate(JUDGMENTS, ONE_OF_30, name, policies=Policies(missing_queries="ignore")).metrics[0].values) == 1


def test_a_session_without_any_ranking_scores_the_worst():
    @metric(name="Seconds", unit="session", direction="lower", range=(0, 60))
    def seconds(judged):
        """Documents of a session, a second each."""
        return np.bincount(judged.sessions.session, judged.retrieved, minlength=len(judged.sessions.names))

    sessions = {query: (f"s{i // 10}", i % 10 + 1) for i, query in enumerate(QUERIES)}

    found = evaluate(
        JUDGMENTS, ONE_OF_30, [seconds], policies=WITH_ZEROS["policies"], side_data=SideData(sessions=sessions)
    )

    assert found["Seconds"].values == {"s0": 3, "s1": 60, "s2": 60}


def test_seconds_that_nobody_measured_are_no_0():
    @per_query_metric(name="Took", needs=("timings",), direction="lower", range=(0, math.inf), no_relevant=None)
    def took(ranking):
        """Seconds."""
        return ranking.seconds

    timings = SideData(timings={"q00": 1.5})
    with pytest.raises(
        MetricError, match="29 queries without a ranking cannot be scored, because the metric has no worst value"
    ):
        evaluate(JUDGMENTS, ONE_OF_30, [took], policies=WITH_ZEROS["policies"], side_data=timings)


def test_why_shows_the_worst_value_and_the_reason():
    explained = why("Unjudged@10", JUDGMENTS, ONE_OF_30, "q01").first

    assert (explained.value, explained.special_case) == (1, "a query without a ranking scores the worst value, 1")
    assert explained.steps.facts[0] == "this query has no ranking; the ranking counts as empty"


def test_why_explains_a_missing_query_as_an_empty_ranking_where_no_value_is_the_worst():
    explained = why("Utility", JUDGMENTS, ONE_OF_30, "q01").first

    assert (explained.value, explained.special_case) == (0, "")
    assert why("Utility", JUDGMENTS, ALL, other=ONE_OF_30).query == "q01"
