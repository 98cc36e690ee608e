"""What every kind of rule and source takes, and the models their own options are made from."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_ireval.suites.values import STORED, Against, Filter, Text, Texts, Whole


class Options(BaseModel):
    """A mapping of a suite: frozen, and a key it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class RuleOptions(Options):
    """What can be said of every rule."""

    name: Text = Field("", description="Becomes part of the ids of its tests.")
    where: Filter = Field(
        default_factory=dict, description="Only queries whose columns have these values: {segment: tail}."
    )
    per: Text = Field("", description="A column of the queries: one verdict for each of its values.")
    tags: Texts = Field((), description="Marks of its tests: pytest --ireval -m nightly.")
    on_fail: Literal["fail", "warn"] = Field("fail", description="warn: reported and never red.")
    min_queries: Whole = Field(1, description="A slice with fewer queries is reported and not judged.")


class ComparingOptions(RuleOptions):
    """What can be said of every rule that looks at a baseline."""

    against: Against = Field(STORED, description="baseline, or {run: file}: another reference than the stored one.")


class SourceOptions(Options):
    """What can be said of every source."""

    repeat: Whole = Field(1, description="How often it is asked: a query's value is the mean of all answers.")
