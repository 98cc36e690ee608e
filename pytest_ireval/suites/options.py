"""What every kind of rule and source takes, and the models their own options are made from."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from pytest_ireval.suites.loosening import LESS, MORE, words
from pytest_ireval.suites.values import STORED, Against, Filter, Flag, Number, Text, Texts, Whole

FEWEST_FOR_EVIDENCE = 20
"""Fewer queries of a slice are no evidence of anything, unless the rule says otherwise."""


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
    on_fail: Annotated[Literal["fail", "warn"], words("fail", "warn")] = Field(
        "fail", description="warn: reported and never red."
    )
    min_queries: Annotated[Whole, MORE] = Field(1, description="A slice with fewer queries is reported and not judged.")

    @property
    def fewest(self) -> int:
        """How many queries a slice needs to be judged."""
        return self.min_queries

    @property
    def judges_few(self) -> bool:
        """Whether the rule itself says what follows on a slice with fewer queries than that."""
        return False


class ComparingOptions(RuleOptions):
    """What can be said of every rule that looks at a baseline."""

    against: Against = Field(
        STORED, description="baseline, anchor, or {run: file}: another reference than the stored one."
    )


class EvidenceOptions(ComparingOptions):
    """What can be said of every rule that evidence can decide."""

    decide_by: Annotated[Literal["observed", "evidence"], words("observed", "evidence")] = Field(
        "observed",
        description="What decides: the change that was observed, or what these queries are evidence for.",
    )
    alpha: Annotated[Number, LESS] = Field(
        0.05, gt=0, le=0.25, description="With evidence: how often chance may turn a harmless change red."
    )
    on_inconclusive: Annotated[Literal["warn", "observed", "fail"], words("fail", "observed", "warn")] = Field(
        "warn",
        description="With evidence, where these queries cannot tell: a warning, or the observed change decides, or it "
        "fails. The last two turn many harmless changes red.",
    )
    looks: Annotated[Whole, MORE] = Field(
        20, description="With evidence and against: anchor: how many accepted changes alpha is to last for."
    )

    @property
    def by_evidence(self) -> bool:
        """Whether evidence decides."""
        return self.decide_by == "evidence"

    @property
    def fewest(self) -> int:
        """How many queries a slice needs to be judged: evidence needs more of them."""
        given = "min_queries" in self.model_fields_set
        return FEWEST_FOR_EVIDENCE if self.by_evidence and not given else self.min_queries

    @property
    def judges_few(self) -> bool:
        """Whether a slice with too few queries gets a verdict: with ``on_inconclusive: fail`` it must not be passed."""
        return self.by_evidence and self.on_inconclusive == "fail"

    @model_validator(mode="after")
    def _evidence_is_asked(self) -> EvidenceOptions:
        asked = [name for name in ("alpha", "on_inconclusive", "looks") if name in self.model_fields_set]
        if asked and not self.by_evidence:
            raise ValueError(f"{asked[0]} is for rules that decide by evidence: add decide_by: evidence")
        if "looks" in self.model_fields_set and not self.against.anchored:
            raise ValueError("looks is for rules that compare with the anchor: add against: anchor")
        return self


class WeightedOptions(RuleOptions):
    """What can be said of every rule about a mean."""

    weighted: Flag = Field(
        False, description="Each query counts as often as it is asked: by the column that weight names in the suite."
    )


class SourceOptions(Options):
    """What can be said of every source."""

    repeat: Whole = Field(1, description="How often it is asked: a query's value is the mean of all answers.")
