"""Latency, Instant and Throughput from the seconds of each query."""

import pytest

from pytest_ireval import InputError, MetricError, evaluate

SECONDS = {"q1": 0.1, "q2": 0.15, "q3": 0.05, "q4": 0.9}


def timed(metrics, seconds=SECONDS, **options):
    unranked = options.pop("unranked", ())
    lists = {query: ["a"] for query in seconds if query not in unranked}
    judgments = {query: {"a": 1} for query in (*seconds, *unranked)}
    return [each.value for each in evaluate(judgments, lists, metrics, timings=seconds, **options).metrics]


def test_times_are_summed_up_as_asked():
    assert timed(["Latency", "Latency(p=50)", "Instant", "Instant(below=1000)"]) == pytest.approx([300, 125, 0.5, 1])
    assert timed("Throughput") == pytest.approx([4 / 1.2])


def test_a_query_without_an_answer_is_not_fast():
    assert timed("Instant", unranked=["q5"], missing_queries="zero") == pytest.approx([0.4])
    assert timed("Throughput", unranked=["q5"], missing_queries="zero") == pytest.approx([4 / 1.2])
    assert timed("Latency", unranked=["q5"], missing_queries="zero") == pytest.approx([300])  # it took no known time
    waited = {**SECONDS, "q5": 0.1}
    assert timed("Instant", waited, unranked=["q5"], missing_queries="zero") == pytest.approx([0.4])
    assert timed("Throughput", waited, unranked=["q5"], missing_queries="zero") == pytest.approx([4 / 1.3])


def test_no_time_at_all_is_an_error():
    with pytest.raises(MetricError, match="all queries together took 0 seconds"):
        timed("Throughput", dict.fromkeys(SECONDS, 0))
    with pytest.raises(InputError, match="query 'q1' took -1"):
        timed("Latency", {"q1": -1})
