"""What must hold of the evidence of any mean: order, scale, sign, margin and weights."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_ireval.statistics.mean_evidence import equivalence, mean_evidence, p_of_fall_within
from pytest_ireval.statistics.sign_flip import sign_flip

DIGITS = {"rel": 1e-9, "abs": 1e-12}

tenths = st.integers(-10, 10).map(lambda n: n / 10)
changes = st.lists(st.one_of(st.just(0.0), tenths, st.floats(-1, 1)), min_size=1, max_size=60).map(np.array)
margins = st.floats(0, 1)


def figures(evidence):
    return pytest.approx(tuple(evidence), nan_ok=True, **DIGITS)


@given(changes, margins, st.randoms(use_true_random=False))
def test_the_order_of_queries_changes_nothing(d, margin, random):
    order = list(range(len(d)))
    random.shuffle(order)
    w = np.arange(1.0, len(d) + 1)

    assert figures(mean_evidence(d, weights=w)) == tuple(mean_evidence(d[order], weights=w[order]))
    assert figures(equivalence(d, margin * w, weights=w)) == tuple(
        equivalence(d[order], margin * w[order], weights=w[order])
    )


@given(changes, margins, st.floats(1.0, 1e6))
def test_scaling_scores_and_margin_together_changes_no_p(d, margin, scale):
    assume(((d == 0) | (np.abs(d) > 1e-9)).all())
    plain, scaled = mean_evidence(d), mean_evidence(d * scale)

    assert scaled.p_worse == pytest.approx(plain.p_worse, **DIGITS)
    assert scaled.mean == pytest.approx(plain.mean * scale, rel=1e-9, abs=1e-12 * scale)
    assert tuple(equivalence(d * scale, margin * scale)) == pytest.approx(tuple(equivalence(d, margin)), **DIGITS)


@given(changes, margins)
def test_swapping_the_sides_swaps_the_bounds(d, margin):
    one, other = mean_evidence(d), mean_evidence(-d)

    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low), nan_ok=True, **DIGITS)
    assert (other.sd, other.changed) == (pytest.approx(one.sd, nan_ok=True, **DIGITS), one.changed)
    assert one.p_worse >= 0.5 or other.p_worse >= 0.5
    assert tuple(equivalence(d, margin)) == pytest.approx(tuple(equivalence(-d, margin)), **DIGITS)


@given(changes, margins, margins)
def test_a_wider_margin_makes_nothing_less_equivalent(d, one, other):
    small, large = sorted((one, other))

    assert p_of_fall_within(d, small) <= equivalence(d, small).p
    assert equivalence(d, large).p <= equivalence(d, small).p + 1e-12


@given(st.lists(tenths, min_size=5, max_size=20).map(np.array), st.integers(1, 200))
def test_adding_tied_queries_leaves_the_sign_flip_as_it_is(d, tied):
    more = np.concatenate((d, np.zeros(tied)))

    assert sign_flip(more) == sign_flip(d)
    assert mean_evidence(more).p_worse >= sign_flip(d).p_lower or not d.any()


@given(changes, margins, st.floats(1e-3, 1e3))
def test_equal_weights_are_none_and_only_proportions_count(d, margin, factor):
    w = np.arange(1.0, len(d) + 1)

    assert figures(mean_evidence(d, weights=np.full(len(d), factor))) == tuple(mean_evidence(d))
    assert figures(mean_evidence(d, weights=w)) == tuple(mean_evidence(d, weights=w * factor))
    assert tuple(equivalence(d, margin, weights=np.full(len(d), factor))) == tuple(equivalence(d, margin))


@given(changes, margins)
def test_a_p_is_a_share(d, margin):
    found = [mean_evidence(d).p_worse, *equivalence(d, margin)]

    assert all(0.0 <= p <= 1.0 for p in found)
