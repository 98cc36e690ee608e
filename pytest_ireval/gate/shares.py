"""What each document of a query adds to the change of a metric there: its share now less its share in the baseline."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import MetricError
from pytest_ireval.explaining.steps import described_steps
from pytest_ireval.gate.material import Material
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.retrieval.alone import each_alone
from pytest_ireval.retrieval.judged import Integers, JudgedRankings
from pytest_ireval.retrieval.views import cut, only

SAME = 1e-9
"""Shares that come to anything else than the value, but for rounding, are none."""
STEPS_OF_A_METRIC = 25
"""A metric that does not simply add up is asked for its steps on so many queries: those that it changed most."""
WITHOUT_STEPS = {"reference", "sessions"}
"""Metrics with these needs have no arithmetic on a single list."""

Shares = Mapping[str, float]
"""By document; one that is not there contributes nothing."""


class Changed(NamedTuple):
    """A query on which a metric changed."""

    query: str
    now: float
    before: float


class Lists(NamedTuple):
    """One side."""

    judged: JudgedRankings
    single: Callable[[int], JudgedRankings]
    """The view of the query in a row, made once for all metrics."""


def shares_of(
    material: Material, shown: Sequence[str], now: JudgedRankings, before: JudgedRankings
) -> dict[str, dict[str, Shares]]:
    """By query and metric, what documents add to ``now - baseline``; both sides are rankings of the same queries.

    A metric is left out for a query where that does not add up.
    """
    found: dict[str, dict[str, Shares]] = {}
    sides = _lists(now), _lists(before)
    place = {query: row for row, query in enumerate(now.queries)}
    for name, scored in material.now.scored.items():
        changed = [each for each in _changed(material, name, shown) if each.query in place]
        if changed and scored.metric.unit == "query" and not scored.metric.needs & WITHOUT_STEPS:
            rows = np.array([place[each.query] for each in changed], np.int64)
            for each, moved in _moved(scored.metric, changed, rows, *sides):
                found.setdefault(each.query, {})[name] = moved
    return found


def _lists(judged: JudgedRankings) -> Lists:
    number = np.arange(judged.count)
    return Lists(judged, cache(lambda row: only(judged, number == row)))


def _changed(material: Material, name: str, shown: Sequence[str]) -> list[Changed]:
    """The queries on which the metric is not what it was, the largest change first."""
    before = material.comparable.scored.get(name) if material.comparable is not None else None
    if before is None or before.metric.unit != "query":
        return []
    rows = [material.population.queries.position[query] for query in shown]
    pairs = zip(shown, material.now.scored[name].values[rows].tolist(), before.values[rows].tolist(), strict=True)
    changed = [Changed(*each) for each in pairs if abs(each[1] - each[2]) > 0]
    return sorted(changed, key=lambda each: -abs(each.now - each.before))


def _moved(
    metric: Metric, changed: Sequence[Changed], rows: Integers, now: Lists, before: Lists
) -> Iterator[tuple[Changed, Shares]]:
    """The queries whose change is the sum of what documents add to it."""
    parts: tuple[Iterable[Shares], Iterable[Shares]]
    if metric.adds_up and not metric.needs:
        parts = _alone(metric, now.judged, rows), _alone(metric, before.judged, rows)
    else:
        changed, rows = changed[:STEPS_OF_A_METRIC], rows[:STEPS_OF_A_METRIC]
        parts = _stepwise(metric, now, rows), _stepwise(metric, before, rows)
    for each, ours, theirs in zip(changed, *parts, strict=False):
        if _adds_up(ours, each.now) and _adds_up(theirs, each.before):
            yield each, _differences(ours, theirs)


def _alone(metric: Metric, judged: JudgedRankings, rows: Integers) -> list[Shares]:
    """What the metric says of each document alone, for all queries at once."""
    wanted = np.zeros(judged.count, bool)
    wanted[rows] = True
    few = only(judged, wanted)
    cutoff = metric.settings.get("cutoff")
    few = cut(few, cutoff) if isinstance(cutoff, int) else few
    documents, hits = few.documents, few.hits
    if documents is None:
        return []
    try:
        values = score(metric, each_alone(few)).values.tolist()
    except MetricError:  # of single documents it says nothing; what it says of the query stands in its own place
        return []
    names = documents.ids.texts(documents.first[hits.query] + hits.rank - 1)
    first = few.first.tolist()
    found = [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in pairwise(first)]
    return [found[row] for row in (np.cumsum(wanted) - 1)[rows].tolist()]


def _stepwise(metric: Metric, lists: Lists, rows: Integers) -> Iterator[Shares]:
    """What the metric's own steps say of one query after the other; nothing if it has none, or they are broken."""
    for row in rows.tolist() if metric.steps is not None else ():
        try:
            steps = described_steps(metric, lists.single(row))
        except MetricError:  # ireval why tells what is wrong with them
            return
        if steps.shares is None:
            return
        shares = zip(steps.documents, steps.shares.values, strict=True)
        yield {document: share for document, share in shares if share is not None}


def _adds_up(shares: Shares, value: float) -> bool:
    return abs(math.fsum(shares.values()) - value) <= SAME * max(1.0, abs(value))


def _differences(ours: Shares, theirs: Shares) -> Shares:
    """Of the documents that contribute on one of the sides."""
    moved = {document: ours.get(document, 0.0) - theirs.get(document, 0.0) for document in {**ours, **theirs}}
    return {name: moved[name] for name in moved if ours.get(name) or theirs.get(name)}
