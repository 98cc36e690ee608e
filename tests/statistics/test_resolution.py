"""What a query set can show: quantiles beside SciPy's, and the resolution beside the table of the design."""

import math

import numpy as np
import pytest
from scipy.special import nctdtr, stdtr, stdtrit
from scipy.stats import norm
from statsmodels.stats.power import TTestPower

from pytest_ireval.statistics.student import MANY, false_alarm, queries_needed, resolution, shares_below, t_quantile


@pytest.mark.parametrize("df", [1, 4, 49, MANY - 1, MANY, 199, 999, 6999, 10**6])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.975])
def test_quantiles_are_those_of_scipy(df, share):
    found = t_quantile(share, df)

    assert found == pytest.approx(stdtrit(df, share), rel=1e-7, abs=1e-10)  # old releases of SciPy are off by 1e-9
    assert stdtr(df, found) == pytest.approx(share, abs=1e-11)


@pytest.mark.parametrize("df", [1, 4, MANY - 1, MANY, 101, 199, 999, 6999, 10**5])
def test_shares_are_those_of_scipy_far_out_too(df):
    values = np.concatenate((np.linspace(-40, 40, 401), [0.0, -1e-9, 1e-9, -1e300, 1e300, -np.inf, np.inf]))

    expected = stdtr(df, values)
    if df == 1:  # SciPy is right to 1e-9 only
        near_0 = np.abs(values) < 1e-6
        expected[near_0] = 0.5 + np.arctan(values[near_0]) / np.pi

    np.testing.assert_allclose(shares_below(values, df), expected, rtol=1e-10, atol=1e-300)
    one_by_one = [shares_below(np.array([value]), df)[0] for value in values]
    np.testing.assert_allclose(one_by_one, expected, rtol=1e-10, atol=1e-300)


def test_no_number_has_no_share():
    assert np.isnan(shares_below(np.array([np.nan]), 500)).all()


@pytest.mark.parametrize(("smallest", "queries"), [(0.05, 27), (0.02, 156), (0.01, 620), (0.005, 2475)])
def test_so_many_queries_of_a_spread_of_a_tenth_show_so_much(smallest, queries):
    assert resolution(0.10, queries) == pytest.approx(smallest, rel=0.02)


@pytest.mark.parametrize(("n", "within"), [(3, 0.01), (5, 0.003), (10, 0.001), (30, 1e-4), (200, 1e-5), (7000, 1e-5)])
def test_a_drop_of_the_resolution_is_found_in_80_percent_of_cases(n, within):
    found = 1 - nctdtr(n - 1, resolution(0.2, n) / (0.2 / math.sqrt(n)), stdtrit(n - 1, 0.95))

    assert found == pytest.approx(0.80, abs=within)


@pytest.mark.parametrize(("queries", "share"), [(50, 0.36), (200, 0.24), (1000, 0.057), (7000, 0.0)])
def test_a_cap_of_half_a_point_alarms_so_often_at_a_spread_of_a_tenth(queries, share):
    assert false_alarm(0.005, 0.10, queries) == pytest.approx(share, abs=0.005)
    assert false_alarm(0.005, 0.10, queries) == pytest.approx(norm.cdf(-0.005 * math.sqrt(queries) / 0.10), abs=1e-12)


def test_without_spread_nothing_alarms_and_one_query_shows_nothing():
    assert false_alarm(0.01, 0.0, 10) == 0.0
    assert resolution(0.1, 1) is None
    assert false_alarm(0.01, 0.1, 1) is None
    assert resolution(0.0, 10) == 0.0


@pytest.mark.parametrize(
    ("sd", "needed"), [(0.10, [27, 156, 620, 2475]), (0.40, [398, 2475, 9894, 39570])], ids=["nDCG", "RR"]
)
def test_so_many_queries_are_needed(sd, needed):
    assert [queries_needed(sd, drop) for drop in (0.05, 0.02, 0.01, 0.005)] == needed


@pytest.mark.parametrize(("sd", "drop"), [(0.1, 0.2), (0.1, 0.05), (0.2, 0.03), (0.4, 0.02)])
def test_the_power_of_statsmodels_is_reached_with_them_and_not_with_one_less(sd, drop):
    needed = queries_needed(sd, drop)
    power = [TTestPower().power(drop / sd, n, 0.05, alternative="larger") for n in (needed - 1, needed)]

    assert power[0] < 0.80 <= power[1]


@pytest.mark.parametrize("drop", [0.5, 0.1, 0.02, 0.003, 1e-6])
def test_they_are_the_fewest_with_that_resolution(drop):
    needed = queries_needed(0.1, drop)

    assert resolution(0.1, needed) <= drop
    assert needed == 2 or resolution(0.1, needed - 1) > drop


def test_no_number_of_queries_shows_a_drop_of_nothing_and_two_show_any_without_spread():
    assert queries_needed(0.1, 0.0) is None
    assert queries_needed(math.nan, 0.1) is None
    assert queries_needed(0.1, 5e-324) is None
    assert queries_needed(1e200, 0.1) is None
    assert queries_needed(0.0, 0.01) == 2
