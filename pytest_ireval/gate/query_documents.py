"""The documents of the queries worth a look, on both sides, with what each adds to the change of a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.views import cut_to_depth, select_queries, split_queries
from pytest_ireval.errors import MetricError
from pytest_ireval.evaluating.evaluation import apply_policies
from pytest_ireval.evaluating.recall_precision import compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.explaining import show_steps
from pytest_ireval.gate.queries_and_judgments import lowest_relevant_grade
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange
from pytest_ireval.results.suite_result import QueryCurve, QueryDocuments, RecallPrecision
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.query_changes import place_documents
from pytest_ireval.sides.side import Scored, Side

Curves = Mapping[str, QueryCurve]


def collect_query_documents(scores: Scores, outcomes: Sequence[Outcome]) -> tuple[QueryDocuments, ...]:
    """Collect the documents of the queries worth a look; with judgments also their curves and shares."""
    shown = _choose_queries(scores, outcomes)
    context = RuleContext(scores.population, scores.current, scores.baseline_side, Part())
    compared = scores.trusted_baseline_side
    now = _join_judgments(scores, scores.current, shown)
    before = None if compared is None else _join_judgments(scores, compared, shown)
    shares = _share_changes(scores, shown, now, before) if now is not None and before is not None else {}
    curves, earlier = _draw_curves(scores, now), _draw_curves(scores, before)
    count = [] if now is None else now.relevant_count(lowest_relevant_grade(scores.collection.suite)).tolist()
    relevant = {} if now is None else dict(zip(now.queries, count, strict=True))
    return tuple(
        QueryDocuments(
            query,
            placed := place_documents(context, query),
            curves.get(query),
            earlier.get(query),
            _align_shares(placed, shares.get(query, {})),
            relevant.get(query),
        )
        for query in shown
    )


def point_to_documents(
    scores: Scores, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]
) -> tuple[Outcome, ...]:
    """Show beside each query the document whose fall cost its metric most, where the metric says what each one adds."""
    by_query = {each.query: each for each in documents}

    def with_costliest(change: QueryChange, metric: str) -> QueryChange:
        of = by_query.get(change.query)
        shares = of.shares.get(metric) if of is not None else None
        if of is None or shares is None or not _got_worse(change, sign := signs[metric]):
            return change
        costs = [(-sign * (share or 0.0), placed) for share, placed in zip(shares, of.documents, strict=True)]
        fallen = [(cost, placed) for cost, placed in costs if cost > 0 and _fell(placed)]
        cost, placed = max(fallen or costs, key=lambda pair: pair[0], default=(0.0, None))
        return replace(change, best=placed if cost > 0 else None)

    signs = {name: -1 if each.metric.direction == "lower" else 1 for name, each in scores.current.scored.items()}
    return tuple(
        replace(each, queries=tuple(with_costliest(change, each.metric) for change in each.queries))
        if each.compares and not each.against
        else each
        for each in outcomes
    )


def _got_worse(change: QueryChange, sign: int) -> bool:
    return change.now is not None and change.baseline is not None and sign * (change.now - change.baseline) < 0


def _fell(placed: Placed) -> bool:
    return placed.baseline is not None and (placed.now is None or placed.now > placed.baseline)


def _join_judgments(scores: Scores, side: Side, shown: Sequence[str]) -> JudgedRankings | None:
    """The first asking of these queries as metrics see it, those of them that are judged; None if none is."""
    setting, wanted = scores.collection.setting, set(shown)
    if setting is None:
        return None
    few, _ = split_queries(side.rankings[0], wanted.__contains__)
    known = np.array([query in wanted for query in setting.judgments.queries], bool)
    if not known.any() or not any(query in setting.judgments.position for query in few.queries):
        return None
    found = setting.join_rankings(few, documents=True)
    return apply_policies(select_queries(found.judged, known), setting.policies)


def _draw_curves(scores: Scores, judged: JudgedRankings | None) -> Curves:
    """The curves of the queries that have a ranking and relevant documents."""
    if judged is None:
        return {}
    found = find_relevant(judged, lowest_relevant_grade(scores.collection.suite))
    recall = (found.so_far / np.repeat(found.relevant, np.diff(found.first))).tolist()
    precision = (found.so_far / found.rank).tolist()
    levels, r, first = interpolate_precision(found).tolist(), compute_r_precision(found).tolist(), found.first.tolist()
    there = np.flatnonzero(judged.present & (found.relevant > 0)).tolist()
    return {
        judged.queries[i]: QueryCurve(
            tuple(recall[first[i] : first[i + 1]]),
            tuple(precision[first[i] : first[i + 1]]),
            RecallPrecision(tuple(levels[i]), r[i]),
        )
        for i in there
    }


def _align_shares(placed: Sequence[Placed], shares: Mapping[str, _Shares]) -> dict[str, tuple[float | None, ...]]:
    """The share of each document, in their order; for metrics all of whose documents are there."""
    there = {each.document for each in placed}
    return {
        metric: tuple(moved.get(each.document) for each in placed)
        for metric, moved in shares.items()
        if moved.keys() <= there
    }


STEPS_OF_A_METRIC = 25
"""A metric that does not simply add up is asked for its steps on this many queries: those that it changed most."""

_Shares = Mapping[str, float]
"""By document; one that is not there contributes nothing."""


class _Changed(NamedTuple):
    """A query on which a metric changed."""

    query: str
    now: float
    before: float


class Lists(NamedTuple):
    """One side."""

    judged: JudgedRankings
    single: Callable[[int], JudgedRankings]
    """The view of the query in a row, made once for all metrics."""


def _share_changes(
    scores: Scores, shown: Sequence[str], now: JudgedRankings, before: JudgedRankings
) -> dict[str, dict[str, _Shares]]:
    """By query and metric, the shares of documents in ``now - baseline``, where they add up; both rank all queries."""
    found: dict[str, dict[str, _Shares]] = {}
    sides = _view_queries(now), _view_queries(before)
    place = {query: row for row, query in enumerate(now.queries)}
    for name, scored in scores.current.scored.items():
        changed = [each for each in _list_changed(scores, name, shown) if each.query in place]
        if (
            changed
            and scored.metric.judged
            and scored.metric.unit == "query"
            and not scored.metric.stage
            and not scored.metric.needs & {"reference", "sessions"}
        ):
            rows = np.array([place[each.query] for each in changed], np.int64)
            for each, moved in _explain_changes(scored.metric, changed, rows, *sides):
                found.setdefault(each.query, {})[name] = moved
    return found


def _view_queries(judged: JudgedRankings) -> Lists:
    number = np.arange(judged.count)
    return Lists(judged, cache(lambda row: select_queries(judged, number == row)))


def _list_changed(scores: Scores, name: str, shown: Sequence[str]) -> list[_Changed]:
    """The queries on which the metric changed, the largest change first."""
    before = scores.trusted_baseline_side.scored.get(name) if scores.trusted_baseline_side is not None else None
    if before is None or before.metric.unit != "query":
        return []
    rows = [scores.population.queries.position[query] for query in shown]
    pairs = zip(shown, scores.current.scored[name].values[rows].tolist(), before.values[rows].tolist(), strict=True)
    changed = [_Changed(*each) for each in pairs if abs(each[1] - each[2]) > 0]
    return sorted(changed, key=lambda each: -abs(each.now - each.before))


def _explain_changes(
    metric: Metric, changed: Sequence[_Changed], rows: Integers, now: Lists, before: Lists
) -> Iterator[tuple[_Changed, _Shares]]:
    """The queries whose change is the sum of what documents add to it."""
    parts: tuple[Iterable[_Shares], Iterable[_Shares]]
    if metric.is_additive and not metric.needs:
        parts = _score_documents_alone(metric, now.judged, rows), _score_documents_alone(metric, before.judged, rows)
    else:
        changed, rows = changed[:STEPS_OF_A_METRIC], rows[:STEPS_OF_A_METRIC]
        parts = _read_steps(metric, now, rows), _read_steps(metric, before, rows)
    for each, ours, theirs in zip(changed, *parts, strict=False):
        if _add_up(ours, each.now) and _add_up(theirs, each.before):
            yield each, _subtract_shares(ours, theirs)


def _score_documents_alone(metric: Metric, judged: JudgedRankings, rows: Integers) -> list[_Shares]:
    """The metric's value of each document alone, for all queries at once."""
    wanted = np.zeros(judged.count, bool)
    wanted[rows] = True
    few = select_queries(judged, wanted)
    cutoff = metric.settings.get("cutoff")
    few = cut_to_depth(few, cutoff) if isinstance(cutoff, int) else few
    documents, hits = few.documents, few.hits
    if documents is None:
        return []
    try:
        values = score(metric, isolate_documents(few)).values.tolist()
    except MetricError:  # it has no values of single documents; its value of the query is reported elsewhere
        return []
    names = documents.ids.texts(documents.first[hits.query] + hits.rank - 1)
    first = few.first.tolist()
    found = [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in pairwise(first)]
    return [found[row] for row in (np.cumsum(wanted) - 1)[rows].tolist()]


