"""What a rule says: a verdict, a headline with figures, a sentence for everybody, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_ireval.results.outcome import QueryChange, SliceFigures, Verdict


@dataclass(frozen=True)
class Ruling:
    """What a rule's function returns; the gate adds where the rule stands and what all rules have in common."""

    verdict: Verdict
    headline: str
    """With figures: ``nDCG@10 fell 31.1% on segment=tail (tolerance 3%)``."""
    sentence: str = ""
    figures: tuple[SliceFigures, ...] = ()
    queries: tuple[QueryChange, ...] = ()
    """The worst first; :meth:`Seen.change` makes one."""
    more_queries: int = 0
    """How many more there are than ``queries`` lists."""
    worst: str = "worst queries"
    facts: tuple[str, ...] = ()
    warning: bool = False
    """Whether a reader should look although the verdict is pass."""
    numbers: Mapping[str, float] = field(default_factory=dict)


def percent(share: float) -> str:
    """``3.4%``; a figure that rounds to nothing keeps two digits."""
    shown = f"{100 * share:.1f}%"
    return shown if shown.strip("-+0.%") or share == 0 else f"{100 * share:.2g}%"
