"""Python objects that are no rankings or judgments are refused, with the reason."""

from collections import namedtuple
from decimal import Decimal

import numpy as np
import pytest

from pytest_ireval.data.from_objects import convert_judgments, convert_rankings
from pytest_ireval.errors import InputError

COLUMNS = {
    "query": "one of query_id, qid, q_id, queryid, query",
    "document": "one of document, document_id, doc_id, docno, doc, corpus_id, did, docid, sku, "
    "product_id, item_id, product, item",
    "grade": "one of grade, relevance, rel, label, rating",
    "score": "one of score, sim, similarity",
}


def read_error(read, source, **options):
    """The text with which some object is refused."""
    with pytest.raises(InputError) as caught:
        read(source, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("score", "complaint"),
    [
        (np.float32("-inf"), "-inf, not finite"),
        ("1.5", "'1.5', not a number"),
        (True, "True, not a number"),
        (Decimal(1), "Decimal('1'), not a number"),
    ],
)
@pytest.mark.parametrize("shape", ["mapping", "pairs", "rows"])
def test_a_score_that_is_no_finite_number_is_refused(score, complaint, shape):
    source = {
        "mapping": {"q": {"a": 1, "d": score}},
        "pairs": {"q": [("a", 1), ("d", score)]},
        "rows": [("q", "a", 1), ("q", "d", score)],
    }[shape]

    assert read_error(convert_rankings, source) == f"rankings\n  the score of document 'd' for query 'q' is {complaint}"


@pytest.mark.parametrize("score", [10**400, np.complex128(1)], ids=["too large", "complex"])
def test_a_number_that_is_no_float_is_refused(score):
    text = read_error(convert_rankings, {"q": {"d": score}})
    assert text.startswith("rankings\n  the score of document 'd' for query 'q' is ")

    text = read_error(convert_judgments, {"q": {"d": score}})
    assert text.startswith("judgments\n  the grade of document 'd' for query 'q' is ")


@pytest.mark.parametrize(("grade", "complaint"), [(float("nan"), "nan, not finite"), (True, "True, not a number")])
def test_a_grade_that_is_no_finite_number_is_refused(grade, complaint):
    expected = f"judgments\n  the grade of document 'd' for query 'q' is {complaint}"

    assert read_error(convert_judgments, {"q": {"a": 1, "d": grade}}) == expected
    assert read_error(convert_judgments, [("q", "d", grade)], grades="float") == expected
    assert read_error(convert_judgments, {"q": {"d": {"subtopic": grade}}}) == expected


def test_a_fractional_grade_is_refused_where_whole_numbers_are_declared():
    expected = (
        "judgments\n  the grade of document 'd' for query 'q' is 1.5, not a whole number\n"
        '  to read fractional grades, use grades="float" (command line: --grades float)'
    )

    assert read_error(convert_judgments, {"q": {"d": 1.5}}) == expected
    assert read_error(convert_judgments, {"q": {"d": {"subtopic": 1.5}}}) == expected


@pytest.mark.parametrize("value", ["", None, 1.0, True])
def test_what_is_no_id_is_refused(value):
    complaint = f"{value!r} is not an id; ids are text (or whole numbers)"

    assert read_error(convert_rankings, [("q", value, 1)]) == f"rankings\n  {complaint}"
    assert read_error(convert_rankings, {value: ["d"]}) == f"rankings\n  {complaint}"
    assert read_error(convert_rankings, {"q": {value: 1}}) == f"rankings\n  {complaint}"
    assert read_error(convert_judgments, {"q": {value: 1}}) == f"judgments\n  {complaint}"
    assert read_error(convert_judgments, {value: {"d": 1}}) == f"judgments\n  {complaint}"


@pytest.mark.parametrize("read", [convert_rankings, convert_judgments])
def test_an_id_that_utf_8_cannot_write_is_refused(read):
    assert "'\\ud800'" in read_error(read, {"q": {"\ud800": 1}})
    assert "'\\ud800'" in read_error(read, {"\ud800": {"d": 1}})


