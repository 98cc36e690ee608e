"""The view of a rule: the values of its metric on its slice, now and in the baseline, and the documents behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baseline.record import Step
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.results.outcome import Placed, QueryChange
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.rules.side import WHOLE, Floats, Population, Scored, Side, Slice
from pytest_ireval.statistics.looks import correlation_of_looks, levels_of_looks
from pytest_ireval.statistics.resolution import LEVEL


class JudgedThere(NamedTuple):
    """Judged documents of both sides at the ranks of new unjudged ones; arrays have an entry for each.

    ``place`` is the query's place among those of the suite. ``relevant`` is true if judges found the document
    relevant; for metrics of grades, if they gave it the top grade.
    """

    place: NDArray[np.int64]
    rank: NDArray[np.int64]
    relevant: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Unjudged:
    """One metric on both sides; arrays have an entry for each query of the suite, NaN where a side has no value.

    A document that is unjudged on both sides has the same label on both.
    """

    condensed_now: Floats
    """Values with the unjudged documents taken out of the rankings; NaN where that leaves nothing."""
    condensed_before: Floats
    worst: Floats
    """``now - before``, whatever the metric's direction, with the worst labels for the change."""
    best: Floats
    """``now - before`` with the best labels for the change."""
    exact: bool
    """True if no labels give more or less than ``worst`` and ``best``; else these are approximate."""
    error: str = ""
    """The error of a metric that cannot be computed under other labels; the arrays are NaN then."""
    documents: tuple[ToJudge, ...] = ()
    """Those whose judgment would move the metric's difference, the most influential first."""
    all_new: Floats | None = None
    """``now - before`` where the unjudged documents that the baseline does not list have the top label."""
    there: JudgedThere | None = None
    top_grade: float | None = None
    """The top label; None where relevant documents are all alike to the metric, or to the judges."""
    below: int | None = None
    """Unjudged documents below this rank in both lists count as judged; None where there are none."""


class Values(NamedTuple):
    """Values of units that count: their places among all units, now; and before, where they are paired."""

    all_names: tuple[str, ...]
    """Of all units, counting or not."""
    place: NDArray[np.int64]
    now: Floats
    before: Floats

    @property
    def names(self) -> list[str]:
        """Of those that count."""
        return [self.all_names[place] for place in self.place.tolist()]

    @property
    def gain(self) -> Floats:
        """``now - before``."""
        return self.now - self.before


@dataclass(frozen=True, eq=False)
class RuleContext:
    """The data that one check looks at, without waived queries."""

    population: Population
    now: Side
    baseline: Side | None
    """The reference side; None for rules that do not compare."""
    part: Part
    slice: Slice = WHOLE
    adjusted: float | None = None
    """The p of this verdict's evidence, corrected for all rules of the suite that decide by evidence; None: no p."""
    tests: int = 0
    """The number of such verdicts of the suite."""
    unjudged: Callable[[Metric], Unjudged | None] = lambda _metric: None
    """The possible effect of unjudged documents on a metric; None where there are none. Made when asked for."""
    walk: Walk | None = None
    """The way of the mean here from the anchor; None for rules that do not compare with it."""

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

    def of(self, within: Slice) -> RuleContext:
        """The same view of another slice."""
        return replace(self, slice=within)

    def scored(self, side: Side) -> Scored:
        """The metric on one side; raises the error if it could not be computed."""
        name = str(self.metric)
        if name in side.errors:
            raise side.errors[name]
        return side.scored[name]

    def values(self) -> Values:
        """The current values; ``before`` has the same ones."""
        found = self.scored(self.now)
        place = np.flatnonzero(self._inside(found) & ~np.isnan(found.values))
        return Values(found.names, place, found.values[place], found.values[place])

    @property
    def _compared(self) -> Side:
        if self.baseline is None:
            raise TypeError("this rule has no baseline to compare with: declare it with compares=True")
        return self.baseline

    def paired(self) -> Values:
        """Values of units that have one on both sides."""
        baseline = self._compared
        now = baseline.counterpart.get(str(self.metric)) or self.scored(self.now)
        before = self.scored(baseline)
        their = before.values if now.names == before.names else _by_name(before, now.names)
        both = self._inside(now) & ~np.isnan(now.values) & ~np.isnan(their)
        place = np.flatnonzero(both)
        return Values(now.names, place, now.values[place], their[place])

    def on_both_sides(self) -> NDArray[np.int64]:
        """Places, among the queries of the suite, of those of the slice that have a ranking now and in the baseline."""
        ids, now, before = self.population.queries.ids, self.now.position, self._compared.position
        places = np.flatnonzero(self.population.mask(self.slice)).tolist()
        return np.array([place for place in places if ids[place] in now and ids[place] in before], np.int64)

    def _inside(self, found: Scored) -> NDArray[np.bool_]:
        if found.metric.unit == "query":
            return self.population.mask(self.slice)
        return np.ones(len(found.names), bool)

    def changes(self, values: Values, rows: Iterable[int], notes: Sequence[str] = ()) -> tuple[QueryChange, ...]:
        """The changes of some units, given as rows of ``values``, with their documents."""
        compared = self.baseline is not None and "reference" not in self.metric.needs
        made = []
        for i, row in enumerate(rows):
            before = float(values.before[row]) if compared else None
            note = notes[i] if notes else ""
            if self.metric.unit == "query":
                change = self.change(int(values.place[row]), note)
            else:
                change = QueryChange(values.all_names[values.place[row]], "", None, note=note)
            made.append(replace(change, now=float(values.now[row]), baseline=before))
        return tuple(made)

    def change(self, place: int, note: str = "") -> QueryChange:
        """One query, by its place among the queries of the suite, with its documents."""
        queries, weights = self.population.queries, self.population.weights
        query = queries.ids[place]
        placed = self.placed(query)
        ranked_now = sorted((each for each in placed if each.now is not None), key=lambda each: each.now or 0)
        return QueryChange(
            query=query,
            text=queries.text[place],
            now=None,
            weight=None if weights is None else float(weights[place]),
            best=best_of(placed) if self.baseline is None else self._fallen(placed),
            top=tuple(ranked_now[:3]),
            note=note,
        )

    def _fallen(self, placed: Iterable[Placed]) -> Placed | None:
        """The relevant document whose fall weighs most, by grade and rank; None if none fell where the metric looks.

        Where the metric says what each document adds to the change, the gate puts the document that cost most here.
        """
        metric = self.part.metric
        if metric is not None and not metric.judged and "reference" not in metric.needs:
            return None  # such as a time, which no relevant document costs
        cutoff = metric.settings.get("cutoff") if metric is not None else None
        limit = cutoff if isinstance(cutoff, int) else self.now.depth

        def weight(rank: int | None) -> float:
            return 0.0 if rank is None or rank > limit else 1 / math.log2(1 + rank)

        fallen = [((each.grade or 0.0) * (weight(each.baseline) - weight(each.now)), each) for each in placed]
        loss, document = max(fallen, key=lambda pair: pair[0], default=(0.0, None))
        return document if loss > 0 else None

    def placed(self, query: str) -> tuple[Placed, ...]:
        """The documents of a query on both sides, with grades; those of the current ranking first."""
        return self.now.remembered((query, id(self.baseline)), lambda: self._placed(query))

    def _placed(self, query: str) -> tuple[Placed, ...]:
        grades = self.population.grades(query)
        now = self.now.documents(query)
        before = self.baseline.documents(query) if self.baseline is not None else []
        rank_now = {document: rank for rank, document in enumerate(now, 1)}
        rank_before = {document: rank for rank, document in enumerate(before, 1)}
        return tuple(
            Placed(document, grades.get(document), rank_now.get(document), rank_before.get(document))
            for document in dict.fromkeys((*now, *before))
        )


