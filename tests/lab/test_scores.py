"""Scores made of the scores of a suite: some queries, both sides exchanged, other current rankings."""

from dataclasses import replace

import numpy as np
import pytest

from pytest_ireval import apply_rules

NAME = "no_regression::nDCG_5.all"


@pytest.fixture
def scores(shop):
    shop.rules = ["no_regression: {metric: nDCG@5, tolerance: 0%, decide_by: observed}"]
    shop.accept()
    shop.change(share=1.0)
    return shop.collect_and_score()[1]


def figures(scores):
    (outcome,) = apply_rules(scores)
    assert outcome.id == NAME
    return outcome.figures[0]


def values(side):
    return side.scored["nDCG@5"].values


def test_some_queries_have_the_mean_of_their_own_values(scores):
    rows = [5, 0, 17]
    found = figures(scores.take(rows))

    assert found.queries == 3
    assert found.now == pytest.approx(values(scores.current)[rows].mean())
    assert found.baseline == pytest.approx(values(scores.baseline_side)[rows].mean())


def test_a_repeated_query_counts_as_often_as_it_is_taken(scores):
    rows = [3, 3, 3, 8]
    found = figures(scores.take(rows))

    assert found.queries == 4
    assert found.now == pytest.approx(values(scores.current)[rows].mean())


def test_exchanging_all_queries_turns_a_fall_into_a_rise(scores):
    fell, rose = figures(scores), figures(scores.swap(np.ones(60, bool)))

    assert (rose.now, rose.baseline) == (fell.baseline, fell.now)
    assert (rose.better, rose.worse) == (fell.worse, fell.better)


def test_exchanging_no_query_changes_nothing(scores):
    assert figures(scores.swap(np.zeros(60, bool))) == figures(scores)


def test_the_accepted_rankings_in_place_of_the_current_ones_show_no_change(scores):
    found = figures(scores.replace_current(scores.baseline_side))

    assert (found.change, found.same) == (0, 60)


def test_without_lists_of_queries_the_rest_of_an_outcome_is_the_same(shop, scores):
    with_lists, without = apply_rules(scores), apply_rules(scores, lists_queries=False)

    assert (with_lists[0].verdict, bool(with_lists[0].queries)) == ("fail", True)
    assert [replace(outcome, queries=(), sentence="") for outcome in with_lists] == [
        replace(outcome, sentence="") for outcome in without
    ]
