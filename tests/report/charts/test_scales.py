"""Ticks at numbers that are easy to read, and places with one decimal."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pytest_ireval.report.charts.chart import format_label, format_short, make_scale


def labels(*args, **options):
    return [tick.label for tick in make_scale(*args, **options).ticks]


def test_large_numbers_are_short():
    assert labels([0, 4_000_000], 0, 100, 2) == ["0", "2M", "4M"]
    assert labels([0, 40_000], 0, 100, 2) == ["0", "20k", "40k"]
    assert format_label(3e12, 1e12) == "3e+12"
    assert format_label(2e-9, 1e-9) == "2e-09"
    assert [format_short(value) for value in (0.5, 1234.5, 1_234_567.8, 1.5e12)] == [
        "0.5000",
        "1234.5000",
        "1,234,568",
        "1.5e+12",
    ]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=5), st.integers(1, 8))
def test_any_values_have_a_scale_with_few_ticks_and_places_inside(values, ticks):
    made = make_scale(values, 10, 90, ticks)

    assert 2 <= len(made.ticks) <= ticks + 3
    assert all(10 <= made(value) <= 90 for value in values if math.isfinite(value))
    assert all(len(tick.label) < 12 or made.high - made.low < 1e-3 * abs(made.high) for tick in made.ticks)
