"""Corrections: worked examples, beside statsmodels, against their definitions, and what is no test of the family."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pytest_ireval.statistics.multiplicity import benjamini_hochberg, holm, max_t
from pytest_ireval.statistics.sign_flip import sign_flip

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


@pytest.mark.parametrize("tests", [1, 2, 5, 12, 100])
@pytest.mark.parametrize("decimals", [1, 12], ids=["many ties", "no ties"])
def test_both_corrections_are_those_of_statsmodels(tests, decimals):
    p = np.round(np.random.default_rng(tests).random(tests) ** 3, decimals)

    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], rtol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg(p), multipletests(p, method="fdr_bh")[1], rtol=1e-12)


def test_a_worked_example_of_benjamini_and_hochberg():
    assert benjamini_hochberg(np.array([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx([0.02, 0.04, 0.04, 0.02])


def test_benjamini_and_hochberg_leave_out_what_could_not_be_made():
    adjusted = benjamini_hochberg(np.array([0.01, np.nan, 0.04]))

    assert adjusted[[0, 2]].tolist() == pytest.approx([0.02, 0.04])
    assert np.isnan(adjusted[1])


@given(families)
def test_benjamini_and_hochberg_are_between_the_raw_value_and_holm(p):
    assert (benjamini_hochberg(p) >= p).all()
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()


def correlated(rows, queries, correlation, drop=0.0, seed=0):
    draw = np.random.default_rng(seed)
    own, shared = draw.normal(size=(rows, queries)), draw.normal(size=queries)
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own - drop


tables = st.integers(1, 4).flatmap(
    lambda rows: st.lists(
        st.lists(st.sampled_from([-0.3, -0.2, -0.1, 0.0, 0.1, 0.25]), min_size=rows, max_size=rows),
        min_size=1,
        max_size=9,
    ).map(lambda table: np.array(table).T)
)


@given(tables)
@settings(max_examples=50)
def test_swapping_jointly_gives_at_most_as_many_times_the_own_p_as_there_are_rows(d):
    own = np.array([sign_flip(row).p_lower for row in d])

    for adjusted in (max_t(d, step_down=False), max_t(d)):
        assert (adjusted >= own - 1e-12).all()
        assert (adjusted <= len(d) * own + 1e-12).all()


def test_one_row_is_its_own_sign_flip():
    d = np.array([[-0.3, -0.1, -0.2, 0.1, -0.4, 0.0]])

    assert max_t(d).tolist() == [sign_flip(d[0]).p_lower]


def test_the_same_row_twice_is_one_test():
    d = correlated(1, 12, 0.0, drop=0.5)

    assert max_t(np.repeat(d, 3, axis=0)).tolist() == pytest.approx([max_t(d)[0]] * 3)


def test_rows_that_go_together_are_corrected_less_than_holm_corrects_them():
    d = correlated(6, 200, 0.9, drop=0.12)
    own = np.array([sign_flip(row).p_lower for row in d])

    assert max_t(d).max() < holm(own).max() / 2


def test_stepping_down_is_never_less_sure_and_keeps_the_order():
    d = correlated(5, 60, 0.3, drop=0.2)

    assert (max_t(d) <= max_t(d, step_down=False)).all()
    assert (np.argsort(max_t(d), kind="stable") == np.argsort(max_t(d, step_down=False), kind="stable")).all()


def test_the_order_of_queries_changes_nothing_where_signs_are_drawn():
    d = correlated(3, 40, 0.5, drop=0.2)

    assert max_t(d[:, ::-1]).tolist() == max_t(d).tolist()


def test_nothing_to_swap():
    assert max_t(np.zeros((2, 5))).tolist() == [1.0, 1.0]
    assert max_t(np.zeros((0, 5))).tolist() == []
    assert max_t(np.zeros((2, 0))).tolist() == [1.0, 1.0]
