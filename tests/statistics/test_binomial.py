"""Limits of a share and tosses of coins, beside those of SciPy, and that they hold what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from pytest_ireval.statistics.binomial import heads_at_most, share_limits, upper_limit


@given(st.integers(1, 300), st.data())
def test_limits_are_those_of_scipy(of, data):
    count = data.draw(st.integers(0, of))
    wanted = binomtest(count, of).proportion_ci(0.95, "exact")

    assert share_limits(count, of) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.3, 0.5])
def test_the_true_share_lies_between_them_in_95_of_100_cases(share):
    inside = [count for count in range(201) if (limits := share_limits(count, 200)).low <= share <= limits.high]

    assert sum(binom.pmf(count, 200, share) for count in inside) >= 0.95


def test_more_than_all_is_no_share():
    with pytest.raises(ValueError, match="3 of 2 is not a share"):
        share_limits(3, 2)


def test_none_of_50_still_leaves_a_share_of_6_percent():
    assert upper_limit(0, 50) == pytest.approx(0.058, abs=5e-4)


@pytest.mark.parametrize(("count", "of", "level"), [(3, 50, 0.95), (40, 7000, 0.95), (1, 20, 0.9), (2.5, 12.5, 0.95)])
def test_the_upper_limit_is_the_quantile_of_scipy(count, of, level):
    assert upper_limit(count, of, level) == pytest.approx(beta.ppf(level, count + 1, of - count), rel=1e-9)


def test_where_all_count_or_there_is_none_any_share_is_possible():
    assert upper_limit(7, 7) == upper_limit(0, 0) == 1.0


@pytest.mark.parametrize(("heads", "coins"), [(0, 900), (10, 900), (0, 5), (5, 25), (4, 7), (3400, 7000), (9, 9)])
def test_chances_of_coins_are_those_of_scipy_small_ones_too(heads, coins):
    assert heads_at_most(heads, coins) == pytest.approx(binom.cdf(heads, coins, 0.5), rel=1e-9, abs=0)
