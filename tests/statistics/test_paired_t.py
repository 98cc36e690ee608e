"""The paired t test: against scipy, the worked example of the texts, and in the corners."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.student import paired_t

TEXT_A = [25, 43, 39, 75, 43, 15, 20, 52, 49, 50]
TEXT_B = [35, 84, 15, 75, 68, 85, 80, 50, 58, 75]
WORKED = differences(np.array(TEXT_B, float), np.array(TEXT_A, float))

some_differences = st.lists(st.floats(-1, 1), min_size=2, max_size=30).map(np.array)


def one(values, alpha=0.05):
    """The test of one comparison, as plain numbers."""
    found = paired_t(np.array(values, float)[:, None], alpha)
    return {
        name: value if isinstance(value, int) else float(value[0])
        for name, value in zip(found._fields, found, strict=True)
    }


def test_the_worked_example_of_the_texts():
    found = one(WORKED, alpha=0.1)

    assert found["mean"] == pytest.approx(21.4)
    assert found["t"] == pytest.approx(2.3269, abs=5e-5)
    assert found["df"] == 9
    assert found["p"] == pytest.approx(0.0450, abs=5e-5)
    assert found["p_higher"] == pytest.approx(0.0225, abs=5e-5)
    assert (found["low"], found["high"]) == (pytest.approx(4.54, abs=5e-3), pytest.approx(38.26, abs=5e-3))


def test_many_comparisons_at_once_are_what_scipy_says_of_each():
    rng = np.random.default_rng(3)
    one_side, other = rng.random((200, 7)), rng.random((200, 7))
    expected = scipy.stats.ttest_rel(one_side, other)
    interval = expected.confidence_interval(0.95)

    found = paired_t(one_side - other)

    np.testing.assert_allclose(found.t, expected.statistic, rtol=1e-12)
    np.testing.assert_allclose(found.p, expected.pvalue, rtol=1e-10)
    np.testing.assert_allclose(found.low, interval.low, rtol=1e-9)
    np.testing.assert_allclose(found.high, interval.high, rtol=1e-9)


def test_p_is_right_far_out_in_the_tail():
    values = np.tile([1.0, 1.0, 1.0, 0.5], 100)

    assert one(values)["p"] == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue, rel=1e-9, abs=0)
    assert 0 < one(values)["p"] < 1e-200


def test_where_no_query_differs_nothing_is_claimed():
    found = one([0, 0, 0])

    assert (found["t"], found["p"], found["low"], found["high"], found["sd"]) == (0, 1, 0, 0, 0)
    assert found["p_lower"] == found["p_higher"] == 0.5


@pytest.mark.parametrize("by", [0.1, -0.1])
def test_differences_that_are_all_the_same_are_the_limit_of_the_formula(by):
    found = one([by] * 7)

    assert (found["t"], found["p"], found["sd"]) == (math.copysign(math.inf, by), 0, 0)
    assert (found["low"], found["high"]) == (pytest.approx(by), pytest.approx(by))


def test_rounding_among_equal_differences_is_no_spread():
    scores = np.array([0.1, 0.2, 0.3, 0.7])

    assert one((scores + 0.1) - scores)["sd"] == 0


def test_a_single_query_has_a_difference_and_nothing_else():
    found = one([0.3])

    assert (found["queries"], found["df"], found["mean"]) == (1, 0, 0.3)
    assert all(math.isnan(found[name]) for name in ("sd", "t", "p", "p_lower", "p_higher", "low", "high"))


def test_no_query_at_all_is_nothing():
    found = one([])

    assert (found["queries"], found["df"]) == (0, -1)
    assert all(math.isnan(found[name]) for name in ("mean", "sd", "t", "p", "low", "high"))


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_size_of_the_scores_does_not_matter(scale):
    found = one(WORKED / 100 * scale)

    assert found["p"] == pytest.approx(0.04498, abs=5e-6)
    assert found["mean"] == pytest.approx(0.214 * scale)
    assert found["low"] < found["mean"] < found["high"]


@given(some_differences)
def test_exchanging_the_two_systems_mirrors_everything(values):
    found, mirrored = one(values), one(-values)

    assert mirrored["t"] == -found["t"]
    assert mirrored["p"] == found["p"]
    assert mirrored["p_lower"] == found["p_higher"]
    assert mirrored["low"] == -found["high"]


@given(some_differences, st.randoms())
def test_the_order_of_queries_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)

    assert one(shuffled)["p"] == pytest.approx(one(values)["p"], rel=1e-6, abs=1e-12)


@given(some_differences)
def test_the_interval_excludes_0_exactly_when_p_is_below_alpha(values):
    found = one(values)

    assert (found["low"] > 0 or found["high"] < 0) == (found["p"] < 0.05)


class TestDifferences:
    def test_what_rounding_alone_tells_apart_is_a_tie(self):
        scores, others = np.array([0.1 + 0.2, 1e9 + 1e-7, 0.5]), np.array([0.3, 1e9, 0.4])

        assert differences(scores, others).tolist() == [0, 0, pytest.approx(0.1)]

    def test_small_differences_of_small_scores_count(self):
        assert differences(np.array([2e-9]), np.array([1e-9])).tolist() == [pytest.approx(1e-9)]

    def test_the_largest_numbers_of_opposite_sign_stay_finite(self):
        found = differences(np.array([1.7e308, -1.7e308]), np.array([-1.7e308, 1.7e308]))

        assert found.tolist() == [1.7976931348623157e308, -1.7976931348623157e308]
        assert one(found)["p"] == 1
