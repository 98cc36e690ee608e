"""Scores rankings by all metrics of a suite: every value in its place, with judged shares and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.record import Baseline
from pytest_ireval.data.arrays import Integers, look_up
from pytest_ireval.data.coerce import JoinedRankings
from pytest_ireval.data.join import leave_unjudged
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import drop_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.stages import find_unknown_judgments, join_stage
from pytest_ireval.data.views import cut_to_depth, select_queries
from pytest_ireval.errors import InputError, IrevalError, MetricError
from pytest_ireval.evaluating.evaluation import (
    EvaluationSetup,
    apply_policies,
    collect_notes,
    count_tied,
    find_deepest_rank,
    score_under_policies,
)
from pytest_ireval.evaluating.recall_precision import LEVELS, compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.gate.queries_and_judgments import Collection, adapt_metric, lowest_relevant_grade
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import Scores, score
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.sides.side import Judgedness, Scored, Side
from pytest_ireval.statistics.differences import Floats, Mask

QueryIds = frozenset[str]
NO_QUERIES: QueryIds = frozenset()
NO_JUDGMENTS = np.zeros(0, np.int64)


class ScoredRankings(NamedTuple):
    """One side, and what only the current side needs beside it."""

    side: Side
    without_judgments: tuple[str, ...] = ()
    """Ranked queries that have no judgments; they do not count."""
    no_relevant: int = 0
    """The number of queries without relevant documents."""
    tied: int = 0
    """Queries in which a judged document has the score of another one, as far down as the metrics look."""
    metric_notes: tuple[str, ...] = ()
    """Notes of metrics: on queries without a value, and on what they left out."""
    listed: int = 0
    """Documents that count, over all judged queries."""
    unjudged: int = 0
    """Those of them without a judgment."""


def score_rankings(
    collection: Collection,
    rankings: Sequence[Rankings],
    origin: str,
    *,
    unknown: QueryIds = NO_QUERIES,
    excluded: QueryIds = NO_QUERIES,
    metrics: Sequence[Metric] | None = None,
    curves: bool = False,
    without: Integers = NO_JUDGMENTS,
) -> ScoredRankings:
    """Score rankings by every metric; one that cannot be computed leaves the others as they are.

    Waived and ``excluded`` queries do not count, nor do those that were ``unknown`` when the rankings were made and
    have none. ``curves`` adds precision at levels of recall. Metrics of earlier stages leave out documents of which
    these do not know whether they were retrieved, and the rows of the judgments ``without`` which they are compared.
    """
    suite = collection.suite
    scored = ScoredRankings(Side(origin, tuple(rankings), suite.depth))
    asked = [metric for metric in metrics or suite.metrics if not metric.compares_lists]
    wanted = {str(metric): adapt_metric(suite, metric) for metric in asked}
    for stage in dict.fromkeys(metric.stage for metric in asked):
        for setting in (collection.plain_setting, collection.setting):
            judged = setting is not collection.plain_setting
            own = {name: each for name, each in wanted.items() if each.stage == stage and each.judged == judged}
            if setting is not None and own:
                setting = replace(setting, metrics=list(own.values()))  # noqa: PLW2901 - the same, fewer metrics
                setting = _set_up_stage(setting, rankings, without) if stage else setting  # noqa: PLW2901
                scored = _add_values(scored, collection, setting, own, unknown, excluded, stage=stage, curves=curves)
    return scored


def _set_up_stage(setting: EvaluationSetup, rankings: Sequence[Rankings], without: Integers) -> EvaluationSetup:
    """The setting of an earlier stage, which has a depth of its own, without documents that it may not know."""
    judgments, policies = setting.judgments, setting.policies
    policies = replace(policies, depth=None, scale=policies.scale or judgments.highest_grade)
    if hidden := {*without.tolist(), *find_unknown_judgments(judgments, rankings).tolist()}:
        judgments = drop_judgments(judgments, np.array(sorted(hidden), np.int64))
    return replace(setting, judgments=judgments, policies=policies)


def share_stage_judgments(
    collection: Collection, current: Side, reference: Side, unknown: QueryIds
) -> tuple[Side, Side]:
    """Both sides with their metrics of earlier stages by the documents that both stages know.

    A document that was judged after the reference was accepted may have been retrieved there, or not.
    """
    metrics, judgments = [each for each in collection.suite.metrics if each.stage], collection.population.judgments
    if not metrics or judgments is None:
        return current, reference
    sides = current, reference
    rows = np.concatenate([find_unknown_judgments(judgments, side.rankings) for side in sides])
    if not rows.size:
        return sides
    again = [
        score_rankings(collection, side.rankings, side.origin, unknown=unknown, metrics=metrics, without=rows).side
        for side in sides
    ]
    ours, theirs = (
        replace(side, scored={**side.scored, **values.scored}, askings={**side.askings, **values.askings})
        for side, values in zip(sides, again, strict=True)
    )
    return ours, theirs


def _add_values(
    scored: ScoredRankings,
    collection: Collection,
    setting: EvaluationSetup,
    metrics: Mapping[str, Metric],
    unknown: QueryIds,
    excluded: QueryIds,
    *,
    stage: str,
    curves: bool,
) -> ScoredRankings:
    """Add the values of these metrics, of every asking; of judged rankings also judged shares and curves."""
    side, judged = scored.side, bool(len(setting.judgments)) and not stage
    suite = collection.suite
    if any(stage not in rankings.stages for rankings in side.rankings if stage):
        lacking = {name: InputError(f"there is no stage {stage!r}, which {name} needs") for name in metrics}
        return scored._replace(side=replace(side, errors={**side.errors, **lacking}))
    repeated: dict[str, list[Scored]] = {}
    errors: dict[str, IrevalError] = {}
    recall_precision = []
    for number, rankings in enumerate(side.rankings):
        if stage:
            answers, highest = rankings.stages[stage], setting.policies.scale
            joined = JoinedRankings(join_stage(setting.judgments, answers, highest), rankings.origin, ())
        else:
            joined = setting.join_rankings(rankings, documents=None if judged else True)
        counting = _mark_counting(joined, collection, setting, unknown, excluded)
        counted = joined.judged if counting is None else select_queries(joined.judged, counting)
        found = _score_metrics(setting, counted)
        errors |= found.errors
        if curves and judged:
            recall_precision.append(_measure_recall_precision(collection, joined, counting))
        place = look_up(counted.queries, collection.population.queries.position)
        for name, metric in metrics.items():
            if str(metric) in found.scores:
                arranged = _arrange_values(metric, found.scores[str(metric)], collection, place)
                repeated.setdefault(name, []).append(arranged)
        if number == 0 and found.scores and not stage:
            without = [int(np.count_nonzero(each.no_relevant)) for each in found.scores.values()]
            computed = [each.metric for each in found.scores.values()]
            scored = scored._replace(
                without_judgments=joined.without_judgments,
                no_relevant=max(scored.no_relevant, *without),
                tied=max(scored.tied, count_tied(counted, computed, setting.policies)),
                metric_notes=(*scored.metric_notes, *found.notes),
            )
        if number == 0 and judged:
            listed, unjudged = _count_unjudged(joined, suite.depth)
            scored = scored._replace(listed=listed, unjudged=unjudged)
            side = replace(side, judgedness=_count_judged(joined, find_deepest_rank(suite.metrics, suite.depth)))
    broken = {name: errors[str(metric)] for name, metric in metrics.items() if str(metric) in errors}
    whole = {name: values for name, values in repeated.items() if name not in broken}
    side = replace(
        side,
        scored={**side.scored, **{name: _average_askings(values) for name, values in whole.items()}},
        errors={**side.errors, **broken},
        askings={
            **side.askings,
            **{name: np.array([each.values for each in values]) for name, values in whole.items()},
        },
        recall_precision=_average_arrays(recall_precision) if recall_precision else side.recall_precision,
    )
    return scored._replace(side=side)


def _mark_counting(
    joined: JoinedRankings, collection: Collection, setting: EvaluationSetup, unknown: QueryIds, excluded: QueryIds
) -> Mask | None:
    """Mark the queries that count; None for all."""
    judged, out = joined.judged, collection.population.waived | excluded
    excused = np.full(judged.count, setting.policies.missing_queries == "ignore")
    if unknown:
        excused |= np.array([query in unknown for query in judged.queries], bool)
    counting: Mask = judged.present | ~excused
    if out:
        counting &= np.array([query not in out for query in judged.queries], bool)
    return None if counting.all() else counting


class _MetricScores(NamedTuple):
    """The scores of metrics by name, what these note, and the errors of metrics that could not be computed."""

    scores: Mapping[str, Scores]
    notes: Sequence[str]
    errors: Mapping[str, IrevalError]


def _score_metrics(setting: EvaluationSetup, judged: JudgedRankings) -> _MetricScores:
    scores: dict[str, Scores] = {}
    notes: list[str] = []
    errors: dict[str, IrevalError] = {}
    for metric in setting.metrics:
        try:
            ((found, view),) = score_under_policies([metric], judged, setting.policies)
            own_notes = [*collect_notes(found, view)]
            _ = found.aggregate  # values without a figure of the whole are broken, too
        except MetricError as error:
            errors[str(metric)] = error
        else:
            scores[str(metric)] = found
            notes += own_notes
    return _MetricScores(scores, notes, errors)


def _arrange_values(metric: Metric, scores: Scores, collection: Collection, place: Integers) -> Scored:
    """Values in the order of the suite's queries, where each has its ``place``; other units are in their own order."""
    counted = np.flatnonzero(scores.counted)
    if metric.unit != "query":
        return Scored(metric, tuple(scores.units[i] for i in counted.tolist()), scores.values[counted])
    queries = collection.population.queries
    values = np.full(len(queries), np.nan)
    values[place[counted]] = scores.values[counted]
    return Scored(metric, queries.ids, values)


