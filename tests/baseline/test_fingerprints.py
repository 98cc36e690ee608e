"""Fingerprints: equal for equal contents in any order, different for everything else."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.baseline import fingerprints
from pytest_ireval.baseline.fingerprints import (
    fingerprint_judgments,
    fingerprint_policies,
    fingerprint_queries,
    fingerprint_rankings,
    fingerprint_text,
)
from pytest_ireval.data.from_objects import convert_judgments, convert_queries, convert_rankings
from pytest_ireval.results.policies import Policies

POLICIES = Policies(depth=100)


def of_judgments(grades):
    return fingerprint_judgments(convert_judgments(grades, grades="float"))


def test_a_fingerprint_has_sixteen_digits_and_never_changes_between_versions():
    assert fingerprint_text("run: candidate.trec") == "d0963ca5bacce13b"
    assert fingerprint_queries(convert_queries({"q1": "red mug"})) == "3d34239434e1beed"
    assert fingerprint_rankings(convert_rankings({"q1": ["a", "b"]})) == "553cd7f58778e3fb"
    assert of_judgments({"q1": {"a": 1}}).whole == "6d8463c316fbb91b"
    assert fingerprint_policies(POLICIES) == "946c89444931dcd2"


def test_queries_in_another_order_are_the_same():
    rows = [{"id": "q1", "text": "mug", "segment": "head"}, {"id": "q2", "text": "pot", "segment": "tail"}]
    turned = [dict(reversed(row.items())) for row in reversed(rows)]

    assert fingerprint_queries(convert_queries(rows)) == fingerprint_queries(convert_queries(turned))


def test_every_part_of_queries_counts():
    rows = [{"id": "q1", "text": "mug", "segment": "head"}]
    others = [
        [{"id": "q2", "text": "mug", "segment": "head"}],
        [{"id": "q1", "text": "mugs", "segment": "head"}],
        [{"id": "q1", "text": "mug", "segment": "tail"}],
        [{"id": "q1", "text": "mug", "part": "head"}],
        [{"id": "q1", "text": "mug"}],
        [*rows, {"id": "q2", "text": "", "segment": ""}],
    ]
    found = {fingerprint_queries(convert_queries(each)) for each in [rows, *others]}

    assert len(found) == 7


def is_id(text):
    return not text.isspace()


grades = st.dictionaries(
    st.text("ab\t\\\0", min_size=1, max_size=4).filter(is_id),
    st.dictionaries(
        st.text("xyz\n\0", min_size=1, max_size=20).filter(is_id), st.sampled_from([0, 1, 2, 0.5]), min_size=1
    ),
    min_size=1,
    max_size=4,
)


@given(grades, grades)
def test_judgments_have_one_fingerprint_if_and_only_if_they_are_the_same(one, other):
    turned = {query: dict(reversed(of_query.items())) for query, of_query in reversed(one.items())}

    assert of_judgments(one) == of_judgments(turned)
    assert (of_judgments(one).whole == of_judgments(other).whole) == (one == other)
    for query in one.keys() & other.keys():
        assert (of_judgments(one).grades_of[query] == of_judgments(other).grades_of[query]) == (
            one[query] == other[query]
        )


@given(grades)
def test_the_grades_that_are_kept_are_those_that_were_given(given_grades):
    kept = of_judgments(given_grades).grades

    assert {query: dict(of_query) for query, of_query in kept.items()} == given_grades
    assert sum(map(len, kept.values())) == sum(map(len, given_grades.values()))


def test_very_long_ids_are_sorted_like_short_ones():
    one = {"q": {"a" * 70 + "b": 1, "a" * 70: 2, "a" * 70 + "a": 3}}
    turned = {"q": dict(sorted(one["q"].items()))}

    assert of_judgments(one) == of_judgments(turned)
    assert list(of_judgments(one).grades["q"]) == sorted(one["q"])


def test_grades_of_subtopics_count():
    one = convert_judgments({"q": {"a": {"s1": 1, "s2": 2}}})
    other = convert_judgments({"q": {"a": {"s1": 2, "s2": 2}}})

    assert fingerprint_judgments(one).grades_of != fingerprint_judgments(other).grades_of
    assert fingerprint_judgments(one).grades["q"] == {"a": 2.0}


def test_too_many_judgments_are_not_kept(monkeypatch):
    monkeypatch.setattr(fingerprints, "MOST_PAIRS", 1)

    assert of_judgments({"q": {"a": 1}}).grades is not None
    assert of_judgments({"q": {"a": 1, "b": 1}}).grades is None


def test_the_order_of_documents_counts_and_that_of_queries_does_not():
    one = fingerprint_rankings(convert_rankings({"q1": ["a", "b"], "q2": []}))

    assert one == fingerprint_rankings(convert_rankings({"q2": [], "q1": ["a", "b"]}))
    assert one != fingerprint_rankings(convert_rankings({"q1": ["b", "a"], "q2": []}))
    assert one != fingerprint_rankings(convert_rankings({"q1": ["a", "b"]}))
    assert one == fingerprint_rankings(convert_rankings({"q1": ["a", "b", "c"], "q2": []}), depth=2)


def test_every_policy_counts():
    found = {
        fingerprint_policies(POLICIES),
        fingerprint_policies(replace(POLICIES, ties="input")),
        fingerprint_policies(replace(POLICIES, depth=10)),
        fingerprint_policies(replace(POLICIES, scale=3.0)),
        fingerprint_policies(POLICIES, collection=1000),
    }

    assert len(found) == 5
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in found)
