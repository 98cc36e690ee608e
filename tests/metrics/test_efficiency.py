"""Latency, Instant and Throughput from the seconds of each query."""

import pytest

from pytest_ireval import InputError, MetricError, Policies, SideData, evaluate, why

SECONDS = {"q1": 0.1, "q2": 0.15, "q3": 0.05, "q4": 0.9}


def evaluate_times(metrics, seconds=SECONDS, unranked=(), **policies):
    lists = {query: ["a"] for query in seconds if query not in unranked}
    judgments = {query: {"a": 1} for query in (*seconds, *unranked)}
    side_data = SideData(timings=seconds)
    found = evaluate(judgments, lists, metrics, policies=Policies(**policies), side_data=side_data)
    return [each.value for each in found.metrics]


def test_times_are_summed_up_as_asked():
    assert evaluate_times(["Latency", "Latency(p=50)", "Instant", "Instant(below=1000)"]) == pytest.approx(
        [300, 125, 0.5, 1]
    )
    assert evaluate_times("Throughput") == pytest.approx([4 / 1.2])


def test_a_percentile_is_linear_between_the_two_nearest_times():
    twenty = {f"q{number:02}": number / 100 for number in range(1, 21)}

    assert evaluate_times(["Latency(p=50)", "Latency(p=95)", "Instant"], twenty) == pytest.approx([105, 190.5, 0.7])


def test_a_query_without_an_answer_is_not_fast():
    lost = {"unranked": ["q5"], "missing_queries": "zero"}
    assert evaluate_times("Instant", **lost) == pytest.approx([0.4])
    waited = {**SECONDS, "q5": 0.1}
    assert evaluate_times("Instant", waited, **lost) == pytest.approx([0.4])
    assert evaluate_times("Throughput", waited, **lost) == pytest.approx([4 / 1.3])
    with pytest.raises(MetricError, match="1 query without a ranking cannot be scored"):
        evaluate_times("Latency", **lost)
    with pytest.raises(MetricError, match="1 query has no ranking and no time, so the time of all queries is unknown"):
        evaluate_times("Throughput", **lost)


def test_queries_that_are_left_out_take_no_time():
    left_out = {"unranked": ["q5"], "missing_queries": "ignore"}
    assert evaluate_times(["Latency", "Throughput"], **left_out) == pytest.approx([300, 4 / 1.2])


def test_no_time_at_all_is_an_error():
    with pytest.raises(MetricError, match="all queries together took 0 seconds"):
        evaluate_times("Throughput", dict.fromkeys(SECONDS, 0))
    with pytest.raises(InputError, match="query 'q1' took -1"):
        evaluate_times("Latency", {"q1": -1})


@pytest.mark.parametrize(
    ("name", "value", "arithmetic", "fact"),
    [
        ("Latency", 250, "0.25 * 1000", "seconds that the query took, in milliseconds; documents play no part"),
        ("Instant(below=300)", 1, "1", "250 milliseconds; less than 300 milliseconds count as 1, others as 0"),
        ("Instant(below=200)", 0, "0", "250 milliseconds; less than 200 milliseconds count as 1, others as 0"),
    ],
)
def test_a_time_is_explained(name, value, arithmetic, fact):
    steps = why(name, {"q": {"a": 1}}, {"q": ["a", "b"]}, side_data=SideData(timings={"q": 0.25})).first.steps

    assert (steps.value, steps.arithmetic, steps.facts) == (value, arithmetic, (fact,))
