"""Rankings and judgments from Python objects are the arrays that files give."""

from collections import namedtuple
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import ids
from plain import plain_judgments, plain_rankings
from slow_reader import Place, Ranking
from trec_readers import read_judgments, read_rankings

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.data.join import join_judgments
from pytest_ireval.errors import InputError

RANKINGS_FILE = "q Q0 a 1 3 t\nq Q0 b 2 2.5 t\nq Q0 c 3 2.5 t\n7 Q0 a 1 -1 t\n"
JUDGMENTS_FILE = "q 0 a 3\nq 0 b 0\n7 0 a 1\nq 0 12 -1\n"
SCORED = [("q", "a", 3), ("q", "b", 2.5), ("q", "c", 2.5), (7, "a", -1.0)]
GRADED = [("q", "a", 3), ("q", "b", 0), (7, "a", 1.0), ("q", 12, -1)]

Scored = namedtuple("Scored", "score rank qid doc_id")
Graded = namedtuple("Graded", "rel docno iteration query")

finite = st.one_of(st.integers(-3, 3), st.floats(allow_nan=False, allow_infinity=False))


def nest_rows(rows):
    """Rows as a mapping of mappings."""
    mapping = {}
    for query, document, value in rows:
        mapping.setdefault(query, {})[document] = value
    return mapping


RANKINGS = {
    "read-only mappings": MappingProxyType({q: MappingProxyType(ranking) for q, ranking in nest_rows(SCORED).items()}),
    "pairs": {query: list(ranking.items()) for query, ranking in nest_rows(SCORED).items()},
    "pairs that are not in order": {query: [*ranking.items()][::-1] for query, ranking in nest_rows(SCORED).items()},
    "namedtuples": [Scored(score, 0, query, document) for query, document, score in SCORED],
    "numpy scalars": [(query, np.str_(document), np.float64(score)) for query, document, score in SCORED],
}
JUDGMENTS = {
    "read-only mappings": MappingProxyType({q: MappingProxyType(grades) for q, grades in nest_rows(GRADED).items()}),
    "namedtuples": [Graded(grade, document, 0, query) for query, document, grade in GRADED],
    "numpy scalars": [(query, document, np.int32(grade)) for query, document, grade in GRADED],
}


@pytest.mark.parametrize("source", RANKINGS.values(), ids=RANKINGS)
def test_rankings_from_objects_are_those_of_the_file(write_file, source):
    rankings = convert_rankings(source)

    assert plain_rankings(rankings) == plain_rankings(read_rankings(write_file(RANKINGS_FILE)))
    assert rankings.queries == ("q", "7")
    assert rankings.origin == "rankings"


@pytest.mark.parametrize("source", [*RANKINGS.values(), iter(SCORED)], ids=[*RANKINGS, "an iterator"])
def test_a_depth_keeps_the_first_documents(write_file, source):
    read = read_rankings(write_file(RANKINGS_FILE), 2)

    assert plain_rankings(convert_rankings(source, 2)) == plain_rankings(read)


@pytest.mark.parametrize("source", JUDGMENTS.values(), ids=JUDGMENTS)
def test_judgments_from_objects_are_those_of_the_file(write_file, source):
    judgments = convert_judgments(source)

    assert plain_judgments(judgments) == plain_judgments(read_judgments(write_file(JUDGMENTS_FILE)))
    assert judgments.queries == ("q", "7")
    assert judgments.origin == "judgments"


def test_data_frames_are_those_of_the_file(write_file):
    pandas = pytest.importorskip("pandas")
    scored = pandas.DataFrame(SCORED, columns=["query_id", "doc_id", "score"])
    graded = pandas.DataFrame(GRADED, columns=["qid", "docno", "label"])
    scored.insert(0, "system", "ours")

    assert plain_rankings(convert_rankings(scored)) == plain_rankings(read_rankings(write_file(RANKINGS_FILE)))
    assert plain_judgments(convert_judgments(graded)) == plain_judgments(read_judgments(write_file(JUDGMENTS_FILE)))


def test_data_frames_with_whole_numbers_as_ids():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query": [1, 1], "document": [10, 9], "score": [1, 2], "grade": [0, 1]})

    assert convert_rankings(frame).ranking("1") == ["9", "10"]
    assert plain_judgments(convert_judgments(frame)) == {"1": {"10": 0, "9": 1}}


