"""``evaluate``, ``compare`` and ``why`` spell out the same arguments, for help and editors: none drifts or is lost."""

import inspect
from itertools import combinations

import pytest

from pytest_ireval import compare, evaluate, why

DOORS = (evaluate, compare, why)
JUDGMENTS = {"q": {"a": 1, "b": 0}}
RANKING = {"q": {"a": 2.0, "b": 1.0}}
MEANT_OTHERWISE = {
    "rankings": "compare has several",
    "metrics": "why has one",
    "timings": "compare has them for each ranking",
}


def shared(one, other):
    names = set(one.parameters) & set(other.parameters) - set(MEANT_OTHERWISE)
    return [(one.parameters[name], other.parameters[name]) for name in sorted(names)]


@pytest.mark.parametrize(("one", "other"), list(combinations(DOORS, 2)), ids=lambda door: door.__name__)
def test_what_two_of_them_share_has_one_type_and_one_default(one, other):
    pairs = shared(inspect.signature(one), inspect.signature(other))

    assert [str(mine) for mine, _ in pairs] == [str(theirs) for _, theirs in pairs]
    assert len(pairs) >= 14


def test_compare_takes_all_that_evaluate_takes_and_why_all_but_what_becomes_of_other_queries():
    of_evaluate, of_compare, of_why = (set(inspect.signature(door).parameters) for door in DOORS)

    assert of_evaluate - of_compare == set()
    assert of_evaluate - of_why == {"metrics", "missing_queries", "no_relevant"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ties", "optimistic"),
        ("missing_queries", "zero"),
        ("no_relevant", "ignore"),
        ("unjudged", "removed"),
        ("depth", 7),
        ("scale", 4),
        ("grades", "float"),
        ("collection", 99),
    ],
)
def test_what_was_said_arrives_in_each_of_them(name, value):
    option = {name: value}
    found = [
        evaluate(JUDGMENTS, RANKING, "AP", **option).policies,
        compare(JUDGMENTS, {"one": RANKING, "two": RANKING}, "AP", **option).rankings["two"].policies,
    ]
    if name not in ("missing_queries", "no_relevant"):
        found.append(why("AP", JUDGMENTS, RANKING, "q", **option).policies)

    assert [getattr(policies, name) for policies in found] == [value] * len(found)
