"""Values of suites: what is read from text, and what is said of text that cannot be read."""

import math
import os
from datetime import date
from pathlib import Path

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from pytest_ireval.suite import option_types
from pytest_ireval.suite.option_types import Number, Text, Whole
from pytest_ireval.suite.options import RuleOptions
from pytest_ireval.suite.quantities import Amount, Bound, Tolerance, Tolerances
from pytest_ireval.suite.scalars import File, Scalar, put_value
from pytest_ireval.suite.suite import STORED


def read(kind, value, registry=None):
    return TypeAdapter(getattr(option_types, kind)).validate_python(value, context={"registry": registry})


def complaint(kind, value, registry=None):
    """Where below the value each mistake is, and what is said of it."""
    with pytest.raises(ValidationError) as caught:
        read(kind, value, registry)
    return [
        (each["loc"], str(each["ctx"]["error"]) if "ctx" in each else each["msg"]) for each in caught.value.errors()
    ]


def test_text_stays_as_it_is_written():
    assert read("Text", "007") == "007"
    assert type(read("Text", put_value(Scalar("no"), File("s.yaml", "/"), 1, 1))) is str


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("Text", [{"a": "b"}, ["a"]]),
        ("Flag", ["1", "maybe", ["true"]]),
        ("Whole", ["0", "-3", "2.5", "", "1_000", "inf", True]),
        ("Number", ["1_000", "nan", "inf", "1e999", "0x10", True, math.nan]),
        ("PathText", ["", "a\0b", ["a"]]),
        ("BoundText", ["0.85", ">= high", "=> 1", ">= inf", ["1"]]),
        ("ToleranceText", ["1", "-1%", "x%", "inf%", {"absolut": "1"}, {"absolute": "1%"}, {"absolute": "-1"}, {}]),
        ("AmountText", ["2.5", "101%", "-1", "many"]),
        ("ShareText", ["0%", "101%", "50", "x%"]),
        ("DurationText", ["30", "0s", "-1s", "1.2.3s", "soon"]),
        ("DayText", ["1.4.2027", "2027-02-29", "2027-4-1"]),
        ("SecretText", ["short"]),
    ],
)
def test_what_cannot_be_read_is_refused(kind, values):
    for value in values:
        with pytest.raises(ValidationError):
            read(kind, value)


def test_one_text_is_a_list_of_one():
    assert read("Texts", "nightly") == ("nightly",)
    assert read("Texts", ["nightly", "007"]) == ("nightly", "007")
    assert [where for where, _ in complaint("Texts", ["a", ["b"]])] == [(1,)]


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


def test_mistakes_in_metrics_are_found_where_they_stand(registry):
    assert [where for where, _ in complaint("MetricTexts", ["AP", "nDCG@", "ndgc"], registry)] == [(1,), (2,)]


def test_a_bound_holds_on_one_side():
    cases = [(">= 0.85", 0.85), ("> 0.85", 0.85), ("<=3", 3.0), ("≥ 2", 1.0), ("> 0", math.nan)]

    assert [read("BoundText", text).holds(value) for text, value in cases] == [True, False, True, False, False]


def test_quantities_are_written_as_they_are_read():
    assert str(read("BoundText", ">=0.850")) == ">= 0.85"
    assert str(read("ToleranceText", "1.50 %")) == "1.5%"
    assert str(read("ToleranceText", {"absolute": "0.010"})) == "0.01"
    assert str(read("AmountText", "02")) == "2"
    assert str(read("AmountText", "5%")) == "5%"
    assert read("ToleranceText", "1%").allowed(-0.5) == 0.005
    assert read("ToleranceText", {"absolute": "0.01"}).allowed(0.5) == 0.01
    assert [read("AmountText", text).of(60) for text in ("2", "5%")] == [2, 3]
    assert [read("DurationText", text) for text in ("30s", "500ms", "2m", "1.5 h")] == [30, 0.5, 120, 5400]
    assert read("DayText", "2027-04-01") == date(2027, 4, 1)
    assert read("Whole", "20") == 20
    assert read("Number", " -.5e1 ") == -5.0
    assert [read("Flag", text) for text in ("true", "Yes", "off", "no")] == [True, True, False, False]


def test_tolerances_differ_by_slice():
    one, three = Tolerance(0.01), Tolerance(0.03)

    assert read("TolerancesText", "1%") == Tolerances(one)
    assert read("TolerancesText", {"absolute": "0.5"}) == Tolerances(Tolerance(absolute=0.5))
    given = read("TolerancesText", {"head": "1%", "default": "3%"})
    assert given == Tolerances(three, {"head": one})
    assert (given.of("head"), given.of("tail")) == (one, three)
    assert read("TolerancesText", {"head": "1%"}).of("tail") is None
    assert [where for where, _ in complaint("TolerancesText", {"head": "1%", "tail": "3"})] == [("tail",)]


def test_values_that_have_their_type_already_stay():
    values = {
        "BoundText": Bound(">", 1.0),
        "ToleranceText": Tolerance(0.01),
        "TolerancesText": Tolerances(Tolerance(0.01), {"head": Tolerance(0.02)}),
        "AmountText": Amount(count=2),
        "DayText": date(2027, 4, 1),
        "PathText": Path("/data/a.txt"),
        "Flag": True,
        "Whole": 3,
        "Against": STORED,
    }

    assert {kind: read(kind, value) for kind, value in values.items()} == values


def test_the_registry_is_that_of_the_installed_plugins_if_nobody_says_otherwise():
    assert str(TypeAdapter(option_types.MetricText).validate_python("map")) == "AP"


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
