"""The sign-flip test: against counting every pattern, the worked example of the texts, and in the corners."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ireval.statistics import sign_flip as module
from pytest_ireval.statistics.sign_flip import sign_flip

WORKED = np.array([10, 41, -24, 0, 25, 70, 60, -2, 9, 25], float)

tenths = st.lists(st.integers(-10, 10).map(lambda n: n / 10), min_size=1, max_size=9).map(np.array)
sizes_and_signs = st.tuples(st.floats(1e-3, 1), st.sampled_from([-1, 1]))
many = st.lists(sizes_and_signs.map(lambda pair: pair[0] * pair[1]), min_size=33, max_size=66).map(np.array)


def count_sign_patterns(values):
    """Shares of all sign patterns, one after the other."""
    sums = [float(np.dot(signs, values)) for signs in itertools.product((-1, 1), repeat=len(values))]
    total = float(np.sum(values))
    return tuple(
        sum(found) / len(sums)
        for found in (
            [s <= total + 1e-9 for s in sums],
            [s >= total - 1e-9 for s in sums],
            [abs(s) >= abs(total) - 1e-9 for s in sums],
        )
    )


def test_the_worked_example_of_the_texts():
    found = sign_flip(WORKED)

    assert (found.changed, found.p_higher, found.p) == (9, 12 / 512, 24 / 512)


@given(tenths)
def test_it_is_the_share_of_all_patterns(values):
    found = sign_flip(values)

    assert (found.p_lower, found.p_higher, found.p) == pytest.approx(count_sign_patterns(values), abs=1e-12)


def shapes(queries):
    """Differences of many kinds, with a sum that is worth testing."""
    rng = np.random.default_rng(queries)
    signs = rng.choice([-1, 1, 1], queries)
    yield "smooth", rng.normal(0.2, 1, queries)
    yield "heavy tails", rng.normal(0.1, 0.5, queries) * rng.gamma(0.5, 2, queries)
    yield "one outweighs all", np.r_[1.0, rng.normal(0.001, 0.003, queries - 1)]
    yield "a few outweigh all", np.r_[0.9, 1.0, 0.8, 0.7, rng.normal(0.001, 0.003, queries - 4)]
    yield "reciprocals", (1 / rng.integers(1, 3, queries) - 1 / rng.integers(3, 80, queries)) * signs


@pytest.mark.parametrize(("queries", "shape"), [(queries, name) for queries in (26, 34) for name, _ in shapes(queries)])
def test_the_approximation_is_near_what_counting_gives(queries, shape, monkeypatch):
    values = dict(shapes(queries))[shape]
    approximate = sign_flip(values)
    monkeypatch.setattr(module, "MOST_SUMS", 2**18)

    assert tuple(approximate) == pytest.approx(tuple(sign_flip(values)), abs=0.002)


@pytest.mark.parametrize("queries", [40, 300, 2000])
def test_differences_of_few_values_are_counted_however_many_there_are(queries):
    wins = round(0.55 * queries)
    values = np.array([0.1] * wins + [-0.1] * (queries - wins))
    expected = scipy.stats.binomtest(wins, queries, alternative="greater").pvalue

    assert sign_flip(values).p_higher == pytest.approx(expected, rel=1e-9)


def test_seven_thousand_queries_agree_with_the_normal_distribution():
    values = np.random.default_rng(5).normal(0.02, 1, 7000)
    z = values.sum() / np.sqrt(values @ values)

    assert sign_flip(values).p == pytest.approx(2 * scipy.stats.norm.sf(z), rel=5e-3)


def test_three_changed_queries_cannot_be_significant():
    assert sign_flip(np.array([0.0] * 50 + [0.5, 0.4, 0.3])) == (3, 1.0, 0.125, 0.25)


def test_where_no_query_differs_nothing_is_claimed():
    assert sign_flip(np.zeros(5)) == (0, 1.0, 1.0, 1.0)
    assert sign_flip(np.array([1e-13, -1e-14])) == (0, 1.0, 1.0, 1.0)
    assert sign_flip(np.zeros(0)) == (0, 1.0, 1.0, 1.0)


def test_gains_and_losses_that_balance_are_no_difference():
    assert sign_flip(np.array([0.1, 0.2, -0.3])).p == 1
    assert sign_flip(np.tile([0.1, 0.2, -0.3], 20)).p == 1


@settings(max_examples=20, deadline=None)
@given(st.one_of(tenths, many), st.randoms())
def test_neither_the_order_of_queries_nor_tied_ones_matter_and_exchanged_systems_mirror_everything(values, random):
    found = sign_flip(values)
    shuffled = [*values, 0.0]
    random.shuffle(shuffled)

    assert tuple(sign_flip(np.array(shuffled))) == pytest.approx(tuple(found), abs=1e-7)
    assert sign_flip(-values) == (found.changed, found.p_higher, found.p_lower, found.p)
