"""Ticks at numbers that are easy to read, and places with one decimal."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.reports.charts.chart import Scale, label, line, nice_step, place, scale, short, steps


def labels(*args, **options):
    return [tick.label for tick in scale(*args, **options).ticks]


def test_a_scale_begins_and_ends_at_a_tick_and_holds_all_values():
    made = scale([-0.31, 0.42], 200, 100)

    assert (round(made.low, 9), round(made.high, 9)) == (-0.4, 0.6)
    assert [(tick.at, tick.label) for tick in made.ticks] == [
        (200, "-0.4"),
        (180, "-0.2"),
        (160, "0.0"),
        (140, "0.2"),
        (120, "0.4"),
        (100, "0.6"),
    ]
    assert made(0.1) == 150


@pytest.mark.parametrize(
    ("least", "step"), [(0.1, 0.1), (0.11, 0.2), (0.3, 0.5), (0.7, 1), (3, 5), (0.0021, 0.005), (12, 20)]
)
def test_a_step_is_1_2_or_5_times_a_power_of_ten(least, step):
    assert nice_step(least) == pytest.approx(step)


def test_changes_have_a_sign_and_turned_ones_the_other():
    assert labels([-1, 1], 0, 100, 2, signed=True) == ["-1", "0", "+1"]
    assert labels([-1, 1], 0, 100, 2, signed=True, turned=True) == ["+1", "0", "-1"]


def test_large_numbers_are_short():
    assert labels([0, 4_000_000], 0, 100, 2) == ["0", "2M", "4M"]
    assert labels([0, 40_000], 0, 100, 2) == ["0", "20k", "40k"]
    assert label(3e12, 1e12) == "3e+12"
    assert label(2e-9, 1e-9) == "2e-09"
    assert [short(value) for value in (0.5, 1234.5, 1_234_567.8, 1.5e12)] == [
        "0.5000",
        "1234.5000",
        "1,234,568",
        "1.5e+12",
    ]


def test_equal_values_stand_in_the_middle():
    assert scale([0.5, 0.5], 0, 100)(0.5) == 50
    assert scale([], 0, 100)(0.0) == 50


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=5), st.integers(1, 8))
def test_any_values_have_a_scale_with_few_ticks_and_places_inside(values, ticks):
    made = scale(values, 10, 90, ticks)

    assert 2 <= len(made.ticks) <= ticks + 3
    assert all(10 <= made(value) <= 90 for value in values if math.isfinite(value))
    assert all(len(tick.label) < 12 or made.high - made.low < 1e-3 * abs(made.high) for tick in made.ticks)


def test_a_place_has_at_most_one_decimal_and_a_whole_one_none():
    assert [str(place(value)) for value in (1.0, 1.04, 1.06, -0.04, 7)] == ["1", "1", "1.1", "0", "7"]


def test_a_value_out_of_range_lies_at_the_edge():
    assert Scale(0, 1, 10, 90)(7) == 90


def test_paths():
    assert line([(1, 2), (3.25, 4)]) == "M1 2L3.2 4"
    assert line([]) == ""
    assert steps([0, 10, 20, 30], [5, 5, 7], 9) == "M0 9V5H10H20V7H30V9"