def _average_arrays(askings: Sequence[Floats]) -> Floats:
    mean: Floats = askings[0] if len(askings) == 1 else np.mean(askings, axis=0)
    return mean


def _average_askings(repeated: Sequence[Scored]) -> Scored:
    if len(repeated) == 1:
        return repeated[0]
    if len({each.names for each in repeated}) > 1:
        raise InputError(f"{repeated[0].metric}: the askings do not score the same {repeated[0].metric.unit}s")
    return replace(repeated[0], values=_average_arrays([each.values for each in repeated]))


def _count_unjudged(joined: JoinedRankings, depth: int) -> tuple[int, int]:
    judged = joined.judged
    listed = int(np.minimum(judged.retrieved, depth).sum())
    return listed, listed - int(np.count_nonzero(judged.hits.rank <= depth))


def add_overlaps(collection: Collection, current: Side, reference: Side) -> Side:
    """Add the metrics that compare the current lists with the reference's; a missing list gets the worst value."""
    suite = collection.suite
    metrics = {str(metric): metric for metric in suite.metrics if metric.compares_lists}
    if not metrics:
        return current
    pairs = [(each, reference.rankings[i % len(reference.rankings)]) for i, each in enumerate(current.rankings)]
    plain = cache(lambda: [_join_lists(collection, *pair) for pair in pairs])
    judged = cache(lambda: [_join_judged_lists(collection, *pair) for pair in pairs])
    scored, errors = dict(current.scored), dict(current.errors)
    for name, metric in metrics.items():
        try:
            adapted = adapt_metric(suite, metric)
            joined = judged() if metric.reads_judgments else plain()
            scored[name] = _average_askings([_score_overlap(adapted, pair, collection) for pair in joined])
        except IrevalError as error:
            errors[name] = error
    return replace(current, scored=scored, errors=errors)


