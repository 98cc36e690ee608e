"""Scores rankings by all metrics of a suite: every value in its place, with ties, noise and judged shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.coerce import Brought
from pytest_ireval.data.join import leave_unjudged
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.views import cut_to_depth, only
from pytest_ireval.errors import InputError, IrevalError, MetricError
from pytest_ireval.evaluating.evaluation import Setting, apply_policies, deepest_rank, evaluated
from pytest_ireval.evaluating.recall_precision import LEVELS, compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.gate.inputs import Gathered, metric_of_suite, relevant_from
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregated, score
from pytest_ireval.results.evaluation import Evaluation, MetricResult, note_on_ties
from pytest_ireval.results.suite_result import Counts
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.side import Judgedness, Scored, Side
from pytest_ireval.statistics.differences import TIE, Floats, Mask
from pytest_ireval.statistics.noise import RunNoise, noise_share, run_noise
from pytest_ireval.suite.suite import Suite

Names = frozenset[str]
NO_NAMES: Names = frozenset()


class EvaluatedSide(NamedTuple):
    """One side, and the evaluation of its first rankings, which has the counts."""

    side: Side
    evaluation: Evaluation | None
    listed: int
    """Documents that count, over all judged queries."""
    unjudged: int
    """Those of them without a judgment."""

    @property
    def notes(self) -> tuple[str, ...]:
        """On equal scores, and of metrics: on queries without a value, and on what they left out."""
        if self.evaluation is None:
            return ()
        tied = note_on_ties(self.evaluation)
        return (*([tied] if tied else []), *(note for metric in self.evaluation.metrics for note in metric.notes))


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
) -> EvaluatedSide:
    """Score rankings by every metric; one that cannot be computed leaves the others as they are.

    Waived and ``excluded`` queries do not count, nor do those that were ``unknown`` when the rankings were made and
    have none. ``curves`` adds precision at levels of recall.
    """
    made = EvaluatedSide(Side(origin, tuple(rankings), suite.depth), None, 0, 0)
    asked = [metric for metric in metrics or suite.metrics if "reference" not in metric.needs]
    wanted = {str(metric): metric_of_suite(suite, metric) for metric in asked}
    for setting in (gathered.plain, gathered.setting):
        own = {name: metric for name, metric in wanted.items() if metric.judged == (setting is not gathered.plain)}
        if setting is not None and own:
            scorer = _Scorer(suite, gathered, replace(setting, metrics=list(own.values())), unknown, excluded, curves)
            made = scorer.added_to(made, own)
    return made


@dataclass(frozen=True, eq=False)
class _Scorer:
    """The metrics of one setting, and the queries that do not count."""

    suite: Suite
    gathered: Gathered
    setting: Setting
    unknown: Names
    excluded: Names
    curves: bool

    def added_to(self, made: EvaluatedSide, wanted: Mapping[str, Metric]) -> EvaluatedSide:
        """The side with the values of these metrics, of every asking; with judgments also judged shares and curves."""
        side, judged = made.side, bool(len(self.setting.judgments))
        scored: dict[str, list[Scored]] = {}
        errors: dict[str, IrevalError] = {}
        first: Evaluation | None = None
        drawn = []
        for each in side.rankings:
            found = self.setting.brought(each, documents=None if judged else True)
            counting = self._counting(found)
            results, failed = _results(self.setting, found, counting)
            errors |= failed
            if self.curves and judged:
                drawn.append(_recall_precision_of(self.suite, self.gathered, found, counting))
            for name, metric in wanted.items():
                if str(metric) in results.found:
                    scored.setdefault(name, []).append(_placed(metric, results.found[str(metric)], self.gathered))
            if first is None:
                first = results.evaluation
                if judged:
                    listed, count = _unjudged(found, self.suite.depth)
                    made = made._replace(listed=listed, unjudged=count)
                    looked_at = deepest_rank(self.suite.metrics, self.suite.depth)
                    side = replace(side, judgedness=_judgedness_of(found, looked_at))
        told = {name: str(metric) for name, metric in wanted.items()}
        broken = {name: errors[canonical] for name, canonical in told.items() if canonical in errors}
        whole = {name: each for name, each in scored.items() if name not in broken}
        values = {name: _mean(each) for name, each in whole.items()}
        askings = {name: np.array([one.values for one in each]) for name, each in whole.items()}
        side = replace(
            side,
            scored={**side.scored, **values},
            errors={**side.errors, **broken},
            askings={**side.askings, **askings},
            recall_precision=_mean_of(drawn) if drawn else side.recall_precision,
        )
        return made._replace(side=side, evaluation=_together(made.evaluation, first))

    def _counting(self, found: Brought) -> Mask | None:
        """The queries that count; None for all."""
        judged, out = found.judged, self.gathered.population.waived | self.excluded
        ignored = self.setting.policies.missing_queries == "ignore"
        excused = np.array([ignored or query in self.unknown for query in judged.queries], bool)
        counting: Mask = np.array([query not in out for query in judged.queries], bool) & (judged.present | ~excused)
        return None if counting.all() else counting


def _together(one: Evaluation | None, other: Evaluation | None) -> Evaluation | None:
    """The second evaluation, with the metrics of both."""
    if one is None or other is None:
        return other or one
    return replace(other, metrics=(*one.metrics, *other.metrics), tied=max(one.tied, other.tied))


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
        first = _together(first, evaluation)
        results |= {result.name: result for result in evaluation.metrics}
    return _Results(first, results), errors


def _placed(metric: Metric, result: MetricResult, gathered: Gathered) -> Scored:
    """Values in the order of the suite's queries; those of sessions or of the whole in their own."""
    names = gathered.population.queries.ids if metric.unit == "query" else tuple(result.values)
    values = np.array([result.values.get(name, np.nan) for name in names], np.float64)
    return Scored(metric, names, values)


