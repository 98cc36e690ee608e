"""Whether one value of an option lets more pass than another."""

from typing import Annotated

import pytest
from pydantic import BaseModel

from pytest_ireval.options import AmountText, BoundText, Looser, Number, Text, Texts, ToleranceText
from pytest_ireval.suite.loosening import find_changed_options
from pytest_ireval.suite.options import MORE


class Options(BaseModel):
    limit: AmountText | None = None
    floor: Annotated[AmountText | None, Looser("less")] = None
    budget: Annotated[AmountText | None, Looser("more", without="strictest")] = None
    bound: BoundText | None = None
    tolerance: ToleranceText | None = None
    number: Annotated[Number, MORE] = 0.5
    least: Annotated[Number, Looser("less")] = 0.5
    way: Annotated[Text, Looser("words", ("fail", "warn", "nothing"))] = "warn"
    excused: Annotated[Texts, MORE] = ("a", "b")
    unknown: Number = 1.0


def looser(**values):
    """Which options let more pass with the second of two values, and which may."""
    before, now = (Options(**{name: both[k] for name, both in values.items() if both[k] is not None}) for k in (0, 1))
    return {each.name: each.looser for each in find_changed_options(before, now)}


@pytest.mark.parametrize(
    ("name", "strict", "loose"),
    [
        ("limit", "5%", "6%"),
        ("limit", 2, 3),
        ("limit", "5%", None),
        ("floor", 3, 2),
        ("floor", "10%", None),
        ("budget", None, "1%"),
        ("budget", "1%", "2%"),
        ("bound", ">= 0.5", ">= 0.4"),
        ("bound", "> 0.5", ">= 0.5"),
        ("bound", "<= 0.5", "<= 0.6"),
        ("bound", "< 0.5", "<= 0.5"),
        ("tolerance", "1%", "2%"),
        ("tolerance", {"absolute": 0.1}, {"absolute": 0.2}),
        ("number", 0.5, 0.6),
        ("least", 0.5, 0.4),
        ("way", "fail", "warn"),
        ("way", "warn", "nothing"),
        ("excused", ["a"], ["a", "b"]),
    ],
)
def test_one_of_two_values_lets_more_pass(name, strict, loose):
    assert looser(**{name: (strict, loose)}) == {name: True}
    assert looser(**{name: (loose, strict)}) == {}
    assert looser(**{name: (loose, loose)}) == {}


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("limit", 2, "5%"),
        ("bound", ">= 0.5", "<= 0.5"),
        ("tolerance", "1%", {"absolute": 0.01}),
        ("excused", ["a"], ["b"]),
    ],
)
def test_where_nobody_can_tell_both_may(name, one, other):
    assert looser(**{name: (one, other)}) == {name: True}
    assert looser(**{name: (other, one)}) == {name: True}


def test_an_option_that_says_no_direction_is_told():
    assert looser(unknown=(1.0, 2.0)) == {"unknown": False}


def test_numbers_that_differ_by_rounding_alone_are_the_same_limit():
    assert looser(number=(0.1 + 0.2, 0.3)) == {}
    assert looser(number=(0.3, 0.1 + 0.2)) == {}
