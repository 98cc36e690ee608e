"""Files that look like something else, or whose damage looks like sense."""

import json

import pytest

from pytest_ireval import read_judgments, read_queries, read_rankings
from pytest_ireval.data.formats import input_file
from pytest_ireval.errors import InputError, Problem


@pytest.mark.parametrize("grade", ["-1e-400", "0.0000000001e-390"])
def test_a_grade_that_would_become_zero_is_refused_with_its_line(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    with pytest.raises(InputError) as error:
        read_judgments(path, grades="float")

    assert str(error.value) == f"{path}:2\n  grade {grade!r} is too close to 0 for a number"


@pytest.mark.parametrize(
    ("grade", "said"),
    [("0,95", "is '0,95', not a number: write 0.95, with a point"), ("", "is empty: fill it in, or remove its row")],
)
def test_a_grade_in_a_table_that_is_no_number_says_what_to_write(tmp_path, grade, said):
    path = tmp_path / "grades.csv"
    path.write_text(f"query;document;grade\nq1;d1;1\nq1;d2;{grade}\n")

    with pytest.raises(InputError) as error:
        read_judgments(path, grades="float")

    assert str(error.value).splitlines()[:2] == [f"{path}:3", f"  the grade of document 'd2' for query 'q1' {said}"]


@pytest.mark.parametrize("grade", ["0e5", "1e-300", "0e-999"])
def test_a_grade_that_is_zero_or_small_is_read(tmp_path, grade):
    path = tmp_path / "qrels"
    path.write_text(f"q1 0 d1 1\nq1 0 d2 {grade}\n")

    assert read_judgments(path, grades="float").grade[1] == float(grade)


@pytest.mark.parametrize(("read", "line"), [(read_judgments, "q1 0 d1 1\n"), (read_rankings, "q1 Q0 d1 1 2.5 x\n")])
@pytest.mark.parametrize("comments", [50, 500])
def test_many_comments_before_the_first_line_hide_no_format(tmp_path, read, line, comments):
    path = tmp_path / "file"
    path.write_text("# made on Monday\n" * comments + line)

    assert len(read(path).queries) == 1


@pytest.mark.parametrize("between", [""])
def test_two_lines_of_rankings_in_one_are_refused_with_the_number(tmp_path, between):
    path = tmp_path / "run"
    path.write_text(f"q1 Q0 d1 1 2.5 x\nq1 Q0 d2 2 2.4 x{between}q2 Q0 d1 1 2.5 x\nq2 Q0 d2 2 2.4 x\n")

    with pytest.raises(InputError) as error:
        read_rankings(path)

    assert str(error.value) == f"{path}:2\n  looks like two lines; a line break may be missing"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"settings": {"number_of_shards": 1}, "mappings": {"properties": {}}}, "settings"),
        ({"q1": "red mug", "q2": ["red", "mug"]}, "q2"),
        ({"q1": {"text": "red mug"}, "q2": {"segment": "tail"}}, "q2"),
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


def test_questions_with_answers_are_not_ids_with_texts(tmp_path):
    path = tmp_path / "faq.tsv"
    path.write_text(
        "how do I return a mug\tsend it back within 30 days\nwhere is my order\tsee the tracking page\nvouchers\tno\n"
    )

    with pytest.raises(InputError) as error:
        read_queries(path)

    assert "as pairs of id and text it needs ids, but the first cell of most lines has several words" in str(
        error.value
    )
    assert read_queries(path, format="pairs").ids[2] == "vouchers"


@pytest.mark.parametrize("text", ["score", "query"])
def test_the_text_of_the_first_pair_may_be_the_name_of_a_column(tmp_path, text):
    path = tmp_path / "queries.tsv"
    path.write_text(f"q1\t{text}\nq2\tred mug\n")

    assert read_queries(path).text == (text, "red mug")


def test_a_text_that_is_read_as_a_whole_has_a_limit(tmp_path, monkeypatch):
    path = tmp_path / "queries.json"
    path.write_text(json.dumps({f"q{number}": "red mug" for number in range(1_000)}, indent=1))
    monkeypatch.setattr(input_file, "LONGEST_TEXT", 1_000)

    with pytest.raises(InputError, match="is more than 0 MiB, the limit for a format without lines"):
        read_queries(path)


def test_a_name_that_is_there_twice_among_many_is_found_at_once(tmp_path):
    path = tmp_path / "queries.json"
    names = [f'"q{number}": "mug"' for number in range(20_000)]
    path.write_text("{\n" + ",\n".join([*names, names[-1]]) + "\n}")

    with pytest.raises(InputError, match="'q19999' occurs twice in one object"):
        read_queries(path)


def test_a_message_is_no_longer_than_a_screen():
    error = InputError(*(Problem("is wrong", place=f"f:{line}", suggestion="mend it") for line in range(1_000)))

    lines = str(error).splitlines()
    assert lines[:3] == ["f:0", "  is wrong", "  mend it"]
    assert len(lines) <= 51
    assert lines[-1] == f"… and {1_000 - (len(lines) - 1) // 3} more"


def test_a_first_line_without_cells_is_no_table(write_file, read_error):
    assert read_error(read_queries, write_file("\r;\n1")).startswith(
        "DIR/file.txt\n  contains no queries in a known format"
    )
