"""Types for the options of rules and sources of plugins; they read and check the values of a suite."""

from __future__ import annotations

from pytest_ireval.suite.option_types import (
    Against,
    AmountText,
    BoundText,
    DayText,
    DurationText,
    Filter,
    Flag,
    MetricText,
    MetricTexts,
    Number,
    PathText,
    PathTexts,
    SecretText,
    Text,
    Texts,
    TolerancesText,
    ToleranceText,
    Whole,
)
from pytest_ireval.suite.options import (
    AlwaysEvidenceOptions,
    ComparingOptions,
    EvidenceOptions,
    Looser,
    RuleFacts,
    RuleOptions,
    SourceOptions,
)
from pytest_ireval.suite.scalars import UnfitError

__all__ = [
    "Against",
    "AlwaysEvidenceOptions",
    "AmountText",
    "BoundText",
    "ComparingOptions",
    "DayText",
    "DurationText",
    "EvidenceOptions",
    "Filter",
    "Flag",
    "Looser",
    "MetricText",
    "MetricTexts",
    "Number",
    "PathText",
    "PathTexts",
    "RuleFacts",
    "RuleOptions",
    "SecretText",
    "SourceOptions",
    "Text",
    "Texts",
    "ToleranceText",
    "TolerancesText",
    "UnfitError",
    "Whole",
]
