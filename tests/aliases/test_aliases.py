"""Documents under other names: renamed ones, and variants that count as one document."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import InputError, evaluate
from pytest_ireval.data.aliases import collapse_variants, rename_documents
from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.tables import Table


def lists(rankings):
    return {query: rankings.ranking(query) for query in rankings.queries}


def grades(judgments):
    found = {}
    for row, grade in enumerate(judgments.grade.tolist()):
        found.setdefault(judgments.queries[judgments.query[row]], {})[judgments.documents[row]] = grade
    return found


def test_equal_scores_keep_their_order_under_new_names():
    rankings = convert_rankings({"q": [("b", 1.0), ("a", 1.0)]})

    assert lists(rename_documents(rankings, {"a": "z"})) == {"q": ["b", "z"]}


def test_renamed_documents_of_judgments_are_found_in_rankings_with_new_names():
    judgments = rename_documents(convert_judgments({"q": {"old": 2, "b": 1}}), {"old": "new"})

    assert grades(judgments) == {"q": {"new": 2.0, "b": 1.0}}
    assert evaluate(judgments, {"q": ["new", "b"]}, "nDCG@2")["nDCG@2"].mean == 1.0


def test_without_any_such_document_nothing_changes():
    rankings, judgments = convert_rankings({"q": ["a"], "r": []}), convert_judgments({"q": {"a": 1}})

    for names in ({}, {"x": "y"}, {"a": "a"}):
        assert rename_documents(rankings, names) is rankings
        assert rename_documents(judgments, names) is judgments
        assert collapse_variants(rankings, names) is rankings


def test_two_documents_of_one_ranking_that_get_one_name_are_an_error_that_names_both():
    rankings = convert_rankings({"q": ["a", "b", "c"]}, origin="run: new.trec")

    with pytest.raises(InputError) as caught:
        rename_documents(rankings, {"a": "c"})

    assert str(caught.value) == (
        "run: new.trec\n"
        "  documents 'a' and 'c' are both ranked for query 'q', and both are now 'c'\n"
        "  fix the entry for one of them in documents > aliases; list variants that count as one document in "
        "documents > collapse"
    )


def test_two_judgments_that_get_one_name_are_one_with_one_grade_and_an_error_with_two():
    same = convert_judgments({"q": {"a": 2, "b": 2, "c": 0}}, origin="judgments.txt")
    assert grades(rename_documents(same, {"a": "b"})) == {"q": {"b": 2.0, "c": 0.0}}

    with pytest.raises(InputError) as caught:
        rename_documents(convert_judgments({"q": {"a": 2, "b": 1}}, origin="judgments.txt"), {"a": "b"})
    assert str(caught.value) == (
        "judgments.txt, row 2\n"
        "  documents 'a' and 'b' are both judged for query 'q', with grades 2 and 1, and both are now 'b'\n"
        "  fix the entry for one of them in documents > aliases; list variants that count as one document in "
        "documents > collapse"
    )


def test_of_collapsed_variants_the_first_counts_and_documents_behind_them_move_up():
    rankings = convert_rankings({"q": ["mug-red", "pan", "mug-blue", "mug", "pot"], "r": ["pot"], "s": []})

    found = collapse_variants(rankings, {"mug-red": "mug", "mug-blue": "mug"})

    assert lists(found) == {"q": ["mug", "pan", "pot"], "r": ["pot"], "s": []}
    assert found.retrieved.tolist() == [3, 1, 0]
    assert found.tied_from.tolist() == found.tied_to.tolist() == [1, 2, 3, 1]
    assert found.score.tolist() == [0.0, -1.0, -4.0, 0.0]


def test_ties_of_what_is_left_are_those_of_the_shorter_ranking():
    rankings = convert_rankings({"q": {"a1": 3.0, "b": 2.0, "a2": 2.0, "c": 2.0, "d": 1.0}})
    assert rankings.ranking("q") == ["a1", "c", "b", "a2", "d"]

    found = collapse_variants(rankings, {"a1": "a", "a2": "a"})

    assert found.ranking("q") == ["a", "c", "b", "d"]
    assert found.tied_from.tolist() == [1, 2, 2, 4]
    assert found.tied_to.tolist() == [1, 3, 3, 4]


def test_a_tie_that_reaches_below_what_was_kept_loses_only_what_is_known_to_be_gone():
    rankings = convert_rankings({"q": {"a1": 2.0, "a2": 2.0, "b": 1.0, "c": 1.0, "d": 1.0}}, depth=3)
    assert rankings.tied_to.tolist() == [2, 2, 5]

    found = collapse_variants(rankings, {"a1": "a", "a2": "a"})

    assert found.tied_from.tolist() == [1, 2]
    assert found.tied_to.tolist() == [1, 4]


def test_of_collapsed_subtopics_the_highest_grade_of_each_stands():
    judgments = convert_judgments({"q": {"a1": {"x": 1, "y": 0}, "b": {"x": 1}, "a2": {"x": 0, "y": 2, "z": 1}}})

    found = collapse_variants(judgments, {"a1": "a", "a2": "a"})

    assert grades(found) == {"q": {"a": 2.0, "b": 1.0}}
    entries = zip(found.subtopics.row, found.subtopics.subtopic, found.subtopics.grade, strict=True)
    assert {(found.documents[row], found.subtopics.names[name]): grade for row, name, grade in entries} == {
        ("a", "x"): 1.0,
        ("a", "y"): 2.0,
        ("a", "z"): 1.0,
        ("b", "x"): 1.0,
    }


def test_who_judged_variants_is_kept_together():
    table = Table(
        {"query": ["q", "q"], "document": ["a1", "a2"], "grade": [1, 2], "judge": ["ann", "bob"]},
        "judgments.csv",
        lambda row: f"judgments.csv:{row + 2}",
    )

    found = collapse_variants(convert_judgments(table), {"a1": "a", "a2": "a"})

    assert dict(found.columns) == {"judge": ["ann; bob"]}
    assert found.place(0) == "judgments.csv:2"


ids = st.text("ab1é", min_size=1, max_size=20)
names = st.dictionaries(ids, ids, max_size=8)


@given(st.dictionaries(ids, st.lists(ids, unique=True, max_size=12), max_size=4), names)
def test_any_rankings_collapse_as_a_loop_collapses_them(given_lists, groups):
    found = collapse_variants(convert_rankings(given_lists), groups)

    assert lists(found) == {
        query: list(dict.fromkeys(groups.get(document, document) for document in documents))
        for query, documents in given_lists.items()
    }
    assert found.tied_from.tolist() == [rank + 1 for count in np.diff(found.first) for rank in range(count)]


@given(
    st.dictionaries(ids, st.dictionaries(ids, st.integers(0, 3), min_size=1, max_size=8), min_size=1, max_size=4), names
)
def test_any_judgments_collapse_as_a_loop_collapses_them(given_grades, groups):
    expected = {}
    for query, documents in given_grades.items():
        for document, grade in documents.items():
            entry = expected.setdefault(query, {})
            group = groups.get(document, document)
            entry[group] = max(grade, entry.get(group, 0))

    assert grades(collapse_variants(convert_judgments(given_grades), groups)) == expected


@given(st.dictionaries(ids, st.lists(ids, unique=True, max_size=12), max_size=4), names)
def test_any_rankings_are_renamed_as_a_loop_renames_them(given_lists, aliases):
    expected = {query: [aliases.get(each, each) for each in documents] for query, documents in given_lists.items()}
    rankings = convert_rankings(given_lists)

    if any(len(set(documents)) < len(documents) for documents in expected.values()):
        with pytest.raises(InputError):
            rename_documents(rankings, aliases)
    else:
        assert lists(rename_documents(rankings, aliases)) == expected


def test_chunks_are_one_document_by_a_pattern_of_their_ids():
    chunks = re.compile(r"(.+)#\d+")
    rankings = convert_rankings({"q1": ["a#2", "b#1", "a#1", "c", "b#1#7"], "q2": ["c", "d#x"]})
    judgments = convert_judgments({"q1": {"a#1": 1, "a#2": 3, "b": 2, "c": 0}})

    assert lists(collapse_variants(rankings, chunks)) == {"q1": ["a", "b", "c"], "q2": ["c", "d#x"]}
    assert grades(collapse_variants(judgments, chunks)) == {"q1": {"a": 3, "b": 2, "c": 0}}
    assert lists(collapse_variants(collapse_variants(rankings, chunks), chunks)) == lists(
        collapse_variants(rankings, chunks)
    )
