"""Bounds under labels that both sides share: against all labellings, for differences that add up and for others."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.joint_bounds import OpenQueries, depends_on_labels, joint_bounds, measure_effects

weights = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), max_size=7)


def make_open_queries(queries, value):
    """``value(weights of the documents with the top label, how many)`` for lists of weights by query."""
    first = np.concatenate(([0], np.cumsum([len(each) for each in queries]))).astype(np.int64)

    def difference(labels):
        return np.array(
            [
                value([w for w, one in zip(queries[query], labels.label[start:end], strict=True) if one == 2])
                for query, start, end in zip(labels.query, labels.first[:-1], labels.first[1:], strict=True)
            ],
            np.float64,
        )

    return OpenQueries(first, np.ones(len(queries), np.int64), difference)


def over_an_ideal(chosen, base=0.2):
    return (base + sum(chosen)) / (1 + len(chosen))


def first_alone(chosen):
    """Of no sum: what counts is whether an even number is chosen."""
    return float(sum(chosen)) * (-1) ** len(chosen)


def all_values(query, value):
    return [
        value([w for w, one in zip(query, ones, strict=True) if one]) for ones in product((0, 1), repeat=len(query))
    ]


@given(queries=st.lists(weights, min_size=1, max_size=4))
def test_prefixes_of_the_order_of_effects_are_enough_for_a_sum_over_an_ideal(queries):
    asked = make_open_queries(queries, over_an_ideal)
    found = joint_bounds(asked, np.full(len(queries), 0.2), adds_up=True, tried_rows=0)

    for i, query in enumerate(queries):
        values = all_values(query, over_an_ideal)
        assert (found.low[i], found.high[i]) == (pytest.approx(min(values)), pytest.approx(max(values)))
    assert found.exact


@given(queries=st.lists(weights, min_size=1, max_size=4))
def test_a_difference_that_does_not_add_up_is_tried_under_all_labels(queries):
    found = joint_bounds(make_open_queries(queries, first_alone), np.zeros(len(queries)), adds_up=False)

    for i, query in enumerate(queries):
        values = all_values(query, first_alone)
        assert (found.low[i], found.high[i]) == (pytest.approx(min(values)), pytest.approx(max(values)))
    assert found.exact


@given(queries=st.lists(weights, min_size=1, max_size=4))
def test_beyond_the_budget_bounds_are_called_approximate_and_are_values_under_some_labels(queries):
    asked = make_open_queries(queries, first_alone)
    found = joint_bounds(asked, np.zeros(len(queries)), adds_up=False, tried_rows=0)

    assert found.exact == (not any(queries))
    for i, query in enumerate(queries):
        values = [*all_values(query, first_alone), 0.0]
        assert min(values) - 1e-12 <= found.low[i] <= 0 <= found.high[i] <= max(values) + 1e-12


def test_the_effect_is_that_of_one_document_alone():
    found = measure_effects(make_open_queries([[0.5, -0.25], [], [0.0]], lambda chosen: 1 + sum(chosen)), np.ones(3))

    assert found.tolist() == [0.5, -0.25, 0.0]


@pytest.mark.parametrize(
    ("value", "heeds"),
    [(sum, True), (lambda _: 0.5, False), (lambda chosen: float(len(chosen) == 1), True)],
    ids=["a sum", "always the same", "one document alone"],
)
def test_what_heeds_labels(value, heeds):
    assert depends_on_labels(make_open_queries([[0.5, 0.25], []], value)) is heeds


def test_many_labellings_are_made_in_parts(monkeypatch):
    monkeypatch.setattr("pytest_ireval.statistics.joint_bounds.TOGETHER", 3)
    queries = [[0.5, -0.5, 0.25], [], [1.0, 1.0]]
    found = joint_bounds(make_open_queries(queries, sum), np.zeros(3), adds_up=True)

    assert (found.low.tolist(), found.high.tolist()) == ([-0.5, 0.0, 0.0], [0.75, 0.0, 2.0])
