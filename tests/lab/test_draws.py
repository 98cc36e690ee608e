"""Chance that depends on names and seed alone."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.gate.replay import chosen, drawn_queries, urn_of

names = st.lists(st.text(max_size=4), min_size=1, max_size=12, unique=True)


@given(names, st.randoms(use_true_random=False))
def test_a_name_draws_the_same_whatever_the_order(found, random):
    other = random.sample(found, len(found))

    assert dict(zip(found, drawn_queries(urn_of(found, "s"), "swap", 1), strict=True)) == dict(
        zip(other, drawn_queries(urn_of(other, "s"), "swap", 1), strict=True)
    )


def test_another_trial_and_another_seed_draw_otherwise():
    urn = urn_of([f"q{i}" for i in range(20)], "s")

    assert (drawn_queries(urn, "swap", 1) != drawn_queries(urn, "swap", 2)).all()
    assert (drawn_queries(urn, "swap", 1) != drawn_queries(urn_of(urn.names, "t"), "swap", 1)).all()


@given(st.integers(1, 50), st.floats(0.01, 1), st.randoms(use_true_random=False))
def test_so_many_of_those_that_may_be_chosen_are(count, share, random):
    among = np.array([random.random() < 0.7 for _ in range(count)], bool)
    found = chosen(np.array([random.random() for _ in range(count)]), among, share)
    possible = int(among.sum())

    assert not (found & ~among).any()
    assert found.sum() == min(possible, max(1, round(share * possible)))


def test_a_larger_share_holds_the_smaller_one():
    numbers, among = np.random.default_rng(1).random(40), np.ones(40, bool)

    assert not (chosen(numbers, among, 0.1) & ~chosen(numbers, among, 0.5)).any()
