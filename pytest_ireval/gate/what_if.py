"""Makes other sides and comparisons of those that were measured: mixed, exchanged, or of some queries.

``Scores`` and the self-test ask by them what the rules would say of changes that nobody has made.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.mixing import mix_rankings
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import rank_lists
from pytest_ireval.gate.comparison import ComparedSides
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Scored, Side
from pytest_ireval.sides.unjudged_effect import Effects, UnjudgedEffect
from pytest_ireval.statistics.differences import Floats, Mask

NO_LISTS = rank_lists({}, "nothing")
"""In the place of lists that no rule looks at."""


def mix(
    one: ComparedSides, other: ComparedSides, marked: Mask, queries: Queries, *, lists: bool = True
) -> ComparedSides:
    """Take the marked queries from ``other``, and the rest from ``one``.

    A session comes from where its first query does, and so does the value of a whole run. Without ``lists`` both sides
    have values only, which is faster where no rule looks at documents.
    """
    return ComparedSides(
        mix_sides(one.current, other.current, marked, queries, lists=lists),
        mix_sides(one.baseline, other.baseline, marked, queries, lists=lists),
        MixedEffects(one, other, marked, queries.ids),
    )


def mirror(comparison: ComparedSides) -> ComparedSides:
    """The same comparison with its sides exchanged."""
    return ComparedSides(comparison.baseline, comparison.current, MirroredEffects(comparison.effects))


class MirroredEffects(NamedTuple):
    """The effects where both sides are exchanged: a loss for one side is a gain for the other."""

    effects: Effects

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric."""
        found = self.effects.measure(metric)
        if found is None:
            return None
        return replace(
            found,
            condensed_current=found.condensed_baseline,
            condensed_baseline=found.condensed_current,
            worst=-found.best,
            best=-found.worst,
        )


class MixedEffects(NamedTuple):
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
            condensed_current=choose(theirs.condensed_current, ours.condensed_current),
            condensed_baseline=choose(theirs.condensed_baseline, ours.condensed_baseline),
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
    now, before = comparison.current.scored[name].values, comparison.baseline.scored[name].values
    return UnjudgedEffect(now, before, now - before, now - before, exact=True)


def mix_sides(one: Side, other: Side, marked: Mask, queries: Queries, *, lists: bool = True) -> Side:
    """Take the marked queries from ``other``, and the rest from ``one``."""
    scored = {name: _mix_values(values, other.scored.get(name), marked, queries) for name, values in one.scored.items()}
    if not lists:
        return replace(one, scored=scored, rankings=(NO_LISTS,))
    taken = {query for query, there in zip(queries.ids, marked.tolist(), strict=True) if there}
    # A source that is asked several times has several answers: each is mixed with one of the other side.
    pairs = zip(one.rankings, cycle(other.rankings), strict=False)
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
    current, baseline = (take_values(side, rows, queries) for side in (comparison.current, comparison.baseline))
    return ComparedSides(current, baseline, TakenEffects(comparison.effects, rows, frozenset(queries.ids)))


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


class TakenEffects(NamedTuple):
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
            condensed_current=found.condensed_current[self.rows],
            condensed_baseline=found.condensed_baseline[self.rows],
            worst=found.worst[self.rows],
            best=found.best[self.rows],
            documents=tuple(each for each in found.documents if each.query in self.queries),
            all_new=None if found.all_new is None else found.all_new[self.rows],
            peers=None,
        )
