"""Risk: the worked example, and what it is without losses; GeoRisk by the formula of its paper, in plain loops."""

import math

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.estimate import geo_risks, risk_of

ROSE = np.array([10, 41, -24, 0, 25, 70, 60, -2, 9, 25], float)


@pytest.mark.parametrize(("aversion", "rose", "fell"), [(1, 1.749, -2.650), (5, 0.447, -2.869)])
def test_the_worked_example(aversion, rose, fell):
    assert risk_of(ROSE, aversion).t == pytest.approx(rose, abs=5e-4)
    assert risk_of(-ROSE, aversion).t == pytest.approx(fell, abs=5e-4)


def test_a_loss_weighs_more_by_the_aversion():
    assert risk_of(np.array([0.2, -0.1]), 3).mean == pytest.approx((0.2 - 0.4) / 2)


def test_without_aversion_it_is_the_t_of_the_differences():
    found = risk_of(ROSE, 0)

    assert (found.mean, found.t) == (pytest.approx(21.4), pytest.approx(2.3269, abs=5e-5))


def test_without_change_there_is_no_risk_and_of_one_query_none_is_known():
    assert tuple(risk_of(np.zeros(5), 1)) == (0.0, 0.0)
    assert math.isnan(risk_of(np.array([0.1]), 1).t)


def georisk(table, aversion):
    """ZRisk and GeoRisk of each row: expected values from the totals, losses weighed, the normal distribution."""
    found = []
    whole = sum(map(sum, table))
    for row in table:
        z_risk = 0.0
        for query, value in enumerate(row):
            expected = sum(row) * sum(other[query] for other in table) / whole
            if expected:
                z = (value - expected) / math.sqrt(expected)
                z_risk += z if z >= 0 else (1 + aversion) * z
        mean = sum(row) / len(row)
        found.append((z_risk, math.sqrt(mean * scipy.stats.norm.cdf(z_risk / len(row)))))
    return found


@pytest.mark.parametrize("aversion", [0, 1, 5, 20])
def test_georisk_is_that_of_the_paper(aversion):
    values = np.random.default_rng(7).beta(0.5, 0.7, (6, 40)).round(2)

    assert np.array(geo_risks(values, aversion)) == pytest.approx(np.array(georisk(values.tolist(), aversion)))


def test_georisk_by_hand():
    """Each value is 1/2 from the expected 1/2, so each z is sqrt(1/2); the loss counts twice."""
    one, other = geo_risks(np.array([[1.0, 0.0], [0.0, 1.0]]), 1)

    assert one == other
    assert one.z == pytest.approx(math.sqrt(0.5) - 2 * math.sqrt(0.5))
    assert one.value == pytest.approx(math.sqrt(0.5 * 0.361837), abs=1e-6)


def test_georisk_of_equal_rankings_has_no_risk_and_of_nothing_is_nothing():
    assert np.array(geo_risks(np.array([[0.2, 0.4], [0.2, 0.4]]), 9)) == pytest.approx(
        np.array([[0, math.sqrt(0.15)]] * 2), abs=1e-9
    )
    assert [tuple(each) for each in geo_risks(np.zeros((2, 3)), 1)] == [(0.0, 0.0)] * 2


def test_of_two_rankings_with_one_mean_the_uneven_one_has_the_lower_georisk():
    even, uneven, third = geo_risks(np.array([[0.5, 0.5, 0.5, 0.5], [1.0, 1.0, 0.0, 0.0], [0.4, 0.4, 0.4, 0.4]]), 1)

    assert uneven.value < even.value
    assert third.value < even.value
