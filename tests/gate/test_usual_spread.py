"""How far queries usually move: the median of what is known, and a guess where nothing is."""

import statistics

import pytest

from pytest_ireval.baselines.record import Acceptance, spreads_of
from pytest_ireval.gate.sensitivity import ASSUMED, NEWEST, usual_spread
from pytest_ireval.statistics.resolution import likely_spread

VALUES = [0.0, 0.5, 1.0, 1.0]


def accepted(*spreads, key="nDCG@10"):
    return [Acceptance(f"2026-01-{day:02}", spreads=spreads_of([(key, each)])) for day, each in enumerate(spreads, 1)]


def test_it_is_the_median_of_what_acceptances_kept():
    found = usual_spread([Acceptance("2026-01-01"), *accepted(0.1, 0.4, 0.2)], "nDCG@10", "all", VALUES)

    assert found == (0.2, "3 acceptances")
    assert not found.assumed

    tail = accepted(0.3, key="nDCG@10 segment=tail")
    assert usual_spread([*accepted(0.1), *tail], "nDCG@10", "segment=tail", VALUES) == (0.3, "1 acceptance")


def test_only_the_newest_count():
    old, new = accepted(*[9.0] * 30), accepted(*[0.1] * NEWEST)

    assert usual_spread([*old, *new], "nDCG@10", "all", VALUES) == (0.1, "20 acceptances")


def test_where_nothing_is_known_it_is_guessed_from_the_values():
    found = usual_spread([Acceptance("2026-01-01")], "nDCG@10", "all", VALUES)

    assert found.assumed
    assert found.origin == ASSUMED
    assert found.spread == pytest.approx(statistics.stdev(VALUES) * 0.1**0.5)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5]])
def test_values_that_are_alike_say_nothing(values):
    assert likely_spread(values) is None
    assert usual_spread([], "nDCG@10", "all", values) is None
