"""The causes of red checks: plain ones, documents of single queries on both sides, and explanations of the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Integers
from pytest_ireval.data.document_texts import titles_of
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.views import cut_to_depth, of_queries, only
from pytest_ireval.errors import IrevalError, MetricError, raised
from pytest_ireval.evaluating.evaluation import apply_policies
from pytest_ireval.evaluating.recall_precision import compute_r_precision, find_relevant, interpolate_precision
from pytest_ireval.explaining import described_steps
from pytest_ireval.gate.answers import request_of
from pytest_ireval.gate.inputs import relevant_from
from pytest_ireval.gate.known_changes import with_known_changes
from pytest_ireval.gate.last_run import LastRun, repeated_run
from pytest_ireval.gate.material import Material, reference_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.progress import SILENT
from pytest_ireval.results.outcome import Diagnosis, Outcome, Placed, QueryChange
from pytest_ireval.results.suite_result import EngineExplanation, QueryCurve, QueryDocuments, RecallPrecision
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.planning import INPUTS, Check
from pytest_ireval.rules.population import Population
from pytest_ireval.rules.ranking_change import MOST_NAMED, DiagnosesFound, RankingChange, run_diagnoses
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.sources.run import orders_by_rank
from pytest_ireval.suite.suite import Suite

Curves = Mapping[str, QueryCurve]


def documents_of(material: Material, side: Side, outcomes: Sequence[Outcome]) -> tuple[QueryDocuments, ...]:
    """Collect the documents of the queries worth a look; with judgments also their curves and shares."""
    shown = _queries_to_show(material, side, outcomes)
    context = RuleContext(material.population, material.now, material.baseline, Part())
    compared = material.comparable
    now = _judged(material, material.now, shown)
    before = None if compared is None else _judged(material, compared, shown)
    shares = _shares_of(material, shown, now, before) if now is not None and before is not None else {}
    curves, earlier = _curves(material, now), _curves(material, before)
    count = [] if now is None else now.relevant_count(relevant_from(material.suite)).tolist()
    relevant = {} if now is None else dict(zip(now.queries, count, strict=True))
    return tuple(
        QueryDocuments(
            query,
            placed := context.placed_documents(query),
            curves.get(query),
            earlier.get(query),
            _beside(placed, shares.get(query, {})),
            relevant.get(query),
        )
        for query in shown
    )


def with_evidence(
    material: Material, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]
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

    signs = {name: -1 if each.metric.direction == "lower" else 1 for name, each in material.now.scored.items()}
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


def _judged(material: Material, side: Side, shown: Sequence[str]) -> JudgedRankings | None:
    """The first asking of these queries as metrics see it, those of them that are judged; None if none is."""
    setting, wanted = material.setting, set(shown)
    if setting is None:
        return None
    few, _ = of_queries(side.rankings[0], wanted.__contains__)
    known = np.array([query in wanted for query in setting.judgments.queries], bool)
    if not known.any() or not any(query in setting.judgments.position for query in few.queries):
        return None
    found = setting.brought(few, documents=True)
    return apply_policies(only(found.judged, known), setting.policies)


def _curves(material: Material, judged: JudgedRankings | None) -> Curves:
    """The curves of the queries that have a ranking and relevant documents."""
    if judged is None:
        return {}
    found = find_relevant(judged, relevant_from(material.suite))
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


def _beside(placed: Sequence[Placed], shares: Mapping[str, _Shares]) -> dict[str, tuple[float | None, ...]]:
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


def _shares_of(
    material: Material, shown: Sequence[str], now: JudgedRankings, before: JudgedRankings
) -> dict[str, dict[str, _Shares]]:
    """By query and metric, the shares of documents in ``now - baseline``, where they add up; both rank all queries."""
    found: dict[str, dict[str, _Shares]] = {}
    sides = _lists(now), _lists(before)
    place = {query: row for row, query in enumerate(now.queries)}
    for name, scored in material.now.scored.items():
        changed = [each for each in _changed(material, name, shown) if each.query in place]
        if (
            changed
            and scored.metric.judged
            and scored.metric.unit == "query"
            and not scored.metric.needs & {"reference", "sessions"}
        ):
            rows = np.array([place[each.query] for each in changed], np.int64)
            for each, moved in _moved(scored.metric, changed, rows, *sides):
                found.setdefault(each.query, {})[name] = moved
    return found


def _lists(judged: JudgedRankings) -> Lists:
    number = np.arange(judged.count)
    return Lists(judged, cache(lambda row: only(judged, number == row)))


def _changed(material: Material, name: str, shown: Sequence[str]) -> list[_Changed]:
    """The queries on which the metric changed, the largest change first."""
    before = material.comparable.scored.get(name) if material.comparable is not None else None
    if before is None or before.metric.unit != "query":
        return []
    rows = [material.population.queries.position[query] for query in shown]
    pairs = zip(shown, material.now.scored[name].values[rows].tolist(), before.values[rows].tolist(), strict=True)
    changed = [_Changed(*each) for each in pairs if abs(each[1] - each[2]) > 0]
    return sorted(changed, key=lambda each: -abs(each.now - each.before))


def _moved(
    metric: Metric, changed: Sequence[_Changed], rows: Integers, now: Lists, before: Lists
) -> Iterator[tuple[_Changed, _Shares]]:
    """The queries whose change is the sum of what documents add to it."""
    parts: tuple[Iterable[_Shares], Iterable[_Shares]]
    if metric.adds_up and not metric.needs:
        parts = _alone(metric, now.judged, rows), _alone(metric, before.judged, rows)
    else:
        changed, rows = changed[:STEPS_OF_A_METRIC], rows[:STEPS_OF_A_METRIC]
        parts = _stepwise(metric, now, rows), _stepwise(metric, before, rows)
    for each, ours, theirs in zip(changed, *parts, strict=False):
        if _adds_up(ours, each.now) and _adds_up(theirs, each.before):
            yield each, _differences(ours, theirs)


def _alone(metric: Metric, judged: JudgedRankings, rows: Integers) -> list[_Shares]:
    """The metric's value of each document alone, for all queries at once."""
    wanted = np.zeros(judged.count, bool)
    wanted[rows] = True
    few = only(judged, wanted)
    cutoff = metric.settings.get("cutoff")
    few = cut_to_depth(few, cutoff) if isinstance(cutoff, int) else few
    documents, hits = few.documents, few.hits
    if documents is None:
        return []
    try:
        values = score(metric, each_document_alone(few)).values.tolist()
    except MetricError:  # it has no values of single documents; its value of the query is reported elsewhere
        return []
    names = documents.ids.texts(documents.first[hits.query] + hits.rank - 1)
    first = few.first.tolist()
    found = [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in pairwise(first)]
    return [found[row] for row in (np.cumsum(wanted) - 1)[rows].tolist()]