def _mean_of(askings: Sequence[Floats]) -> Floats:
    mean: Floats = askings[0] if len(askings) == 1 else np.mean(askings, axis=0)
    return mean


def _mean(repeated: Sequence[Scored]) -> Scored:
    if len(repeated) == 1:
        return repeated[0]
    if len({each.names for each in repeated}) > 1:
        raise InputError(f"{repeated[0].metric}: the askings do not score the same {repeated[0].metric.unit}s")
    return replace(repeated[0], values=_mean_of([each.values for each in repeated]))


def _unjudged(found: Brought, depth: int) -> tuple[int, int]:
    judged = found.judged
    listed = int(np.minimum(judged.retrieved, depth).sum())
    return listed, listed - int(np.count_nonzero(judged.hits.rank <= depth))


def with_overlaps(suite: Suite, gathered: Gathered, now: Side, reference: Side) -> Side:
    """Add the metrics that compare the current lists with the reference's; a missing list gets the worst value."""
    metrics = {str(metric): metric for metric in suite.metrics if "reference" in metric.needs}
    if not metrics:
        return now
    askings = [(each, reference.rankings[i % len(reference.rankings)]) for i, each in enumerate(now.rankings)]
    lists = cache(lambda: [_lists(suite, gathered, *pair) for pair in askings])
    judged = cache(lambda: [_judged_lists(gathered, *pair) for pair in askings])
    scored, errors = dict(now.scored), dict(now.errors)
    for name, metric in metrics.items():
        try:
            whole = metric_of_suite(suite, metric)
            scored[name] = _mean(
                [_compared(whole, pair, gathered) for pair in (judged() if metric.reads_judgments else lists())]
            )
        except IrevalError as error:
            errors[name] = error
    return replace(now, scored=scored, errors=errors)


