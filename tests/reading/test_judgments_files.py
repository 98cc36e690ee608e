"""Judgments files as they occur, read as the slow reader reads them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import messy_files, numbers
from plain import plain_judgments
from slow_reader import slow_judgments
from trec_doors import read_judgments


@given(messy_files())
def test_any_judgments_file_reads_as_the_slow_reader_reads_it(written, files):
    judgments = read_judgments(written(files.judgments))

    expected = slow_judgments(files.judgments)
    assert plain_judgments(judgments) == expected
    assert list(judgments.queries) == list(expected)
    assert len(judgments) == sum(map(len, expected.values()))


def vanishes(text):
    """Whether it would become 0, and is refused for that: see tests/formats/test_mistaken_files.py."""
    return not float(text) and bool(text.lower().partition("e")[0].strip("+-.0"))


@given(st.lists(numbers.filter(lambda text: not vanishes(text)), min_size=1, max_size=8))
def test_declared_float_grades_are_the_numbers_that_float_reads(written, texts):
    lines = "".join(f"q 0 d{i} {text}\n" for i, text in enumerate(texts))

    judgments = read_judgments(written(lines), grades="float")
    assert judgments.grade.tolist() == [float(text) for text in texts]


def test_a_float_grade_of_17_digits_is_rounded_correctly(written):
    judgments = read_judgments(written("q 0 d 0.74391500080636083\n"), grades="float")

    assert judgments.grade.tolist() == [0.74391500080636083]


@pytest.mark.parametrize(("text", "grade"), [("1", 1), ("-1", -1), ("+2", 2), ("03", 3), ("2.0", 2), ("1e1", 10)])
def test_whole_grades_may_be_written_in_several_ways(written, text, grade):
    assert read_judgments(written(f"q 0 d {text}\n")).grade.tolist() == [grade]


def test_there_is_no_negative_zero_among_grades(written):
    assert str(read_judgments(written("q 0 d -0\n")).grade.tolist()) == "[0.0]"


def test_a_fraction_is_a_grade_if_floats_are_declared(written):
    judgments = read_judgments(written("q 0 d 1.5\nq 0 e .25\n"), grades="float")

    assert plain_judgments(judgments) == {"q": {"d": 1.5, "e": 0.25}}


def test_a_pair_judged_twice_with_one_grade_is_one_judgment(written):
    judgments = read_judgments(written("q 0 d 1\nq 0 e 0\nr 0 d 2\nq 1 d 1\nq 0 d 1.0\n"))

    assert plain_judgments(judgments) == {"q": {"d": 1, "e": 0}, "r": {"d": 2}}
    assert len(judgments) == 3


@pytest.mark.parametrize(
    "text",
    ["q\t0\td\t1\n", " q 0  d\t\t1 \r\n", "\n# judged by hand\nq 0 d 1", "\ufeffq 0 d 1\n", "q iteration d 1\n\n\n"],
)
def test_messy_but_legal_lines(written, text):
    assert plain_judgments(read_judgments(written(text))) == {"q": {"d": 1}}


def test_the_judgments_of_a_query_may_be_scattered(written):
    judgments = read_judgments(written("q 0 a 1\nr 0 a 2\nq 0 b 3\n"))

    assert judgments.queries == ("q", "r")
    assert plain_judgments(judgments) == {"q": {"a": 1, "b": 3}, "r": {"a": 2}}


def test_judgments_say_where_they_come_from(written):
    path = written("q 0 a 1\n")

    assert read_judgments(path).origin == str(path)