def _stepwise(metric: Metric, lists: Lists, rows: Integers) -> Iterator[_Shares]:
    """The shares by the metric's own steps, one query after the other; none if it has no steps, or they are broken."""
    for row in rows.tolist():
        try:
            steps = described_steps(metric, lists.single(row))
        except MetricError:  # ireval why tells what is wrong with them
            return
        if steps is None or steps.shares is None:
            return
        shares = zip(steps.documents, steps.shares.values, strict=True)
        yield {document: share for document, share in shares if share is not None}


def _adds_up(shares: _Shares, value: float) -> bool:
    return abs(math.fsum(shares.values()) - value) <= 1e-9 * max(1.0, abs(value))


def _differences(ours: _Shares, theirs: _Shares) -> _Shares:
    """Of the documents that contribute on one of the sides."""
    moved = {document: ours.get(document, 0.0) - theirs.get(document, 0.0) for document in {**ours, **theirs}}
    return {name: moved[name] for name in moved if ours.get(name) or theirs.get(name)}


FEW = 300
"""Of suites with no more queries, the documents of each are kept."""
OF_A_RULE = 200
"""For a failing rule, the documents of up to this many queries are kept."""
WORST_OF_A_METRIC, BEST_OF_A_METRIC = 50, 20


def _queries_to_show(material: Material, side: Side, outcomes: Iterable[Outcome]) -> list[str]:
    """Those behind failing rules, then those that each metric lost and gained most on, then all if they are few."""
    queries = material.population.queries
    shown: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.verdict != "pass" or outcome.warning or outcome.accepted:
            shown |= dict.fromkeys(change.query for change in outcome.queries[:OF_A_RULE])
    for name, scored in side.scored.items():
        if scored.metric.unit == "query":
            shown |= dict.fromkeys(_extremes(material, name, scored))
    if len(queries) <= FEW:
        there = set(material.now.position) | set(material.baseline.position if material.baseline else ())
        shown |= dict.fromkeys(query for query in queries.ids if query in there)
    return [query for query in shown if query in queries.position]


