"""Holm's correction: a worked example, against its definition, and what is no test of the family."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.multiplicity import holm

families = st.lists(st.floats(0, 1), max_size=12).map(np.array)


def test_a_worked_example():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_family_of_one_is_not_corrected():
    assert holm(np.array([0.04])).tolist() == [0.04]


def test_a_test_that_could_not_be_made_is_none_of_the_family():
    adjusted = holm(np.array([0.01, np.nan, 0.04]))

    assert adjusted[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


def test_nothing_to_correct():
    assert holm(np.zeros(0)).tolist() == []


@given(families)
def test_it_is_never_below_the_raw_value_and_never_above_1(p):
    assert (holm(p) >= p).all()
    assert (holm(p) <= 1).all()


@given(families)
def test_it_keeps_the_order(p):
    assert (np.diff(holm(p)[np.argsort(p, kind="stable")]) >= 0).all()


@given(families)
def test_it_rejects_exactly_what_stepping_down_rejects(p):
    rejected = set()
    for step, i in enumerate(np.argsort(p, kind="stable").tolist()):
        if p[i] * (len(p) - step) >= 0.05:
            break
        rejected.add(i)

    assert set(np.flatnonzero(holm(p) < 0.05).tolist()) == rejected
