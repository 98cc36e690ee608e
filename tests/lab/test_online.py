"""Plans of online tests and simulated users: by pencil, by enumeration of all clicks, and by drawn experiments."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval_lab.interleaving import count_credit, find_same_ranks, interleave
from pytest_ireval_lab.online import KINDS, Design, Outcomes, compare_methods, simulate_decisions, simulate_outcomes


@pytest.mark.parametrize(("change", "share"), [(0.0, 0.05), (0.03, 0.80)])
def test_drawn_tests_of_this_sample_have_the_level_and_the_power(change, share):
    count = Design(0.3, 0.5, 0.5).sample(0.03)[0]
    draws = np.random.default_rng(7)
    old, new = (draws.binomial(count, rate, 40_000) / count for rate in (0.3, 0.3 + change))
    middle = (old + new) / 2
    z = (new - old) / np.sqrt(2 * middle * (1 - middle) / count)

    assert (np.abs(z) > 1.959964).mean() == pytest.approx(share, abs=0.012)


def enumerate_clicks(documents, chances, users):
    """Every set of clicks with its chance, and the chance that it satisfies: slow and simple."""
    found = []
    for clicks in product((False, True), repeat=len(documents)):
        if users.by_position:
            seen = [users.patience**rank * chances[d][0] for rank, d in enumerate(documents)]
            share = np.prod([s if c else 1 - s for s, c in zip(seen, clicks, strict=True)])
            unsatisfied = np.prod([1 - chances[d][1] for d, c in zip(documents, clicks, strict=True) if c])
            found.append((clicks, share, share * (1 - unsatisfied)))
            continue
        share = satisfied = 0.0
        for last in range(len(documents) + 1):  # the user has read this many documents
            if any(clicks[last:]):
                continue
            reached, happy = 1.0, 0.0
            for rank, document in enumerate(documents[:last]):
                click, stop = chances[document]
                reached *= click if clicks[rank] else 1 - click
                if rank < last - 1:
                    reached *= (1 - stop * clicks[rank]) * users.patience
                elif last < len(documents):
                    happy = stop * clicks[rank]
                    reached *= happy + (1 - happy) * (1 - users.patience)
                    happy = happy / (happy + (1 - happy) * (1 - users.patience) or 1.0)
                else:
                    happy = stop * clicks[rank]
            if last == 0 and documents:
                reached = 0.0  # the first document is always read
            share += reached
            satisfied += reached * happy
        found.append((clicks, share, satisfied))
    assert sum(share for _, share, _ in found) == pytest.approx(1.0)
    return found


rankings = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4)


@given(
    rankings,
    rankings,
    st.sampled_from(sorted(KINDS)),
    st.booleans(),
    st.sampled_from([0.0, 0.6, 1.0]),
    st.booleans(),
    st.integers(1, 4),
)
def test_outcomes_are_those_of_all_clicks_and_coins(a, b, kind, by_position, patience, ignore, depth):
    users = KINDS[kind]._replace(by_position=by_position, patience=patience)
    grades = {"a": 2.0, "b": 1.0, "c": 2.0, "d": 0.0}
    pull = {d: (2 ** grades.get(d, 0.0) - 1) / 3 for d in "abcdef"}
    chances = {d: [low + (high - low) * pull[d] for low, high in (users.click, users.stop)] for d in pull}
    found = simulate_outcomes(
        {"q": a}, {"q": b}, {"q": grades}, users, depth=depth, highest=2.0, ignore_same_rank=ignore
    )

    preferred = {-1: 0.0, 0: 0.0, 1: 0.0}
    lists = [interleave(a, b, coins, depth) for coins in product((True, False), repeat=2)]
    for each in lists:
        for clicks, share, _ in enumerate_clicks(each.documents, chances, users):
            clicked = {d for d, c in zip(each.documents, clicks, strict=True) if c}
            got = count_credit(each, clicked, find_same_ranks(a, b) if ignore else ())
            preferred[int(np.sign(got.b - got.a))] += share / len(lists)
    expected = [preferred[-1], preferred[1]]
    alone = [enumerate_clicks(side[:depth], chances, users) for side in (a, b)]
    expected += [sum(share for clicks, share, _ in side if any(clicks)) for side in alone]
    expected += [sum(satisfied for _, _, satisfied in side) for side in alone]
    assert found == pytest.approx(tuple(expected), abs=1e-9)


UNEQUAL = Outcomes(0.2, 0.3, 0.4, 0.45, 0.3, 0.3)


def test_experiments_of_the_size_that_is_needed_find_the_better_ranking_in_80_percent():
    for row in compare_methods(UNEQUAL)[:2]:
        found = {each.measured: each for each in simulate_decisions(UNEQUAL, [row.needed], experiments=20_000)}

        assert found[row.measured].b == pytest.approx(0.8, abs=0.02)
        assert found[row.measured].a < 0.001


def test_equal_rates_are_false_alarms_as_often_as_alpha_allows():
    found = [*simulate_decisions(Outcomes(0.2, 0.2, 0.4, 0.4, 0.0, 0.0), [40, 2000, 50_000], experiments=20_000)]

    assert all(each.a + each.b <= 0.06 for each in found)
    assert all(each.a + each.b >= 0.04 for each in found if each.searches > 40 and each.measured != "satisfied")
    assert all(each.neither == 1.0 for each in found if each.measured == "satisfied")
    assert all(each.a + each.b + each.neither == pytest.approx(1.0) for each in found)
