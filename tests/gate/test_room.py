"""How far a mean can fall at all: to the worst value that the metric has."""

import math
from types import SimpleNamespace

import pytest

from pytest_ireval.plugins.registry import installed
from pytest_ireval.rules.question import room_of


def metric(name):
    (found,) = installed().parse_metrics([name])
    return found


def test_a_mean_falls_to_the_lowest_value_where_higher_is_better():
    assert room_of(metric("nDCG@10"), 0.9) == pytest.approx(0.9)


def test_what_nothing_bounds_has_no_end():
    slower = SimpleNamespace(direction="lower", bounds=(0.0, math.inf))

    assert room_of(slower, 5.0) is None


def test_figures_of_a_verdict_say_it(shop):
    shop.accept()
    shop.rankings["q10"] = ["q10-n1", "q10-d0"]
    shop.rankings["q09"] = ["q09-n1"]
    shop.write()
    shop.run()

    (suite,) = shop.results()["suites"]
    outcome = next(each for each in suite["outcomes"] if each["id"] == "no_regression::nDCG_10.segment-tail")
    tail, _whole, head = outcome["figures"]
    assert (tail["baseline"], tail["room"]) == (1.0, 1.0)
    assert tail["needed"] > tail["queries"]
    assert head["room"] is None  # nothing changed there
