"""Severe losses: what counts as severe, and the test of their number."""

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.sign_flip import net_severe


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
