"""Where relevant documents were lost between the stages of an answer, and the best that reranking could reach."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pytest_ireval.causes.ranking_change import MOST_NAMED, RankingChange
from pytest_ireval.gate.ceiling import compute_ceiling, describe_ceilings, measure_ceilings
from pytest_ireval.gate.planning import Check, RuleCheck, select_rule_checks
from pytest_ireval.gate.queries_and_judgments import Collection, lowest_relevant_grade
from pytest_ireval.gate.query_documents import OF_A_RULE
from pytest_ireval.gate.score import Scores
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Diagnosis, LostDocument, Outcome, QueryChange
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.words import format_count

MOST_LOST = 3
"""The number of lost documents that are listed for a query."""
AS_GOOD = 0.01
"""A last stage whose share of its ceiling fell by more than this reaches less than before."""


def locate_losses(scores: Scores, checks: Sequence[Check], outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """Say for every red or doubtful rule where its queries lost their documents, and what the best order would give."""
    suite = scores.collection.suite
    if not suite.stages_of():
        return tuple(outcomes)
    by_id = {check.id: check for check in select_rule_checks(checks)}
    return tuple(
        _locate_losses_of(outcome, by_id[outcome.id], scores)
        if outcome.id in by_id and (outcome.verdict not in ("pass", "error") or outcome.warning or outcome.accepted)
        else outcome
        for outcome in outcomes
    )


def _locate_losses_of(outcome: Outcome, check: RuleCheck, scores: Scores) -> Outcome:
    metric, comparison = check.part.metric, scores.find_reference(check.rule).trusted
    if metric is None or metric.unit != "query" or not metric.judged or metric.compares_lists:
        return outcome
    before = comparison.baseline if comparison is not None and check.rule.compares else None
    ceiling = compute_ceiling(scores.collection, scores.current, metric)
    ceiling_before = None if before is None else compute_ceiling(scores.collection, before, metric)
    stages = scores.collection.suite.stages_of(metric)

    def locate(change: QueryChange) -> QueryChange:
        row = scores.population.queries.position[change.query]
        lost = find_lost_documents(scores.collection, scores.current, before, metric, change.query)
        best, best_before = _find_value(ceiling, row), _find_value(ceiling_before, row)
        notes = [*([change.note] if change.note else []), *_describe_lost(lost, stages)]
        if best is not None:
            notes.append(f"ceiling {best:.3f}{'' if best_before is None else f' (before {best_before:.3f})'}")
        return replace(change, lost=lost, ceiling=best, ceiling_baseline=best_before, note="; ".join(notes))

    found = replace(outcome, queries=(*map(locate, outcome.queries[:OF_A_RULE]), *outcome.queries[OF_A_RULE:]))
    numbers = measure_ceilings(scores.collection, scores.current, before, metric, scores.population.mask(check.slice))
    facts = [f"ceiling: {describe_ceilings(numbers, metric, stages)}"] if numbers else []
    return replace(found, facts=(*facts, *outcome.facts), numbers={**outcome.numbers, **numbers})


def _find_value(values: Floats | None, row: int) -> float | None:
    return None if values is None or np.isnan(values[row]) else float(values[row])


def find_lost_documents(
    collection: Collection, current: Side, before: Side | None, metric: Metric, query: str
) -> tuple[LostDocument, ...]:
    """The relevant documents of a query that left the first ones; without a baseline, all that are not among them."""
    lowest, cutoff = lowest_relevant_grade(collection.suite), metric.settings.get("cutoff")
    most = cutoff if isinstance(cutoff, int) else sys.maxsize if metric.stage else collection.suite.depth
    stages = collection.suite.stages_of(metric)
    now = _rank_documents(current, metric, query)
    then = {} if before is None else _rank_documents(before, metric, query)
    lost = []
    for document, grade in collection.population.grades(query).items():
        was_there = before is None or then.get(document, most + 1) <= most
        if grade >= lowest and was_there and now.get(document, most + 1) > most:
            ranks = _find_stage_ranks(current, stages, query, document, now)
            if len(ranks) < len(stages):  # it was judged after these rankings were kept
                continue
            old = {} if before is None else _find_stage_ranks(before, stages, query, document, then)
            lost.append(LostDocument(document, grade, _choose_stage(stages, ranks, old), ranks, old))
    return tuple(sorted(lost, key=lambda each: (-each.grade, then.get(each.document, 0), each.document)))


def _rank_documents(side: Side, metric: Metric, query: str) -> dict[str, int]:
    """The ranks of documents in the ranking, or in the stage that the metric is about."""
    if not metric.stage:
        return {document: rank for rank, document in enumerate(side.documents(query), 1)}
    answer = side.rankings[0].stages.get(metric.stage, {}).get(query)
    return {} if answer is None else {document: rank for document, rank in answer.ranks.items() if rank is not None}


def _find_stage_ranks(
    side: Side, stages: Sequence[str], query: str, document: str, in_last: Mapping[str, int]
) -> dict[str, int | None]:
    """The rank in each stage, as far as it knows the document."""
    answers = ((name, side.rankings[0].stages.get(name, {}).get(query)) for name in stages[:-1])
    ranks = {name: of.ranks[document] for name, of in answers if of is not None and document in of.ranks}
    return {**ranks, stages[-1]: in_last.get(document)}


def _choose_stage(stages: Sequence[str], now: Mapping[str, int | None], before: Mapping[str, int | None]) -> str:
    """The stage that lost a document: the first without it, but for one that did not have it before either."""
    if now[stages[-1]] is not None:
        return stages[-1]
    return next((name for name in stages if now.get(name) is None and before.get(name, 1) is not None), stages[-1])


def _describe_lost(lost: Sequence[LostDocument], stages: Sequence[str]) -> Iterator[str]:
    for each in lost[:MOST_LOST]:
        earlier, last = _format_ranks(each.ranks, stages[:-1]), each.ranks[stages[-1]]
        if not earlier:
            where = "not retrieved" if last is None else f"at #{last} of {stages[-1]}"
        else:
            where = (
                f"retrieved ({earlier}) and {f'cut by {each.stage}' if last is None else f'reranked away to #{last}'}"
            )
        before = _format_ranks(each.ranks_before, stages)
        unknown = [name for name in stages if each.ranks_before and name not in each.ranks_before]
        before += f"; unknown in {', '.join(unknown)}" if unknown else ""
        yield f"{each.document} (grade {each.grade:g}) {where}{f' (before: {before})' if before else ''}"
    if len(lost) > MOST_LOST:
        yield f"and {len(lost) - MOST_LOST} more relevant documents"


def _format_ranks(ranks: Mapping[str, int | None], stages: Sequence[str]) -> str:
    """``retrieve #3, rerank #1``; stages without the document are left out."""
    return ", ".join(f"{name} #{rank}" for name in stages if (rank := ranks.get(name)) is not None)


