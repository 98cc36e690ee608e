"""Rankings of a suite scored by all its metrics, every value in its place among the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, IrevalError, MetricError, Problem
from pytest_ireval.evaluating.evaluation import evaluated
from pytest_ireval.evaluating.setting import Companions, Setting
from pytest_ireval.gate.gathering import Gathered, as_told
from pytest_ireval.gate.judged_shares import judgedness_of, looked_at
from pytest_ireval.gate.recall_precision import recall_precision_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score, worst
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.retrieval.doors import Brought
from pytest_ireval.retrieval.join import unjudged
from pytest_ireval.retrieval.judged import JudgedRankings, Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import cut
from pytest_ireval.rules.side import Judgedness, Scored, Side
from pytest_ireval.suites.suite import Suite

Names = frozenset[str]
NO_NAMES: Names = frozenset()
SESSION_COLUMNS = ("session", "position")


class Evaluated(NamedTuple):
    """One side, and the evaluation of its first rankings, which counts what figures rest on."""

    side: Side
    evaluation: Evaluation | None
    listed: int
    """Documents that count, over all judged queries."""
    unjudged: int
    """Those of them that nobody judged."""


def side_of(
    suite: Suite,
    gathered: Gathered,
    rankings: Sequence[Rankings],
    origin: str,
    *,
    unknown: Names = NO_NAMES,
    excluded: Names = NO_NAMES,
    metrics: Sequence[Metric] | None = None,
    curves: bool = False,
) -> Evaluated:
    """Rankings scored by every metric; one that cannot be computed leaves the others as they are.

    Waived and ``excluded`` queries do not count, nor do those that were ``unknown`` when the rankings were made and
    have none. With ``curves`` it is known, too, how precision falls while recall rises.
    """
    side = Side(origin, tuple(rankings), suite.depth)
    judgedness: Judgedness | None = None
    setting = gathered.setting
    asked = [metric for metric in metrics or suite.metrics if "reference" not in metric.needs]
    wanted = {str(metric): as_told(suite, metric) for metric in asked}
    if setting is None or not wanted:
        return Evaluated(side, None, 0, 0)
    setting = replace(setting, metrics=list(wanted.values()))
    companions = Companions(sessions=_sessions(gathered.population.queries, setting.judgments))
    scored: dict[str, list[Scored]] = {}
    errors: dict[str, IrevalError] = {}
    first: Evaluation | None = None
    listed, count = 0, 0
    drawn = []
    for each in rankings:
        found = setting.brought(each, companions, documents=True)
        counting = _counting(gathered, found, unknown, excluded)
        results, failed = _results(setting, found, counting)
        errors |= failed
        if curves:
            drawn.append(recall_precision_of(suite, gathered, found, counting))
        for name, metric in wanted.items():
            if str(metric) in results.found:
                scored.setdefault(name, []).append(_placed(metric, results.found[str(metric)], gathered))
        if first is None:
            first = results.evaluation
            listed, count = _unjudged(found, suite.depth)
            judgedness = judgedness_of(found, looked_at(suite))
    told = {name: str(metric) for name, metric in wanted.items()}
    broken = {name: errors[canonical] for name, canonical in told.items() if canonical in errors}
    whole = {name: each for name, each in scored.items() if name not in broken}
    values = {name: _mean(each) for name, each in whole.items()}
    askings = {name: np.array([one.values for one in each]) for name, each in whole.items() if _of_queries(each)}
    side = replace(side, scored=values, errors=broken, askings=askings, judgedness=judgedness)
    side = replace(side, recall_precision=np.mean(drawn, axis=0) if drawn else None)
    return Evaluated(side, first, listed, count)


def _of_queries(repeated: Sequence[Scored]) -> bool:
    return repeated[0].metric.unit == "query"


class _Results(NamedTuple):
    evaluation: Evaluation | None
    found: Mapping[str, MetricResult]


def _results(setting: Setting, found: Brought, queries: Mask | None) -> tuple[_Results, dict[str, IrevalError]]:
    """All metrics at once; where one of them fails, one by one."""
    try:
        evaluation = evaluated(setting, found, queries)
    except MetricError:
        return _one_by_one(setting, found, queries)
    return _Results(evaluation, {result.name: result for result in evaluation.metrics}), {}


def _one_by_one(setting: Setting, found: Brought, queries: Mask | None) -> tuple[_Results, dict[str, IrevalError]]:
    results: dict[str, MetricResult] = {}
    errors: dict[str, IrevalError] = {}
    first: Evaluation | None = None
    for metric in setting.metrics:
        try:
            evaluation = evaluated(replace(setting, metrics=[metric]), found, queries)
        except MetricError as error:
            errors[str(metric)] = error
            continue
        first = first or evaluation
        results |= {result.name: result for result in evaluation.metrics}
    return _Results(first, results), errors


def _counting(gathered: Gathered, found: Brought, unknown: Names, excluded: Names) -> Mask | None:
    """Which judged queries count."""
    judged, out = found.judged, gathered.population.waived | excluded
    ignored = gathered.setting is not None and gathered.setting.policies.missing_queries == "ignore"
    excused = np.array([ignored or query in unknown for query in judged.queries], bool)
    counting: Mask = np.array([query not in out for query in judged.queries], bool) & (judged.present | ~excused)
    return None if counting.all() else counting


def _placed(metric: Metric, result: MetricResult, gathered: Gathered) -> Scored:
    """Values in the order of the suite's queries; those of sessions or of the whole in their own."""
    names = gathered.population.queries.ids if metric.unit == "query" else tuple(result.values)
    values = np.array([result.values.get(name, np.nan) for name in names], np.float64)
    return Scored(metric, names, values)