def _extremes(material: Material, name: str, scored: Scored) -> list[str]:
    """The queries that got worse by most, then better by most; without a baseline, those with the worst values."""
    sign = -1 if scored.metric.direction == "lower" else 1
    before = material.baseline.scored.get(name) if material.baseline is not None else None
    values = sign * (scored.values if before is None else scored.values - before.values)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    worst = [i for i in order[:WORST_OF_A_METRIC].tolist() if before is None or values[i] < 0]
    best = [i for i in order[::-1][:BEST_OF_A_METRIC].tolist() if before is not None and values[i] > 0]
    return [scored.names[i] for i in (*worst, *best)]


def each_document_alone(judged: JudgedRankings) -> JudgedRankings:
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


def diagnoses_of(
    material: Material, checks: Sequence[Check], outcomes: Sequence[Outcome], last_run: Path | None
) -> DiagnosesFound:
    """Plain causes of red or doubtful outcomes; without any, only causes that are a defect in any case."""
    # a warning about the inputs, such as answers that are recordings, is no doubt about the rankings
    doubtful = [each for each in outcomes if each.verdict != "pass" or (each.warning and each.id != INPUTS)]
    by_id, source = {check.id: check for check in checks}, material.suite.source
    ordered = sorted(doubtful, key=lambda each: each.verdict != "fail")
    compared = (by_id[each.id] for each in ordered if by_id[each.id].asked and each.compares)
    sides = (*(reference_of(check, material) for check in compared), material.comparable)
    baseline = next((side for side in sides if isinstance(side, Side)), None)
    if baseline is None or source is None:
        return DiagnosesFound((), ())
    now = material.now_beside(baseline)
    metric, lost = _metric_to_explain(material.suite, material.population, now, baseline, ordered)
    change = RankingChange(
        material.population,
        now,
        baseline,
        metric,
        source_changed=material.cause is not None and material.cause.source,
        ranked_lines=lambda: orders_by_rank(source.options, material.suite.path.parent),
        titles=lambda wanted: titles_of(wanted, *material.document_texts),
        removed_documents=frozenset(map(material.population.called, material.gone)),
    )
    found = run_diagnoses(change, material.registry.diagnoses, certain=not doubtful)
    if not lost:  # single queries lost, the whole did not: nothing is there to be explained
        found = found._replace(causes=tuple(replace(each, metric="", explained=None) for each in found.causes))
    found = found._replace(causes=with_known_changes(material, change, found.causes, red=bool(doubtful)))
    # Where documents have other ids, nothing else can be read from the figures before the ids agree.
    found = found._replace(causes=tuple(sorted(found.causes, key=lambda each: each.kind != "other_ids")))
    repeated = repeated_run(last_run, material) if doubtful and not change.is_unchanged else None
    return found if repeated is None else found._replace(causes=(*found.causes, _repeats(repeated, change)))


