"""Numbers read eight digits at a time are the numbers that ``float()`` reads."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from messy_files import numbers as messy_numbers
from messy_files import signs

from pytest_ireval.data.scan.chunks import BadLines, join_texts
from pytest_ireval.data.scan.numbers import read_exactly, read_numbers, refuse_fractions


def read(texts):
    """Values, and where they may be inexact."""
    value, inexact = read_numbers(*join_texts(texts), "score")
    return value.tolist(), inexact.tolist()


def agree(texts):
    """Exact values are those of ``float()``, inexact ones its neighbours at most."""
    for text, value, inexact in zip(texts, *read(texts), strict=True):
        if inexact:
            assert abs(value - float(text)) <= math.ulp(float(text)), text
        else:
            assert value == float(text), text


@given(st.lists(messy_numbers, min_size=1, max_size=12))
def test_numbers_of_all_kinds_side_by_side(texts):
    agree(texts)


@given(st.data(), st.integers(1, 25), st.integers(0, 25))
def test_numbers_of_one_format(data, digits, places):
    whole = st.text("0123456789", min_size=digits, max_size=digits)
    fraction = st.text("0123456789", min_size=places, max_size=places)
    agree(data.draw(st.lists(st.builds("{}{}.{}".format, signs, whole, fraction), min_size=1, max_size=8)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_the_shortest_text_of_any_float(values):
    agree([repr(value) for value in values])


@given(st.lists(messy_numbers, min_size=1, max_size=12), st.data())
def test_exactly_reads_some_rows_as_float_does(texts, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1)))

    assert read_exactly(*join_texts(texts), np.array(rows, np.int64)).tolist() == [float(texts[row]) for row in rows]


def test_whole_parts_up_to_2_to_the_53_are_exact_and_longer_ones_are_marked():
    texts = ["9007199254740991", "9007199254740992", "0.9007199254740991", "0.9007199254740993", "0.123456789012345678"]

    assert read(texts)[1] == [False, True, False, True, True]


def test_a_number_does_not_read_its_neighbours():
    assert read(["12", "3", "4.5", "-6", "7e1", "8"])[0] == [12, 3, 4.5, -6, 70, 8]


@pytest.mark.parametrize("neighbours", [[], ["0.12345678901234567890"]])
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("abc", "score 'abc' is not a number"),
        (".", "score '.' is not a number"),
        ("5-", "score '5-' is not a number"),
        ("1,5", "score '1,5' is not a number"),
        ("1_000", "score '1_000' is not a number"),
        ("1e", "score '1e' is not a number"),
        ("½", "score '½' is not a number"),
        ("-NaN", "score '-NaN' is not finite"),
        ("1e400", "score '1e400' is too large for a number"),
        ("-" + "9" * 400, "score '-" + "9" * 119 + "'… is too large for a number"),
    ],
)
def test_what_is_no_number_is_refused(text, complaint, neighbours):
    with pytest.raises(BadLines) as caught:
        read([*neighbours, text, *neighbours])

    assert caught.value.lines == [(sum(map(len, neighbours)), complaint)]


@given(st.text("0123456789.+-eE_xnaif", min_size=1, max_size=30))
def test_any_text_is_a_finite_number_or_refused(text):
    try:
        value = float(text)
        finite = math.isfinite(value) and "_" not in text
    except ValueError:
        finite = False
    if finite:
        agree([text, "1.5", text])
    else:
        with pytest.raises(BadLines):
            read([text, "1.5"])


@pytest.mark.parametrize(("text", "whole"), [("-3.0", True), ("1e2", True), ("-.5", False)])
def test_whole_numbers_are_told_from_fractions(text, whole):
    chunk, span = join_texts([text])
    value = read_numbers(chunk, span, "grade").value

    if whole:
        refuse_fractions(chunk, span, value, "grade")
    else:
        with pytest.raises(BadLines, match="1 unreadable lines") as caught:
            refuse_fractions(chunk, span, value, "grade")
        assert caught.value.lines == [(0, f"grade {text} is not a whole number")]
