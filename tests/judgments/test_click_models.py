"""Click models against slow definitions, planted parameters, and grades of their estimates."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_searches import make_searches

from pytest_ireval.progress import SILENT
from pytest_ireval_judgments import click_models
from pytest_ireval_judgments.click_models import (
    MODELS,
    ClickModel,
    expect_behaviour,
    make_judgments,
    measure_fit,
    predict_clicks,
)
from pytest_ireval_judgments.clicks import Searches


def paths(a, s, go_on, clicked):
    """Every way in which a user of the DBN makes these clicks: chance, ranks examined, satisfied at the end."""
    for last in range(len(clicked)):
        if any(clicked[last + 1 :]):
            continue
        for satisfied in (False, True) if clicked[last] else (False,):
            chance = go_on**last
            for j in range(last + 1):
                chance *= a[j] if clicked[j] else 1 - a[j]
                if clicked[j]:
                    chance *= s[j] if satisfied and j == last else 1 - s[j]
            if not satisfied and last < len(clicked) - 1:
                chance *= 1 - go_on
            yield chance, last + 1, satisfied


def chance_of(a, s, go_on, clicked):
    return sum(chance for chance, _, _ in paths(a, s, go_on, clicked))


SHARE = st.floats(0.05, 0.95)
ROWS = st.lists(
    st.permutations("abcd").flatmap(
        lambda order: st.integers(1, 4).flatmap(
            lambda size: st.tuples(
                st.just(order[:size]), st.lists(st.integers(1, size), unique=True), st.integers(1, 5)
            )
        )
    ),
    min_size=1,
    max_size=6,
)


@given(rows=ROWS, a=st.tuples(*[SHARE] * 4), s=st.tuples(*[SHARE] * 4), go_on=SHARE)
def test_a_step_of_em_counts_all_that_users_may_have_done(rows, a, s, go_on):
    examined, satisfied, steps = dict.fromkeys("abcd", 0.0), dict.fromkeys("abcd", 0.0), [0.0, 0.0]
    for shown, clicks, count in rows:
        of = ["abcd".index(name) for name in shown]
        clicked = [rank in clicks for rank in range(1, len(shown) + 1)]
        ways = list(paths([a[i] for i in of], [s[i] for i in of], go_on, clicked))
        for chance, last, ends in ways:
            weight = count * chance / sum(way[0] for way in ways)
            for name in shown[:last]:
                examined[name] += weight
            satisfied[shown[last - 1]] += weight * ends
            steps[0] += weight * (last - 1)
            steps[1] += weight * (last - 1 + (last < len(shown) and not ends))

    searches = make_searches(rows, list("abcd"))
    of_pair = searches.pairs.document
    found = expect_behaviour(searches, np.array(a)[of_pair], np.array(s)[of_pair], go_on)
    assert found.examined == pytest.approx([examined["abcd"[i]] for i in of_pair])
    assert found.satisfied == pytest.approx([satisfied["abcd"[i]] for i in of_pair])
    assert (found.went_on, found.could_go_on) == pytest.approx(tuple(steps))


@given(rows=ROWS, a=st.tuples(*[SHARE] * 4), s=st.tuples(*[SHARE] * 4), go_on=SHARE)
def test_chances_of_clicks_multiply_to_those_of_whole_searches(rows, a, s, go_on):
    searches = make_searches(rows, list("abcd"))
    of_pair = searches.pairs.document
    model = ClickModel("dbn", np.array(a)[of_pair], np.array(s)[of_pair], go_on, np.zeros(0))
    chance = predict_clicks(model, searches)
    each = np.where(searches.clicked, chance, 1 - chance)

    for row, (shown, clicks, _) in enumerate(rows):
        of = ["abcd".index(name) for name in shown]
        clicked = [rank in clicks for rank in range(1, len(shown) + 1)]
        wanted = chance_of([a[i] for i in of], [s[i] for i in of], go_on, clicked)
        assert each[searches.first[row] : searches.first[row + 1]].prod() == pytest.approx(wanted, rel=1e-6)


def simulate_searches(chance_of_clicks, orders, number=10_000_000):
    """As many searches of each order and clicks as are expected of a number of users."""
    rows = []
    for order in orders:
        for clicked in product([False, True], repeat=len(order)):
            count = round(number / len(orders) * chance_of_clicks(order, clicked))
            if count:
                rows.append((list(order), [rank for rank, is_one in enumerate(clicked, 1) if is_one], count))
    return make_searches(rows)


ATTRACTION = {"a": 0.7, "b": 0.4, "c": 0.2}
SATISFACTION = {"a": 0.3, "b": 0.8, "c": 0.5}


def test_dbn_finds_planted_parameters(monkeypatch):
    monkeypatch.setattr(click_models, "ROUNDS", 3000)
    monkeypatch.setattr(click_models, "STILL", 1e-7)
    searches = simulate_searches(
        lambda order, clicked: chance_of(
            [ATTRACTION[d] for d in order], [SATISFACTION[d] for d in order], 0.8, clicked
        ),
        ["abc", "bca", "cab"],
    )

    model = MODELS["dbn"](searches, 0.0, SILENT)
    assert model.attraction == pytest.approx([*ATTRACTION.values()], abs=0.002)
    assert model.satisfaction == pytest.approx([*SATISFACTION.values()], abs=0.02)
    assert model.continuation == pytest.approx(0.8, abs=0.01)


def test_cascade_and_simplified_dbn_are_shares_that_a_pencil_finds():
    rows = [("abc", [2], 3), ("abc", [1, 3], 1), ("abc", [], 2)]
    cascade, sdbn = (MODELS[name](make_searches(rows), 0.0, SILENT) for name in ("cascade", "sdbn"))

    assert cascade.attraction == pytest.approx([1 / 6, 3 / 5, 0 / 2])
    assert sdbn.attraction == pytest.approx([1 / 6, 3 / 6, 1 / 3])
    assert sdbn.satisfaction == pytest.approx([0 / 1, 3 / 3, 1 / 1])
    assert sdbn.relevance == pytest.approx([0, 1 / 2, 1 / 3])


@pytest.mark.parametrize("name", MODELS)
def test_no_searches_at_all_are_no_trouble(name):
    nothing = np.zeros(0, np.int64)
    searches = Searches((), (), nothing, nothing, np.zeros(1, np.int64), nothing, nothing)
    model = MODELS[name](searches, 10.0, SILENT)

    assert model.relevance.size == 0
    assert measure_fit(model, searches).perplexity == 1.0


def test_grades_are_the_number_of_thresholds_that_an_estimate_reaches():
    searches = make_searches([("abcd", [1, 2], 10)])
    estimates, examined = np.array([0.1, 0.0999, 0.3, 0.9]), np.array([10.0, 10, 9.96, 9.9])
    found = make_judgments(searches, ClickModel("cascade", estimates, np.ones(4), 1.0, examined), [0.1, 0.3], 10)

    assert found.rows == [("q", "a", 1, 0.1, 10, 10.0, 10), ("q", "b", 0, 0.0999, 10, 10.0, 10)]
    assert (found.thresholds, found.rare) == ([0.1, 0.3], 2)


@pytest.mark.parametrize("name", MODELS)
def test_pairs_that_were_not_fitted_take_the_mean_of_those_that_were(name):
    searches = make_searches([("abc", [1], 30), ("abc", [1, 3], 10), ("abd", [1, 3], 5)])
    model = MODELS[name](searches.some(np.where(np.arange(searches.count.size) < 2, searches.count, 0)), 0.0, SILENT)
    known = np.array([True, True, True, False])
    told = model.with_means(known)

    weights = model.examined[:3]
    assert told.attraction[:3].tolist() == model.attraction[:3].tolist()
    assert told.attraction[3] == pytest.approx(np.average(model.attraction[:3], weights=weights))
    assert 0 < told.satisfaction[3] <= 1
    assert np.isfinite(model.attraction).all()
