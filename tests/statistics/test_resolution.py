"""What a query set can show, beside the power of statsmodels and SciPy."""

import math

import pytest
from scipy.special import nctdtr, stdtrit
from scipy.stats import norm
from statsmodels.stats.power import TTestPower

from pytest_ireval.statistics.resolution import false_alarm, queries_needed, resolution


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


def test_no_number_of_queries_shows_a_drop_of_nothing_and_two_show_any_without_spread():
    assert queries_needed(0.1, 0.0) is None
    assert queries_needed(math.nan, 0.1) is None
    assert queries_needed(0.1, 5e-324) is None
    assert queries_needed(1e200, 0.1) is None
    assert queries_needed(0.0, 0.01) == 2
