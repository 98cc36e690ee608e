"""The constants of repeated looks: the table, a normal distribution of many dimensions, and walks that are drawn."""

from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.looks import chance_to_leave, looks_constant


def test_one_look_is_the_plain_one_sided_test():
    assert looks_constant(1) == NormalDist().inv_cdf(0.95)
    assert chance_to_leave(looks_constant(1), 1) == pytest.approx(0.05, abs=1e-7)


@pytest.mark.parametrize(("looks", "constant"), [(5, 2.12), (10, 2.27), (20, 2.39), (50, 2.52)])
def test_the_constants_of_the_table(looks, constant):
    assert looks_constant(looks) == pytest.approx(constant, abs=0.005)


@pytest.mark.parametrize("looks", [2, 3, 5])
def test_a_walk_stays_below_as_often_as_its_normal_distribution_says(looks):
    steps = np.arange(1, looks + 1)
    correlations = np.sqrt(np.minimum.outer(steps, steps) / np.maximum.outer(steps, steps))
    below = scipy.stats.multivariate_normal(cov=correlations, seed=1).cdf(np.full(looks, looks_constant(looks)))

    assert below == pytest.approx(0.95, abs=2e-5)


def test_walks_that_are_drawn_leave_in_5_percent_of_cases():
    walks = np.random.default_rng(7).normal(size=(40_000, 20)).cumsum(axis=1) / np.sqrt(np.arange(1, 21))

    assert (walks.max(axis=1) > looks_constant(20)).mean() == pytest.approx(0.05, abs=0.003)


def test_more_looks_need_more():
    constants = [looks_constant(looks) for looks in range(1, 40)]

    assert constants == sorted(constants)