def _join_lists(collection: Collection, ours: Rankings, theirs: Rankings) -> JudgedRankings:
    queries = collection.population.queries.ids
    now, others = (cut_to_depth(leave_unjudged(each, queries), collection.suite.depth) for each in (ours, theirs))
    return replace(now, reference=others, _memory={})


def _join_judged_lists(collection: Collection, ours: Rankings, theirs: Rankings) -> JudgedRankings:
    """Both lists of the judged queries, for metrics that compare them by the judgments."""
    setting = collection.setting
    assert setting is not None  # noqa: S101 - a suite with such a metric has judgments
    lenient = replace(setting, policies=replace(setting.policies, missing_queries="zero"))
    side_data = replace(setting.side_data, reference=theirs)
    found = lenient.join_rankings(ours, side_data, documents=True)
    return apply_policies(found.judged, setting.policies)


def _score_overlap(metric: Metric, judged: JudgedRankings, collection: Collection) -> Scored:
    """Values of all queries that the reference has."""
    there = judged.reference.present if judged.reference is not None else judged.present
    if metric.direction == "neither":
        there = there & judged.present
    if metric.unit != "query":
        there = there & np.array([query not in collection.population.waived for query in judged.queries], bool)
    scores = score(metric, judged if there.all() else select_queries(judged, there))
    if metric.unit != "query":
        return Scored(metric, scores.units, scores.values)
    return _arrange_values(metric, scores, collection, look_up(scores.units, collection.population.queries.position))


