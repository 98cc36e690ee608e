"""What a rule returns, and the numbers and lines that follow from its figures alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_ireval.results.outcome import QueryChange, SliceFigures
from pytest_ireval.words import format_count, format_p, format_percent

RuleVerdict = Literal["pass", "warn", "known_failure", "inconclusive", "stale", "fail"]
"""``warn`` passes, but a reader should look at it; ``known_failure`` is a failure that the suite announces, and is not
red. ``stale`` fails because the rule is about something that does not exist any more. A rule that cannot be checked
raises an exception."""


@dataclass
class RuleResult:
    """The verdict of a rule in one sentence, with its figures and the queries that explain it."""

    verdict: RuleVerdict
    headline: str
    """The result in one sentence, with figures, the metric and the slice."""
    figures: tuple[SliceFigures, ...] = ()
    """The line that decides first, then others to compare it with."""
    queries: tuple[QueryChange, ...] = ()
    """The queries that explain the verdict, the worst first; ``list_query_changes`` makes them."""
    more_queries: int = 0
    """The number of queries that ``queries`` leaves out."""
    queries_title: str = "worst queries"
    """The title of the list of queries."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """For programs; those of a change within a tolerance are added."""
    sentence: str = ""
    """The result for a reader who does not know the metric."""
    facts: tuple[str, ...] = ()
    """Further facts, a line each."""
    statistics: tuple[str, ...] = ()
    """Lines for readers who know statistics, which reports fold; those of a change within a tolerance are added."""


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


def describe_statistics(figures: SliceFigures, tested_checks: int) -> Iterator[str]:
    """The lines about a change within a tolerance; ``tested_checks`` are corrected together."""
    if figures.tolerance is None:
        return
    if figures.adjusted is None and figures.false_alarm is not None:
        often = f"{format_percent(figures.false_alarm)} of the time"
        yield f"with this spread, a harmless change would exceed the tolerance {often}"
    if figures.p is not None:
        p = format_p_of_checks(figures.p, figures.adjusted, tested_checks)
        yield f"{p}; {figures.worse + figures.better} of {figures.queries} changed"
    if figures.effective is not None:
        yield f"weighted by searches: equivalent to {format_count(round(figures.effective), 'query')} of equal weight"


def format_p_of_checks(p: float, adjusted: float | None, tested_checks: int) -> str:
    """``p .004, corrected for 2 verdicts .008``; without the correction where it is unknown or there is one check."""
    if adjusted is None or tested_checks <= 1:
        return f"p {format_p(p)}"
    return f"p {format_p(p)}, corrected for {tested_checks} verdicts {format_p(adjusted)}"
