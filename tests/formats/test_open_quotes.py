"""A quote that is not closed is reported in the line that opens it, however far the reader goes from there."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval import read_judgments, read_queries
from pytest_ireval.data.formats.row_files import read_delimited_rows
from pytest_ireval.data.side_data import read_document_fields
from pytest_ireval.errors import InputError


def refusal(read, path):
    with pytest.raises(InputError) as refused:
        read(path)
    return str(refused.value).replace(str(path), "FILE")


def fields(path):
    return list(read_document_fields(path))


@pytest.mark.parametrize(
    ("read", "columns"), [(read_judgments, "query,document,grade,note"), (fields, "id,title,price,note")]
)
def test_the_line_is_named_not_the_end_of_the_file(tmp_path, read, columns):
    path = tmp_path / "file.csv"
    rest = "".join(f"q{i},d{i},{i},{i}\n" for i in range(4, 2000))
    path.write_text(f'{columns}\nq1,d1,1,1\nq2,"d,""2",1,2\nq3,"d3,1,3\n{rest}')

    assert refusal(read, path) == "FILE:4\n  is not CSV: the quote opened in line 4 is never closed"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'id,text\nq1,red mug\n\nq2,"blue cup\nq3,tea pot\n',
            "FILE:4\n  is not CSV: the quote opened in line 4 is never closed",
        ),
        (
            'id,text,note\nq1,"red\nmug",x\nq2,"blue\ncup","to\nq3,tea pot,y\n',
            "FILE:5\n  is not CSV: the quote opened in line 5 is never closed",
        ),
    ],
    ids=["queries too", "a cell of several lines before it"],
)
def test_the_line_is_named_once(tmp_path, text, said):
    path = tmp_path / "queries.csv"
    path.write_text(text)

    assert refusal(read_queries, path) == said


def test_a_quote_that_ends_in_the_quotes_of_a_later_cell_is_named_beside_that_line(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_text('id,text\nq1,"red mug"\nq2,"blue cup\nq3,tea pot\nq4,"sofa, red"\nq5,"lamp"\n')

    assert refusal(read_queries, path) == (
        "FILE:5\n"
        "  is not CSV (',' expected after '\"')\n"
        "  the quote opened in line 3 ends here: is its closing quote missing there?"
    )


def test_a_cell_without_end_is_no_reason_to_read_all_of_a_large_file(tmp_path):
    path = tmp_path / "queries.csv"
    path.write_text('id,text\nq1,"red mug\n' + ("x" * 999_999 + "\n") * 20)

    assert refusal(read_queries, path) == (
        "FILE:19\n"
        "  is not CSV (field larger than field limit (16777216))\n"
        "  the quote opened in line 2 is not closed before this line: is its closing quote missing there?"
    )


@given(st.lists(st.text('",; \nxy', max_size=12), max_size=6), st.sampled_from(",;"))
def test_the_line_that_is_named_has_the_quote_that_python_s_reader_cannot_close(pieces, delimiter):
    text = "".join(pieces)
    lines = text.splitlines(keepends=True)
    try:
        list(read_delimited_rows(lines, delimiter, "file", lambda: lines))
    except InputError as error:
        (problem,) = error.problems
        if problem.complaint.endswith("is never closed"):
            number = int(problem.place.removeprefix("file:"))
            assert not is_open(lines[: number - 1], delimiter)
            assert all(is_open(lines[:end], delimiter) for end in range(number, len(lines) + 1))


def is_open(lines, delimiter):
    try:
        list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        return "end of data" in str(error)
    return False
