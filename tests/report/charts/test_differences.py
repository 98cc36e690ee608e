"""The chart of sorted differences."""

import re
from random import Random

from small_suites import make_scored_suite

from pytest_ireval.report.charts.differences import divide_room, make_differences_chart
from pytest_ireval.report.charts.drawing import draw_on_page


def chart_of(*args, **options):
    return make_differences_chart(*make_scored_suite(*args, **options))


def words_of(drawing):
    return [part.text for part in (drawing.worse, drawing.same, drawing.better) if part]


def test_where_lower_is_better_more_points_down_and_the_axis_says_so():
    chart = chart_of([120.0, 80.0], [100.0, 100.0], metric="Cost", direction="lower")

    assert [bar.said[:2] for bar in chart.drawing.bars] == ["q1", "q2"]
    assert [bar.side for bar in chart.drawing.bars] == ["worse", "better"]
    assert (chart.drawing.axis.ticks[0].label, chart.drawing.axis.ticks[0].at) == ("+20", 262)
    assert "lower values are better" in draw_on_page(chart)


def test_where_neither_is_better_nothing_is_called_worse():
    chart = chart_of([2.0, 4.0], [3.0, 3.0], metric="NumRet", direction="neither")

    assert words_of(chart.drawing) == ["1 less", "1 more"]
    assert "worse" not in chart.said
    assert "neither more nor less is better" in draw_on_page(chart)


def test_without_a_change_but_by_rounding_there_is_a_line_and_the_count():
    drawing = chart_of([0.1 + 0.2] * 60, [0.3] * 60).drawing

    assert (words_of(drawing), drawing.bars, drawing.height) == (["60 the same"], (), 120)


def test_values_that_are_missing_or_no_numbers_are_counted():
    chart = chart_of([0.5, None, float("nan"), 0.2], [0.4, 0.2, 0.2, None])

    assert "3 queries without a value on both sides" in chart.drawing.facts
    assert chart_of([0.5], [None]) is None


def thousands(count=7000):
    chance = Random(1)
    before = [chance.random() for _ in range(count)]
    now = [chance.random() if chance.random() < 0.8 else value for value in before]
    return now, before


def test_thousands_of_queries_are_two_outlines_and_all_of_them_count():
    now, before = thousands()

    chart = chart_of(now, before)

    drawing, drawn = chart.drawing, draw_on_page(chart)
    counts = [int(re.match(r"[\d,]+", words)[0].replace(",", "")) for words in words_of(drawing)]
    assert sum(counts) == 7000
    assert counts[0] == sum(a < b for a, b in zip(now, before, strict=True))
    assert drawing.bars == ()
    assert (drawn.count('<path class="worse"'), drawn.count('<path class="better"')) == (1, 1)
    assert len(drawn) < 20_000


def test_three_of_thousands_that_got_worse_are_seen():
    room = divide_room(3, 6997, 0)

    assert room.same - room.worse == 3
    assert room.end <= 630


def test_up_to_200_bars_are_elements_with_a_link():
    drawn = draw_on_page(chart_of([0.4] * 200, [0.5] * 200))
    outlined = draw_on_page(chart_of([0.4] * 201, [0.5] * 201))

    assert (drawn.count("<a href="), outlined.count("<a href=")) == (200, 0)
    assert "201 worse" in outlined
