"""``risk``: losses count more than gains; a rise of the mean may still be a risk."""

import pytest
from sides import TwoSides

from pytest_ireval.plugins.conftests import load_registry
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.rules.context import Seen
from pytest_ireval.suites.loading import context_of

CHANGES = [10, 41, -24, 0, 25, 70, 60, -2, 9, 25]
"""The changes of the example in the statistics, in hundredths."""


def ruled(changes, **options):
    names = [f"q{number}" for number in range(len(changes))]
    grades = {q: {"b": 1.0, "n": 1 + change / 100} for q, change in zip(names, changes, strict=True)}
    now, before = ({query: [document] for query in names} for document in "nb")
    sides = TwoSides(grades, now, before, ["CG@1"], {"grades": "float", "depth": 1})
    (metric,) = sides.metrics.values()
    kind = load_registry().rules["risk"]
    asked = kind.options.model_validate({"metric": "CG@1", **options}, context=context_of(load_registry()))
    return kind.judge(asked, Seen(sides.gathered.population, sides.now, sides.before, Part(metric=metric)))


@pytest.mark.parametrize(
    ("changes", "options", "verdict", "t"),
    [
        (CHANGES, {}, "pass", 1.749),
        ([-each for each in CHANGES], {}, "fail", -2.650),
        ([-each for each in CHANGES], {"at_least": -2.7}, "pass", -2.650),
        ([20, 20, 20, 20, -30, -30], {"aversion": 0, "at_least": 0}, "pass", 0.316),
        ([20, 20, 20, 20, -30, -30], {"aversion": 1, "at_least": 0}, "fail", -0.395),
        ([0] * 5, {}, "pass", 0),
        ([-10] * 5, {}, "fail", float("-inf")),
        ([10] * 5, {}, "pass", float("inf")),
    ],
)
def test_losses_count_more_than_gains(changes, options, verdict, t):
    ruling = ruled(changes, **options)

    assert ruling.verdict == verdict
    assert ruling.numbers.get("trisk", t) == pytest.approx(t, abs=1e-3)
    assert ("trisk" in ruling.numbers) == (abs(t) < float("inf"))  # a program reads no infinite number


def test_the_queries_with_the_largest_losses_are_named():
    ruling = ruled([-each for each in CHANGES])

    assert [each.query for each in ruling.queries[:3]] == ["q5", "q6", "q1"]
    assert ruling.headline == "TRisk of CG@1 is -2.65 (must be >= -2; a loss counts 2 times)"


def test_of_one_query_no_risk_is_known():
    assert ruled([-50]).headline == "the risk of CG@1 needs two queries; here is 1"
