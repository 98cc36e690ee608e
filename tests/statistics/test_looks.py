"""The levels of repeated looks: worked by hand, a normal distribution of many dimensions, and walks that are drawn."""

from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.looks import correlation_of_looks, levels_of_looks

EVEN = tuple(((look - 1) / look) ** 0.5 for look in range(2, 21))
"""The correlation of each look with the one before, if all steps are alike and independent."""


def bounds(levels):
    return -np.array([NormalDist().inv_cdf(level) for level in levels])


def share_red(walks, levels):
    """Of walks, a row each, that are below the bound of a look at that look."""
    return (walks > bounds(levels)).any(axis=1).mean()


def test_most_of_alpha_is_left_for_late_looks():
    found = bounds(levels_of_looks(EVEN, 0.05))

    assert found[[0, 4, 9, 14, 19]] == pytest.approx([4.369, 3.266, 2.645, 2.191, 1.805], abs=0.002)
    assert list(found) == sorted(found, reverse=True)


@pytest.mark.parametrize("correlation", [0.3, 0.7, 0.9])
def test_two_looks_leave_as_often_as_their_normal_distribution_says(correlation):
    found = bounds(levels_of_looks((correlation,), 0.05))
    below = scipy.stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(found)

    assert 1 - below == pytest.approx(0.05 * 2**3 / 20**3, rel=1e-3)


def test_even_walks_that_are_drawn_leave_in_5_percent_of_cases():
    walks = np.random.default_rng(7).normal(size=(40_000, 20)).cumsum(axis=1) / np.sqrt(np.arange(1, 21))

    assert share_red(walks, levels_of_looks(EVEN, 0.05)) == pytest.approx(0.05, abs=0.003)


def test_uneven_steps_leave_no_more_often_when_their_correlations_are_known():
    spread = np.array([1.0] + [0.2] * 9 + [3.0] * 10)
    far = np.sqrt(np.cumsum(spread**2))
    walks = np.random.default_rng(7).normal(size=(40_000, 20)) * spread
    known = [correlation_of_looks(far[look], far[look + 1], spread[look + 1]) for look in range(19)]

    assert share_red(walks.cumsum(axis=1) / far, levels_of_looks(known, 0.05)) == pytest.approx(0.05, abs=0.004)


def test_the_correlation_of_two_looks_follows_from_three_spreads():
    assert correlation_of_looks(3.0, 5.0, 4.0) == pytest.approx(
        3 / 5
    )  # a step that is independent of the way before it
    assert correlation_of_looks(2.0, 2.0, 0.0) == 1.0
    assert correlation_of_looks(0.0, 2.0, 2.0) == 0.0  # back at the anchor there was nothing to agree with
    assert correlation_of_looks(1.0, 1.0, 2.0) == 0.0  # mirrored: no less than 0


def test_a_change_that_hardly_moves_the_mean_is_no_error():
    levels = levels_of_looks([1.0, 0.0, 1.0], 0.05)

    assert all(0 < level < 0.05 for level in levels)
