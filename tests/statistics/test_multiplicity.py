"""Corrections: worked examples, beside statsmodels, against their definitions, and what is no test of the family."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pytest_ireval.statistics.multiplicity import benjamini_hochberg, holm, holm_of_groups, worth_of_tests
from pytest_ireval.statistics.student import NORMAL

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


@pytest.mark.ci
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


def chance_of_any(worth, group, correlation, tries, level=0.05):
    """How often the smallest corrected p of equally correlated tests is below the level, where nothing fell."""
    draw = np.random.default_rng(5)
    shared, own = draw.normal(size=(tries, 1)), draw.normal(size=(tries, group))
    z = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
    alarms = [holm_of_groups(np.array([NORMAL.cdf(each) for each in row]), [range(group)], [worth]) for row in z]
    return sum(each.min() < level for each in alarms) / tries


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("rows", [2, 6])
def test_tests_that_go_together_keep_their_level(rows, correlation):
    worth = worth_of_tests(correlated(rows, 4000, correlation), 0.05 / rows)

    assert chance_of_any(worth, rows, correlation, 4000) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 4000)


def test_the_more_they_go_together_the_fewer_tests_they_are_worth():
    worth = [worth_of_tests(correlated(6, 4000, each), 0.01) for each in (0.0, 0.5, 0.9, 0.99)]

    assert worth == sorted(worth, reverse=True)
    assert 5.7 < worth[0] <= 6.0
    assert worth[2] < 3.5
    assert 1.0 <= worth[3] < 2.0


def test_the_same_row_twice_is_one_test():
    d = correlated(1, 12, 0.0, drop=0.5)

    assert worth_of_tests(np.repeat(d, 3, axis=0), 0.01) == pytest.approx(1.0, abs=0.06)


def test_groups_that_are_worth_all_of_their_tests_are_corrected_as_holm_does():
    p = np.array([0.01, 0.2, 0.003, 0.04, 0.5])

    assert holm_of_groups(p, [[0, 2], [1, 3, 4]], [2.0, 3.0]).tolist() == holm(p).tolist()


def test_groups_are_stepped_through_together():
    p = np.array([0.01, 0.02, 0.03])

    assert holm_of_groups(p, [[0, 1], [2]], [1.5, 1.0]).tolist() == pytest.approx([0.025, 0.04, 0.04])


def test_the_order_of_queries_and_the_scale_of_a_metric_change_nothing():
    d = correlated(3, 40, 0.5, drop=0.2)

    assert worth_of_tests(d[:, ::-1], 0.01) == pytest.approx(worth_of_tests(d, 0.01))
    assert worth_of_tests(d * np.array([[1.0], [3.0], [0.01]]), 0.01) == pytest.approx(worth_of_tests(d, 0.01))


def test_rows_that_do_not_move_are_tests_of_their_own():
    assert worth_of_tests(np.zeros((2, 5)), 0.01) == 2.0
    assert worth_of_tests(np.zeros((0, 5)), 0.01) == 0.0
    assert worth_of_tests(np.zeros((2, 0)), 0.01) == 2.0