def diagnose_stages(collection: Collection, change: RankingChange) -> Diagnosis | None:
    """The cause that names the stage which lost the relevant documents of the queries that got worse."""
    metric, stages = change.metric, collection.suite.stages_of()
    worse = [query for query in change.sort_by_loss(change.queries) if change.losses.get(query, 0.0) > TIE]
    if not stages or metric is None or not metric.judged or not worse:
        return None
    current, baseline = change.current_side, change.baseline_side
    ceilings = [compute_ceiling(collection, side, metric) for side in (baseline, current)]
    losses = dict.fromkeys(stages, 0.0)
    queries: dict[str, list[str]] = {name: [] for name in stages}
    for query in worse:
        parts = _split_loss(collection, change, metric, query, ceilings)
        for name, part in parts.items():
            losses[name] += part
        queries[max(parts, key=parts.__getitem__)].append(query)
    stage, *others = sorted(stages, key=lambda name: -losses[name])
    also = "".join(f", {name} in {len(queries[name])}" for name in others if queries[name])
    count = format_count(len(worse), "worse query")
    numbers = measure_ceilings(collection, current, baseline, metric, collection.population.counted_queries)
    if "ceiling_baseline" in numbers:
        is_as_good = numbers["reached"] >= numbers["reached_baseline"] - AS_GOOD
        reached = "is as good as before" if is_as_good else "reaches less of what was possible than before"
        also += f"; {stages[-1]} {reached}: {describe_ceilings(numbers, metric, stages)}"
    verb, look = "lost", "they do not come out of it any more"
    if stage == stages[-1]:
        verb, look = "lowered or cut", "it ranks them lower"
    return Diagnosis(
        kind="stage",
        headline=f"{stage} {verb} relevant documents in {len(queries[stage])} of {count}{also}",
        advice=f"look at what {stage} does with the relevant documents of these queries: {look}.",
        queries=tuple(queries[stage][:MOST_NAMED]),
        affected=len(queries[stage]),
        compared=len(change.queries),
        metric=str(metric),
        explained=losses[stage] / change.loss,
        stage=stage,
        locates=True,
    )


def _split_loss(
    collection: Collection, change: RankingChange, metric: Metric, query: str, ceilings: Sequence[Floats | None]
) -> dict[str, float]:
    """The parts that stages have in the loss of a query.

    The part of an earlier stage is what would be lost if the last one reached the same share of the ceiling as before.
    """
    baseline, loss, last = change.baseline_side, change.losses[query], collection.suite.stages_of()[-1]
    lost = find_lost_documents(collection, change.current_side, baseline, metric, query)
    earlier = next((document.stage for document in lost if document.stage != last), None)
    if earlier is None:  # what is lost, or stands lower than before, was there for the last stage to rank
        return {last: loss}
    row = collection.population.queries.position[query]
    best_before, best = (_find_value(values, row) for values in ceilings)
    if best_before is None or best is None:
        return {lost[0].stage: loss}
    fall = 1 - best / best_before if best_before else 0.0
    part = min(loss, max(0.0, fall * float(baseline.scored[str(metric)].values[row])))
    return {earlier: part, last: loss - part}