def _lists(suite: Suite, gathered: Gathered, ours: Rankings, theirs: Rankings) -> JudgedRankings:
    queries = gathered.population.queries.ids
    now, others = (cut_to_depth(leave_unjudged(each, queries), suite.depth) for each in (ours, theirs))
    return replace(now, reference=others, _memory={})


def _judged_lists(gathered: Gathered, ours: Rankings, theirs: Rankings) -> JudgedRankings:
    """Both lists of the judged queries, for metrics that compare them by the judgments."""
    setting = gathered.setting
    assert setting is not None  # noqa: S101 - a suite with such a metric has judgments
    lenient = replace(setting, policies=replace(setting.policies, missing_queries="zero"))
    side_data = replace(setting.side_data, reference=theirs)
    found = lenient.brought(ours, side_data, documents=True)
    return apply_policies(found.judged, setting.policies)


def _compared(metric: Metric, judged: JudgedRankings, gathered: Gathered) -> Scored:
    """Values of all queries that the reference has."""
    there = judged.reference.present if judged.reference is not None else judged.present
    if metric.direction == "neither":
        there = there & judged.present
    if metric.unit != "query":
        there = there & np.array([query not in gathered.population.waived for query in judged.queries], bool)
    scores = score(metric, judged if there.all() else only(judged, there))
    ids = gathered.population.queries.ids
    if metric.unit != "query":
        return Scored(metric, scores.units, scores.values)
    known = dict(zip(scores.units, scores.values.tolist(), strict=True))
    return Scored(metric, ids, np.array([known.get(query, np.nan) for query in ids], np.float64))


def _judgedness_of(found: Brought, depth: int) -> Judgedness:
    """Count for each judged query the documents down to a depth, and the judged ones among them."""
    judged = found.judged
    above = judged.hits.query[judged.hits.rank <= depth]
    return Judgedness(np.minimum(judged.retrieved, depth), np.bincount(above, minlength=judged.count))


def with_judged_shares(counts: Counts, suite: Suite, population: Population, now: Side, before: Side | None) -> Counts:
    """The counts with the share of judged documents on both sides."""
    if now.judgedness is None or population.judgments is None:
        return counts
    queries = population.judgments.queries
    wanted = np.array([query in now.position and query not in population.waived for query in queries], bool)
    if before is not None:
        wanted &= np.array([query in before.position for query in queries], bool)
    return replace(
        counts,
        judged_share=_share(now.judgedness, wanted),
        judged_share_before=None if before is None else _share(before.judgedness, wanted),
        judged_depth=deepest_rank(suite.metrics, suite.depth),
    )


def _share(judgedness: Judgedness | None, wanted: Mask) -> float | None:
    listed = 0 if judgedness is None else int(judgedness.listed[wanted].sum())
    return None if judgedness is None or not listed else float(judgedness.judged[wanted].sum()) / listed


def notes_on_shares(suite: Suite, counts: Counts) -> Iterator[str]:
    """Warn if so little is judged that figures say little of what people see, or so much less that they mislead."""
    now, before = counts.judged_share, counts.judged_share_before
    if now is None or (now >= 0.8 and (before is None or before - now <= 0.05)):
        return
    then = "" if before is None else f" (baseline: {before:.0%})"
    others = "are removed" if suite.policies.unjudged == "removed" else "count as irrelevant"
    yield f"{now:.0%} of the first {counts.judged_depth} documents are judged{then}; the others {others}"


def _recall_precision_of(suite: Suite, gathered: Gathered, found: Brought, counting: Mask | None) -> Floats:
    """A row for each query of the suite: precision at eleven levels of recall, and R-precision.

    NaN for a query that does not count or has no relevant documents; one without a ranking has zeros.
    """
    queries = gathered.population.queries
    rows = np.full((len(queries), len(LEVELS) + 1), np.nan)
    if gathered.setting is None:
        return rows
    judged = apply_policies(found.judged, gathered.setting.policies)
    relevant = find_relevant(judged, relevant_from(suite))
    wanted = relevant.relevant > 0 if counting is None else counting & (relevant.relevant > 0)
    place = np.array([queries.position[query] for query in judged.queries], np.int64)
    rows[place[wanted], :-1] = interpolate_precision(relevant)[wanted]
    rows[place[wanted], -1] = compute_r_precision(relevant)[wanted]
    return rows


