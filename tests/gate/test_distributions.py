"""How the values of a metric are spread: twenty bins between round numbers, both sides over the same queries."""

import numpy as np
import pytest

from pytest_ireval import load_registry
from pytest_ireval.gate.report_data import counts_between, edges_of

REGISTRY = load_registry()
TWENTIETHS = [i / 20 for i in range(21)]


def edges(metric, *values):
    (found,) = REGISTRY.parse_metrics([metric])
    return edges_of(found, np.array(values))


def test_a_metric_between_0_and_1_is_counted_in_twentieths():
    assert edges("nDCG@10", 0.31, 0.32) == TWENTIETHS


@pytest.mark.parametrize(
    ("values", "first", "second", "last"),
    [
        ((0.0, 7.3), 0.0, 0.4, 8.0),
        ((3.1, 96.0), 0.0, 5.0, 100.0),
        ((-1.0, 1.0), -1.0, -0.9, 1.0),
        ((0.19, 2.05), 0.1, 0.2, 2.1),
        ((5.0, 5.0), 5.0, 5.25, 10.0),
        ((0.0, 0.0), 0.0, 0.05, 1.0),
        ((1e-7, 3e-6), 0.0, 2e-7, 4e-6),
    ],
)
def test_another_one_between_round_numbers_that_hold_all_values(values, first, second, last):
    found = edges("DCG", *values)

    assert (found[0], found[1], found[-1]) == (first, second, last)
    assert len(found) == 21
    assert sum(counts_between(found, np.array(values))) == 2


def test_no_values_are_counted_in_twentieths():
    assert edges("DCG") == TWENTIETHS
    assert counts_between(TWENTIETHS, np.array([])) == (0,) * 20


@pytest.mark.parametrize(
    ("value", "place"), [(0.0, 0), (0.05, 1), (0.15, 3), (1 - 0.85, 3), (0.3, 6), (0.1 * 3, 6), (0.999, 19), (1.0, 19)]
)
def test_a_value_on_an_edge_counts_to_its_right_and_on_the_last_to_its_left(value, place):
    assert counts_between(TWENTIETHS, np.array([value])).index(1) == place


@pytest.mark.parametrize("width", [0.05, 0.25, 2.0, 50.0])
def test_every_edge_is_its_own_bin(width):
    found = [i * width for i in range(21)]

    assert counts_between(found, np.array(found)) == (*[1] * 19, 2)


def test_both_sides_are_counted_over_the_queries_that_both_have(shop):
    shop.change(("metrics: [nDCG@10, P@3]", "metrics: [nDCG@10, P@3, RBO(p=0.9)]"))
    del shop.judgments["q01"]
    shop.write()
    shop.accept()
    shop.rankings["q10"] = ["q10-n1"]
    shop.change(("metrics:", "waive:\n  - {query: q02, until: 2099-01-01, reason: broken feed}\nmetrics:"))
    shop.run()

    (suite,) = shop.results()["suites"]
    ndcg, p, rbo = suite["distributions"]
    assert (ndcg["metric"], p["metric"], rbo["metric"]) == ("nDCG@10", "P@3", "RBO")
    assert (ndcg["now"], ndcg["baseline"]) == ([1, *[0] * 18, 7], [*[0] * 19, 8])
    assert sum(rbo["now"]) == 9
    assert rbo["baseline"] == []  # it compares lists, and the baseline has no figure of its own


def test_without_a_baseline_there_is_one_side(shop):
    shop.run()

    (suite,) = shop.results()["suites"]
    assert [(each["now"][19], each["baseline"]) for each in suite["distributions"]] == [(10, []), (10, [])]
