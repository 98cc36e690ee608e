"""`depth=N` gives the values of rankings that are cut by hand at N, for every metric, whatever scores are equal."""

import random
from dataclasses import replace

import pytest

from pytest_ireval import Policies, SideData, evaluate
from pytest_ireval.plugins.manager import installed_registry

DOCUMENTS = [f"d{number}" for number in range(9)]
WITHOUT_LISTS = {"subtopics", "sessions", "timings", "fields", "collection", "judgments"}
"""Needs of metrics for which a made-up ranking is not enough."""
ARGUMENTS = {
    "IPrec": "@0.4",
    "RelativeRecall": "(wanted=2)@3",
    "RecallEffort": "(wanted=2)",
    "AP": "(judged_only=True)",
}


def name_of(metric):
    return metric.name + ARGUMENTS.get(metric.name, "@3" if "cutoff" in metric.missing else "")


METRICS = [name_of(each) for each in installed_registry().metrics.values() if not each.needs & WITHOUT_LISTS]
METRICS += ["nDCG@3", "AP@3", "nDCG(ideal='retrieved')@2", "nDCG(judged_only=True)@2", "Q@3", "RR@2", "ERR@3"]


def draw_ranking(chance):
    """Documents with scores from few, so that many are equal, in any order."""
    listed = chance.sample(DOCUMENTS, chance.randint(1, len(DOCUMENTS)))
    return [(document, float(chance.randint(1, 6))) for document in listed]


def cut_by_hand(ranking, depth, ties):
    """The first documents with their scores: equal ones by id descending, or in their order in the input."""
    if ties == "trec":
        ranking = sorted(ranking, key=lambda entry: entry[0], reverse=True)
    return sorted(ranking, key=lambda entry: -entry[1])[:depth]  # keeps the order of equal scores


def draw_queries(seed):
    """For five queries: grades, a ranking, another ranking, and preferences between judged documents."""
    chance = random.Random(seed)
    queries = [f"q{number}" for number in range(5)]
    grades = {q: {d: chance.randint(0, 3) for d in chance.sample(DOCUMENTS, 5)} | {"missed": 1} for q in queries}
    rankings, others = ({query: draw_ranking(chance) for query in queries} for _ in range(2))
    preferences = {query: [tuple(chance.sample(DOCUMENTS, 2))] for query in queries}
    return grades, rankings, others, preferences


@pytest.mark.parametrize("unjudged", ["irrelevant", "removed"])
@pytest.mark.parametrize("ties", ["trec", "input"])
@pytest.mark.parametrize("depth", [3, 20])
def test_a_depth_gives_the_values_of_rankings_cut_by_hand(depth, ties, unjudged):
    grades, rankings, others, preferences = draw_queries(seed=depth)
    cut, cut_others = (
        {query: cut_by_hand(ranking, depth, ties) for query, ranking in lists.items()} for lists in (rankings, others)
    )
    policies = Policies(ties=ties, unjudged=unjudged)
    whole, short = (SideData(preferences=preferences, reference=reference) for reference in (others, cut_others))
    by_depth = evaluate(grades, rankings, METRICS, policies=replace(policies, depth=depth), side_data=whole)
    by_hand = evaluate(grades, cut, METRICS, policies=policies, side_data=short)

    for found, wanted in zip(by_depth.metrics, by_hand.metrics, strict=True):
        assert found.values == pytest.approx(wanted.values, nan_ok=True), found.name


@pytest.mark.parametrize("ties", ["trec", "input"])
def test_equal_scores_below_the_depth_change_nothing(ties):
    grades = {"q": {"a": 1, "b": 1, "c": 1}}
    tied_below = {"q": [("a", 3.0), ("x", 2.0), ("b", 1.0), ("c", 1.0)]}
    cut = {"q": [("a", 3.0), ("x", 2.0)]}
    policies = Policies(depth=2, ties=ties)
    side_data = SideData(reference={"q": ["x", "a", "b"]}, preferences={"q": [("a", "x")]})

    found = evaluate(grades, tied_below, METRICS, policies=policies, side_data=side_data)
    wanted = evaluate(grades, cut, METRICS, policies=policies, side_data=side_data)

    assert [each.values for each in found.metrics] == [
        pytest.approx(each.values, nan_ok=True) for each in wanted.metrics
    ]
    assert found["AP@3"].mean == pytest.approx(1 / 3)
