"""Queries drawn in clusters: error rates, formulas, and what changes nothing."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.estimate import weighting
from pytest_ireval.statistics.mean_evidence import equivalence, mean_evidence
from pytest_ireval.statistics.sign_flip import net_severe

DIGITS = {"rel": 1e-9, "abs": 1e-12}
REPLICATES = 2000
NOISE = 2.5 * math.sqrt(0.05 * 0.95 / REPLICATES)
"""Two and a half standard errors of a share of .05."""

tenths = st.integers(-10, 10).map(lambda n: n / 10)
drawn = st.lists(st.tuples(tenths, st.integers(0, 6)), min_size=1, max_size=50)


def share_red(rows, clusters=None, weights=None):
    return np.mean([mean_evidence(row, clusters=clusters, weights=weights).p_worse < 0.05 for row in rows])


def variants(draw, clusters, size, correlation, replicates=REPLICATES):
    """Differences of no true change, and the cluster of each."""
    codes = np.repeat(np.arange(clusters), size)
    shared = math.sqrt(correlation) * draw.normal(size=(replicates, clusters))[:, codes]
    return 0.1 * (shared + math.sqrt(1 - correlation) * draw.normal(size=(replicates, codes.size))), codes


@pytest.mark.ci
@pytest.mark.parametrize("clusters", [12, 40])
def test_five_variants_of_each_intent_keep_the_error_rate_as_clusters_alone(clusters):
    rows, codes = variants(np.random.default_rng(clusters), clusters, 5, 0.5)

    assert share_red(rows, codes) <= 0.05 + NOISE
    assert 0.14 <= share_red(rows) <= 0.20  # the variance of a mean is three times as large: Φ(-1.645/√3) = .171


def test_few_great_clusters_keep_the_error_rate():
    draw = np.random.default_rng(9)
    sizes = np.concatenate((np.full(2, 60), np.full(6, 20), np.full(40, 2)))
    codes = np.repeat(np.arange(sizes.size), sizes)
    rows = draw.normal(size=(REPLICATES, sizes.size))[:, codes] + draw.normal(size=(REPLICATES, codes.size))

    assert weighting(None, codes.size, codes).degrees == pytest.approx((sizes.sum() ** 2 / (sizes**2).sum()) - 1)
    assert share_red(rows, codes) <= 0.06


@pytest.mark.parametrize("queries", [50, 200])
def test_few_queries_of_great_weight_keep_the_error_rate(queries):
    weights = 1 / np.arange(1, queries + 1)  # the first has 22% or 17% of the weight
    rows = np.random.default_rng(9).normal(size=(REPLICATES, queries))

    assert share_red(rows, weights=weights) <= 0.05 + NOISE


def test_the_standard_error_of_clusters_is_that_of_their_totals():
    draw = np.random.default_rng(1)
    d, codes = draw.normal(size=60), np.repeat(np.arange(12), 5)
    means = d.reshape(12, 5).mean(axis=1)
    by_scipy = scipy.stats.ttest_1samp(means, 0).confidence_interval(0.90)

    found = mean_evidence(d, clusters=codes)

    assert (found.queries, found.effective) == (60, 12)
    assert found.standard_error == pytest.approx(means.std(ddof=1) / math.sqrt(12))
    assert (found.low, found.high) == (pytest.approx(by_scipy.low), pytest.approx(by_scipy.high))
    assert found.sd == pytest.approx(found.standard_error * math.sqrt(60))


def test_clusters_of_unequal_size_have_the_standard_error_of_the_jackknife():
    draw = np.random.default_rng(1)
    sizes = np.array([1, 2, 3, 4, 10, 1, 2, 3])
    codes = np.repeat(np.arange(8), sizes)
    d = draw.normal(size=codes.size)
    without = np.array([d[codes != cluster].mean() for cluster in range(8)])

    found = mean_evidence(d, clusters=codes)

    assert found.mean == pytest.approx(d.mean())
    assert found.standard_error == pytest.approx(math.sqrt(7 / 8 * ((without - without.mean()) ** 2).sum()))


def test_four_clusters_show_nothing_and_five_that_all_fell_do():
    assert mean_evidence(np.full(40, -0.1), clusters=np.repeat(np.arange(4), 10)).p_worse == 1.0
    assert mean_evidence(np.full(50, -0.1), clusters=np.repeat(np.arange(5), 10)).p_worse == 1 / 32


def test_sign_flips_are_of_whole_clusters():
    d = np.zeros(60)
    d[:10] = -0.3  # two clusters: by chance both fall once in four times

    found = mean_evidence(d, clusters=np.repeat(np.arange(12), 5))

    assert (found.changed, found.moved, found.p_worse) == (10, 2, 0.25)


def test_losses_of_one_cluster_are_one_loss():
    d, codes = np.concatenate((np.full(10, -0.5), np.zeros(50))), np.repeat(np.arange(12), 5)

    assert net_severe(d, 0.3).p == pytest.approx(2**-10)
    assert net_severe(d, 0.3, codes) == (10, 0, 0.25)
    assert net_severe(d, 0.3, np.arange(60)) == net_severe(d, 0.3)


@given(drawn)
def test_each_query_as_its_own_cluster_changes_no_digit(rows):
    d = np.array([each for each, _ in rows])
    own = np.arange(d.size)[::-1]

    for more in ({}, {"weights": 1.0 + np.arange(d.size) % 3}):
        found = mean_evidence(d, clusters=own, **more)
        np.testing.assert_array_equal(tuple(found), tuple(mean_evidence(d, **more)))
        assert equivalence(d, 0.02, clusters=own, **more) == equivalence(d, 0.02, **more)


@given(drawn, st.randoms(use_true_random=False))
def test_neither_the_order_of_queries_nor_names_of_clusters_change_anything(rows, random):
    d, clusters = np.array([each for each, _ in rows]), np.array([cluster for _, cluster in rows])
    order = list(range(d.size))
    random.shuffle(order)
    names = np.array(random.sample(range(100, 200), 7))

    plain = mean_evidence(d, clusters=clusters)
    other = mean_evidence(d[order], clusters=names[clusters[order]])

    assert tuple(other) == pytest.approx(tuple(plain), nan_ok=True, **DIGITS)
