"""The current rankings beside those of a reference, scored over the same queries; how sides are exchanged and mixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from typing import Protocol

import numpy as np

from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.mixing import mix_rankings
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Cause
from pytest_ireval.rules.new_document import Integers
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.statistics.differences import Floats, Mask

NO_LISTS = rank_lists({}, "nothing")
"""In the place of lists that no rule looks at."""


class Effects(Protocol):
    """What judgments of unjudged documents could change in a comparison."""

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric; None where no label would matter."""


class NoEffects:
    """Nothing depends on unjudged documents, as where values were made without documents."""

    def measure(self, metric: Metric) -> UnjudgedEffect | None:  # noqa: ARG002 - whatever the metric is
        """Always None."""
        return None


@dataclass(frozen=True, eq=False)
class ComparedSides:
    """The current rankings and those of one reference."""

    current: Side
    """With the metrics that compare its lists with those of the reference."""
    reference: Side
    effects: Effects = field(default_factory=NoEffects)

    def has_values(self, metric: str) -> bool:
        """Tell whether a metric was computed on both sides."""
        return self.current.has_values(metric) and self.reference.has_values(metric)


@dataclass(frozen=True, eq=False)
class ScoredReference:
    """What a rule compares with: a comparison, the reason why it cannot be trusted, or nothing yet."""

    comparison: ComparedSides | None = None
    problem: IrevalError | None = None
    """The reason why rules cannot compare with it; reports may show the comparison all the same."""
    cause: Cause | None = None
    """The changes since it was accepted; None for other sources."""
    redefined: Mapping[str, IrevalError] = field(default_factory=dict)
    """Metrics whose definition is not that of the acceptance, although their version is."""
    notes: tuple[str, ...] = ()
    acceptances: tuple[Acceptance, ...] = ()
    """Of an anchor: the acceptances of the baseline since it was pinned."""

    @property
    def trusted(self) -> ComparedSides | None:
        """The comparison that rules may rest on; None where there is none, or a reason not to trust it."""
        return self.comparison if self.problem is None else None

    @property
    def is_missing(self) -> bool:
        """True if there is nothing yet to compare with, and no reason why."""
        return self.comparison is None and self.problem is None


def mix(
    one: ComparedSides, other: ComparedSides, marked: Mask, queries: Queries, *, lists: bool = True
) -> ComparedSides:
    """Take the marked queries from ``other``, and the rest from ``one``.

    A session comes from where its first query does, and so does the value of a whole run. Without ``lists`` both sides
    have values only, which is faster where no rule looks at documents.
    """
    return ComparedSides(
        mix_sides(one.current, other.current, marked, queries, lists=lists),
        mix_sides(one.reference, other.reference, marked, queries, lists=lists),
        MixedEffects(one, other, marked, queries.ids),
    )


def mirror(comparison: ComparedSides) -> ComparedSides:
    """The same comparison with its sides exchanged."""
    return ComparedSides(comparison.reference, comparison.current, MirroredEffects(comparison.effects))


@dataclass(frozen=True, eq=False)
class MirroredEffects:
    """The effects where both sides are exchanged: a loss for one side is a gain for the other."""

    effects: Effects

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric."""
        found = self.effects.measure(metric)
        if found is None:
            return None
        return replace(
            found,
            condensed_now=found.condensed_before,
            condensed_before=found.condensed_now,
            worst=-found.best,
            best=-found.worst,
        )


@dataclass(frozen=True, eq=False)
class MixedEffects:
    """The effects where the marked queries are those of another comparison."""

    one: ComparedSides
    other: ComparedSides
    marked: Mask
    queries: tuple[str, ...]

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric."""
        ours, theirs = self.one.effects.measure(metric), self.other.effects.measure(metric)
        if ours is None and theirs is None:
            return None
        ours = ours or _describe_known_values(self.one, metric)
        theirs = theirs or _describe_known_values(self.other, metric)
        taken = {query for query, marked in zip(self.queries, self.marked.tolist(), strict=True) if marked}

        def choose(their_values: Floats, our_values: Floats) -> Floats:
            return np.where(self.marked, their_values, our_values)

        # all_new and peers are for the reports of red rules, which mixed scores have none of: they stay as they are.
        return replace(
            theirs,
            condensed_now=choose(theirs.condensed_now, ours.condensed_now),
            condensed_before=choose(theirs.condensed_before, ours.condensed_before),
            worst=choose(theirs.worst, ours.worst),
            best=choose(theirs.best, ours.best),
            exact=ours.exact and theirs.exact,
            documents=(
                *(each for each in theirs.documents if each.query in taken),
                *(each for each in ours.documents if each.query not in taken),
            ),
        )


