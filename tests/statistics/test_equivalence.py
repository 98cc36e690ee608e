"""Equivalence: beside statsmodels and scipy, with its guards, and in the corners."""

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.weightstats import ttost_paired

from pytest_ireval.statistics.mean_evidence import equivalence

FELL = np.array([-10, -41, 24, 0, -25, -70, -60, 2, -9, -25], float)


def symmetric(n, shift):
    """Without skew, so that Hall's correction is next to nothing."""
    half = np.random.default_rng(n).normal(0, 0.1, n // 2)
    return np.concatenate((half, -half)) + shift


@pytest.mark.parametrize("n", [40, 200, 1000])
def test_without_skew_it_is_the_two_one_sided_tests_of_statsmodels(n):
    values = symmetric(n, 0.005)
    expected, *_ = ttost_paired(values, np.zeros(n), -0.02, 0.02)

    assert equivalence(values, 0.02).p == pytest.approx(expected, rel=1e-9)


def test_where_few_changed_that_it_moved_needs_the_sign_flip():
    assert equivalence(FELL, 40.0).p_moved == pytest.approx(0.0469, abs=5e-5)  # the t test alone would say 0.0450


def test_a_margin_for_each_query_is_the_mean_of_them():
    draw = np.random.default_rng(4)
    before = draw.random(100)
    now = before + draw.normal(0, 0.02, 100)
    low = scipy.stats.ttest_1samp(now - 0.98 * before, 0, alternative="greater").pvalue
    high = scipy.stats.ttest_1samp(now - 1.02 * before, 0, alternative="less").pvalue

    found = equivalence(now - before, 0.02 * before)

    assert found.p >= max(low, high)
    assert found.p == pytest.approx(max(low, high), abs=0.005)


@pytest.mark.parametrize("d", [[], [0.1], [0.1, -0.1, 0.1, 0.1]])
def test_fewer_than_five_queries_show_nothing(d):
    assert tuple(equivalence(np.array(d, float), 1.0)) == (1.0, 1.0)


def test_the_same_change_of_all_is_within_a_wider_margin_and_beyond_a_narrower():
    assert equivalence(np.full(30, 0.1), 0.2).p == 0.0
    assert equivalence(np.full(30, 0.1), 0.05).p == 1.0
