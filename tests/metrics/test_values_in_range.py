"""Whatever its arguments and the rankings are, a built-in metric keeps the promises that it makes of itself."""

import pytest
from graded_rankings import complete_judgments, side_data_for
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ireval import MetricError, evaluate
from pytest_ireval.plugins.manager import installed_registry

METRICS = sorted(installed_registry().metrics.values(), key=lambda metric: metric.name)
numbers = st.sampled_from([-2.0, -0.5, 0.0, 0.3, 0.5, 1.0, 2.0, 3.5, 10.0])
VALUES = {
    "int": st.sampled_from([1, 2, 5, 1000]),
    "float": numbers,
    "bool": st.booleans(),
    "map": st.dictionaries(st.sampled_from([0.0, 1.0, 2.0]), numbers, max_size=3),
    "text": st.just("price"),
}
GRADES = range(-2, 4)
grades = st.sampled_from(GRADES)
ranked_grades = st.sampled_from([None, None, None, *GRADES])
"""One draw each, where a choice between strategies would take two."""
PRICES = {f"d{rank}": {"price": 0.5 + rank % 3} for rank in range(8)}


@st.composite
def whole_metrics(draw, metric):
    arguments = {}
    for parameter in metric.parameters:
        if parameter.required or parameter.kind == "map" or draw(st.booleans()):
            value = draw(st.sampled_from(parameter.choices) if parameter.choices else VALUES[parameter.kind])
            try:
                arguments[parameter.name] = parameter.check(value)
            except ValueError:
                if parameter.required:
                    arguments[parameter.name] = 0.5  # a level of recall
    return metric(**arguments)


@st.composite
def data(draw):
    judgments, rankings = {}, {}
    for query in ("q1", "q2", "q3"):
        ranked = draw(st.lists(ranked_grades, max_size=8))
        missed = draw(st.lists(grades, min_size=1, max_size=4))
        rankings[query] = [f"d{rank}" for rank in range(len(ranked))]
        judged = {f"d{rank}": grade for rank, grade in enumerate(ranked) if grade is not None}
        judgments[query] = judged | {f"m{i}": grade for i, grade in enumerate(missed)}
    return judgments, rankings


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_values_are_numbers_within_the_range(metric):
    @settings(max_examples=settings().max_examples // 3)  # there are a hundred metrics
    @given(whole_metrics(metric), data())
    def check(whole, judged_rankings):
        try:
            judgments, rankings = judged_rankings
            side_data = side_data_for(metric, judgments, rankings, collection=100, fields=PRICES)
            evaluate(complete_judgments(metric, judgments), rankings, [whole], side_data=side_data)
        except MetricError as error:
            complaint = error.problems[0].complaint
            assert not complaint.startswith(("returned", "raised", "has no range")), str(error)

    check()