def _count_judged(joined: JoinedRankings, depth: int) -> Judgedness:
    """Count for each judged query the documents down to a depth, and the judged ones among them."""
    judged = joined.judged
    above = judged.hits.query[judged.hits.rank <= depth]
    return Judgedness(judged.present, np.minimum(judged.retrieved, depth), np.bincount(above, minlength=judged.count))


def add_judged_shares(counts: Counts, collection: Collection, current: Side, reference: Side | None) -> Counts:
    """Add the share of judged documents on both sides, over the queries that both rank."""
    population, suite = collection.population, collection.suite
    if current.judgedness is None or population.judgments is None:
        return counts
    wanted = current.judgedness.ranked.copy()
    if population.waived:
        wanted &= np.array([query not in population.waived for query in population.judgments.queries], bool)
    if reference is not None and reference.judgedness is not None:
        wanted &= reference.judgedness.ranked
    return replace(
        counts,
        judged_share=_compute_share(current.judgedness, wanted),
        judged_share_before=None if reference is None else _compute_share(reference.judgedness, wanted),
        judged_depth=find_deepest_rank(suite.metrics, suite.depth),
    )


def _compute_share(judgedness: Judgedness | None, wanted: Mask) -> float | None:
    listed = 0 if judgedness is None else int(judgedness.listed[wanted].sum())
    return None if judgedness is None or not listed else float(judgedness.judged[wanted].sum()) / listed


def _measure_recall_precision(collection: Collection, joined: JoinedRankings, counting: Mask | None) -> Floats:
    """A row for each query of the suite: precision at eleven levels of recall, and R-precision.

    NaN for a query that does not count or has no relevant documents; one without a ranking has zeros.
    """
    queries = collection.population.queries
    rows = np.full((len(queries), len(LEVELS) + 1), np.nan)
    if collection.setting is None:
        return rows
    judged = apply_policies(joined.judged, collection.setting.policies)
    relevant = find_relevant(judged, lowest_relevant_grade(collection.suite))
    wanted = relevant.relevant > 0 if counting is None else counting & (relevant.relevant > 0)
    place = look_up(judged.queries, queries.position)
    rows[place[wanted], :-1] = interpolate_precision(relevant)[wanted]
    rows[place[wanted], -1] = compute_r_precision(relevant)[wanted]
    return rows


def find_unknown_queries(collection: Collection, baseline: Baseline) -> QueryIds:
    """The queries of the suite that the baseline does not have."""
    new = set(collection.population.queries.ids).difference(*(rankings.queries for rankings in baseline.rankings))
    return frozenset(new.difference(*(metric.values for metric in baseline.metrics.values())))


def share_queries(collection: Collection, current: Side, reference: Side, unknown: QueryIds) -> tuple[Side, Side]:
    """Both sides with their metrics of sessions and of the whole run over the queries that both have.

    ``unknown`` are the queries of the suite that the reference does not have.
    """
    metrics = [metric for metric in collection.suite.metrics if metric.unit != "query"]
    if not metrics:
        return current, reference
    ignored = collection.suite.policies.missing_queries == "ignore"
    lost = frozenset(query for query in reference.position if query not in current.position) if ignored else NO_QUERIES
    ours, theirs = (
        score_rankings(
            collection, side.rankings, side.origin, unknown=unknown, excluded=unknown | lost, metrics=metrics
        ).side
        for side in (current, reference)
    )
    errors = {**ours.errors, **theirs.errors, **reference.errors}
    return (
        replace(current, scored={**current.scored, **ours.scored}),
        replace(reference, scored={**reference.scored, **theirs.scored}, errors=errors),
    )
