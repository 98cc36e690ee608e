"""Queries drawn in clusters, from strata, from a finite population: error rates, formulas, and what changes nothing."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.estimate import Sampling
from pytest_ireval.statistics.mean_evidence import equivalence, mean_evidence, mean_evidences
from pytest_ireval.statistics.sign_flip import net_severe

DIGITS = {"rel": 1e-9, "abs": 1e-12}
REPLICATES = 3000
NOISE = 2.5 * math.sqrt(0.05 * 0.95 / REPLICATES)
"""Two and a half standard errors of a share of .05."""

tenths = st.integers(-10, 10).map(lambda n: n / 10)
drawn = st.lists(st.tuples(tenths, st.integers(0, 6)), min_size=1, max_size=50)


def share_red(evidences, figure="p_worse"):
    return np.mean([getattr(each, figure) < 0.05 for each in evidences])


def variants(draw, clusters, size, correlation, replicates=REPLICATES):
    """Differences of no true change, and the cluster of each."""
    codes = np.repeat(np.arange(clusters), size)
    shared = math.sqrt(correlation) * draw.normal(size=(replicates, clusters))[:, codes]
    return 0.1 * (shared + math.sqrt(1 - correlation) * draw.normal(size=(replicates, codes.size))), codes


@pytest.mark.ci
@pytest.mark.parametrize("clusters", [12, 40])
def test_five_variants_of_each_intent_keep_the_error_rate_as_clusters_alone(clusters):
    rows, codes = variants(np.random.default_rng(clusters), clusters, 5, 0.5)

    known, unknown = mean_evidences(rows, sampling=Sampling(codes)), mean_evidences(rows)

    assert share_red(known) <= 0.05 + NOISE
    assert 0.14 <= share_red(unknown) <= 0.20  # the variance of a mean is three times as large: Φ(-1.645/√3) = .171


def test_a_quarter_of_shared_spread_makes_one_in_eight_red_without_clusters():
    rows, codes = variants(np.random.default_rng(4), 40, 5, 0.25)

    assert share_red(mean_evidences(rows)) == pytest.approx(0.125, abs=0.02)  # Φ(-1.645/√2) = .122
    assert share_red(mean_evidences(rows, sampling=Sampling(codes))) <= 0.05 + NOISE


def test_a_fall_of_the_margin_passes_no_more_often():
    rows, codes = variants(np.random.default_rng(2), 40, 5, 0.5)

    known = mean_evidences(rows - 0.03, 0.03, sampling=Sampling(codes))

    assert share_red(known, "p_safe") <= 0.05 + NOISE
    assert share_red(mean_evidences(rows - 0.03, 0.03), "p_safe") > 0.14


def test_few_great_clusters_keep_the_error_rate():
    draw = np.random.default_rng(9)
    sizes = np.concatenate((np.full(2, 60), np.full(6, 20), np.full(40, 2)))
    codes = np.repeat(np.arange(sizes.size), sizes)
    rows = draw.normal(size=(REPLICATES, sizes.size))[:, codes] + draw.normal(size=(REPLICATES, codes.size))

    found = mean_evidences(rows, sampling=Sampling(codes))

    assert found[0].degrees == pytest.approx((sizes.sum() ** 2 / (sizes**2).sum()) - 1)
    assert share_red(found) <= 0.06


def test_strata_with_known_shares_give_the_mean_of_the_population():
    draw, sizes, shares = np.random.default_rng(5), np.array([30, 10, 60]), np.array([0.6, 0.3, 0.1])
    codes = np.repeat(np.arange(3), sizes)
    level = np.array([0.02, -0.03, -0.03])[codes]  # 0 by the shares
    rows = level + np.array([0.05, 0.2, 0.1])[codes] * draw.normal(size=(REPLICATES, 100))

    assert share_red(mean_evidences(rows, sampling=Sampling(strata=codes, shares=shares))) <= 0.05 + NOISE
    assert share_red(mean_evidences(rows)) > 0.2


def test_clusters_in_strata_with_weights_keep_the_error_rate():
    draw = np.random.default_rng(6)
    rows, codes = variants(draw, 60, 4, 0.5)
    strata, weights = (codes >= 20).astype(int), draw.lognormal(0, 0.5, codes.size)
    sampling = Sampling(codes, strata, np.array([0.7, 0.3]))

    assert share_red(mean_evidences(rows, weights=weights, sampling=sampling)) <= 0.05 + NOISE


@pytest.mark.ci
@pytest.mark.parametrize(("drawn_of_1000", "least"), [(100, 0.03), (500, 0.035), (900, 0.035)])
@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_a_finite_population_keeps_the_error_rate_and_is_not_wasted(drawn_of_1000, least, shape):
    draw = np.random.default_rng(drawn_of_1000)
    everyone = draw.normal(0, 0.1, 1000) if shape == "normal" else draw.exponential(0.1, 1000)
    everyone -= everyone.mean()
    rows = np.array([draw.choice(everyone, drawn_of_1000, replace=False) for _ in range(REPLICATES)])

    found = share_red(mean_evidences(rows, sampling=Sampling(left=1 - drawn_of_1000 / 1000)))

    assert least <= found <= 0.05 + NOISE
    assert share_red(mean_evidences(rows)) <= found


def test_of_a_whole_population_the_change_is_exact():
    everyone = np.array([-0.1, 0.0, 0.0])
    found = mean_evidence(everyone, 0.05, sampling=Sampling(left=0.0))

    assert (found.p_worse, found.p_safe, found.left) == (0.0, 0.0, 0.0)
    assert (found.low, found.high) == (found.mean, found.mean)
    assert mean_evidence(everyone, 0.03, sampling=Sampling(left=0.0)).p_safe == 1.0
    assert mean_evidence(everyone, 0.1 / 3, sampling=Sampling(left=0.0)).p_safe == 0.0  # exactly what is allowed
    assert mean_evidence(-everyone, sampling=Sampling(left=0.0)).p_worse == 1.0
    assert tuple(equivalence(everyone, 0.05, sampling=Sampling(left=0.0))) == (0.0, 0.0)
    assert tuple(equivalence(-everyone, 0.03, sampling=Sampling(left=0.0))) == (1.0, 0.0)


def test_gains_that_make_up_for_losses_of_a_whole_population_are_no_fall():
    everyone = np.array([0.1, 0.2, -0.3])

    found = mean_evidence(everyone, 0.0, sampling=Sampling(left=0.0))

    assert (found.mean, found.p_worse, found.p_safe) == (0.0, 1.0, 0.0)


def test_the_standard_error_of_clusters_is_that_of_their_totals():
    draw = np.random.default_rng(1)
    d, codes = draw.normal(size=60), np.repeat(np.arange(12), 5)
    means = d.reshape(12, 5).mean(axis=1)
    by_scipy = scipy.stats.ttest_1samp(means, 0).confidence_interval(0.90)

    found = mean_evidence(d, sampling=Sampling(codes))

    assert (found.queries, found.units, found.degrees) == (60, 12, 11)
    assert found.standard_error == pytest.approx(means.std(ddof=1) / math.sqrt(12))
    assert (found.low, found.high) == (pytest.approx(by_scipy.low), pytest.approx(by_scipy.high))
    assert found.sd == pytest.approx(found.standard_error * math.sqrt(60))


def test_clusters_of_unequal_size_have_the_standard_error_of_the_jackknife():
    draw = np.random.default_rng(1)
    sizes = np.array([1, 2, 3, 4, 10, 1, 2, 3])
    codes = np.repeat(np.arange(8), sizes)
    d = draw.normal(size=codes.size)
    without = np.array([d[codes != cluster].mean() for cluster in range(8)])

    found = mean_evidence(d, sampling=Sampling(codes))

    assert found.mean == pytest.approx(d.mean())
    assert found.standard_error == pytest.approx(math.sqrt(7 / 8 * ((without - without.mean()) ** 2).sum()))


def test_the_standard_error_of_strata_is_the_textbook_one():
    draw = np.random.default_rng(3)
    a, b, shares, left = draw.normal(size=30), 2 * draw.normal(size=12), np.array([0.8, 0.2]), np.array([0.4, 1.0])
    parts = [(0.8**2 * 0.4 * a.var(ddof=1) / 30, 29), (0.2**2 * b.var(ddof=1) / 12, 11)]
    variance = sum(part for part, _ in parts)

    found = mean_evidence(
        np.concatenate((a, b)), sampling=Sampling(strata=np.repeat([0, 1], [30, 12]), shares=shares, left=left)
    )

    assert found.mean == pytest.approx(0.8 * a.mean() + 0.2 * b.mean())
    assert found.standard_error == pytest.approx(math.sqrt(variance))
    assert found.degrees == pytest.approx(variance**2 / sum(part**2 / df for part, df in parts))


def test_a_stratum_of_one_query_shows_nothing():
    d, codes = np.full(30, -0.1) + np.linspace(0, 0.01, 30), np.array([0] * 29 + [1])

    found = mean_evidence(d, 0.5, sampling=Sampling(strata=codes, shares=np.array([0.9, 0.1])))

    assert (found.lone, found.p_worse, found.p_safe) == (1, 1.0, 1.0)
    assert equivalence(d, 0.5, sampling=Sampling(strata=codes, shares=np.array([0.9, 0.1]))).p == 1.0


def test_a_stratum_without_queries_shows_nothing():
    found = mean_evidence(np.full(30, -0.1), sampling=Sampling(strata=np.zeros(30, int), shares=np.array([0.9, 0.1])))

    assert (found.lone, found.p_worse) == (1, 1.0)


def test_a_stratum_that_is_known_in_whole_may_be_one_query():
    d, codes = np.linspace(-0.2, -0.1, 30), np.array([0] * 29 + [1])

    found = mean_evidence(d, sampling=Sampling(strata=codes, shares=np.array([0.9, 0.1]), left=np.array([1.0, 0.0])))

    assert found.lone == 0
    assert found.p_worse < 0.05


def test_four_clusters_show_nothing_and_five_that_all_fell_do():
    assert mean_evidence(np.full(40, -0.1), sampling=Sampling(np.repeat(np.arange(4), 10))).p_worse == 1.0
    assert mean_evidence(np.full(50, -0.1), sampling=Sampling(np.repeat(np.arange(5), 10))).p_worse == 1 / 32


def test_sign_flips_are_of_whole_clusters():
    d = np.zeros(60)
    d[:10] = -0.3  # two clusters: by chance both fall once in four times

    found = mean_evidence(d, sampling=Sampling(np.repeat(np.arange(12), 5)))

    assert (found.changed, found.moved, found.p_worse) == (10, 2, 0.25)


def test_losses_of_one_cluster_are_one_loss():
    d, codes = np.concatenate((np.full(10, -0.5), np.zeros(50))), np.repeat(np.arange(12), 5)

    assert net_severe(d, 0.3).p == pytest.approx(2**-10)
    assert net_severe(d, 0.3, codes) == (10, 0, 0.25)
    assert net_severe(d, 0.3, np.arange(60)) == net_severe(d, 0.3)


@given(drawn)
def test_each_query_as_its_own_cluster_changes_no_digit(rows):
    d = np.array([each for each, _ in rows])
    weights = 1.0 + np.arange(d.size) % 3
    alone, one = Sampling(np.arange(d.size)[::-1]), Sampling(strata=np.zeros(d.size, int), shares=np.ones(1))

    for sampling in (alone, Sampling(), *([one] if d.size > 1 else [])):
        for more in ({}, {"weights": weights}):
            found = mean_evidence(d, 0.02, sampling=sampling, **more)
            np.testing.assert_array_equal(tuple(found), tuple(mean_evidence(d, 0.02, **more)))
            assert equivalence(d, 0.02, sampling=sampling, **more) == equivalence(d, 0.02, **more)


@given(drawn, st.randoms(use_true_random=False))
def test_neither_the_order_of_queries_nor_names_of_clusters_and_strata_change_anything(rows, random):
    d, clusters = np.array([each for each, _ in rows]), np.array([cluster for _, cluster in rows])
    strata, shares = clusters % 2, np.array([0.3, 0.7])
    order = list(range(d.size))
    random.shuffle(order)
    names = np.array(random.sample(range(100, 200), 7))

    plain = mean_evidence(d, 0.02, sampling=Sampling(clusters, strata, shares, 0.5))
    other = mean_evidence(
        d[order], 0.02, sampling=Sampling(names[clusters[order]], 1 - strata[order], shares[::-1], 0.5)
    )

    assert tuple(other) == pytest.approx(tuple(plain), nan_ok=True, **DIGITS)


@given(drawn, st.floats(0.01, 1.0))
def test_a_smaller_rest_of_the_population_never_widens_the_interval(rows, left):
    d = np.array([each for each, _ in rows])
    some, none = mean_evidence(d, sampling=Sampling(left=left)), mean_evidence(d)

    assert math.isnan(none.high) or some.high - some.low <= none.high - none.low + 1e-12
    assert some.standard_error == pytest.approx(none.standard_error * math.sqrt(left), nan_ok=True, **DIGITS)


@given(drawn)
def test_swapping_the_sides_swaps_the_bounds(rows):
    d, clusters = np.array([each for each, _ in rows]), np.array([cluster for _, cluster in rows])
    sampling = Sampling(clusters, clusters % 2, np.array([0.3, 0.7]))
    plain, turned = mean_evidence(d, sampling=sampling), mean_evidence(-d, sampling=sampling)

    assert (turned.low, turned.high) == pytest.approx((-plain.high, -plain.low), nan_ok=True, **DIGITS)
