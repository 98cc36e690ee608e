"""Values of fields are read as tables, JSON and databases write them; what cannot be read is named."""

from datetime import date, datetime, timezone

import pytest

from pytest_ireval import MetricError, SideData, evaluate


def value(metric, *cells):
    """The value of a metric for one list, whose documents have these values in the field ``x``."""
    fields = {f"d{rank}": {"x": cell} for rank, cell in enumerate(cells)}
    (found,) = evaluate({"q": {"judged": 1}}, {"q": list(fields)}, [metric], side_data=SideData(fields=fields)).metrics
    return found.values["q"]


@pytest.mark.parametrize(
    ("metric", "cells", "expected"),
    [
        ("Share(field='x', value='FALSE')@4", [False, "False", "false", True], 3 / 4),
        ("Share(field='x', value='7')@4", [7, 7.0, "7", "77"], 3 / 4),
        ("Share(field='x', value='red')@2", [["blue", "Red"], ["blue"]], 1 / 2),
        ("Mean(field='x')@3", [1, "2.5", 4.0], 2.5),
        ("Mean(field='x', lacking=0.5)@4", [1, None, "", float("nan")], "3 of 4 documents at ranks 1 to 4 have"),
        ("Mean(field='x', lacking=0.75)@4", [8, None, "", float("nan")], 8),
        ("Mean(field='x')@1", ["3,50 EUR"], "the field 'x' of document 'd0' is '3,50 EUR', not a number"),
        ("Mean(field='x')@1", [True], "is True, not a number"),
        ("Age(field='x')@3", ["2026-11-01", date(2026, 11, 3), "2026-11-06T23:30:00-02:00"], (5 + 3 - 1) / 3),
        ("Age(field='x')@1", [datetime(2026, 11, 1, tzinfo=timezone.utc)], 5),
        ("Age(field='x')@1", ["01.11.2026"], "is '01.11.2026', not a date"),
        ("Age(field='x')@1", [1793491200], "is 1793491200, not a date"),
        ("Age(field='x', on='soon')@1", ["2026-11-01"], "on='soon' is not a date"),
        ("Repeats(field='x')@4", ["a", "A", ["a"], "b"], 1 / 2),
    ],
)
def test_fields_as_they_are_written(monkeypatch, metric, cells, expected):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1793966400")  # 2026-11-06 12:00 UTC
    if isinstance(expected, str):
        with pytest.raises(MetricError) as caught:
            value(metric, *cells)
        assert expected in str(caught.value)
    else:
        assert value(metric, *cells) == pytest.approx(expected)
