"""Values of suites: what is read from text, and what is said of text that cannot be read."""

import math
import os
from datetime import date
from pathlib import Path

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from pytest_ireval.suites import options
from pytest_ireval.suites.options import Number, RuleOptions, Text, Whole
from pytest_ireval.suites.quantities import Amount, Bound, Tolerance, Tolerances
from pytest_ireval.suites.reading import STORED
from pytest_ireval.suites.scalars import File, Scalar, put_value


def read(kind, value, registry=None):
    return TypeAdapter(getattr(options, kind)).validate_python(value, context={"registry": registry})


def complaint(kind, value, registry=None):
    """Where below the value each mistake is, and what is said of it."""
    with pytest.raises(ValidationError) as caught:
        read(kind, value, registry)
    return [(each["loc"], str(each["ctx"]["error"])) for each in caught.value.errors()]


def test_text_stays_as_it_is_written():
    assert read("Text", "007") == "007"
    assert type(read("Text", put_value(Scalar("no"), File("s.yaml", "/"), 1, 1))) is str


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("Text", {"a": "b"}, "a mapping is not a valid text"),
        ("Text", ["a"], "a list is not a valid text"),
        ("Flag", "1", "'1' is not a valid flag: write true or false"),
        ("Whole", "0", "'0' is not a valid whole number from 1"),
        ("Whole", "2.5", "'2.5' is not a valid whole number from 1"),
        ("Whole", "", "'' is not a valid whole number from 1"),
        ("Number", "1_000", "'1_000' is not a valid number"),
        ("Number", "nan", "'nan' is not a valid number"),
        ("Number", "1e999", "'1e999' is not a valid number"),
        ("PathText", "", "'' is not a valid path of a file"),
        ("BoundText", "0.85", "'0.85' is not a valid bound: write '>= 0.85' (or <=, >, <)"),
        ("BoundText", ">= high", "'high' is not a valid bound: write '>= 0.85' (or <=, >, <)"),
        ("BoundText", ["1"], "a list is not a valid bound: write '>= 0.85' (or <=, >, <)"),
        ("ToleranceText", "1", "'1' is not a valid tolerance: write 1% (of the baseline) or {absolute: 0.01}"),
        ("ToleranceText", "-1%", "'-1%' is negative: a tolerance says how far a figure may get worse, from 0 up"),
        ("ToleranceText", "x%", "'x' is not a valid tolerance: write 1% (of the baseline) or {absolute: 0.01}"),
        (
            "ToleranceText",
            {"absolut": "1"},
            "a mapping with absolut is not a valid tolerance: write 1% (of the baseline) or {absolute: 0.01}",
        ),
        (
            "ToleranceText",
            {"absolute": "1%"},
            "'1%' is not a valid number: an absolute tolerance is in the metric's own unit, such as {absolute: 0.01}",
        ),
        ("AmountText", "2.5", "'2.5' is not a valid amount: write 2 (a number) or 5% (of all)"),
        ("AmountText", "101%", "'101%' is not a valid amount: write 2 (a number) or 5% (of all)"),
        ("AmountText", "-1", "'-1' is not a valid amount: write 2 (a number) or 5% (of all)"),
        ("DurationText", "30", "'30' is not a valid duration: write 30s, 500ms or 2m"),
        ("DurationText", "0s", "'0s' is not a valid duration: write 30s, 500ms or 2m"),
        ("DayText", "1.4.2027", "'1.4.2027' is not a valid day: write 2027-04-01"),
        ("DayText", "2027-02-29", "'2027-02-29' is not a calendar day: day is out of range for month"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(kind, value, says):
    assert complaint(kind, value) == [((), says)]


def test_one_text_is_a_list_of_one():
    assert read("Texts", "nightly") == ("nightly",)
    assert read("Texts", ["nightly", "007"]) == ("nightly", "007")
    assert complaint("Texts", ["a", ["b"]]) == [((1,), "a list is not a valid text")]


@pytest.mark.parametrize(("text", "flag"), [("true", True), ("Yes", True), ("off", False), ("no", False)])
def test_a_flag_is_what_yaml_calls_true_and_false(text, flag):
    assert read("Flag", text) is flag


def test_numbers_are_written_as_numbers_are():
    assert read("Whole", "20") == 20
    assert read("Number", " -.5e1 ") == -5.0


def test_a_filter_has_one_value_or_several_of_each_column():
    assert read("Filter", {"segment": "tail", "locale": ["de", "fr"]}) == {"segment": ("tail",), "locale": ("de", "fr")}
    assert complaint("Filter", "tail") == [
        ((), "a filter is a mapping of columns and values: {segment: tail} or {segment: [head, tail]}")
    ]


def test_a_path_is_relative_to_the_file_it_is_written_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    there = put_value(Scalar("../data/a.txt"), File("suites/shop.yaml", str(tmp_path / "suites")), 3, 9)

    assert read("PathText", there) == tmp_path / "data" / "a.txt"
    assert read("PathText", "a.txt") == Path(os.getcwd(), "a.txt")
    assert read("PathTexts", "a.txt") == (tmp_path / "a.txt",)
    assert read("PathTexts", ["a.txt", there]) == (tmp_path / "a.txt", tmp_path / "data" / "a.txt")
    assert complaint("PathTexts", []) == [((), "an empty list has no effect: name at least one")]


def test_a_metric_is_looked_up_in_the_registry(registry):
    assert str(read("MetricText", "ndcg_cut_10", registry)) == "nDCG@10"
    assert list(map(str, read("MetricTexts", ["P@[5, 10]", "AP", "map"], registry))) == ["P@5", "P@10", "AP"]


def test_a_metric_nobody_knows_is_refused_with_what_there_is(registry):
    known = registry.vocabulary.known

    assert complaint("MetricText", "ndgc@10", registry) == [
        ((), f"unknown metric 'ndgc'\ndid you mean 'nDCG@10'?\n{known}")
    ]
    assert complaint("MetricTexts", ["AP", "nDCG@"], registry) == [((1,), "'nDCG@': expected a value (column 6)")]
    assert complaint("MetricText", "P@[5, 10]", registry) == [
        ((), "'P@[5, 10]' names 2 metrics, but only one is allowed here")
    ]
    assert complaint("MetricText", "", registry) == [
        ((), "'': the name is missing\nwrite a metric as Name(parameter=value)@cutoff, for example nDCG@10")
    ]


@pytest.mark.parametrize(
    ("text", "value", "holds"),
    [
        (">= 0.85", 0.85, True),
        ("> 0.85", 0.85, False),
        ("<=3", 3.0, True),
        ("≥ 2", 1.0, False),
        ("> 0", math.nan, False),
    ],
)
def test_a_bound_holds_on_one_side(text, value, holds):
    assert read("BoundText", text).holds(value) is holds


def test_quantities_are_written_as_they_are_read():
    assert str(read("BoundText", ">=0.850")) == ">= 0.85"
    assert str(read("ToleranceText", "1.50 %")) == "1.5%"
    assert str(read("ToleranceText", {"absolute": "0.010"})) == "0.01"
    assert str(read("AmountText", "02")) == "2"
    assert str(read("AmountText", "5%")) == "5%"


def test_a_tolerance_is_a_share_of_the_baseline_or_an_amount():
    assert read("ToleranceText", "1%").allowed(-0.5) == 0.005
    assert read("ToleranceText", {"absolute": "0.01"}).allowed(0.5) == 0.01


def test_tolerances_differ_by_slice():
    one, three = Tolerance(0.01), Tolerance(0.03)

    assert read("TolerancesText", "1%") == Tolerances(one)
    assert read("TolerancesText", {"absolute": "0.5"}) == Tolerances(Tolerance(absolute=0.5))
    given = read("TolerancesText", {"head": "1%", "default": "3%"})
    assert given == Tolerances(three, {"head": one})
    assert (given.of("head"), given.of("tail")) == (one, three)
    assert read("TolerancesText", {"head": "1%"}).of("tail") is None
    assert complaint("TolerancesText", {"head": "1%", "tail": "3"}) == [
        (("tail",), "'3' is not a valid tolerance: write 1% (of the baseline) or {absolute: 0.01}")
    ]


def test_an_amount_is_so_many_or_a_share_of_all():
    assert read("AmountText", "2") == Amount(count=2)
    assert read("AmountText", "2").of(60) == 2
    assert read("AmountText", "5%").of(60) == 3


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("500ms", 0.5), ("2m", 120), ("1.5 h", 5400)])
def test_a_duration_is_so_many_seconds(text, seconds):
    assert read("DurationText", text) == seconds


