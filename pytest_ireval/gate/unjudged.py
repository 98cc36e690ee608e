"""What unjudged documents leave open for a metric: differences without them, and under the worst and best labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import MetricError
from pytest_ireval.gate.asking import error_lines
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.labelled_sides import Looking, Pair, pair_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import bounds_of
from pytest_ireval.plurals import counted
from pytest_ireval.results.to_judge import ToJudge
from pytest_ireval.retrieval.judged import Floats, Integers, Mask
from pytest_ireval.retrieval.labelled import LEFT, Labellings, listed, rows_of
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.rules.side import Population, Side
from pytest_ireval.rules.unjudged import JudgedThere, Unjudged
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.statistics.joint_bounds import Alone, Asked, Bounds, Shape, heeds_labels, joint_bounds
from pytest_ireval.suites.suite import Suite

NOT_OF_LABELS = {"reference", "unjudged", "subtopics", "sessions", "preferences", "timings"}
"""What a metric needs that a grade says nothing of: no label of a document could be told to it."""


class Part(NamedTuple):
    """What one pair of askings came to, in the order of the judged queries."""

    pair: Pair
    condensed_now: Floats
    condensed_before: Floats
    bounds: Bounds
    all_new: Floats
    """The difference where all documents that are new and unjudged have the top label."""


def unjudged(suite: Suite, base: Gathered, now: Side) -> Callable[[Side, Metric], Unjudged | None]:
    """Gives what unjudged documents leave open for a metric, now beside a reference; made once for each."""
    looking = Looking(suite, base, now)

    def left_open(reference: Side, metric: Metric) -> Unjudged | None:
        made = looking.once((id(reference), str(metric)), lambda: (reference, _told_open(looking, reference, metric)))
        return made[1]

    return left_open


def _told_open(looking: Looking, reference: Side, metric: Metric) -> Unjudged | None:
    """What is open; a metric that breaks on labels leaves its verdict as it is, and what broke is told."""
    try:
        return _left_open(looking, reference, metric)
    except MetricError as error:
        unknown = np.full(len(looking.base.population.queries), np.nan)
        return Unjudged(unknown, unknown, unknown, unknown, exact=False, error=error_lines(error)[0])


def _left_open(looking: Looking, reference: Side, metric: Metric) -> Unjudged | None:
    """None where no label would matter: to the metric, or to the difference of the two sides."""
    name = str(metric)
    told = looking.now.scored.get(name)
    before = reference.scored.get(name)
    if told is None or before is None or name in reference.errors or looking.base.setting is None:
        return None
    metric = told.metric
    if metric.unit != "query" or metric.direction == "neither" or metric.needs & NOT_OF_LABELS:
        return None
    undefined = np.isnan(told.values - before.values)
    valued = frozenset(query for query, no in zip(told.names, undefined.tolist(), strict=True) if not no)
    pairs = [pair_of(looking, metric, both, valued) for both in _askings(looking.now, reference)]
    if not any(pair.open.query.size and pair.scale[-1] > 0 and _heeds_labels(pair) for pair in pairs):
        return None
    return _in_order(looking.base.population, name, [_part(pair) for pair in pairs])


def _askings(now: Side, reference: Side) -> Iterator[tuple[Rankings, Rankings]]:
    """Every asking of both sides equally often."""
    ours, theirs = now.rankings, reference.rankings
    for number in range(math.lcm(len(ours), len(theirs))):
        yield ours[number % len(ours)], theirs[number % len(theirs)]


def _heeds_labels(pair: Pair) -> bool:
    """Whether the metric tells good labels from bad ones; a share of judged documents, for one, does not."""
    return heeds_labels(_asked(pair, _now)) or heeds_labels(_asked(pair, _before))


def _part(pair: Pair) -> Part:
    now, before = pair.as_it_is()
    asked = _asked(pair, _difference)
    bounds = joint_bounds(asked, now - before, _shape(pair), unknown=pair.unknown)
    endless = np.isinf(bounds.low) | np.isinf(bounds.high)
    if endless.any():
        queries = counted(int(np.count_nonzero(endless)), "query")
        raise MetricError(f"too many unjudged documents to try all grades of, in {queries}")
    return Part(pair, *pair.without_unjudged(), bounds, _with_new_at_the_top(pair, now - before))


def _with_new_at_the_top(pair: Pair, as_it_is: Floats) -> Floats:
    found = pair.open
    query = np.flatnonzero(found.counts)
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(found.counts[query])))
    now, before = pair.values(Labellings(query, first, np.where(_new(pair), pair.scale.size, LEFT)))
    change = as_it_is.copy()
    change[query] = now - before
    return change


def _new(pair: Pair) -> Mask:
    """Which open documents the baseline does not list."""
    new: Mask = (pair.open.now > 0) & (pair.open.before == 0)
    return new


def _shape(pair: Pair) -> Shape:
    """What the metric says of its values."""
    metric = pair.metric
    low, high = bounds_of(metric)
    ends = (low - high, high - low)
    if pair.removed or pair.ordered:
        return Shape(range=ends)
    if metric.adds_up:
        return Shape(plain=True) if math.isinf(high) else Shape(steps=pair.steps(), range=ends)
    if not metric.binary or pair.scale.size != 2 or "promotion_never_harms" in metric.not_promised:
        return Shape(range=ends)

    def alone(value: Callable[[Floats, Floats], Floats], ranks: Integers) -> Alone:
        return Alone(lambda labels: value(*pair.values(labels)), ranks)

    return Shape(alone=(alone(_now, pair.open.now), alone(_before, pair.open.before)), range=ends)


def _asked(pair: Pair, value: Callable[[Floats, Floats], Floats]) -> Asked:
    """What is asked of both sides under labels."""
    rows = rows_of(pair.now) + rows_of(pair.before)
    return Asked(pair.open.first, rows, lambda labels: value(*pair.values(labels)), pair.scale.size)


def _now(now: Floats, before: Floats) -> Floats:  # noqa: ARG001 - as all of these
    return now


def _before(now: Floats, before: Floats) -> Floats:  # noqa: ARG001 - as all of these
    return before


def _difference(now: Floats, before: Floats) -> Floats:
    return now - before


def _in_order(population: Population, name: str, parts: Sequence[Part]) -> Unjudged:
    """The means of all askings in the order of the suite's queries."""
    queries = population.queries
    place = np.array([queries.position[query] for query in parts[0].pair.now.judged.queries], np.int64)

    def placed(values: Sequence[Floats]) -> Floats:
        found = np.full(len(queries), np.nan)
        found[place] = np.mean(values, axis=0)
        return found

    low, high = placed([part.bounds.low for part in parts]), placed([part.bounds.high for part in parts])
    lower_is_better = parts[0].pair.metric.direction == "lower"
    return Unjudged(
        condensed_now=placed([part.condensed_now for part in parts]),
        condensed_before=placed([part.condensed_before for part in parts]),
        worst=high if lower_is_better else low,
        best=low if lower_is_better else high,
        exact=_is_exact(parts),
        documents=_documents(queries, name, parts),
        all_new=placed([part.all_new for part in parts]),
        there=_judged_there(parts[0].pair, place),
        top_grade=_top_grade(population, parts[0].pair),
    )


