"""What one check of a rule looks at: the values of its metric on its slice, current and of the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.sides.accepted_chain import AcceptedChain
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Scored, Side
from pytest_ireval.sides.slices import WHOLE, Slice
from pytest_ireval.sides.unjudged_effect import Effects, NoEffects, UnjudgedEffect
from pytest_ireval.statistics.differences import Floats, Mask


@dataclass(eq=False)
class Values:
    """Current values of the units that count: queries, sessions or the whole run. Arrays have an entry for each."""

    all_names: tuple[str, ...]
    """Names of all units, counting or not: the ids of the queries of the suite."""
    rows: Integers
    """The row of each unit that counts among all units."""
    current: Floats

    @property
    def names(self) -> list[str]:
        """Names of those that count."""
        return [self.all_names[row] for row in self.rows.tolist()]


@dataclass(eq=False)
class PairedValues(Values):
    """Values of the units that count on both sides, with the fields of ``Values``."""

    baseline: Floats

    @property
    def gain(self) -> Floats:
        """``current - baseline``."""
        return self.current - self.baseline


@dataclass(eq=False)
class RuleContext:
    """The data that one check looks at, without waived queries."""

    population: Population
    """The queries, with judgments, weights and waivers."""
    current: Side
    """The current rankings, scored: ``context.current.documents("q01")`` lists those of a query."""
    baseline: Side | None
    """What the rule compares with: the stored baseline, or what ``against`` names. None for other rules."""
    part: Part
    """The part of the rule that is checked; ``part.item`` is what ``parts`` stored there."""
    slice: Slice = WHOLE
    """The slice that is checked; ``str(context.slice)`` is its name for messages."""
    stored: Side | None = None
    """The stored baseline, for rules that do not compare but ask what is known; None where there is none."""
    effects: Effects = field(default_factory=NoEffects)
    chain: AcceptedChain | None = None
    """The accepted changes since the anchor; None for rules that do not compare with one."""
    holm_factor: float = 1.0
    """What the p of this check is multiplied by, because the suite has several checks that decide by evidence."""
    tested_checks: int = 0
    """The number of checks of the suite that decide by evidence, where this is one of them."""
    lists_queries: bool = True
    """False where nobody reads the queries behind a verdict, as of the hundreds of rankings of ``ireval self-test``."""

    @property
    def metric(self) -> Metric:
        """The metric that the part is about."""
        if self.part.metric is None:
            raise TypeError("this part of the rule is about no metric")
        return self.part.metric

    @property
    def sign(self) -> int:
        """1 where higher values of the metric are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1

    def values(self) -> Values:
        """The current values, compared with nothing."""
        current = self._find_scores(self.current)
        rows = np.flatnonzero(self._mark_units(current) & ~np.isnan(current.values))
        return Values(current.names, rows, current.values[rows])

    def paired_values(self) -> PairedValues:
        """The values of units that have one on both sides."""
        current, baseline = self._find_scores(self.current), self._find_scores(self._compared_side)
        old_values = baseline.values
        if current.names != baseline.names:
            by_name = dict(zip(baseline.names, baseline.values.tolist(), strict=True))
            old_values = np.array([by_name.get(name, np.nan) for name in current.names], np.float64)
        rows = np.flatnonzero(self._mark_units(current) & ~np.isnan(current.values) & ~np.isnan(old_values))
        return PairedValues(current.names, rows, current.values[rows], old_values[rows])

    def paired_rows(self) -> Integers:
        """Rows, among the queries of the suite, of those of the slice that have a ranking on both sides."""
        queries = self.population.queries
        are_ranked = self.current.mark_ranked(queries) & self._compared_side.mark_ranked(queries)
        return np.flatnonzero(self.population.mask(self.slice) & are_ranked)

    def unjudged_effect(self) -> UnjudgedEffect | None:
        """What judgments of unjudged documents could change; None where they matter to no value of the metric."""
        return self.effects.measure(self.metric)

    @property
    def correction(self) -> float:
        """What a p is multiplied by for the suite's other checks, and for earlier comparisons with the anchor."""
        return self.holm_factor * (1.0 if self.chain is None else self.chain.look_factor)

    def adjust_p(self, p: float) -> float:
        """The p of this check, corrected: it may be compared with 0.05 as if this were the only check."""
        return min(1.0, p * self.correction)

    @property
    def _compared_side(self) -> Side:
        if self.baseline is None:
            raise TypeError("this rule has no baseline to compare with: make its options a class of ComparingOptions")
        return self.baseline

    def _find_scores(self, side: Side) -> Scored:
        name = str(self.metric)
        if name in side.errors:
            raise side.errors[name]
        return side.scored[name]

    def _mark_units(self, scores: Scored) -> Mask:
        if scores.metric.unit == "query":
            return self.population.mask(self.slice)
        # Sessions and whole runs were scored without waived queries, and suites that want slices of them are refused.
        return np.ones(len(scores.names), bool)
