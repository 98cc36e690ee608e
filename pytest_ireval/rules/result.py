"""What a rule returns, and the numbers and lines that follow from its figures alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_ireval.results.outcome import QueryChange, SliceFigures, Verdict
from pytest_ireval.words import format_count, format_p, format_percent


@dataclass(frozen=True)
class RuleResult:
    """The verdict of a rule with its figures; the kind's ``describe`` makes the sentence of it."""

    verdict: Verdict
    figures: tuple[SliceFigures, ...] = ()
    """The line that decides first, then others to compare it with."""
    queries: tuple[QueryChange, ...] = ()
    """The queries that explain the verdict, the worst first; ``context.query_changes(…)`` makes them."""
    more_queries: int = 0
    """The number of queries that ``queries`` leaves out."""
    queries_title: str = "worst queries"
    numbers: Mapping[str, float] = field(default_factory=dict)
    """For programs; those of a change within a tolerance are added."""
    sentence: str = ""
    """The result for a reader who does not know the metric."""
    notes: tuple[str, ...] = ()
    """Further facts, a line each."""
    statistics: tuple[str, ...] = ()
    """Lines for readers who know statistics, which reports fold; those of a change within a tolerance are added."""
    warning: bool = False
    """True if a reader should look although the verdict is pass."""
    broken: bool = False
    """True if the rule does not hold although the verdict is pass, as of a known failure."""
    details: Any = None
    """What ``describe`` needs beside the figures. It is not kept."""


def list_numbers(figures: SliceFigures) -> dict[str, float]:
    """The numbers of a change within a tolerance."""
    if figures.tolerance is None:
        return {}
    numbers = {
        "value": figures.now,
        "baseline": figures.baseline,
        "change": figures.change,
        "tolerance": figures.tolerance,
    }
    return {name: value for name, value in numbers.items() if value is not None}


def describe_statistics(figures: SliceFigures, verdicts: int) -> Iterator[str]:
    """The lines about a change within a tolerance; ``verdicts`` is the number of those that are corrected together."""
    if figures.tolerance is None:
        return
    if figures.adjusted is None and figures.false_alarm is not None:
        often = f"{format_percent(figures.false_alarm)} of the time"
        yield f"with this spread, a harmless change would exceed the tolerance {often}"
    if figures.p is not None:
        corrected = ""
        if figures.adjusted is not None and verdicts > 1:
            corrected = f", corrected for {verdicts} verdicts {format_p(figures.adjusted)}"
        yield (f"p {format_p(figures.p)}{corrected}; {figures.worse + figures.better} of {figures.queries} changed")
    if figures.effective is not None:
        yield f"weighted by searches: equivalent to {format_count(round(figures.effective), 'query')} of equal weight"
