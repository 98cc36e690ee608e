"""Run noise: its parts are found again in what was drawn with them, and what follows from them."""

import math

import numpy as np
import pytest

from pytest_ireval.statistics.noise import askings_needed, noise_floor, noise_share, run_noise


def draw_askings(times, queries, within, between, seed=0):
    """Values of queries that spread by ``between``, asked so often with the noise ``within`` (standard deviations)."""
    draw = np.random.default_rng(seed)
    return draw.normal(0.5, between, queries) + draw.normal(0, within, (times, queries))


def test_a_worked_example():
    found = run_noise(np.array([[0.1, 0.5, 0.9], [0.3, 0.5, 0.9]]))

    assert found.moved == 1
    assert found.within == pytest.approx(0.02 / 3)
    assert found.between == pytest.approx(np.var([0.2, 0.5, 0.9], ddof=1) - 0.01 / 3)


def test_a_system_that_always_answers_the_same_has_no_noise():
    found = run_noise(np.tile(np.linspace(0, 1, 9), (3, 1)))

    assert (found.moved, found.within) == (0, 0.0)
    assert askings_needed(0.1, found.within, 1, 1) == 1
    assert noise_floor(found.within, 9) == 0.0


def test_asked_once_nothing_is_known_and_where_only_noise_was_seen_no_number_of_askings_is_enough():
    assert math.isnan(run_noise(np.ones((1, 5))).within)
    assert askings_needed(0.01, 0.001, 1, 1) is None


def test_the_share_of_noise_in_the_variance_of_differences():
    assert noise_share(0.1, within=0.001, before=1, now=1) == pytest.approx(0.2)
    assert noise_share(0.1, within=0.001, before=4, now=4) == pytest.approx(0.05)
    assert noise_share(0.0, within=0.0, before=1, now=1) == 0.0
    assert noise_share(0.01, within=0.001, before=1, now=1) == 1.0


@pytest.mark.parametrize("within", [0.0001, 0.001, 0.004])
def test_asked_as_often_as_needed_the_noise_is_a_tenth_and_once_less_it_is_more(within):
    true = 0.1**2 - within * 2
    times = askings_needed(0.1, within, 1, 1)

    def share(often):
        return within * 2 / often / (true + within * 2 / often)

    assert share(times) <= 0.10
    assert times == 1 or share(times - 1) > 0.10


def test_two_askings_of_the_same_system_differ_by_the_floor_in_5_percent_of_cases():
    floor = noise_floor(0.05**2, 200)
    means = np.random.default_rng(3).normal(0, 0.05, (20_000, 2, 200)).mean(axis=2)

    assert (np.abs(means[:, 0] - means[:, 1]) > floor).mean() == pytest.approx(0.05, abs=0.005)
