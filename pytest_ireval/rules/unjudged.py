"""What documents that nobody judged leave open: the same differences under other labels of theirs."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_ireval.results.to_judge import ToJudge
from pytest_ireval.rules.side import Floats


@dataclass(frozen=True, eq=False)
class Unjudged:
    """One metric on both sides; arrays have an entry for each query of the suite, NaN where a side has no value.

    A document that is unjudged on both sides has the same label on both.
    """

    condensed_now: Floats
    """Values with the unjudged documents taken out of the rankings; NaN where that leaves nothing."""
    condensed_before: Floats
    worst: Floats
    """``now - before``, whatever the metric's direction, where labels are as bad for the change as can be."""
    best: Floats
    """The same where they are as good as can be."""
    exact: bool
    """Whether no labels give more or less than ``worst`` and ``best``."""
    error: str = ""
    """Why nothing can be said, the arrays being NaN: a metric that cannot be computed under labels that nobody gave."""
    documents: tuple[ToJudge, ...] = ()
    """Those whose judgment would move the metric's difference, the most influential first."""