def _by_name(found: Scored, names: Sequence[str]) -> Floats:
    """The values of units with these names; NaN for one that is not there."""
    known = dict(zip(found.names, found.values.tolist(), strict=True))
    return np.array([known.get(name, np.nan) for name in names], np.float64)


def best_of(placed: Iterable[Placed], *, before: bool = False) -> Placed | None:
    """The first document with the highest grade above 0, in the current ranking or in that ``before``."""
    listed = [
        (-(each.grade or 0.0), rank, each)
        for each in placed
        if (each.grade or 0.0) > 0 and (rank := each.baseline if before else each.now) is not None
    ]
    return min(listed, key=lambda entry: entry[:2])[2] if listed else None


@dataclass(frozen=True)
class AcceptedChange:
    """An acceptance since the anchor."""

    date: str
    reason: str
    step: Step | None
    """None: the acceptance kept no figures of this mean."""

    @property
    def moved(self) -> bool:
        """True if it may have moved the mean: one that kept no figures counts."""
        return self.step is None or self.step.spread > 0 or self.step.change != 0


@dataclass(frozen=True)
class Walk:
    """The way of a mean from the anchor to the current rankings, read from committed acceptances."""

    accepted: tuple[AcceptedChange, ...] = ()
    """Those that moved the mean, the oldest first."""
    moving: bool = True
    """True if the current rankings differ from the last accepted ones, so that this run is one more look."""
    step: Step | None = None
    """From the last acceptance to now; None where the stored baseline does not fit the suite."""

    @property
    def looks(self) -> int:
        """The number of comparisons of the mean with the anchor, this one included."""
        return max(1, len(self.accepted) + self.moving)

    @property
    def unknown(self) -> int:
        """The number of accepted changes that kept no figures."""
        return sum(each.step is None for each in self.accepted)

    def correlations(self) -> Iterator[float]:
        """Of each look with the next; where an acceptance kept no figures, as if all steps were alike."""
        steps = [*(each.step for each in self.accepted), *([self.step] if self.moving else [])]
        for look, (before, after) in enumerate(pairwise(steps), 2):
            if before is None or after is None:
                yield math.sqrt((look - 1) / look)
            else:
                yield correlation_of_looks(before.from_anchor, after.from_anchor, after.spread)

    @property
    def levels(self) -> tuple[float, ...]:
        """The level of each look so far; this one is tested at the last one."""
        return levels_of_looks(tuple(self.correlations()), LEVEL)
