"""The paired t test: against scipy, the worked example of the texts, and in the corners."""

import math

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.mean_evidence import paired_t

TEXT_A = [25, 43, 39, 75, 43, 15, 20, 52, 49, 50]
TEXT_B = [35, 84, 15, 75, 68, 85, 80, 50, 58, 75]
WORKED = differences(np.array(TEXT_B, float), np.array(TEXT_A, float))


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


def test_where_no_query_differs_nothing_is_claimed():
    found = one([0, 0, 0])

    assert (found["t"], found["p"], found["low"], found["high"], found["sd"]) == (0, 1, 0, 0, 0)


@pytest.mark.parametrize("by", [0.1, -0.1])
def test_differences_that_are_all_the_same_are_the_limit_of_the_formula(by):
    found = one([by] * 7)

    assert (found["t"], found["p"], found["sd"]) == (math.copysign(math.inf, by), 0, 0)
    assert (found["low"], found["high"]) == (pytest.approx(by), pytest.approx(by))


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
