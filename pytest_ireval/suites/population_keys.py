"""The keys that say what the queries of a suite were drawn from."""

from __future__ import annotations

from pydantic import Field, model_validator

from pytest_ireval.suites import editor_types, quantities
from pytest_ireval.suites.options import Options
from pytest_ireval.suites.scalars import UnfitError
from pytest_ireval.suites.values import ShareText, SizesText, Text

NEAR_ALL = 0.01
"""Shares that were rounded may miss 100% by this much."""


class PopulationKeys(Options):
    """What the queries were drawn from."""

    strata: Text = Field(
        "",
        description="A column of the queries: the stratum of each. Rules that decide by evidence then give each "
        "stratum its share.",
        examples=["segment"],
    )
    shares: dict[Text, ShareText] = Field(
        default_factory=dict,
        json_schema_extra={editor_types.WORDS: "mapping of values and shares"},
        description="The share of each stratum in the population; together 100%. Unless given: from the sizes.",
        examples=["{head: 60%, tail: 40%}"],
    )
    size: SizesText = Field(
        default_factory=dict,
        description="How many queries the population has: one number, or one for each stratum.",
        examples=["1000"],
    )

    @model_validator(mode="after")
    def _fits_together(self) -> PopulationKeys:
        by_stratum = bool(self.size) and "" not in self.size
        if self.strata and "" in self.size:
            raise UnfitError(
                "one size for all strata does not say how many queries of each were drawn",
                allowed="allowed: size: {VALUE: 1000, …}, one for each stratum",
            )
        if self.strata and not (self.shares or by_stratum):
            raise UnfitError(
                "the share of each stratum is missing",
                f"add shares: {{VALUE: 60%, …}}, one for each value of {self.strata}",
                "allowed: shares, or size with a number for each stratum",
            )
        if not self.strata and (self.shares or by_stratum):
            what = "shares" if self.shares else "a size for each stratum"
            raise UnfitError(f"{what} needs strata", "add strata: COLUMN, the column that has the stratum of a query")
        if not self.strata and not self.size:
            raise UnfitError("population is empty", allowed="allowed: {size: 1000}, or {strata: COLUMN, shares: {…}}")
        total = sum(self.shares.values())
        if self.shares and abs(total - 1) > NEAR_ALL:
            raise UnfitError(f"the shares sum to {quantities.percent(round(total, 6))}", allowed="allowed: 100%")
        return self