def noise_of(side: Side, metric: str, inside: Mask) -> RunNoise:
    """The noise between the askings of one side, on queries that have a value each time."""
    values = side.askings[metric]
    return run_noise(values[:, inside & ~np.isnan(values).any(axis=0)])


def weighted_noise(side: Side, metric: str, inside: Mask, weights: Floats) -> tuple[float, float]:
    """The variance of an answer, and the number of equally weighted queries with the same variance of the mean."""
    values = side.askings[metric]
    inside = inside & ~np.isnan(values).any(axis=0)
    squares = weights[inside] ** 2
    total = float(squares.sum())
    if not total:
        return 0.0, 1.0
    within = float(squares @ values[:, inside].var(axis=0, ddof=1)) / total
    return within, float(weights[inside].sum()) ** 2 / total


def metrics_asked_again(side: Side) -> tuple[str, ...]:
    """Metrics summed up by their mean over queries, of a source that was asked several times."""
    return tuple(
        name
        for name, values in side.askings.items()
        if len(values) > 1 and (side.scored[name].metric.unit, side.scored[name].metric.aggregate) == ("query", "mean")
    )


def spread_between(before: Side, now: Side, metric: str, askings: int | None = None) -> float | None:
    """The standard deviation of the differences of queries, with the first ``askings`` now; None if none differs."""
    if metric not in before.scored or metric not in now.askings:
        return None
    change = now.askings[metric][:askings].mean(axis=0) - before.scored[metric].values
    change = change[~np.isnan(change)]
    return float(change.std(ddof=1)) if change.size > 1 and np.abs(change).max() > TIE else None


def noise_notes(population: Population, now: Side, before: Side | None) -> Iterator[str]:
    """Report of a source that was asked several times the share of the differences' variance that its noise makes."""
    names = metrics_asked_again(now)
    if not names:
        return
    times = len(now.rankings)
    found = {name: noise_of(now, name, population.counting) for name in names}
    if not any(noise.moved for noise in found.values()):
        yield f"the source was asked {times} times, and every metric was the same each time"
        return
    said = [text for name, noise in found.items() if (text := _said(name, noise, now, before))]
    yield f"the source was asked {times} times; a query's value is the mean. Run noise: {', '.join(said)}"


def time_noise(now: Side, metric: Metric, inside: Mask) -> str:
    """The figures of a metric in each asking of the same system: how far they vary without any change."""
    values = now.askings.get(str(metric), np.zeros((1, 0)))
    kept = inside & ~np.isnan(values).any(axis=0) if metric.unit == "query" else np.ones(values.shape[1], bool)
    found = [figure for row in values if (figure := aggregated(row[kept], metric.aggregate)) is not None]
    if len(found) < 2:
        return "the noise of these times is unknown without repeats (repeat: 3 in the source)"
    low, high = min(found), max(found)
    if low == high:
        return f"the noise of these times is unknown, as all {len(found)} repeats are equal"
    gave = f"{len(found)} repeats of the same system gave {metric} from {low:.4g} to {high:.4g}"
    return f"{gave}, {100 * (high - low) / abs(low):.0f}% apart" if low else gave


def _said(name: str, noise: RunNoise, now: Side, before: Side | None) -> str:
    spread = None if before is None else spread_between(before, now, name)
    if before is None or spread is None:
        return f"{name} standard deviation {np.sqrt(noise.within):.3g} an answer" if noise.moved else ""
    share = noise_share(spread, noise.within, len(before.rankings), len(now.rankings))
    return f"{100 * share:.0f}% of the variance of {name}'s changes"
