"""What must hold of the evidence of any mean: order, scale, sign, margin and weights."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_ireval.statistics.mean_evidence import equivalence, mean_evidence
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

    assert figures(mean_evidence(d, margin)) == tuple(mean_evidence(d[order], margin))
    assert figures(mean_evidence(d, margin * w, weights=w)) == tuple(
        mean_evidence(d[order], margin * w[order], weights=w[order])
    )
    assert figures(equivalence(d, margin)) == tuple(equivalence(d[order], margin))


@given(changes, margins, st.floats(1.0, 1e6))
def test_scaling_scores_and_margin_together_changes_no_p(d, margin, scale):
    assume(((d == 0) | (np.abs(d) > 1e-9)).all())
    plain, scaled = mean_evidence(d, margin), mean_evidence(d * scale, margin * scale)

    assert (scaled.p_worse, scaled.p_safe) == pytest.approx((plain.p_worse, plain.p_safe), **DIGITS)
    assert scaled.mean == pytest.approx(plain.mean * scale, rel=1e-9, abs=1e-12 * scale)
    assert tuple(equivalence(d * scale, margin * scale)) == pytest.approx(tuple(equivalence(d, margin)), **DIGITS)


@given(changes)
def test_swapping_the_sides_swaps_the_bounds(d):
    one, other = mean_evidence(d), mean_evidence(-d)

    assert (other.mean, other.low, other.high) == pytest.approx((-one.mean, -one.high, -one.low), nan_ok=True, **DIGITS)
    assert (other.sd, other.changed) == (pytest.approx(one.sd, nan_ok=True, **DIGITS), one.changed)


@given(changes)
def test_it_cannot_have_fallen_and_risen(d):
    assert mean_evidence(d).p_worse >= 0.5 or mean_evidence(-d).p_worse >= 0.5


@given(changes, margins)
def test_an_equivalence_is_symmetric(d, margin):
    assert tuple(equivalence(d, margin)) == pytest.approx(tuple(equivalence(-d, margin)), **DIGITS)


@given(changes, margins)
def test_what_moved_by_less_than_the_margin_either_way_did_not_fall_by_it(d, margin):
    assert equivalence(d, margin).p >= mean_evidence(d, margin).p_safe


@given(st.integers(1, 100), margins)
def test_what_is_identical_is_safe_at_any_margin(queries, margin):
    assert mean_evidence(np.zeros(queries), margin).p_safe == 0.0
    assert tuple(equivalence(np.zeros(queries), margin)) == (0.0, 1.0)


@given(changes, margins, margins)
def test_a_wider_margin_makes_nothing_less_safe(d, one, other):
    small, large = sorted((one, other))

    assert mean_evidence(d, large).p_safe <= mean_evidence(d, small).p_safe + 1e-12
    assert equivalence(d, large).p <= equivalence(d, small).p + 1e-12


@given(st.lists(tenths, min_size=5, max_size=20).map(np.array), st.integers(1, 200))
def test_adding_tied_queries_leaves_the_sign_flip_as_it_is(d, tied):
    more = np.concatenate((d, np.zeros(tied)))

    assert sign_flip(more) == sign_flip(d)
    assert mean_evidence(more).p_worse >= sign_flip(d).p_lower or not d.any()


@given(changes, margins, st.floats(1e-3, 1e3))
def test_equal_weights_are_none(d, margin, weight):
    same = np.full(len(d), weight)

    assert figures(mean_evidence(d, margin, weights=same)) == tuple(mean_evidence(d, margin))
    assert tuple(equivalence(d, margin, weights=same)) == tuple(equivalence(d, margin))


@given(changes, margins, st.floats(1e-3, 1e3))
def test_only_the_proportions_of_weights_count(d, margin, factor):
    w = np.arange(1.0, len(d) + 1)

    assert figures(mean_evidence(d, margin, weights=w)) == tuple(mean_evidence(d, margin, weights=w * factor))


@given(changes, margins)
def test_the_same_margin_for_each_query_is_the_number(d, margin):
    assert figures(mean_evidence(d, np.full(len(d), margin))) == tuple(mean_evidence(d, margin))


@given(changes, margins)
def test_a_p_is_a_share(d, margin):
    evidence = mean_evidence(d, margin)
    found = [evidence.p_worse, evidence.p_safe, *equivalence(d, margin)]

    assert all(0.0 <= p <= 1.0 for p in found)
