"""Student's t and the beta distribution beside SciPy's, over a grid."""

import math

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit
from scipy.stats import beta

from pytest_ireval.statistics.student import MANY, beta_quantile, t_quantile, t_share_below


@pytest.mark.parametrize("df", [1, 2.5, 4, 49, MANY - 1, MANY, 199, 999, 6999, 10**5])
def test_quantiles_of_t(df):
    for share in (1e-6, 0.01, 0.2, 0.5, 0.74, 0.9, 0.95, 0.975, 0.9999):
        found = t_quantile(share, df)

        assert found == pytest.approx(stdtrit(df, share), rel=1e-7, abs=1e-10)  # old releases of SciPy are off by 1e-9
        assert stdtr(df, found) == pytest.approx(share, abs=1e-10)


@pytest.mark.parametrize("df", [1, 2.5, 4, 99, 100, 199, 999, 6999, 10**5])
def test_shares_of_t_far_out_too(df):
    values = np.concatenate((np.linspace(-40, 40, 201), [0.0, -1e-9, 1e-9, -1e300, 1e300, -np.inf, np.inf]))
    expected = stdtr(df, values)
    if df == 1:  # SciPy is right to 1e-9 only
        near_0 = np.abs(values) < 1e-6
        expected[near_0] = 0.5 + np.arctan(values[near_0]) / np.pi

    np.testing.assert_allclose([t_share_below(each, df) for each in values.tolist()], expected, rtol=1e-9, atol=1e-300)


def test_no_number_has_no_share():
    assert math.isnan(t_share_below(math.nan, 500))


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1, 50), (4, 47), (41, 6960), (7000, 1), (6, 10**6), (3000.5, 4000)])
def test_quantiles_of_beta(a, b):
    for share in (0.001, 0.025, 0.5, 0.95, 0.999):
        assert beta_quantile(share, a, b) == pytest.approx(beta.ppf(share, a, b), rel=1e-9)
