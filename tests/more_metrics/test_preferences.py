"""Preferences between two rankings, and preferences of judges, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_ireval import MetricError, SideData, evaluate

GRADES = st.dictionaries(st.sampled_from("abcdefg"), st.integers(-1, 3), min_size=1)
RANKING = st.lists(st.sampled_from("abcdefghi"), unique=True, max_size=8)
NAMES = ("RPP", "invrpp", "dcgrpp", "LexiRecall", "LexiPrecision", "rrlexiprecision")


def compare_lists(name, grades, one, other):
    side_data = SideData(reference={"q": other})
    return evaluate({"q": grades}, {"q": one}, name, side_data=side_data).metrics[0].values["q"]


def positions(grades, ranking, rel):
    """The ranks of relevant documents, best first; infinity for each that is missing."""
    found = [rank for rank, document in enumerate(ranking, 1) if grades.get(document, -1) >= rel]
    return found + [math.inf] * (sum(grade >= rel for grade in grades.values()) - len(found))


def compute_weighted_tau(x, y, weight=lambda i: 1.0):
    weights = [weight(i) for i in range(1, len(x) + 1)]
    better = sum(w * ((a < b) - (a > b)) for w, a, b in zip(weights, x, y, strict=True))
    return better / sum(weights) if weights else 0.0


def lexical(x, y, size=lambda a, b: (a < b) - (a > b)):
    return next((size(a, b) for a, b in zip(x, y, strict=True) if a != b), 0.0)


DEFINITIONS = {
    "RPP": compute_weighted_tau,
    "invrpp": lambda x, y: compute_weighted_tau(x, y, lambda i: 1 / i),
    "dcgrpp": lambda x, y: compute_weighted_tau(x, y, lambda i: 1 / math.log2(i + 1)),
    "LexiRecall": lambda x, y: lexical(x[::-1], y[::-1]),
    "LexiPrecision": lexical,
    "rrlexiprecision": lambda x, y: lexical(x, y, lambda a, b: 1 / a - 1 / b),
}


@pytest.mark.parametrize("name", NAMES)
@given(grades=GRADES, one=RANKING, other=RANKING)
def test_it_is_its_definition_and_turns_round_with_the_sides(name, grades, one, other):
    x, y = (positions(grades, ranking, 1) for ranking in (one, other))

    assert compare_lists(name, grades, one, other) == pytest.approx(DEFINITIONS[name](x, y), abs=1e-12)
    assert compare_lists(name, grades, other, one) == pytest.approx(-DEFINITIONS[name](x, y), abs=1e-12)


@given(grades=GRADES, one=RANKING, other=RANKING)
def test_graded_rpp_is_the_mean_over_grades_weighted_by_their_documents(grades, one, other):
    levels = sorted({grade for grade in grades.values() if grade >= 1})
    sides = [[positions(grades, ranking, level) for ranking in (one, other)] for level in levels]
    size = sum(len(x) for x, _ in sides)
    expected = sum(len(x) * compute_weighted_tau(x, y) for x, y in sides) / size if size else 0.0

    assert compare_lists("RPP(graded=True)", grades, one, other) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@example(grades={"b": 1, "c": 1}, one=["a", "d", "b"], other=["a", "b", "c"], place=2)
@given(grades=GRADES, one=RANKING, other=RANKING, place=st.integers(1, 7))
def test_a_relevant_document_one_place_higher_never_harms(name, grades, one, other, place):
    if place < len(one) and grades.get(one[place], 0) >= 1 > grades.get(one[place - 1], 0):
        better = [*one[: place - 1], one[place], one[place - 1], *one[place + 1 :]]
        before, after = (compare_lists(name, grades, ranking, other) for ranking in (one, better))

        # A lexical form asks the first place that differs: which one that is may change, the side that wins may not.
        assert (np.sign(after) >= np.sign(before)) if "lexi" in name.lower() else (after >= before - 1e-12)


def test_queries_do_not_mix():
    grades = {"q1": {"a": 1}, "q2": {"a": 1, "b": 1}}
    found = evaluate(
        grades,
        {"q1": ["x", "a"], "q2": ["a", "b"]},
        NAMES,
        side_data=SideData(reference={"q1": ["a"], "q2": ["x", "a", "b"]}),
    )

    assert [list(metric.values.values()) for metric in found.metrics[:5]] == [[-1, 1]] * 5


PREFERENCES = st.lists(st.permutations("abcd").map(lambda letters: tuple(letters[:2])), max_size=8)


@given(pairs=PREFERENCES, ranking=RANKING, k=st.none() | st.integers(1, 4))
def test_preferences_that_are_followed(pairs, ranking, k):
    place = {document: rank for rank, document in enumerate(ranking, 1)}
    above = [(place.get(a, math.inf), place.get(b, math.inf)) for a, b in pairs]
    about = [(a, b) for a, b in above if min(a, b) <= (k or 99)]
    kept = sum(a < b for a, b in about)
    cut = f"@{k}" if k else ""

    found = evaluate(
        {"q": {"a": 1}}, {"q": ranking}, [f"PPref{cut}", f"RPref{cut}"], side_data=SideData(preferences={"q": pairs})
    )

    assert found.metrics[0].values["q"] == (kept / len(about) if about else 0)
    assert found.metrics[1].values["q"] == (kept / len(pairs) if pairs else 0)


def test_without_preferences_it_says_what_it_needs():
    with pytest.raises(MetricError, match="needs preferences"):
        evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["PPref"])
