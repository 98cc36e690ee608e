"""The levels of repeated looks: worked by hand, a normal distribution of many dimensions, and walks that are drawn.

The constants of sequential tests are in C. Jennison, B. Turnbull 2000, Group sequential methods with applications to
clinical trials, tables 2.1 to 2.4.
"""

from statistics import NormalDist

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.multiplicity import agreement, crossings, even_agreement, levels_of_looks, sequential

EVEN = tuple(even_agreement(look) for look in range(2, 21))


def bounds(levels):
    return -np.array([NormalDist().inv_cdf(level) for level in levels])


def share_red(walks, levels):
    """Of walks, a row each, that are below the bound of a look at that look."""
    return (walks > bounds(levels)).any(axis=1).mean()


def test_one_look_is_the_plain_one_sided_test():
    assert levels_of_looks((), 1, 0.05) == (0.05,)


def test_the_first_of_20_looks_has_a_small_part_of_alpha():
    assert levels_of_looks((), 20, 0.05) == pytest.approx((0.05 / 8000,))


def test_most_of_alpha_is_left_for_late_looks():
    found = bounds(levels_of_looks(EVEN, 20, 0.05))

    assert found[[0, 4, 9, 14, 19]] == pytest.approx([4.369, 3.266, 2.645, 2.191, 1.805], abs=0.002)
    assert list(found) == sorted(found, reverse=True)


@pytest.mark.parametrize("correlation", [0.3, 0.7, 0.9])
def test_two_looks_leave_as_often_as_their_normal_distribution_says(correlation):
    found = bounds(levels_of_looks((correlation,), 2, 0.05))
    below = scipy.stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(found)

    assert below == pytest.approx(0.95, abs=2e-5)


def test_even_walks_that_are_drawn_leave_in_5_percent_of_cases():
    walks = np.random.default_rng(7).normal(size=(40_000, 20)).cumsum(axis=1) / np.sqrt(np.arange(1, 21))

    assert share_red(walks, levels_of_looks(EVEN, 20, 0.05)) == pytest.approx(0.05, abs=0.003)


def test_uneven_steps_leave_no_more_often_when_their_correlations_are_known():
    spread = np.array([1.0] + [0.2] * 9 + [3.0] * 10)
    far = np.sqrt(np.cumsum(spread**2))
    walks = np.random.default_rng(7).normal(size=(40_000, 20)) * spread
    known = [agreement(far[look], far[look + 1], spread[look + 1]) for look in range(19)]

    assert share_red(walks.cumsum(axis=1) / far, levels_of_looks(known, 20, 0.05)) == pytest.approx(0.05, abs=0.004)


def test_walks_that_return_leave_no_more_often_when_their_correlations_are_known():
    rng = np.random.default_rng(7)
    versions = rng.normal(size=(40_000, 21))  # every change moves each score around the same level
    walks = (versions[:, 1:] - versions[:, :1]) / np.sqrt(2)
    known = levels_of_looks([agreement(1.0, 1.0, 1.0)] * 19, 20, 0.05)

    assert share_red(walks, known) <= 0.05
    assert share_red(walks, levels_of_looks(EVEN, 20, 0.05)) > 0.1  # as if the walk went on and on


def test_the_correlation_of_two_looks_follows_from_three_spreads():
    assert agreement(3.0, 5.0, 4.0) == pytest.approx(3 / 5)  # a step that is independent of the way before it
    assert agreement(2.0, 2.0, 0.0) == 1.0
    assert agreement(0.0, 2.0, 2.0) == 0.0  # back at the anchor there was nothing to agree with
    assert agreement(1.0, 1.0, 2.0) == 0.0  # mirrored: no less than 0


def test_more_looks_than_expected_share_alpha_as_if_they_had_been():
    assert levels_of_looks(EVEN, 5, 0.05) == levels_of_looks(EVEN, 20, 0.05)


def test_a_change_that_hardly_moves_the_mean_is_no_error():
    levels = levels_of_looks([1.0, 0.0, 1.0], 4, 0.05)

    assert all(0 < level < 0.05 for level in levels)


@pytest.mark.parametrize(
    ("looks", "false_alarms"), [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193), (20, 0.248)]
)
def test_looking_again_without_correction_raises_false_alarms_as_armitage_found(looks, false_alarms):
    assert sum(crossings([1.959964] * looks)) == pytest.approx(false_alarms, abs=0.0005)


@pytest.mark.parametrize(
    ("looks", "constant", "sample"), [(1, 1.960, 1.0), (2, 2.178, 1.110), (5, 2.413, 1.229), (10, 2.555, 1.301)]
)
def test_the_same_bound_at_each_look_is_the_constant_of_pocock(looks, constant, sample):
    found = sequential(looks, 0.05, 0.8)

    assert found.bounds == pytest.approx([constant] * looks, abs=0.001)
    assert found.sample == pytest.approx(sample, abs=0.001)


@pytest.mark.parametrize(("looks", "constant", "sample"), [(2, 1.977, 1.008), (5, 2.040, 1.028), (10, 2.087, 1.040)])
def test_the_falling_bound_is_that_of_o_brien_and_fleming(looks, constant, sample):
    found = sequential(looks, 0.05, 0.8, falling=True)

    assert found.bounds == pytest.approx([constant * (looks / k) ** 0.5 for k in range(1, looks + 1)], abs=0.004)
    assert found.sample == pytest.approx(sample, abs=0.001)


@pytest.mark.parametrize(("looks", "constant"), [(1, 1.65), (5, 2.11), (10, 2.27), (20, 2.40), (50, 2.53)])
def test_one_sided_constants_are_those_that_were_simulated(looks, constant):
    assert sequential(looks, 0.05, 0.8, two_sided=False).bounds[0] == pytest.approx(constant, abs=0.013)


def test_drawn_walks_stop_as_often_as_computed_and_have_the_average_sample():
    """A walk under the planned difference: its last look has the mean that the sample gives."""
    plan = sequential(5, 0.05, 0.8)
    single = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    steps = np.random.default_rng(7).normal(size=(40_000, 5))
    for drift, share in ((0.0, 0.05), (single * plan.sample**0.5, 0.8)):
        walks = (steps + drift / 5**0.5).cumsum(axis=1) / np.arange(1, 6) ** 0.5
        beyond = np.abs(walks) > plan.bounds[0]
        assert beyond.any(axis=1).mean() == pytest.approx(share, abs=0.006)
    stopped = np.where(beyond.any(axis=1), beyond.argmax(axis=1) + 1, 5)
    assert plan.sample * stopped.mean() / 5 == pytest.approx(plan.average, abs=0.005)
