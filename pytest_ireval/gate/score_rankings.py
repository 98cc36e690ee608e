"""Scores rankings by all metrics of a suite: every value in its place, with judged shares and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.record import Baseline
from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.coerce import JoinedRankings
from pytest_ireval.data.join import leave_unjudged
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import drop_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.stages import find_unknown_judgments, join_stage
from pytest_ireval.data.views import cut_to_depth, select_queries
from pytest_ireval.errors import InputError, IrevalError, MetricError
from pytest_ireval.evaluating.evaluation import EvaluationSetup, apply_policies, build_evaluation, find_deepest_rank
from pytest_ireval.evaluating.recall_precision import LEVELS, compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.gate.queries_and_judgments import Collection, adapt_metric, lowest_relevant_grade
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.results.evaluation import Evaluation, MetricResult, describe_ties
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.sides.side import Judgedness, Scored, Side
from pytest_ireval.statistics.differences import Floats, Mask

QueryIds = frozenset[str]
NO_QUERIES: QueryIds = frozenset()
NO_JUDGMENTS = np.zeros(0, np.int64)


class ScoredRankings(NamedTuple):
    """One side, and what only the current side needs beside it."""

    side: Side
    evaluation: Evaluation | None = None
    """Of the first asking: it has the counts."""
    listed: int = 0
    """Documents that count, over all judged queries."""
    unjudged: int = 0
    """Those of them without a judgment."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on equal scores, and of metrics: on queries without a value, and on what they left out."""
        if self.evaluation is None:
            return ()
        tied = describe_ties(self.evaluation)
        return (*([tied] if tied else []), *(note for metric in self.evaluation.metrics for note in metric.notes))


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
        results = _evaluate_metrics(setting, joined, counting)
        errors |= results.errors
        if curves and judged:
            recall_precision.append(_measure_recall_precision(collection, joined, counting))
        for name, metric in metrics.items():
            if str(metric) in results.by_metric:
                repeated.setdefault(name, []).append(
                    _arrange_values(metric, results.by_metric[str(metric)], collection)
                )
        if number == 0 and not stage:
            scored = scored._replace(evaluation=_merge_evaluations(scored.evaluation, results.evaluation))
        if number == 0 and judged:
            listed, without = _count_unjudged(joined, suite.depth)
            scored = scored._replace(listed=listed, unjudged=without)
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
    ignored = setting.policies.missing_queries == "ignore"
    excused = np.array([ignored or query in unknown for query in judged.queries], bool)
    counting: Mask = np.array([query not in out for query in judged.queries], bool) & (judged.present | ~excused)
    return None if counting.all() else counting


def _merge_evaluations(one: Evaluation | None, other: Evaluation | None) -> Evaluation | None:
    """The second evaluation, with the metrics of both."""
    if one is None or other is None:
        return other or one
    return replace(other, metrics=(*one.metrics, *other.metrics), tied=max(one.tied, other.tied))


class _Results(NamedTuple):
    evaluation: Evaluation | None
    by_metric: Mapping[str, MetricResult]
    errors: Mapping[str, IrevalError]


def _evaluate_metrics(setting: EvaluationSetup, joined: JoinedRankings, queries: Mask | None) -> _Results:
    """All metrics at once; where one of them fails, one by one."""
    try:
        evaluation = build_evaluation(setting, joined, queries)
    except MetricError:
        return _evaluate_one_by_one(setting, joined, queries)
    return _Results(evaluation, {result.name: result for result in evaluation.metrics}, {})


def _evaluate_one_by_one(setting: EvaluationSetup, joined: JoinedRankings, queries: Mask | None) -> _Results:
    results: dict[str, MetricResult] = {}
    errors: dict[str, IrevalError] = {}
    merged: Evaluation | None = None
    for metric in setting.metrics:
        try:
            evaluation = build_evaluation(replace(setting, metrics=[metric]), joined, queries)
        except MetricError as error:
            errors[str(metric)] = error
            continue
        merged = _merge_evaluations(merged, evaluation)
        results |= {result.name: result for result in evaluation.metrics}
    return _Results(merged, results, errors)


def _arrange_values(metric: Metric, result: MetricResult, collection: Collection) -> Scored:
    """Values in the order of the suite's queries; those of sessions or of the whole in their own."""
    names = collection.population.queries.ids if metric.unit == "query" else tuple(result.values)
    values = np.array([result.values.get(name, np.nan) for name in names], np.float64)
    return Scored(metric, names, values)


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
    ids = collection.population.queries.ids
    if metric.unit != "query":
        return Scored(metric, scores.units, scores.values)
    known = dict(zip(scores.units, scores.values.tolist(), strict=True))
    return Scored(metric, ids, np.array([known.get(query, np.nan) for query in ids], np.float64))


def _count_judged(joined: JoinedRankings, depth: int) -> Judgedness:
    """Count for each judged query the documents down to a depth, and the judged ones among them."""
    judged = joined.judged
    above = judged.hits.query[judged.hits.rank <= depth]
    return Judgedness(np.minimum(judged.retrieved, depth), np.bincount(above, minlength=judged.count))


def add_judged_shares(counts: Counts, collection: Collection, current: Side, reference: Side | None) -> Counts:
    """Add the share of judged documents on both sides, over the queries that both rank."""
    population, suite = collection.population, collection.suite
    if current.judgedness is None or population.judgments is None:
        return counts
    queries = population.judgments.queries
    wanted = np.array([query in current.position and query not in population.waived for query in queries], bool)
    if reference is not None:
        wanted &= np.array([query in reference.position for query in queries], bool)
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
    place = np.array([queries.position[query] for query in judged.queries], np.int64)
    rows[place[wanted], :-1] = interpolate_precision(relevant)[wanted]
    rows[place[wanted], -1] = compute_r_precision(relevant)[wanted]
    return rows


def find_unknown_queries(collection: Collection, baseline: Baseline) -> QueryIds:
    """The queries of the suite that the baseline does not have."""
    known = {query for metric in baseline.metrics.values() for query in metric.values}
    known = known.union(*(rankings.queries for rankings in baseline.rankings))
    return frozenset(query for query in collection.population.queries.ids if query not in known)


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