def _read_steps(metric: Metric, lists: Lists, rows: Integers) -> Iterator[_Shares]:
    """The shares by the metric's own steps, one query after the other; none if it has no steps, or they are broken."""
    for row in rows.tolist():
        try:
            steps = show_steps(metric, lists.single(row))
        except MetricError:  # ireval why tells what is wrong with them
            return
        if steps is None or steps.shares is None:
            return
        shares = zip(steps.documents, steps.shares.values, strict=True)
        yield {document: share for document, share in shares if share is not None}


def _add_up(shares: _Shares, value: float) -> bool:
    return abs(math.fsum(shares.values()) - value) <= 1e-9 * max(1.0, abs(value))


def _subtract_shares(ours: _Shares, theirs: _Shares) -> _Shares:
    """Of the documents that contribute on one of the sides."""
    moved = {document: ours.get(document, 0.0) - theirs.get(document, 0.0) for document in {**ours, **theirs}}
    return {name: moved[name] for name in moved if ours.get(name) or theirs.get(name)}


FEW = 300
"""Of suites with no more queries, the documents of each are kept."""
OF_A_RULE = 200
"""For a failing rule, the documents of up to this many queries are kept."""
WORST_OF_A_METRIC, BEST_OF_A_METRIC = 50, 20


def _choose_queries(scores: Scores, outcomes: Iterable[Outcome]) -> list[str]:
    """Those behind failing rules, then those that each metric lost and gained most on, then all if they are few."""
    queries = scores.population.queries
    shown: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.verdict != "pass" or outcome.warning or outcome.accepted:
            shown |= dict.fromkeys(change.query for change in outcome.queries[:OF_A_RULE])
    for name, scored in scores.current_with_overlaps.scored.items():
        if scored.metric.unit == "query":
            shown |= dict.fromkeys(_list_extremes(scores, name, scored))
    if len(queries) <= FEW:
        there = set(scores.current.position) | set(scores.baseline_side.position if scores.baseline_side else ())
        shown |= dict.fromkeys(query for query in queries.ids if query in there)
    return [query for query in shown if query in queries.position]


