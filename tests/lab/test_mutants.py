"""Damage does what its name says, to every query, and leaves sound rankings behind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import look_up_grades
from pytest_ireval.data.mixing import keep_documents, mix_rankings
from pytest_ireval_lab.self_test.damage import (
    emptied,
    first_reversed,
    ids_renamed,
    rows_tied,
    ties_written_otherwise,
    truncated,
    with_unrelated_first,
    without_first_relevant,
)

LISTS = {"q1": ["a", "b", "c", "d"], "q2": ["e"], "q3": [], "q4": ["f", "a", "g"]}


def lists_of(rankings):
    return {query: rankings.ranking(query) for query in rankings.queries}


def rankings(lists=None):
    return convert_rankings(lists or LISTS)


any_lists = st.dictionaries(
    st.sampled_from([f"q{i}" for i in range(8)]),
    st.lists(st.sampled_from([f"d{i}" for i in range(12)]), max_size=8, unique=True),
    min_size=1,
).filter(lambda lists: any(lists.values()))


def test_the_first_two_documents_are_swapped():
    assert lists_of(first_reversed(rankings(), 2)) == {
        "q1": ["b", "a", "c", "d"],
        "q2": ["e"],
        "q4": ["a", "f", "g"],
        "q3": [],
    }


def test_the_first_relevant_document_is_gone_and_the_others_move_up():
    judgments = convert_judgments({"q1": {"b": 1, "c": 2}, "q4": {"a": 0, "g": 1}}, grades="integer")
    found = without_first_relevant(rankings(), look_up_grades(judgments, rankings()) > 0)

    assert lists_of(found) == {"q1": ["a", "c", "d"], "q2": ["e"], "q4": ["f", "a"], "q3": []}


def test_two_documents_are_left():
    found = truncated(rankings(), 2)

    assert lists_of(found) == {"q1": ["a", "b"], "q2": ["e"], "q4": ["f", "a"], "q3": []}
    assert found.retrieved.tolist() == [2, 1, 2, 0]


def test_ids_are_others():
    assert lists_of(ids_renamed(rankings()))["q2"] == ["renamed-e"]


@given(any_lists)
def test_what_stands_on_top_is_the_first_document_of_another_query_that_the_ranking_did_not_have(lists):
    before, after = rankings(lists), lists_of(with_unrelated_first(rankings(lists), "seed"))

    for query, documents in lists_of(before).items():
        if after[query] != documents:
            first, *others = after[query]
            assert first not in documents
            assert others == documents[:-1]
            assert first in {ids[0] for ids in lists.values() if ids}


@given(any_lists, st.randoms(use_true_random=False))
def test_what_stands_on_top_does_not_depend_on_the_order_of_queries(lists, random):
    queries = list(lists)
    random.shuffle(queries)
    one = lists_of(with_unrelated_first(rankings(lists), "seed"))
    other = lists_of(with_unrelated_first(rankings({query: lists[query] for query in queries}), "seed"))

    assert one == other


@given(any_lists, any_lists, st.sets(st.sampled_from([f"q{i}" for i in range(8)])))
def test_a_mixture_has_the_marked_queries_of_the_other(lists, others, marked):
    one, other = rankings(lists), rankings(others)
    found = lists_of(mix_rankings(one, other, np.array([query in marked for query in one.queries], bool)))

    assert found == {
        query: others[query] if query in marked and query in others else documents for query, documents in lists.items()
    }


@given(any_lists, st.randoms(use_true_random=False))
def test_what_moved_up_is_what_reading_the_shorter_lists_gives(lists, random):
    before = rankings(lists)
    kept = np.array([random.random() < 0.5 for _ in range(int(before.first[-1]))], bool)
    after = keep_documents(before, kept)
    texts = [text for text, stays in zip(before.documents.texts(), kept, strict=True) if stays]

    assert after.documents.texts() == texts
    assert (after.retrieved == np.diff(after.first)).all()
    assert after.score.size == after.tied_from.size == after.tied_to.size == len(texts)


TIED = {"q1": [("a", 2.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)], "q2": [], "q3": [("x", 1.0), ("y", 1.0)]}


def test_equal_scores_are_put_in_the_order_of_ids_however_they_are_written():
    before = rankings(TIED)

    assert rows_tied(before).tolist() == [False, True, True, True, True, True]
    assert lists_of(ties_written_otherwise(before)) == lists_of(before)
    assert lists_of(before)["q1"] == ["a", "d", "c", "b"]


@pytest.mark.parametrize("damage", [emptied, lambda each: with_unrelated_first(each, "seed")])
def test_scores_stay_with_the_ranks(damage):
    after = damage(rankings())

    for i in range(len(after)):
        scores = after.score[after.first[i] : after.first[i + 1]].tolist()
        assert scores == sorted(scores, reverse=True)