def _metric_to_explain(
    suite: Suite, population: Population, now: Side, baseline: Side, doubtful: Sequence[Outcome]
) -> tuple[Metric | None, bool]:
    """The metric whose loss causes explain, and whether it is against the change: a rule says so, or its mean fell."""
    metrics = {
        str(each): each
        for each in suite.metrics
        if each.unit == "query" and now.has_values(str(each)) and baseline.has_values(str(each))
    }
    for outcome in doubtful:
        either_way = any(each.two_sided for each in outcome.figures)
        if outcome.metric in metrics and outcome.compares and not either_way:
            return metrics[outcome.metric], True
    # No change of a ranking explains the time that a query took.
    names = [*(each.metric for each in doubtful), *(name for name in metrics if "timings" not in metrics[name].needs)]
    there = [metrics[name] for name in names if name in metrics]
    for metric in there:
        context = RuleContext(population, now, baseline, Part(metric=metric))
        if context.sign * float(np.sum(context.paired_values().gain)) < 0:
            return metric, True
    return next(iter(there), None), False


def _repeats(run: LastRun, change: RankingChange) -> Diagnosis:
    """The answers of the run before, though the source is another one; other causes that were found come first."""
    return Diagnosis(
        kind="same_answers",
        headline=f"the source changed since {run}, but every ranking is the same as in that run",
        advice="check that the new source was asked: a cache or an old file may have answered.",
        queries=tuple(change.sort_by_loss(change.moved_queries)[:MOST_NAMED]),
        affected=len(change.moved_queries),
        compared=len(change.queries),
    )


_EXPLAINED_QUERIES, _EXPLAINED_DOCUMENTS = 5, 2
_LINES, _LETTERS, _SECONDS = 40, 200, 60.0
"""The size of an explanation, and how long the source may take for it."""


def explained(
    material: Material, outcomes: Sequence[Outcome], documents: Sequence[QueryDocuments]
) -> tuple[tuple[EngineExplanation, ...], tuple[str, ...]]:
    """Ask the source why documents that moved have their scores, if a rule fails; and a note if it does not say."""
    source, there = material.suite.source, {each.query: each for each in documents}
    explain = source.kind.explain if source is not None else None
    red = dict.fromkeys(each.query for outcome in outcomes if outcome.verdict == "fail" for each in outcome.queries)
    pairs = [
        (query, placed)
        for query in islice((query for query in red if query in there), _EXPLAINED_QUERIES)
        for placed in _moved_most(there[query], material.suite.depth)
    ]
    if source is None or explain is None or not pairs:
        return (), ()
    documents_asked = material.suite.documents
    if documents_asked.spans is not None or documents_asked.collapse:
        wanted = getattr(source.options, "explain", True)
        return (), ("explain has no effect with documents: spans or collapse: the index has other ids",) * wanted
    from pytest_ireval.sources.calls import make_calls
    from pytest_ireval.sources.live.exchange import AttemptError  # which most runs can do without

    request = request_of(material.suite, material.registry, material.population.queries)

    def asked(number: int) -> list[str]:
        query, placed = pairs[number]
        return [
            str(line)[:_LETTERS] for line in islice(explain(source.options, request, query, placed.document), _LINES)
        ]

    told = make_calls(asked, len(pairs), 2, _SECONDS, SILENT)
    found = tuple(
        EngineExplanation(query, placed.document, placed.now, placed.baseline, tuple(answer.value))
        for (query, placed), answer in zip(pairs, told, strict=False)
        if answer.value
    )
    if not told[-1].failed:
        return found, ()
    query, placed = pairs[len(told) - 1]
    error = told[-1].error or AttemptError(f"no answer in {_SECONDS:g}s")
    known = isinstance(error, IrevalError | AttemptError)
    why = " ".join((str(error) if known else raised("it", error).complaint).split())
    return found, (f"the source does not explain document {placed.document} of query {query}: {why}",)


def _moved_most(documents: QueryDocuments, depth: int) -> list[Placed]:
    """The documents that changed metrics most; then those that moved over most ranks."""

    def size(place: int) -> tuple[float, int]:
        placed = documents.documents[place]
        share = max((abs(shares[place] or 0.0) for shares in documents.shares.values()), default=0.0)
        return share, abs((placed.now or depth + 1) - (placed.baseline or depth + 1))

    sizes = {place: size(place) for place in range(len(documents.documents))}
    most = sorted((place for place in sizes if any(sizes[place])), key=lambda place: sizes[place], reverse=True)
    return [documents.documents[place] for place in most[:_EXPLAINED_DOCUMENTS]]