def test_a_day_is_a_date():
    assert read("DayText", "2027-04-01") == date(2027, 4, 1)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("BoundText", Bound(">", 1.0)),
        ("ToleranceText", Tolerance(0.01)),
        ("TolerancesText", Tolerances(Tolerance(0.01), {"head": Tolerance(0.02)})),
        ("AmountText", Amount(count=2)),
        ("DayText", date(2027, 4, 1)),
        ("PathText", Path("/data/a.txt")),
        ("Flag", True),
        ("Whole", 3),
        ("Against", STORED),
    ],
)
def test_values_that_have_their_type_already_stay(kind, value):
    assert read(kind, value) == value


def test_a_rule_compares_with_the_stored_baseline_unless_told_otherwise(registry):
    assert read("Against", "baseline", registry) is STORED
    assert STORED.stored


def test_the_registry_is_that_of_the_installed_plugins_if_nobody_says_otherwise():
    assert str(TypeAdapter(options.MetricText).validate_python("map")) == "AP"


class Limits(RuleOptions):
    least: Number = Field(ge=0, description="From 0.")
    few: Whole = Field(3, le=5, description="At most 5.")
    label: Text = Field(min_length=1, pattern="^[a-z]+$", description="Lower case.")


def test_constraints_of_fields_hold_for_what_was_read():
    assert Limits.model_validate({"least": "0", "few": "5", "label": "a"}).least == 0.0
    with pytest.raises(ValidationError) as caught:
        Limits.model_validate({"least": "-1", "few": "6", "label": "A"})

    assert [(each["loc"], each["msg"]) for each in caught.value.errors()] == [
        (("least",), "Input should be greater than or equal to 0"),
        (("few",), "Input should be less than or equal to 5"),
        (("label",), "String should match pattern '^[a-z]+$'"),
    ]
