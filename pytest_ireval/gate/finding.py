"""The finding of one check, before it becomes an outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_ireval.errors import IrevalError, format_error_lines
from pytest_ireval.results.outcome import QueryChange, SliceFigures, Verdict


@dataclass(frozen=True)
class Finding:
    """The finding of one check: its verdict, the headline and the evidence; the outcome adds the place and the name."""

    verdict: Verdict
    headline: str
    """With figures: ``nDCG@10 fell 31.1% on segment=tail (tolerance 3%)``."""
    sentence: str = ""
    figures: tuple[SliceFigures, ...] = ()
    queries: tuple[QueryChange, ...] = ()
    """The worst first; :meth:`RuleContext.change` makes one."""
    more_queries: int = 0
    """The number of queries that ``queries`` leaves out."""
    worst: str = "worst queries"
    facts: tuple[str, ...] = ()
    warning: bool = False
    """True if a reader should look although the verdict is pass."""
    broken: bool = False
    """True if the rule does not hold although the verdict is pass, as of a known failure."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    statistics: tuple[str, ...] = ()
    """Facts for readers who know statistics; reports fold them."""


def describe_error(error: IrevalError) -> Finding:
    """An error in the shape of a finding: its first line is the headline."""
    first, *others = format_error_lines(error)
    return Finding("error", first, facts=tuple(line.strip() for line in others))
