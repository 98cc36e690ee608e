"""Evidence of a mean: the worked example, beside scipy, with weights, and in the corners."""

import math

import numpy as np
import pytest
import scipy.stats

from pytest_ireval.statistics.mean_evidence import FEW_CHANGED, mean_evidence, p_of_fall_within

TEXT_A = np.array([25, 43, 39, 75, 43, 15, 20, 52, 49, 50], float)
TEXT_B = np.array([35, 84, 15, 75, 68, 85, 80, 50, 58, 75], float)
ROSE, FELL = TEXT_B - TEXT_A, TEXT_A - TEXT_B


def hall(values, null=0.0):
    """The formula as it stands in the paper, looked up in Student's table: the chance of such a mean or a lower one."""
    n, mean, sigma = len(values), np.mean(values), np.std(values)
    g = np.mean((values - mean) ** 3) / sigma**3
    t = (mean - null) / (sigma / math.sqrt(n))
    return scipy.stats.t.cdf(t + g * t**2 / (3 * math.sqrt(n)) + g**2 * t**3 / (27 * n) + g / (6 * math.sqrt(n)), n - 1)


def test_the_worked_example():
    found = mean_evidence(FELL)

    assert (found.queries, found.changed, found.effective) == (10, 9, 10.0)
    assert found.mean == pytest.approx(-21.4)
    assert found.mean / found.standard_error == pytest.approx(-2.3269, abs=5e-5)
    assert (found.low, found.high) == (pytest.approx(-38.26, abs=5e-3), pytest.approx(-4.54, abs=5e-3))
    assert found.p_worse == pytest.approx(0.0234, abs=5e-5)  # the sign flip; the t test alone would say 0.0225


@pytest.mark.parametrize("n", [25, 60, 101, 900])
@pytest.mark.parametrize("shape", ["symmetric", "a few fall far", "a few rise far"])
def test_where_many_changed_the_less_sure_of_t_and_hall_counts(n, shape):
    draw = np.random.default_rng(n)
    values = draw.normal(-0.02, 0.1, n)
    if shape != "symmetric":
        values[:3] += -0.5 if shape == "a few fall far" else 0.5
    by_t = scipy.stats.ttest_rel(values, np.zeros(n), alternative="less").pvalue
    within_by_t = scipy.stats.ttest_rel(values, np.full(n, -0.03), alternative="greater").pvalue

    assert mean_evidence(values).p_worse == pytest.approx(max(by_t, hall(values)), rel=1e-9)
    assert p_of_fall_within(values, 0.03) == pytest.approx(max(within_by_t, 1 - hall(values, null=-0.03)), rel=1e-8)


def test_where_few_changed_the_exact_sign_flip_must_agree():
    values = np.zeros(500)
    values[:4] = -0.3
    exact = scipy.stats.permutation_test(
        (values[:4],), np.sum, permutation_type="samples", alternative="less", n_resamples=np.inf
    ).pvalue

    found = mean_evidence(values)

    assert found.p_worse == exact == 1 / 16
    assert scipy.stats.ttest_rel(values, np.zeros(500), alternative="less").pvalue < 0.05


def test_beyond_few_changed_the_sign_flip_is_not_asked():
    values = np.zeros(1000)
    values[: FEW_CHANGED + 1] = -0.3

    assert mean_evidence(values).p_worse == pytest.approx(
        max(scipy.stats.ttest_1samp(values, 0, alternative="less").pvalue, hall(values)), rel=1e-9
    )


def test_weights_give_the_weighted_mean_and_the_standard_error_of_the_jackknife():
    draw = np.random.default_rng(5)
    d, w = draw.normal(-0.01, 0.1, 40), draw.lognormal(size=40)
    mean = (w * d).sum() / w.sum()
    without = np.array([(w * d).sum() - w[i] * d[i] for i in range(40)]) / (w.sum() - w)
    error = math.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
    half = scipy.stats.t.ppf(0.95, w.sum() ** 2 / (w**2).sum() - 1) * error

    found = mean_evidence(d, weights=w)

    assert (found.mean, found.standard_error) == (pytest.approx(mean), pytest.approx(error))
    assert (found.low, found.high) == (pytest.approx(mean - half), pytest.approx(mean + half))
    assert found.sd == pytest.approx(error * math.sqrt(40))
    assert found.effective == pytest.approx(w.sum() ** 2 / (w**2).sum())


def test_with_weights_the_sign_flip_is_of_what_the_queries_weigh():
    d, w = np.array([-0.1, -0.1, -0.1, -0.1, 0.1, 0.0]), np.array([1.0, 1, 1, 1, 9, 1])

    assert mean_evidence(d).p_worse == pytest.approx(6 / 32)  # as low: all five down, or all but one
    assert mean_evidence(d, weights=w).p_worse > 0.5


def test_a_query_without_weight_is_none_of_the_sample():
    d, w = np.array([-0.1, -0.2, 0.1, -0.3, -0.2, -0.1, 0.9]), np.array([1.0, 2, 3, 1, 2, 3, 0])

    assert mean_evidence(d, weights=w) == mean_evidence(d[:6], weights=w[:6])


def test_where_nothing_changed_nothing_fell():
    found = mean_evidence(np.zeros(30))

    assert (found.changed, found.mean, found.sd, found.low, found.high) == (0, 0, 0, 0, 0)
    assert found.p_worse == 1.0
    assert p_of_fall_within(np.zeros(3), 0.0) == 0.0


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_four_queries_show_nothing(n):
    assert mean_evidence(np.full(n, -0.5)).p_worse == p_of_fall_within(np.full(n, -0.5), 0.9) == 1.0


def test_one_query_has_no_bounds():
    found = mean_evidence(np.array([-0.5]))

    assert found.mean == -0.5
    assert all(math.isnan(each) for each in (found.sd, found.standard_error, found.low, found.high))


def test_no_query_says_nothing():
    found = mean_evidence(np.zeros(0))

    assert (found.queries, found.p_worse) == (0, 1.0)
    assert math.isnan(found.mean)


@pytest.mark.parametrize(("fall", "p_worse", "p_within"), [(-0.1, 0.0, 0.0), (-0.3, 0.0, 1.0), (0.1, 1.0, 0.0)])
def test_the_same_change_of_all_is_its_own_bound(fall, p_worse, p_within):
    found = mean_evidence(np.full(30, fall))

    assert (found.low, found.high, found.sd) == (pytest.approx(fall), pytest.approx(fall), 0.0)
    assert (found.p_worse, p_of_fall_within(np.full(30, fall), 0.2)) == (p_worse, p_within)


def test_a_fall_of_exactly_the_margin_is_not_within_it():
    before = np.linspace(0.3, 0.9, 30)

    assert p_of_fall_within(before - (before + 0.2), 0.2) == 0.5


@pytest.mark.parametrize("scale", [1e-9, 1e200, 1e300])
def test_no_square_overflows_or_vanishes(scale):
    plain, scaled = mean_evidence(FELL), mean_evidence(FELL * scale)

    assert scaled.sd == pytest.approx(plain.sd * scale, rel=1e-12)
    assert scaled.p_worse == pytest.approx(plain.p_worse)
    assert p_of_fall_within(FELL * scale, 30.0 * scale) == pytest.approx(p_of_fall_within(FELL, 30.0))
