"""The view of a rule: the values of its metric on its slice, now and in the baseline, and the documents behind them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.results.outcome import Placed, QueryChange
from pytest_ireval.rules.accepted_chain import AcceptedChain
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.rules.slices import WHOLE, Slice
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.differences import Floats


@dataclass(frozen=True, eq=False)
class Values:
    """Current values of the units that count, which are queries, sessions or the whole run."""

    all_names: tuple[str, ...]
    """Of all units, counting or not."""
    place: NDArray[np.int64]
    """The places of those that count among all units."""
    now: Floats

    @property
    def names(self) -> list[str]:
        """Of those that count."""
        return [self.all_names[place] for place in self.place.tolist()]


@dataclass(frozen=True, eq=False)
class ValuesOnBothSides(Values):
    """Values of the units that count on both sides; with the fields of ``Values``."""

    before: Floats

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
    stored: Side | None = None
    """The stored baseline, for rules that do not compare but ask what is known; None where there is none."""
    adjusted_p: float | None = None
    """The p of this verdict's evidence, corrected for all rules of the suite that decide by evidence; None: no p."""
    tested_verdicts: int = 0
    """The number of verdicts of the suite that have such a p."""
    unjudged: Callable[[Metric], UnjudgedEffect | None] = lambda _metric: None
    """The possible effect of unjudged documents on a metric; None where there are none. Made when asked for."""
    chain: AcceptedChain | None = None
    """The accepted changes since the anchor; None for rules that do not compare with one."""

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

    def with_slice(self, slice_: Slice) -> RuleContext:
        """The same view of another slice."""
        return replace(self, slice=slice_)

    def find_scores(self, side: Side) -> Scored:
        """The metric on one side; raises the error if it could not be computed."""
        name = str(self.metric)
        if name in side.errors:
            raise side.errors[name]
        return side.scored[name]

    def values(self) -> Values:
        """The current values, compared with nothing."""
        scores = self.find_scores(self.now)
        place = np.flatnonzero(self._mark_units(scores) & ~np.isnan(scores.values))
        return Values(scores.names, place, scores.values[place])

    @property
    def _reference(self) -> Side:
        if self.baseline is None:
            raise TypeError("this rule has no baseline to compare with: declare it with compares=True")
        return self.baseline

    def paired_values(self) -> ValuesOnBothSides:
        """Values of units that have one on both sides, with the fields of ``context.values()``."""
        now = self.find_scores(self.now)
        before = self.find_scores(self._reference)
        values_before = before.values
        if now.names != before.names:
            by_name = dict(zip(before.names, before.values.tolist(), strict=True))
            values_before = np.array([by_name.get(name, np.nan) for name in now.names], np.float64)
        place = np.flatnonzero(self._mark_units(now) & ~np.isnan(now.values) & ~np.isnan(values_before))
        return ValuesOnBothSides(now.names, place, now.values[place], values_before[place])

    def places_on_both_sides(self) -> NDArray[np.int64]:
        """Places, among the queries of the suite, of those of the slice that have a ranking now and in the baseline."""
        ids, now, before = self.population.queries.ids, self.now.position, self._reference.position
        places = np.flatnonzero(self.population.mask(self.slice)).tolist()
        return np.array([place for place in places if ids[place] in now and ids[place] in before], np.int64)

    def _mark_units(self, scores: Scored) -> NDArray[np.bool_]:
        if scores.metric.unit == "query":
            return self.population.mask(self.slice)
        return np.ones(len(scores.names), bool)

    def query_changes(
        self, values: Values, rows: Iterable[int], notes: Sequence[str] = (), *, documents: bool = True
    ) -> tuple[QueryChange, ...]:
        """The changes of some units, given as rows of ``values``, with their documents unless they are not wanted."""
        # A metric such as Overlap@10 already compares both sides: the baseline's lists have no value of their own.
        paired = values if isinstance(values, ValuesOnBothSides) and "reference" not in self.metric.needs else None
        changes = []
        for i, row in enumerate(rows):
            note = notes[i] if notes else ""
            if self.metric.unit == "query":
                change = self.query_change(int(values.place[row]), note, documents=documents)
            else:
                change = QueryChange(values.all_names[values.place[row]], "", None, note=note)
            before = None if paired is None else float(paired.before[row])
            changes.append(replace(change, now=float(values.now[row]), baseline=before))
        return tuple(changes)

    def query_change(self, place: int, note: str = "", *, documents: bool = True) -> QueryChange:
        """One query, by its place among the queries of the suite, with its documents unless they are not wanted."""
        queries, weights = self.population.queries, self.population.weights
        query = queries.ids[place]
        placed = self.placed_documents(query) if documents else ()
        return QueryChange(
            query=query,
            text=queries.text[place],
            now=None,
            weight=None if weights is None else float(weights[place]),
            best=find_best_document(placed) if self.baseline is None else self._find_costliest_document(placed),
            top=tuple(document for document in placed[:3] if document.now is not None),
            note=note,
        )

    def _find_costliest_document(self, documents: Iterable[Placed]) -> Placed | None:
        """The relevant document whose fall weighs most, by grade and rank; None if none fell where the metric looks.

        Where the metric says what each document adds to the change, the gate puts the document that cost most here.
        """
        metric = self.part.metric
        if metric is not None and not metric.judged and "reference" not in metric.needs:
            return None  # such as a time, which no relevant document costs
        cutoff = metric.settings.get("cutoff") if metric is not None else None
        limit = cutoff if isinstance(cutoff, int) else self.now.depth

        def weight(rank: int | None) -> float:
            # The discount of DCG stands for any metric: higher ranks weigh more.
            return 0.0 if rank is None or rank > limit else 1 / math.log2(1 + rank)

        losses = [
            ((document.grade or 0.0) * (weight(document.baseline) - weight(document.now)), document)
            for document in documents
        ]
        loss, document = max(losses, key=lambda pair: pair[0], default=(0.0, None))
        return document if loss > 0 else None

    def placed_documents(self, query: str) -> tuple[Placed, ...]:
        """The documents of a query on both sides, with grades; those of the current ranking first."""
        # The current side remembers them, as each rule and slice has a context of its own. One suite may compare with
        # several references, so the reference is part of the key.
        return self.now.remember(("placed documents", query, self.baseline), lambda: self._place_documents(query))

    def _place_documents(self, query: str) -> tuple[Placed, ...]:
        grades = self.population.grades(query)
        now = self.now.documents(query)
        before = self.baseline.documents(query) if self.baseline is not None else []
        rank_now = {document: rank for rank, document in enumerate(now, 1)}
        rank_before = {document: rank for rank, document in enumerate(before, 1)}
        return tuple(
            Placed(document, grades.get(document), rank_now.get(document), rank_before.get(document))
            for document in dict.fromkeys((*now, *before))
        )


def find_best_document(documents: Iterable[Placed], *, before: bool = False) -> Placed | None:
    """The first document with the highest grade above 0, in the current ranking or in that ``before``."""
    listed = [
        (-(document.grade or 0.0), rank, document)
        for document in documents
        if (document.grade or 0.0) > 0 and (rank := document.baseline if before else document.now) is not None
    ]
    return min(listed, key=lambda entry: entry[:2])[2] if listed else None
