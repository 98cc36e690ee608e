"""Judgments files as they occur, read as the slow reader reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files, numbers
from plain import plain_judgments
from slow_reader import slow_judgments
from trec_readers import read_judgments


@given(messy_files())
def test_any_judgments_file_reads_as_the_slow_reader_reads_it(write_file, files):
    judgments = read_judgments(write_file(files.judgments))

    expected = slow_judgments(files.judgments)
    assert plain_judgments(judgments) == expected
    assert list(judgments.queries) == list(expected)
    assert len(judgments) == sum(map(len, expected.values()))


def vanishes(text):
    """Whether it would become 0, and is refused for that: see tests/formats/test_mistaken_files.py."""
    return not float(text) and bool(text.lower().partition("e")[0].strip("+-.0"))


@given(st.lists(numbers.filter(lambda text: not vanishes(text)), min_size=1, max_size=8))
def test_declared_float_grades_are_the_numbers_that_float_reads(write_file, texts):
    lines = "".join(f"q 0 d{i} {text}\n" for i, text in enumerate(texts))

    judgments = read_judgments(write_file(lines), grades="float")
    assert judgments.grade.tolist() == [float(text) for text in texts]


@pytest.mark.parametrize(("text", "grade"), [("+2", 2), ("2.0", 2), ("1e1", 10)])
def test_whole_grades_may_be_written_in_several_ways(write_file, text, grade):
    assert read_judgments(write_file(f"q 0 d {text}\n")).grade.tolist() == [grade]


def test_there_is_no_negative_zero_among_grades(write_file):
    assert str(read_judgments(write_file("q 0 d -0\n")).grade.tolist()) == "[0.0]"


def test_a_pair_judged_twice_with_one_grade_is_one_judgment(write_file):
    judgments = read_judgments(write_file("q 0 d 1\nq 0 e 0\nr 0 d 2\nq 1 d 1\nq 0 d 1.0\n"))

    assert plain_judgments(judgments) == {"q": {"d": 1, "e": 0}, "r": {"d": 2}}
    assert len(judgments) == 3
