"""Files that look like something else, or whose damage looks like sense."""

import json

import pytest

from pytest_ireval import read_judgments, read_queries, read_rankings
from pytest_ireval.errors import InputError


@pytest.mark.parametrize("grade", ["1e-400", "-1e-400", "0.0000000001e-390", "00.1e-9999"])
def test_a_grade_that_would_become_zero_is_refused_with_its_line(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    with pytest.raises(InputError) as error:
        read_judgments(path, grades="float")

    assert str(error.value) == f"{path}:2\n  grade {grade!r} is too small for a number"


@pytest.mark.parametrize("grade", ["0", "0.0", "0e5", "-0", "1e-300", "0e-999", ".0e1"])
def test_a_grade_that_is_zero_or_small_is_read(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    assert read_judgments(path, grades="float").grade[1] == float(grade)


@pytest.mark.parametrize(("read", "line"), [(read_judgments, "q1 0 d1 1\n"), (read_rankings, "q1 Q0 d1 1 2.5 x\n")])
@pytest.mark.parametrize("comments", [1, 50, 51, 500])
def test_many_comments_before_the_first_line_hide_no_format(tmp_path, read, line, comments):
    path = tmp_path / "file"
    path.write_text("# made on Monday\n" * comments + line)

    assert len(read(path).queries) == 1


@pytest.mark.parametrize("between", ["", " ", "\t"])
def test_two_lines_of_rankings_in_one_are_refused_with_the_number(tmp_path, between):
    path = tmp_path / "run"
    path.write_text(f"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 2.4 x{between}q2 Q0 d1 1 2.5 x\nq2 Q0 d2 2 2.4 x\n")

    with pytest.raises(InputError) as error:
        read_rankings(path)

    assert str(error.value) == f"{path}:2\n  looks like two lines; a line break may be missing"


@pytest.mark.parametrize(
    "tag", ["x", "a tag of many words that goes on and on", "Q1 Q2 Q3 Q4 Q5 Q6 Q7", "x Q00 y z a b c"]
)
def test_a_tag_of_many_words_is_read(tmp_path, tag):
    path = tmp_path / "run"
    path.write_text(f"q1 Q0 d1 1 2.5 {tag}\nq1 Q0 d2 2 2.4 {tag}\n")

    assert len(read_rankings(path).documents) == 2


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"settings": {"number_of_shards": 1}, "mappings": {"properties": {}}}, "settings"),
        ({"took": 5, "timed_out": False, "hits": {"total": 3}}, "timed_out"),
        ({"q1": "red mug", "q2": ["red", "mug"]}, "q2"),
        ({"q1": {"text": "red mug"}, "q2": {"segment": "tail"}}, "q2"),
        ({"q1": None}, "q1"),
    ],
)
def test_an_object_of_something_else_is_no_queries(tmp_path, value, name):
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(value, indent=1))

    with pytest.raises(InputError) as error:
        read_queries(path)

    assert str(error.value) == (
        f"{path}\n  query {name!r} has no text\n  {{id: text}}, or {{id: {{text: …, segment: …}}}}"
    )


@pytest.mark.parametrize(
    "value",
    [
        {"q1": "red mug", "q2": 2024, "q3": ""},
        {"q1": {"text": "red mug", "segment": "head"}, "q2": {"Query": "cup"}},
        {"q1": {"title": "red mug"}},
    ],
)
def test_queries_in_an_object_are_read(tmp_path, value):
    path = tmp_path / "queries.json"
    path.write_text(json.dumps(value, indent=1))

    assert read_queries(path).ids == tuple(value)
