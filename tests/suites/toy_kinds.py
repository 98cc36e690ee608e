"""Kinds of rules and sources for tests, shaped like those that plugins bring."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, model_validator

from pytest_ireval.options import (
    AmountText,
    BoundText,
    ComparingOptions,
    MetricText,
    Number,
    PathTexts,
    RuleOptions,
    SourceOptions,
    Text,
    Texts,
    TolerancesText,
    Whole,
)
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.kinds import Part, rule, source
from pytest_ireval.plugins.registry import registered
from pytest_ireval.suites.options import Options


class ThresholdOptions(RuleOptions):
    metric: MetricText | None = Field(None, description="The metric.")
    min: Number | None = Field(None, description="The least value.")
    limits: dict[MetricText, BoundText] = Field(default_factory=dict, description="Short form.")

    @model_validator(mode="before")
    @classmethod
    def _short(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {
            **{key: value for key, value in data.items() if key in cls.model_fields},
            "limits": {key: value for key, value in data.items() if key not in cls.model_fields},
        }


def parts_of_threshold(options):
    if options.metric is not None:
        yield Part(metric=options.metric, place=("metric",))
    for metric in options.limits:
        yield Part(metric=metric, place=(str(metric),))


@rule(name="threshold", options=ThresholdOptions, parts=parts_of_threshold)
def threshold(options, seen):
    """A metric reaches a value."""


class NoRegressionOptions(ComparingOptions):
    metric: MetricText = Field(description="The metric.")
    tolerance: TolerancesText = Field(description="How far it may fall.")
    decide_by: Literal["observed", "evidence"] = Field("observed", description="What decides.")

    @model_validator(mode="after")
    def _slices(self) -> "NoRegressionOptions":
        if self.tolerance.by_value and not self.per:
            raise ValueError("a tolerance for each value needs per")
        return self


@rule(name="no_regression", options=NoRegressionOptions, compares=True)
def no_regression(options, seen):
    """A metric does not fall."""


class ChurnOptions(ComparingOptions):
    at_most: AmountText = Field(description="How many.")


@rule(name="churn", options=ChurnOptions, compares=True, judged=False)
def churn(options, seen):
    """Lists stay as they are."""


class Expectation(Options):
    query: Text = Field(description="The query.")
    never: Texts = Field((), description="Documents.")
    top: Whole = Field(10, description="How many.")


class ExpectOptions(RuleOptions):
    expectations: tuple[Expectation, ...] = Field(description="What is expected.")

    @model_validator(mode="before")
    @classmethod
    def _list(cls, data: Any) -> Any:
        return {"expectations": data} if isinstance(data, list) else data


def parts_of_expect(options):
    return [Part(label=each.query, asked=each, place=(n,)) for n, each in enumerate(options.expectations)]


@rule(name="expect", options=ExpectOptions, parts=parts_of_expect, judged=False, slices=False)
def expect(options, seen):
    """Documents stand where they are wanted."""


class RunOptions(SourceOptions):
    run: PathTexts = Field(description="Files of rankings.")
    format: Text = Field("", description="Their format.")


@source(name="run", options=RunOptions)
def run(options, request):
    """Rankings that a file holds."""


class PythonOptions(SourceOptions):
    python: Text = Field(description="module:function")
    timeout: Number = Field(30.0, description="Seconds.")


@source(name="python", options=PythonOptions)
def python(options, request):
    """Rankings that a function returns."""


RULES = [threshold, no_regression, churn, expect]
SOURCES = [run, python]


BEGINNING = "ireval: 1\nsuite: shop\nsource: {run: c.trec}\n"


def with_kinds(registry, rules, sources):
    """The registry with other kinds than the installed ones."""
    origin = Origin("toys", "toys", "1.0")
    brought = [(origin, sources)], [(origin, rules)], ()
    kinds = registered([(origin, registry.metrics.values())], [origin], (), lambda: brought)
    return replace(registry, kinds_when_asked=kinds.kinds_when_asked)