@given(st.dictionaries(ids, st.dictionaries(ids, finite, min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_mapping_is_what_the_file_of_its_numbers_is(write_file, rankings):
    lines = [f"{q} Q0 {d} 1 {score!r} t\n" for q, ranking in rankings.items() for d, score in ranking.items()]

    for options in ({}, {"by_id": False}, {"depth": 2}):
        read = read_rankings(write_file("".join(lines)), **options)
        assert plain_rankings(convert_rankings(rankings, **options)) == plain_rankings(read)


@given(st.dictionaries(ids, st.dictionaries(ids, finite, min_size=1, max_size=6), min_size=1, max_size=4))
def test_any_mapping_of_grades_is_what_the_file_of_its_numbers_is(write_file, grades):
    lines = [f"{q} 0 {d} {grade!r}\n" for q, documents in grades.items() for d, grade in documents.items()]

    read = read_judgments(write_file("".join(lines)), grades="float")
    assert plain_judgments(convert_judgments(grades, grades="float")) == plain_judgments(read) == grades


@pytest.mark.parametrize("ids_best_first", [("b", "c", "a"), iter("bca")])
def test_a_list_of_ids_is_a_ranking_best_first(ids_best_first):
    places = plain_rankings(convert_rankings({"q": ids_best_first}))["q"].places

    assert places == [Place(1, "b", 0.0, 1, 1), Place(2, "c", -1.0, 2, 2), Place(3, "a", -2.0, 3, 3)]


def test_a_query_may_have_an_empty_ranking():
    rankings = convert_rankings({"q": ["a"], "none": [], "nothing": {}})

    assert plain_rankings(rankings) == {
        "q": Ranking(1, [Place(1, "a", 0.0, 1, 1)]),
        "none": Ranking(0, []),
        "nothing": Ranking(0, []),
    }


def test_an_empty_ranking_is_present_and_a_missing_one_is_not():
    judgments = convert_judgments({"q": {"a": 1}, "r": {"a": 1}, "s": {"a": 1}})
    judged = join_judgments(judgments, convert_rankings({"r": [], "s": ["a"]}))

    assert judged.present.tolist() == [False, True, True]
    assert judged.retrieved.tolist() == [0, 0, 1]


def test_ids_may_hold_blanks_as_no_file_allows():
    rankings = convert_rankings({"two words": ["a b", "c\td"]})

    assert rankings.ranking("two words") == ["a b", "c\td"]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u3000\t"])
def test_an_id_of_nothing_but_blanks_is_refused(blank):
    with pytest.raises(InputError, match="is not an id"):
        convert_rankings({"q": ["a", blank]})


def test_ties_between_ids_with_zero_bytes_are_broken_by_their_bytes():
    expected = ["b", "a\0\0", "a\0", "a"]

    assert convert_rankings({"q": dict.fromkeys(expected, 1)}).ranking("q") == expected
    assert convert_rankings({"q": dict.fromkeys(reversed(expected), 1)}).ranking("q") == expected


def test_a_pair_judged_twice_with_one_grade_is_one_judgment():
    assert plain_judgments(convert_judgments([("q", "d", 1), ("q", "e", 2), ("q", "d", 1.0)])) == {
        "q": {"d": 1, "e": 2}
    }


def test_a_document_with_subtopics_has_the_highest_of_their_grades():
    judgments = convert_judgments({"q": {"a": {"x": 1, "y": 3}, "b": {"y": 2}, "c": 1, "d": {}}})

    subtopics = judgments.subtopics
    assert plain_judgments(judgments) == {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}
    assert subtopics.names == ("x", "y", "")
    assert subtopics.row.tolist() == [0, 0, 1, 2]
    assert subtopics.subtopic.tolist() == [0, 1, 1, 2]
    assert subtopics.grade.tolist() == [1, 3, 2, 1]


def test_subtopics_of_a_pair_that_is_given_twice_are_those_of_one():
    judgments = convert_judgments([("q", "a", {"x": 1}), ("q", "a", {"x": 1}), ("q", "b", {"y": 2})])

    assert len(judgments) == 2
    assert judgments.subtopics.row.tolist() == [0, 1]
    assert [judgments.subtopics.names[i] for i in judgments.subtopics.subtopic] == ["x", "y"]
