"""Stable orders of systems: components of variance, their intervals, and orders by sets of queries."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ireval_lab.reliability import (
    Agreement,
    TauCurve,
    compare_halves,
    compute_components,
    compute_dependability,
    compute_generalizability,
    f_quantile,
    find_queries_for_tau,
    fit_tau_curve,
)

PENCIL = np.array([[1.0, 2, 3], [2, 4, 6]])
"""Two systems, three queries: the mean is 3, those of the systems are 2 and 4, those of the queries 1.5, 3 and 4.5."""


def test_components_of_two_systems_and_three_queries_by_pencil():
    """Residuals of the first system: -1/2, 0, 1/2; those of the second one have the other sign."""
    found = compute_components(PENCIL)

    assert found.mean_square_systems == 3 * (1 + 1) / 1
    assert found.mean_square_queries == 2 * (1.5**2 + 0 + 1.5**2) / 2
    assert found.mean_square_rest == 4 * 0.25 / 2
    assert found.system == (6 - 0.5) / 3
    assert found.query == (4.5 - 0.5) / 2
    assert found.rest == 0.5


SHROUT = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
"""The example of Shrout and Fleiss (1979); the limits are those that are published for ICC(3,1) and ICC(2,1)."""


def test_intervals_are_those_of_a_published_example():
    components = compute_components(SHROUT)
    order, values = compute_generalizability(components), compute_dependability(components)

    assert [round(each, 3) for each in order.one] == [0.715, 0.342, 0.946]
    assert [round(each, 3) for each in values.one] == [0.290, 0.019, 0.761]
    assert (round(order.value, 3), round(values.value, 3)) == (0.909, 0.620)


def test_quantiles_of_f_are_those_of_scipy():
    stats = pytest.importorskip("scipy.stats")

    for share, df, other in ((0.975, 5, 15), (0.025, 1, 2), (0.975, 4.7, 5), (0.975, 900, 1)):
        assert f_quantile(share, df, other) == pytest.approx(stats.f.ppf(share, df, other), rel=1e-9)


VALUES = st.integers(2, 6).flatmap(
    lambda systems: st.lists(
        st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=systems, max_size=systems), min_size=2, max_size=8
    )
)


@given(VALUES)
@example([[0.0, 0.05, 0.0], [0.0, 0.05, 0.0]])  # a limit of 1 was rounded upwards
def test_limits_enclose_the_coefficient_and_more_queries_never_need_fewer(rows):
    found = compute_components(np.array(rows).T)

    for each in (compute_generalizability(found), compute_dependability(found)):
        if each is None:
            assert found.mean_square_systems == 0
            continue
        assert 0 <= each.low <= each.value <= each.high <= 1
        value, least, most = each.needed(0.95)
        assert most is None or least <= value <= most
        assert each.needed(0.9)[0] is None or each.needed(0.9)[0] <= value


def test_systems_that_are_the_same_have_no_reliability():
    same = compute_components(np.array([[0.1, 0.7, 0.3]] * 3))

    assert (compute_generalizability(same), compute_dependability(same)) == (None, None)
    assert (same.system, same.rest) == (0, 0)
    assert same.query == pytest.approx(np.var([0.1, 0.7, 0.3], ddof=1))


def test_systems_that_differ_by_chance_only_have_no_number_of_queries():
    found = compute_components(np.array([[0, 1, 0.5], [1, 0, 0.6]]))

    assert found.system == 0
    assert compute_generalizability(found).value == 0
    assert compute_generalizability(found).needed(0.95)[0] is None


def test_two_sets_of_queries_have_no_query_in_common():
    """The values of a query are its number; means of both sets of 3 of 6 queries add up to that of all."""
    values = np.array([[0, 1, 2, 3, 4, 5], [0, 2, 4, 6, 8, 10]]) / 100
    (found,) = compare_halves(values, 1, [3], 40, 7)

    assert (found.tau, found.tau_sd, found.swaps, found.draws) == (1, 0, 0, 40)
    assert sum(pairs for _, pairs, _ in found.bins) == 40
    assert min(low for low, pairs, _ in found.bins if pairs) >= 0.01


def test_swaps_are_counted_by_the_difference_of_one_set():
    """The second system is better by .3 on one query, worse by .1 on the other: it is always swapped."""
    (found,) = compare_halves(np.array([[0.5, 0.5], [0.8, 0.4]]), 1, [1], 50, 7)

    assert (found.tau, found.swaps, found.difference) == (-1, 1, None)
    assert {low: swapped for low, pairs, swapped in found.bins if pairs}.keys() == {0.1, 0.2}
    assert sum(swapped for _, _, swapped in found.bins) == 50


def test_equal_systems_have_no_tau_and_no_swaps():
    (found,) = compare_halves(np.full((3, 10), 0.5), 1, [5], 3, 7)

    assert (found.tau, found.tau_ap, found.swaps) == (None, None, None)
    assert fit_tau_curve([found]) is None


def make_agreement(size, tau):
    return Agreement(size, 1, tau, None, None, None, None, ())


def test_the_trend_finds_the_curve_that_the_taus_are_on():
    curve = TauCurve(40.0)

    found = fit_tau_curve([make_agreement(size, curve.tau(size)) for size in (5, 10, 25, 50)])
    assert found.k == pytest.approx(40, rel=0.003)
    assert fit_tau_curve([make_agreement(5, -0.2), make_agreement(10, None)]) is None


def test_the_number_of_queries_for_a_tau_is_observed_or_extrapolated():
    found = [make_agreement(5, 0.4), make_agreement(10, 0.6), make_agreement(20, 0.8)]

    assert find_queries_for_tau(0.7, found, TauCurve(1)) == 15
    assert find_queries_for_tau(0.6, found, TauCurve(1)) == 10
    assert find_queries_for_tau(0.1, found, TauCurve(1)) == 5, "nothing is claimed about fewer queries than were tried"
    assert find_queries_for_tau(0.9, found, TauCurve(0.1)) == 21, "20 queries were not enough"
    many = find_queries_for_tau(0.9, found, TauCurve(40))
    assert TauCurve(40).tau(many) >= 0.9 > TauCurve(40).tau(many - 1)
    assert find_queries_for_tau(1 - 1e-12, found, TauCurve(1e9)) is None
