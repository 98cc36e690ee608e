"""Limits of a share, beside those of SciPy, and that they hold what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from pytest_ireval.statistics.student import share_limits


@given(st.integers(1, 300), st.data())
def test_limits_are_those_of_scipy(of, data):
    count = data.draw(st.integers(0, of))
    wanted = binomtest(count, of).proportion_ci(0.95, "exact")

    assert share_limits(count, of) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_none_of_200_may_still_be_nearly_2_in_100():
    assert share_limits(0, 200) == pytest.approx((0.0, 0.01828), abs=1e-5)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.5])
def test_the_true_share_lies_between_them_in_95_of_100_cases(share):
    inside = [count for count in range(201) if (limits := share_limits(count, 200)).low <= share <= limits.high]

    assert sum(binom.pmf(count, 200, share) for count in inside) >= 0.95


def test_more_than_all_is_no_share():
    with pytest.raises(ValueError, match="3 of 2 is not a share"):
        share_limits(3, 2)