def _judged_there(pair: Pair, place: Integers) -> JudgedThere:
    """Judged documents of both sides; of the first asking, as most are the same in all of them."""
    ranks = np.unique(pair.open.now[_new(pair)])
    lowest = pair.metric.settings.get("rel")
    relevant_from = float(pair.scale[-1]) if lowest is None else lowest
    found = []
    for side in (pair.now.judged, pair.before.judged):
        documents = listed(side)
        query = np.repeat(np.arange(side.count), np.diff(documents.first))
        rank = np.arange(query.size) - documents.first[query] + 1
        rows = np.flatnonzero(~np.isnan(documents.grade) & np.isin(rank, ranks))
        found.append((place[query[rows]], rank[rows], documents.grade[rows] >= relevant_from))
    return JudgedThere(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _top_grade(population: Population, pair: Pair) -> float | None:
    """None where relevant documents are all alike to the metric, or to the judges."""
    assert population.judgments is not None  # noqa: S101 - a metric was scored by them
    grades = population.judgments.grade
    alike = pair.metric.settings.get("rel") is not None or (grades[grades > 0] == float(pair.scale[-1])).all()
    return None if alike else float(pair.scale[-1])


def _is_exact(parts: Sequence[Part]) -> bool:
    """Labels of several askings are not followed through all of them: their bounds may be too wide."""
    return len(parts) == 1 and parts[0].bounds.exact


def _documents(queries: Queries, name: str, parts: Sequence[Part]) -> tuple[ToJudge, ...]:
    """Documents whose label moves a query, by what the top label does; the mean of all askings."""
    found: dict[tuple[str, str], ToJudge] = {}
    for part in parts:
        for each in _moving(queries, name, part):
            earlier = found.get((each.query, each.document))
            effect = each.effect / len(parts) + (earlier.effect if earlier else 0.0)
            found[each.query, each.document] = replace(earlier or each, effect=effect)
    return tuple(sorted(found.values(), key=lambda each: -abs(each.effect)))


def _moving(queries: Queries, name: str, part: Part) -> Iterator[ToJudge]:
    """Documents of one pair of askings; all those of a query that no document moves alone, but some do together."""
    pair, effect = part.pair, part.bounds.effect
    names = pair.now.judged.queries
    unmoved = np.bincount(pair.open.query[effect != 0], minlength=pair.now.judged.count) == 0
    moved_together = unmoved & (part.bounds.high - part.bounds.low > TIE)
    rows = np.flatnonzero((effect != 0) | moved_together[pair.open.query])
    query, now, before = pair.open.query[rows], pair.open.now[rows], pair.open.before[rows]
    ours, theirs = listed(pair.now.judged), listed(pair.before.judged)
    there = now > 0
    ids = np.empty(rows.size, object)
    ids[there] = ours.ids.texts((ours.first[query] + now - 1)[there])
    ids[~there] = theirs.ids.texts((theirs.first[query] + before - 1)[~there])
    columns = (query.tolist(), ids.tolist(), effect[rows].tolist(), now.tolist(), before.tolist())
    for of, document, moves, rank, rank_before in zip(*columns, strict=True):
        text = queries.text_of(names[of])
        yield ToJudge(names[of], document, name, moves, text, rank or None, rank_before or None)
