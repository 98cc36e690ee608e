"""A document that nobody judged, and what a judgment of it would do to a verdict."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ToJudge:
    """A pair to judge."""

    query: str
    document: str
    metric: str
    """The metric of the verdict that hangs on it."""
    effect: float
    """By how much the query's ``now - baseline`` would move if the document were as good as can be."""
    text: str = ""
    """The query's."""
    now: int | None = None
    """Its rank; None where it does not stand in the first ``depth``."""
    baseline: int | None = None