def test_two_queries_that_become_one_are_refused():
    assert "'1'" in read_error(convert_rankings, {1: ["a"], "1": ["b"]})


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (None, "NoneType is not a supported type of rankings"),
        ("run.txt", "str is not a supported type of rankings"),
        ({"q": "abc"}, "the ranking of query 'q' is str, not a list or a mapping"),
        ({"q": {"a", "b"}}, "the ranking of query 'q' is set, not a list or a mapping"),
        ({"q": [("a", 1), "b"]}, "the ranking of query 'q' holds 'b', which is not a pair (document, score)"),
        ({"q": [("a", 1, 2)]}, "the ranking of query 'q' holds ('a', 1, 2), which is not a pair (document, score)"),
        ([("q", "d", 1), ("q", "d", 1, 2)], "row 2 is ('q', 'd', 1, 2), not (query, document, score)"),
        ([{"query": "q"}], "row 1 is {'query': 'q'}, not (query, document, score)"),
    ],
)
def test_what_is_no_ranking_is_refused(source, complaint):
    assert read_error(convert_rankings, source) == f"rankings\n  {complaint}"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ({"q": ["d"]}, "judgments of query 'q' are list, not a mapping"),
        ([("q", "d")], "row 1 is ('q', 'd'), not (query, document, grade)"),
        ([], "it contains no judgments"),
        ({"q": {}, "r": {"d": 1}}, "query 'q' has no judgments; leave it out, or judge a document"),
    ],
)
def test_what_is_no_judgment_is_refused(source, complaint):
    assert read_error(convert_judgments, source) == f"judgments\n  {complaint}"


@pytest.mark.parametrize(
    ("names", "missing", "hint"),
    [
        (["query", "grade", "passage"], "document", ""),
        (["document", "grade", "querry"], "query", "\n  did you mean 'querry'?"),
    ],
)
def test_a_missing_column_is_named_with_those_that_there_are(names, missing, hint):
    pandas = pytest.importorskip("pandas")
    expected = (
        f"judgments\n  there is no column for the {missing}: the columns are {', '.join(map(repr, names))}{hint}\n"
        f"  {COLUMNS[missing]}"
    )

    assert read_error(convert_judgments, pandas.DataFrame([[1, 1, 1][: len(names)]], columns=names)) == expected
    assert read_error(convert_judgments, [namedtuple("Row", names)(*names)]) == expected


def test_missing_values_of_a_data_frame_are_refused():
    pandas = pytest.importorskip("pandas")
    scores = pandas.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": [1.0, None]})
    documents = pandas.DataFrame({"query": ["q", "q"], "document": ["a", None], "score": [1.0, 2.0]})

    assert "the score of document 'b' for query 'q' is nan, not finite" in read_error(convert_rankings, scores)
    assert "is not an id; ids are text (or whole numbers)" in read_error(convert_rankings, documents)


@pytest.mark.parametrize(
    ("source", "document"),
    [
        ({"q": [("d", 2), ("d", 1)]}, "d"),
        ({"q": {"1": 2, 1: 1}}, "1"),
        ([("q", "d", 1), ("r", "d", 1), ("q", "d", 2)], "d"),
    ],
)
def test_a_document_that_is_ranked_twice_is_refused(source, document):
    assert read_error(convert_rankings, source) == f"rankings\n  document '{document}' is ranked twice for query 'q'"


def test_conflicting_judgments_are_refused():
    assert read_error(convert_judgments, [("q", "d", 1), ("q", "e", 0), ("q", "d", 2)]) == (
        "judgments, row 3\n"
        "  document 'd' is judged twice for query 'q': grade 2 here, grade 1 at judgments, row 1\n"
        "  keep one of them, merge the judges (ireval import --judges median), or read subtopics (format "
        "trec-diversity)"
    )
