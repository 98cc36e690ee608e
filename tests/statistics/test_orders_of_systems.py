"""Orders of systems compared with each other: tau, AP correlation, exchanged pairs."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.statistics.orders import compare_orders


def test_systems_that_rounding_alone_tells_apart_are_equal():
    found = compare_orders([0.1 + 0.2, 0.3, 0.2], [0.3, 0.1 + 0.2, 0.2])

    assert (found.tau, found.tau_ap, found.shift, found.swaps) == (1.0, 0.5, 0, 0)
    assert compare_orders([0.3, 0.2], [0.3, 0.1 + 0.2]).tau_ap is None, "the systems have no order to compare with"


BEST_FIRST = [8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]


@pytest.mark.parametrize(("places", "tau_ap"), [((0, 1), 0.714), ((6, 7), 0.959)])
def test_an_exchange_at_the_top_counts_more_for_tau_ap(places, tau_ap):
    exchanged = list(BEST_FIRST)
    exchanged[places[0]], exchanged[places[1]] = BEST_FIRST[places[1]], BEST_FIRST[places[0]]
    found = compare_orders(exchanged, BEST_FIRST)

    assert (round(found.tau, 3), round(found.tau_ap, 3), found.shift, found.swaps) == (0.929, tau_ap, 1, 1)
    assert compare_orders(exchanged, BEST_FIRST, sign=-1).tau == found.tau


def plain_tau_ap(order, truth):
    shares = [sum(truth[a] > truth[b] for a in order[:i]) / i for i, b in enumerate(order) if i]
    return 2 * sum(shares) / len(shares) - 1


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6), st.randoms(use_true_random=False))
def test_equal_systems_have_the_mean_of_tau_ap_over_their_orders(figures, random):
    truth = random.sample(range(len(figures)), len(figures))
    orders = [
        order
        for order in permutations(range(len(figures)))
        if all(figures[a] >= figures[b] for a, b in combinations(order, 2))
    ]
    wanted = sum(plain_tau_ap(order, truth) for order in orders) / len(orders)

    assert compare_orders([float(each) for each in figures], [float(each) for each in truth]).tau_ap == pytest.approx(
        wanted
    )
