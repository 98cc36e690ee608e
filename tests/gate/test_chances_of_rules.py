"""What a rule makes of drawn changes is what it says when they are real."""

import numpy as np
import pytest
from sides import REGISTRY, TwoSides

from pytest_ireval.plugins.kinds import Part
from pytest_ireval.rules.context import Seen
from pytest_ireval.rules.evidence import Tries
from pytest_ireval.rules.side import WHOLE
from pytest_ireval.suites.loading import context_of

QUERIES = 60
CLOSE = 0.02
"""The gate tests exactly, drawn changes by t: so near to the level they may differ."""


def seen_of(before, now):
    """A population whose queries have these values of CG@1."""
    names = [f"q{i:02}" for i in range(before.size)]
    grades = {q: {"b": float(b), "n": float(n)} for q, b, n in zip(names, before, now, strict=True)}
    now, old = {query: ["n"] for query in names}, {query: ["b"] for query in names}
    sides = TwoSides(grades, now, old, ["CG@1"], {"grades": "float", "depth": 1})
    (metric,) = sides.metrics.values()
    return Seen(sides.gathered.population, sides.now, sides.before, Part(metric=metric), WHOLE)


def drawn(number):
    """Changes of all kinds: a row each."""
    draw = np.random.default_rng(5)
    before = draw.uniform(0.3, 0.9, QUERIES)
    changes = draw.normal(0, 0.15, (number, QUERIES)) * (draw.random((number, QUERIES)) < 0.4)
    changes += draw.uniform(-0.15, 0.15, (number, 1))
    changes[0] = 0.0
    return before, np.clip(changes, -before, None)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("equivalent", {"tolerance": "5%"}),
        ("equivalent", {"tolerance": "5%", "on_inconclusive": "fail"}),
        ("no_regression", {"tolerance": "4%", "decide_by": "observed"}),
        ("no_regression", {"tolerance": "4%"}),
        ("no_regression", {"tolerance": "4%", "on_inconclusive": "fail"}),
        ("no_regression", {"tolerance": "4%", "hard_limit": "8%"}),
        ("worsened", {"by_more_than": 0.1, "at_most": 12, "decide_by": "observed"}),
        ("worsened", {"by_more_than": 0.1, "at_most": "20%", "decide_by": "observed"}),
        ("worsened", {"by_more_than": 0.1}),
        ("worsened", {"by_more_than": 0.1, "at_most": "20%"}),
        ("worsened", {"by_more_than": 0.1, "at_most": "20%", "on_inconclusive": "fail"}),
    ],
    ids=lambda each: each if isinstance(each, str) else "-".join(map(str, each.values())),
)
def test_drawn_changes_fail_as_real_ones_do(kind, options):
    before, changes = drawn(60)
    rule = REGISTRY.rules[kind]
    asked = rule.options.model_validate({"metric": "CG@1", **options}, context=context_of(REGISTRY))
    first = seen_of(before, before + changes[0])
    tries = Tries(first.part, first.metric, WHOLE, before, changes, np.arange(QUERIES), None)

    chances = rule.chances(asked, tries)

    p = np.zeros(len(changes)) if chances.evidence is None else chances.evidence.p
    expected = chances.failed(p).tolist()
    verdicts = [rule.judge(asked, seen_of(before, before + each)).verdict for each in changes]
    sure = [i for i in range(len(changes)) if chances.evidence is None or abs(p[i] - asked.alpha) > CLOSE]
    assert len(sure) > 50
    assert [expected[i] for i in sure] == [verdicts[i] == "fail" for i in sure]
    assert {expected[i] for i in sure} == {False, True}
