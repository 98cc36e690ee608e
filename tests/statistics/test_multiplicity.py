"""Corrections: worked examples, beside statsmodels, against their definitions, and what is no test of the family."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pytest_ireval.statistics.multiplicity import benjamini_hochberg, holm

families = st.lists(st.floats(0, 1), max_size=12).map(np.array)


def test_a_worked_example():
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_a_test_that_could_not_be_made_is_none_of_the_family():
    adjusted = holm(np.array([0.01, np.nan, 0.04]))

    assert adjusted[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


@given(families)
def test_it_rejects_exactly_what_stepping_down_rejects(p):
    rejected = set()
    for step, i in enumerate(np.argsort(p, kind="stable").tolist()):
        if p[i] * (len(p) - step) >= 0.05:
            break
        rejected.add(i)

    assert set(np.flatnonzero(holm(p) < 0.05).tolist()) == rejected


@pytest.mark.ci
@pytest.mark.parametrize("tests", [1, 2, 5, 12, 100])
@pytest.mark.parametrize("decimals", [1, 12], ids=["many ties", "no ties"])
def test_both_corrections_are_those_of_statsmodels(tests, decimals):
    p = np.round(np.random.default_rng(tests).random(tests) ** 3, decimals)

    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12)


def test_a_worked_example_of_benjamini_and_hochberg():
    assert benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])


@given(families)
def test_benjamini_and_hochberg_are_between_the_raw_value_and_holm(p):
    assert (benjamini_hochberg(p) >= p).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()