def _describe_known_values(comparison: ComparedSides, metric: Metric) -> UnjudgedEffect:
    """The effect where no value depends on a label."""
    name = str(metric)
    now, before = comparison.current.scored[name].values, comparison.reference.scored[name].values
    return UnjudgedEffect(now, before, now - before, now - before, exact=True)


def mix_sides(one: Side, other: Side, marked: Mask, queries: Queries, *, lists: bool = True) -> Side:
    """Take the marked queries from ``other``, and the rest from ``one``."""
    scored = {name: _mix_values(values, other.scored.get(name), marked, queries) for name, values in one.scored.items()}
    if not lists:
        return replace(one, scored=scored, rankings=(NO_LISTS,))
    taken = {query for query, there in zip(queries.ids, marked.tolist(), strict=True) if there}
    pairs = zip(one.rankings, cycle(other.rankings), strict=False)  # of several answers each with one of theirs
    mixed = (
        mix_rankings(ours, theirs, np.array([query in taken for query in ours.queries], bool)) for ours, theirs in pairs
    )
    return replace(one, scored=scored, rankings=tuple(mixed))


def _mix_values(ours: Scored, theirs: Scored | None, marked: Mask, queries: Queries) -> Scored:
    """Values of units that both have; the others stay as they are."""
    if theirs is None:
        return ours
    values = theirs.values
    if ours.names != theirs.names:
        known = dict(zip(theirs.names, theirs.values.tolist(), strict=True))
        values = np.array([known.get(name, np.nan) for name in ours.names], np.float64)
    taken = _mark_units(ours, marked, queries) & ~np.isnan(ours.values) & ~np.isnan(values)
    return replace(ours, values=np.where(taken, values, ours.values))


def _mark_units(scored: Scored, marked: Mask, queries: Queries) -> Mask:
    if scored.names == queries.ids:
        return marked
    first_rows: dict[str, int] = {}
    for row, session in enumerate(queries.columns.get("session", ())):
        first_rows.setdefault(session, row)
    # The value of the whole run has no session: it goes where the first query does.
    return np.array([bool(marked[first_rows.get(name, 0)]) for name in scored.names], bool)


def take_population(population: Population, rows: Integers) -> Population:
    """The population of these rows of the queries; a repeated one gets another id, because an id stands for one row."""
    queries, places = population.queries, rows.tolist()
    ids: list[str] = []
    known, waived = set(queries.ids), set(population.waived)
    taken: set[str] = set()
    for place in places:
        query = unique = queries.ids[place]
        while unique in taken or (unique != query and unique in known):
            unique += "~"
        taken.add(unique)
        ids.append(unique)
        if query in population.waived:
            waived.add(unique)
    columns = {name: tuple(values[place] for place in places) for name, values in queries.columns.items()}
    texts = tuple(queries.text[place] for place in places)
    return replace(
        population,
        queries=Queries(tuple(ids), texts, columns, origin=queries.origin),
        waived=frozenset(waived),
        weights=None if population.weights is None else population.weights[rows],
        clusters=None if population.clusters is None else population.clusters[rows],
    )


def take_comparison(comparison: ComparedSides, rows: Integers, queries: Queries) -> ComparedSides:
    """The comparison over these rows of the queries."""
    current, reference = (take_values(side, rows, queries) for side in (comparison.current, comparison.reference))
    return ComparedSides(current, reference, TakenEffects(comparison.effects, rows, frozenset(queries.ids)))


def take_values(side: Side, rows: Integers, queries: Queries) -> Side:
    """The values of these rows of the queries; metrics of sessions and of the whole run have none."""
    scored = {
        name: replace(each, names=queries.ids, values=each.values[rows])
        for name, each in side.scored.items()
        if each.metric.unit == "query"
    }
    askings = {name: values[:, rows] for name, values in side.askings.items() if name in scored}
    curves = None if side.recall_precision is None else side.recall_precision[rows]
    return replace(side, scored=scored, askings=askings, recall_precision=curves)


@dataclass(frozen=True, eq=False)
class TakenEffects:
    """The effects over some rows of the queries."""

    effects: Effects
    rows: Integers
    queries: frozenset[str]

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric."""
        found = self.effects.measure(metric)
        if found is None:
            return None
        return replace(
            found,
            condensed_now=found.condensed_now[self.rows],
            condensed_before=found.condensed_before[self.rows],
            worst=found.worst[self.rows],
            best=found.best[self.rows],
            documents=tuple(each for each in found.documents if each.query in self.queries),
            all_new=None if found.all_new is None else found.all_new[self.rows],
            peers=None,
        )