def _list_extremes(scores: Scores, name: str, scored: Scored) -> list[str]:
    """The queries that got worse by most, then better by most; without a baseline, those with the worst values."""
    sign = -1 if scored.metric.direction == "lower" else 1
    before = scores.baseline_side.scored.get(name) if scores.baseline_side is not None else None
    values = sign * (scored.values if before is None else scored.values - before.values)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    worst = [i for i in order[:WORST_OF_A_METRIC].tolist() if before is None or values[i] < 0]
    best = [i for i in order[::-1][:BEST_OF_A_METRIC].tolist() if before is not None and values[i] > 0]
    return [scored.names[i] for i in (*worst, *best)]


def isolate_documents(judged: JudgedRankings) -> JudgedRankings:
    """A query for each hit, with that hit where it stands and nothing else that is judged; ideals are as they were."""
    hits = judged.hits
    number = np.arange(hits.query.size)
    size = np.diff(judged.first_ideal)[hits.query]
    row = np.repeat(judged.first_ideal[hits.query] - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
    return replace(
        judged,
        queries=tuple(map(str, number.tolist())),
        retrieved=judged.retrieved[hits.query],
        present=np.ones(number.size, bool),
        hits=hits._replace(query=number),
        ideal=judged.ideal.at(row)._replace(query=np.repeat(number, size)),
        documents=None,
        subtopics=None,
        sessions=None,
        timings=None,
        reference=None,
        _memory={},
        _memory_of_ideal={},
        _judgments=None,
    )
