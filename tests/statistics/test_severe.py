"""Severe losses: the sign test and the bound of the rate beside scipy, and what counts as severe."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.sign_flip import heads_at_most, net_severe, rate_bound


def test_losses_and_gains_of_the_cut_or_more_are_counted():
    found = net_severe(np.array([-0.5, -0.3, -0.29, 0.0, 0.3, 0.1, -1.0]), 0.3)

    assert (found.losses, found.gains) == (3, 1)
    assert found.p == pytest.approx(5 / 16)  # none or one of four coins


def test_a_loss_that_rounding_left_below_the_cut_is_one():
    assert net_severe(np.array([0.5 - 0.8, 0.9 - 1.2]), 0.3).losses == 2


def test_without_severe_changes_nothing_is_claimed():
    assert tuple(net_severe(np.array([-0.1, 0.1]), 0.3)) == (0, 0, 1.0)


@pytest.mark.parametrize(("losses", "gains"), [(5, 0), (20, 5), (3, 4), (0, 9), (400, 320), (3600, 3400)])
def test_it_is_the_binomial_test_of_scipy(losses, gains):
    d = np.concatenate((np.full(losses, -0.4), np.full(gains, 0.4)))
    expected = scipy.stats.binomtest(gains, losses + gains, 0.5, alternative="less").pvalue

    assert net_severe(d, 0.3).p == pytest.approx(expected, rel=1e-9)


def test_small_chances_are_right_too():
    assert heads_at_most(0, 900) == pytest.approx(0.5**900, rel=1e-9, abs=0)
    assert heads_at_most(10, 900) == pytest.approx(scipy.stats.binom.cdf(10, 900, 0.5), rel=1e-9, abs=0)


@given(st.lists(st.floats(-1, 1), max_size=40).map(np.array), st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_nothing(d, random):
    order = np.array(random.sample(range(len(d)), len(d)), int)

    assert net_severe(d, 0.3) == net_severe(d[order], 0.3)


@given(st.integers(0, 60), st.integers(0, 60))
def test_more_gains_than_losses_and_the_other_way_round_share_the_chance(losses, gains):
    one, other = heads_at_most(gains, losses + gains), heads_at_most(losses, losses + gains)
    equal = scipy.stats.binom.pmf(gains, losses + gains, 0.5)

    assert one + other == pytest.approx(1 + equal if losses != gains else 2 * one)
    assert max(one, other) >= 0.5


def test_no_loss_among_50_queries_still_leaves_a_rate_of_6_percent():
    assert rate_bound(0, 50) == pytest.approx(0.058, abs=5e-4)


@pytest.mark.parametrize(
    ("losses", "queries", "level"),
    [
        (0, 50, 0.95),
        (3, 50, 0.95),
        (40, 7000, 0.95),
        (1, 20, 0.9),
        (6999, 7000, 0.95),
        (1, 2, 0.95),
        (3000, 7000, 0.5),
        (5, 10**6, 0.999),
    ],
)
def test_the_bound_of_a_rate_is_the_quantile_of_scipy(losses, queries, level):
    expected = scipy.stats.beta.ppf(level, losses + 1, queries - losses)

    assert rate_bound(losses, queries, level) == pytest.approx(expected, rel=1e-9)


def test_where_all_lost_or_nobody_was_asked_any_rate_is_possible():
    assert rate_bound(7, 7) == rate_bound(0, 0) == 1.0