def _mean(repeated: Sequence[Scored]) -> Scored:
    """The mean of all askings, unit by unit."""
    if len(repeated) == 1:
        return repeated[0]
    if len({each.names for each in repeated}) > 1:
        raise InputError(f"{repeated[0].metric}: the askings do not score the same {repeated[0].metric.unit}s")
    return replace(repeated[0], values=np.mean([each.values for each in repeated], axis=0))


def _unjudged(found: Brought, depth: int) -> tuple[int, int]:
    """How many documents there are down to the depth, and how many of them are not judged."""
    documents = cut(found.judged, depth).documents
    return (0, 0) if documents is None else (documents.grade.size, int(np.count_nonzero(np.isnan(documents.grade))))


def _sessions(queries: Queries, judgments: Judgments) -> dict[str, tuple[str, int]] | None:
    """The session of each query and its place there, from two columns of the queries."""
    if not set(SESSION_COLUMNS) <= set(queries.columns):
        return None
    places: dict[str, tuple[str, int]] = {}
    rows = zip(queries.ids, queries.columns["session"], queries.columns["position"], strict=True)
    for row, (query, session, position) in enumerate(rows):
        if session and query.encode() in judgments.position:
            if not position.isdigit() or int(position) < 1:
                raise InputError(Problem(f"position is {position!r}, not a whole number from 1", queries.place(row)))
            places[query] = (session, int(position))
    return places


def with_overlaps(suite: Suite, gathered: Gathered, now: Side, reference: Side) -> Side:
    """The side of now with the metrics that compare its lists with those of the reference.

    A query that the reference has and now has not is as different as can be.
    """
    metrics = {str(metric): metric for metric in suite.metrics if "reference" in metric.needs}
    if not metrics:
        return now
    pairs = [_lists(suite, gathered, now, reference, number) for number in range(len(now.rankings))]
    scored, errors = dict(now.scored), dict(now.errors)
    for name, metric in metrics.items():
        try:
            scored[name] = _mean([_overlap(metric, judged) for judged in pairs])
        except MetricError as error:
            errors[name] = error
    return replace(now, scored=scored, errors=errors)


def _lists(suite: Suite, gathered: Gathered, now: Side, reference: Side, number: int) -> JudgedRankings:
    """The lists of one asking beside those of the reference."""
    queries = gathered.population.queries.ids
    theirs = reference.rankings[number % len(reference.rankings)]
    ours, others = (cut(unjudged(each, queries), suite.depth) for each in (now.rankings[number], theirs))
    return replace(ours, reference=others, _memory={})


def _overlap(metric: Metric, judged: JudgedRankings) -> Scored:
    """Values of all queries that the reference has."""
    there = judged.reference.present if judged.reference is not None else judged.present
    least = worst(metric)
    values = np.where(judged.present, score(metric, judged).values, np.nan if least is None else least)
    return Scored(metric, judged.queries, np.where(there, values, np.nan))
