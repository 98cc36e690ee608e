"""The current rankings beside those of a reference, scored over the same queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.queries_and_judgments import Collection
from pytest_ireval.gate.score_rankings import QueryIds, add_overlaps, share_queries, share_stage_judgments
from pytest_ireval.gate.unjudged import UnjudgedEffects
from pytest_ireval.results.outcome import Cause
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.unjudged_effect import Effects, NoEffects


@dataclass(eq=False)
class ComparedSides:
    """The current rankings and those that a rule compares them with."""

    current: Side
    """With the metrics that compare its lists with those of the baseline."""
    baseline: Side
    effects: Effects = field(default_factory=NoEffects)

    def has_values(self, metric: str) -> bool:
        """Tell whether a metric was computed on both sides."""
        return self.current.has_values(metric) and self.baseline.has_values(metric)


@dataclass(eq=False)
class ScoredReference:
    """What a rule compares with, in one of four cases.

    * ``comparison`` alone: it was scored, and rules compare with it. Only this case is ``trusted``.
    * ``comparison`` and ``problem``: it was scored, but does not fit the suite any more. Reports may show it.
    * ``problem`` alone: it could not be read, fetched or scored.
    * neither: nothing was accepted yet, or the file was ``deleted`` since the last commit.
    """

    comparison: ComparedSides | None = None
    problem: IrevalError | None = None
    """The reason why rules cannot compare with it."""
    deleted: Path | None = None
    """The file that the last commit has, where there is none here."""
    cause: Cause | None = None
    """The changes since it was accepted; None for other sources."""
    redefined: Mapping[str, IrevalError] = field(default_factory=dict)
    """Metrics whose definition is not that of the acceptance, although their version is."""
    notes: tuple[str, ...] = ()
    acceptances: tuple[Acceptance, ...] = ()
    """Of an anchor: the acceptances of the baseline since it was pinned."""
    is_versus: bool = False
    """True if it is the rankings of another commit, and no baseline that can be accepted again."""

    @property
    def trusted(self) -> ComparedSides | None:
        """The comparison that rules may rest on; None where there is none, or a reason not to trust it."""
        return self.comparison if self.problem is None else None

    @property
    def is_missing(self) -> bool:
        """True if there is nothing yet to compare with, and no reason why."""
        return self.comparison is None and self.problem is None


def compare(collection: Collection, current: Side, baseline: Side, unknown: QueryIds) -> ComparedSides:
    """Complete both sides for rules that compare them; ``unknown`` are queries that the baseline does not have."""
    ours, theirs = share_queries(collection, current, baseline, unknown)
    ours, theirs = share_stage_judgments(collection, ours, theirs, unknown)
    ours = add_overlaps(collection, ours, theirs)
    return ComparedSides(ours, theirs, UnjudgedEffects(collection, ours, theirs))
