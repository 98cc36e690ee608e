"""What a query set can show: quantiles beside SciPy's, and the resolution beside the table of the design."""

import math

import pytest
from scipy.special import nctdtr, nctdtrinc, stdtrit
from scipy.stats import norm

from pytest_ireval.statistics.resolution import false_alarm, resolution
from pytest_ireval.statistics.student import MANY, noncentrality, t_quantile


@pytest.mark.parametrize("df", [1, 4, 49, MANY - 1, MANY, 199, 999, 6999, 10**6])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.975])
def test_quantiles_are_those_of_scipy(df, share):
    assert t_quantile(share, df) == pytest.approx(stdtrit(df, share), abs=1e-10)


@pytest.mark.parametrize("df", [4, 49, MANY - 1, MANY, 199, 999, 6999])
def test_the_noncentral_t_is_that_of_scipy(df):
    exact = nctdtrinc(df, 0.2, stdtrit(df, 0.95))

    assert noncentrality(0.05, 0.80, df) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize(("smallest", "queries"), [(0.05, 27), (0.02, 156), (0.01, 620), (0.005, 2475)])
def test_so_many_queries_of_a_spread_of_a_tenth_show_so_much(smallest, queries):
    assert resolution(0.10, queries) == pytest.approx(smallest, rel=0.02)


def test_a_drop_of_the_resolution_is_found_in_80_percent_of_cases():
    n, sd = 30, 0.2
    found = 1 - nctdtr(n - 1, resolution(sd, n) / (sd / math.sqrt(n)), stdtrit(n - 1, 0.95))

    assert found == pytest.approx(0.80, abs=1e-6)


@pytest.mark.parametrize(("queries", "share"), [(50, 0.36), (200, 0.24), (1000, 0.057), (7000, 0.0)])
def test_a_cap_of_half_a_point_alarms_so_often_at_a_spread_of_a_tenth(queries, share):
    assert false_alarm(0.005, 0.10, queries) == pytest.approx(share, abs=0.005)
    assert false_alarm(0.005, 0.10, queries) == pytest.approx(norm.cdf(-0.005 * math.sqrt(queries) / 0.10), abs=1e-12)


def test_without_spread_nothing_alarms_and_one_query_shows_nothing():
    assert false_alarm(0.01, 0.0, 10) == 0.0
    assert resolution(0.1, 1) is None
    assert false_alarm(0.01, 0.1, 1) is None
    assert resolution(0.0, 10) == 0.0
