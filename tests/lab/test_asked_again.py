"""A source asked again: nothing moves, or the noise is told, and which tolerances lie below it."""

import sys

import numpy as np
import pytest
from shop_of_many import TODAY

from pytest_ireval.gate.run import run_gate
from pytest_ireval.statistics.noise import noise_floor, run_noise
from pytest_ireval_lab.self_test.asking_again import ask_again

NOISY = """\
import random

calls = 0


def search(queries):
    global calls
    calls += 1
    found = {}
    for query in queries:
        ids = [f"{query}-d{i}" for i in range(8)]
        chance = random.Random(f"{query} {calls}")
        if chance.random() < 0.4:
            a, b = chance.sample(range(8), 2)
            ids[a], ids[b] = ids[b], ids[a]
        found[query] = ids
    return found
"""


@pytest.fixture
def noisy(shop):
    (shop.folder / "noisy.py").write_text(NOISY)
    shop.keys["source"] = '{python: "noisy:search", mode: all}'
    sys.modules.pop("noisy", None)
    yield shop
    sys.modules.pop("noisy", None)


def report(shop, **more):
    return ask_again(shop.suite(), shop.registry, **more)


def test_a_source_that_always_answers_the_same_is_said_to(shop):
    found = report(shop)

    assert (found.same, found.holds, found.lists, found.answers) == (True, True, 0, 2)
    assert [each.verdict for each in found.rules] == ["pass"]
    assert [each.floor for each in found.metrics] == [0.0, 0.0]


def test_noise_is_told_with_its_floor_and_a_tolerance_below_it_is_an_error(noisy):
    noisy.rules = [
        "no_regression: {metric: nDCG@5, tolerance: {absolute: 0.0001}, decide_by: observed, name: tight}",
        "no_regression: {metric: nDCG@5, tolerance: {absolute: 0.5}, decide_by: observed, name: wide}",
    ]
    found = report(noisy, times=4)
    tight, wide = found.tolerances

    assert found.answers == 4
    assert 0 < found.lists <= 60
    assert found.metrics[0].floor == pytest.approx(1.96 * found.metrics[0].sd * np.sqrt(2 / 60), rel=1e-3)
    assert (tight.below, wide.below) == (True, False)
    assert tight.floor == wide.floor == found.metrics[0].floor
    assert not found.holds


def test_a_tolerance_below_the_noise_of_a_rule_that_only_warns_is_no_error(noisy):
    tight = "no_regression: {metric: nDCG@5, tolerance: {absolute: 0.0001}, decide_by: evidence, on_inconclusive: "
    noisy.rules = [f"{tight}warn}}", f"{tight}fail, name: strict}}"]

    warns, fails = report(noisy).tolerances

    assert (warns.below, warns.red) == (True, False)
    assert (fails.below, fails.red) == (True, True)


def test_few_queries_with_nearly_all_of_the_traffic_raise_the_floor_of_a_weighted_mean(noisy):
    noisy.keys["weight"] = "searches"
    noisy.columns["searches"] = [1000 if n < 5 else 1 for n in range(60)]
    rule = "no_regression: {metric: nDCG@5, tolerance: {absolute: 0.0001}"
    noisy.rules = [f"{rule}}}", f"{rule}, weighted: true, name: traffic}}"]

    plain, weighted = report(noisy, times=20).tolerances

    assert weighted.floor > 2 * plain.floor


def test_with_repeat_the_mean_of_so_many_answers_is_compared(noisy):
    once = report(noisy, times=6)
    noisy.keys["source"] = '{python: "noisy:search", mode: all, repeat: 3}'
    sys.modules.pop("noisy", None)
    thrice = report(noisy, times=2)

    assert (once.answers, thrice.answers, thrice.repeat) == (6, 6, 3)
    assert thrice.metrics[0].sd == once.metrics[0].sd
    assert thrice.metrics[0].floor == pytest.approx(once.metrics[0].floor / np.sqrt(3))


def test_how_often_to_ask_follows_from_the_spread_of_a_change(noisy):
    noisy.keys["source"] = "{run: now.trec}"
    noisy.accept()
    noisy.keys["source"] = '{python: "noisy:search", mode: all}'
    nothing_but_noise = report(noisy, times=8).metrics[0]

    assert nothing_but_noise.share > 0.5
    assert nothing_but_noise.repeat is None or nothing_but_noise.repeat > 8


def test_a_suite_that_asks_several_times_says_how_much_of_a_change_is_noise(noisy):
    noisy.keys["source"] = '{python: "noisy:search", mode: all, repeat: 3}'
    noisy.accept()
    sys.modules.pop("noisy", None)
    (noisy.folder / "noisy.py").write_text(NOISY.replace("calls = 0", "calls = 10"))
    result = run_gate(noisy.suite(), registry=noisy.registry, today=TODAY)
    (note,) = (fact for fact in result.outcomes[0].facts if fact.startswith("each query was asked"))

    assert note.startswith("each query was asked 3 times and counts with its mean; noise between the answers: ")
    assert note.endswith("of the changes in RR@5 (share of variance)")


def test_a_suite_whose_answers_are_the_same_says_so(shop):
    shop.keys["source"] = "{run: now.trec, repeat: 2}"
    result = run_gate(shop.suite(), registry=shop.registry, today=TODAY)

    assert "the source was asked 2 times, and every metric was the same each time" in result.outcomes[0].facts


def test_the_floor_holds_95_of_100_differences_of_two_means():
    random = np.random.default_rng(3)
    true = random.random(50)
    answers = true + random.normal(0, 0.1, (2000, 50))
    floor = noise_floor(run_noise(answers[:40]).within, 50)
    differences = np.abs(answers[:1000].mean(axis=1) - answers[1000:].mean(axis=1))

    assert 0.93 < float(np.mean(differences <= floor)) < 0.97
