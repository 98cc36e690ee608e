"""The exact sign-flip test: against counting every pattern, the worked example of the texts, and in the corners."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_ireval.statistics.sign_flip import _counted, shares_reaching, sign_flip

WORKED = np.array([10, 41, -24, 0, 25, 70, 60, -2, 9, 25], float)

tenths = st.lists(st.integers(-10, 10).map(lambda n: n / 10), min_size=1, max_size=9).map(np.array)
sizes_and_signs = st.tuples(st.floats(1e-3, 1), st.sampled_from([-1, 1]))
many = st.lists(sizes_and_signs.map(lambda pair: pair[0] * pair[1]), min_size=33, max_size=66).map(np.array)


def counted(values):
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

    assert found.changed == 9
    assert found.p_higher == 12 / 512
    assert found.p == 24 / 512
    assert (round(12 / 512, 4), round(24 / 512, 4)) == (0.0234, 0.0469)


@given(tenths)
def test_it_is_the_share_of_all_patterns(values):
    found = sign_flip(values)

    assert (found.p_lower, found.p_higher, found.p) == pytest.approx(counted(values), abs=1e-12)


def shapes(queries):
    """Differences of many kinds, with a sum that is worth testing."""
    rng = np.random.default_rng(queries)
    signs = rng.choice([-1, 1, 1], queries)
    half = queries // 2
    yield "smooth", rng.normal(0.2, 1, queries)
    yield "heavy tails", rng.normal(0.1, 0.5, queries) * rng.gamma(0.5, 2, queries)
    yield "one outweighs all", np.r_[1.0, rng.normal(0.001, 0.003, queries - 1)]
    yield "tenths", rng.choice([-0.2, -0.1, 0.1, 0.2, 0.3], queries)
    yield "ones", rng.choice([-1.0, 1.0, 1.0], queries)
    yield "reciprocals", (1 / rng.integers(1, 3, queries) - 1 / rng.integers(3, 7, queries)) * signs
    yield "deep reciprocals", (1 / rng.integers(1, 3, queries) - 1 / rng.integers(3, 80, queries)) * signs
    yield "halves and a few thousandths", np.r_[np.full(queries - 3, 0.5), 0.001, 0.0017, 0.0023] * signs
    yield "halves and many hundredths", np.r_[np.full(half, 0.5), rng.uniform(0.01, 0.02, queries - half)] * signs
    yield "geometric", 0.7 ** np.arange(queries) * signs


@pytest.mark.parametrize(("queries", "shape"), [(queries, name) for queries in (33, 36) for name, _ in shapes(queries)])
def test_what_is_computed_is_what_counting_gives(queries, shape):
    values = dict(shapes(queries))[shape]
    sizes = np.sort(np.abs(values))[::-1] / np.abs(values).max()
    total = values.sum() / np.abs(values).max()
    totals = np.array([total, -total])

    np.testing.assert_allclose(shares_reaching(sizes, totals), _counted(sizes, totals, most=2**18), atol=1e-5)


@pytest.mark.parametrize("queries", [70, 300])
@pytest.mark.parametrize("rare", [[], [0.001], [0.001, 0.0017, 0.0023], [0.9, 0.7, 0.61, 0.001]])
def test_a_few_numbers_beside_many_equal_ones(queries, rare):
    rng = np.random.default_rng(queries)
    values = np.append(rng.choice([-0.5, 0.5, 0.5, 1.0], queries), rare)
    sizes, total = np.sort(np.abs(values))[::-1], values.sum() - queries // 5

    totals = np.array([total, -total])
    np.testing.assert_allclose(shares_reaching(sizes, totals), _counted(sizes, totals), rtol=1e-6, atol=1e-8)


def test_up_to_32_changed_queries_are_always_counted():
    values = np.random.default_rng(1).normal(0.3, 1, 32)

    assert _counted(np.abs(values), np.array([values.sum()])) is not None
    assert _counted(np.abs(np.append(values, [0.1, 0.2])), np.array([values.sum()])) is None


def test_a_lattice_is_exact():
    wins, losses = 60, 40
    values = np.array([0.1] * wins + [-0.1] * losses)

    assert sign_flip(values).p_higher == pytest.approx(scipy.stats.binomtest(wins, wins + losses).pvalue / 2, rel=1e-9)


def test_seven_thousand_queries_agree_with_the_normal_distribution():
    values = np.random.default_rng(5).normal(0.02, 1, 7000)
    z = values.sum() / np.sqrt(values @ values)

    assert sign_flip(values).p == pytest.approx(2 * scipy.stats.norm.sf(z), rel=5e-3)


def test_tiny_shares_are_bounded_from_above_and_never_0():
    found = sign_flip(np.full(300, 0.1))

    assert 2.0**-300 <= found.p_higher <= 1e-8
    assert found.p_lower == 1


def test_three_changed_queries_cannot_be_significant():
    assert sign_flip(np.array([0.0] * 50 + [0.5, 0.4, 0.3])) == (3, 1.0, 0.125, 0.25)


def test_where_no_query_differs_nothing_is_claimed():
    assert sign_flip(np.zeros(5)) == (0, 1.0, 1.0, 1.0)
    assert sign_flip(np.array([1e-13, -1e-14])) == (0, 1.0, 1.0, 1.0)
    assert sign_flip(np.zeros(0)) == (0, 1.0, 1.0, 1.0)


def test_one_query():
    assert sign_flip(np.array([-0.3])) == (1, 0.5, 1.0, 1.0)


def test_gains_and_losses_that_balance_are_no_difference():
    assert sign_flip(np.array([0.1, 0.2, -0.3])).p == 1
    assert sign_flip(np.tile([0.1, 0.2, -0.3], 20)).p == 1


@pytest.mark.parametrize("scale", [1e-9, 1e12, 1e300])
@pytest.mark.parametrize("times", [1, 6])
def test_the_size_of_the_scores_does_not_matter(scale, times):
    values = np.tile(WORKED[WORKED != 0], times)

    assert tuple(sign_flip(values / 70 * scale)) == pytest.approx(tuple(sign_flip(values)), rel=1e-6)


@pytest.mark.ci
@settings(max_examples=20, deadline=None)
@given(st.one_of(tenths, many))
def test_exchanging_the_two_systems_mirrors_everything(values):
    found, mirrored = sign_flip(values), sign_flip(-values)

    assert mirrored == (found.changed, found.p_higher, found.p_lower, found.p)


@pytest.mark.ci
@settings(max_examples=20, deadline=None)
@given(st.one_of(tenths, many), st.randoms())
def test_the_order_of_queries_does_not_matter(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)

    assert tuple(sign_flip(np.array(shuffled))) == pytest.approx(tuple(sign_flip(values)), abs=1e-7)


@pytest.mark.ci
@settings(max_examples=20, deadline=None)
@given(st.one_of(tenths, many))
def test_an_exactly_tied_query_leaves_p_unchanged(values):
    assert sign_flip(np.append(values, 0.0)) == sign_flip(values)


@settings(max_examples=10, deadline=None)
@given(many)
def test_larger_sums_are_reached_less_often(values):
    sizes = np.sort(np.abs(values))[::-1] / np.abs(values).max()
    totals = (sizes.sum() - 2 * np.append(0, np.cumsum(sizes[::-1])))[10:20:3]

    assert (np.diff(shares_reaching(sizes, totals)) >= -1e-5).all()
