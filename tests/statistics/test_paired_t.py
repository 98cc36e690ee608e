"""The paired t test: against scipy, the worked example of the texts, and in the corners."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.mean_evidence import paired_t

TEXT_A = [25, 43, 39, 75, 43, 15, 20, 52, 49, 50]
TEXT_B = [35, 84, 15, 75, 68, 85, 80, 50, 58, 75]
WORKED = differences(np.array(TEXT_B, float), np.array(TEXT_A, float))

some_differences = st.lists(st.floats(-1, 1), min_size=2, max_size=30).map(np.array)


def one(values, alpha=0.05):
    return paired_t(np.array(values, float), alpha)._asdict()


def test_the_worked_example_of_the_texts():
    found = one(WORKED, alpha=0.1)

    assert found["mean"] == pytest.approx(21.4)
    assert found["t"] == pytest.approx(2.3269, abs=5e-5)
    assert found["df"] == 9
    assert found["p"] == pytest.approx(0.0450, abs=5e-5)
    assert (found["low"], found["high"]) == (pytest.approx(4.54, abs=5e-3), pytest.approx(38.26, abs=5e-3))


@pytest.mark.parametrize("queries", [2, 5, 200])
def test_it_is_what_scipy_says(queries):
    rng = np.random.default_rng(queries)
    one_side, other = rng.random(queries), rng.random(queries)
    expected = scipy.stats.ttest_rel(one_side, other)
    interval = expected.confidence_interval(0.95)

    found = paired_t(one_side - other)

    assert (found.t, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)


def test_p_is_right_far_out_in_the_tail():
    values = np.tile([1.0, 1.0, 1.0, 0.5], 100)

    assert one(values)["p"] == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue, rel=1e-9, abs=0)
    assert 0 < one(values)["p"] < 1e-200


def test_where_no_query_differs_nothing_is_claimed():
    found = one([0, 0, 0])

    assert (found["t"], found["p"], found["low"], found["high"], found["sd"]) == (0, 1, 0, 0, 0)


@pytest.mark.parametrize("by", [0.1, -0.1])
def test_differences_that_are_all_the_same_are_the_limit_of_the_formula(by):
    found = one([by] * 7)

    assert (found["t"], found["p"], found["sd"]) == (math.copysign(math.inf, by), 0, 0)
    assert (found["low"], found["high"]) == (pytest.approx(by), pytest.approx(by))


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_size_of_the_scores_does_not_matter(scale):
    found = one(WORKED / 100 * scale)

    assert found["p"] == pytest.approx(0.04498, abs=5e-6)
    assert found["mean"] == pytest.approx(0.214 * scale)
    assert found["low"] < found["mean"] < found["high"]


@given(some_differences)
def test_the_interval_excludes_0_exactly_when_p_is_below_alpha(values):
    found = one(values)

    assert (found["low"] > 0 or found["high"] < 0) == (found["p"] < 0.05)


@pytest.mark.parametrize("values", [[0.3], []])
def test_without_two_queries_there_is_no_test(values):
    found = one(values)

    assert found["df"] == len(values) - 1
    assert all(math.isnan(found[name]) for name in ("sd", "t", "p", "low", "high"))


def test_what_rounding_alone_tells_apart_is_a_tie():
    scores, others = np.array([0.1 + 0.2, 1e9 + 1e-7, 0.5, 2e-9]), np.array([0.3, 1e9, 0.4, 1e-9])

    assert differences(scores, others).tolist() == [0, 0, pytest.approx(0.1), pytest.approx(1e-9)]


def test_the_largest_differences_stay_finite():
    found = differences(np.array([1.7e308, -1.7e308]), np.array([-1.7e308, 1.7e308]))

    assert found.tolist() == [1.7976931348623157e308, -1.7976931348623157e308]
    assert one(found)["p"] == pytest.approx(1)
