"""Risk: the worked example, and what it is without losses."""

import math

import numpy as np
import pytest

from pytest_ireval.statistics.estimate import risk_of

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
