"""What waivers hide: the waived queries that got worse, which no rule counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.views import split_queries
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.notes import describe_time_left
from pytest_ireval.gate.outcomes import report_error
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.score_rankings import score_rankings
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.suite.suite import Waiver


class WaivedLoss(NamedTuple):
    """The first metric of a comparing rule by which a waived query got worse."""

    metric: str
    baseline: float
    now: float

    def __str__(self) -> str:
        return f"{self.metric} {self.baseline:.3f} -> {self.now:.3f}"


def find_losses_of_waived_queries(scores: Scores) -> Mapping[str, WaivedLoss]:
    """Score the waived queries alone, by every metric that a rule compares, on both sides."""
    collection, waived = scores.collection, scores.population.waived
    parts = [part for rule in collection.suite.rules if rule.compares for part in rule.parts]
    metrics = {str(part.metric): part.metric for part in parts if part.metric is not None}
    compared = [
        each for each in metrics.values() if each.unit == "query" and not each.needs & {"reference", "sessions"}
    ]
    comparison = next((each.comparison for each in scores.references if each.comparison is not None), None)
    if not waived or comparison is None or not compared:
        return {}
    others = frozenset(scores.population.queries.ids) - waived
    alone = replace(collection, population=replace(scores.population, waived=others))
    after, before = (
        score_rankings(alone, _keep_queries(side, waived), side.origin, metrics=compared).side.scored
        for side in (scores.current, comparison.baseline)
    )
    losses: dict[str, WaivedLoss] = {}
    for metric in compared:
        name, sign = str(metric), -1 if metric.direction == "lower" else 1
        if name not in after or name not in before:
            continue
        pairs = zip(after[name].names, before[name].values.tolist(), after[name].values.tolist(), strict=True)
        for query, was, value in pairs:
            if query in waived and sign * (was - value) > TIE:
                losses.setdefault(query, WaivedLoss(name, was, value))
    return losses


def _keep_queries(side: Side, queries: frozenset[str]) -> list[Rankings]:
    """Those of a few queries, so that the others are not scored once more."""
    return [split_queries(each, queries.__contains__)[0] for each in side.rankings]


def check_waiver(outcome: Outcome, waiver: Waiver, inputs: Inputs, loss: WaivedLoss | None) -> Outcome:
    """Fail where a waiver is over; a waived query that got worse is a warning."""
    queries = inputs.collection.population.queries
    if waiver.query not in queries.position:
        return report_error(outcome, f"waives query {waiver.query!r}, which is not in {queries.origin}")
    if waiver.until < inputs.today:
        return replace(
            outcome,
            verdict="fail",
            headline=f"the waiver of {waiver.query} ended on {waiver.until}",
            sentence=f"It was given for: {waiver.reason}. Its query counts again; renew or remove the waiver.",
        )
    left = describe_time_left(waiver, inputs.today)
    facts = (f"it ends {left}",) if left else ()
    headline = f"{waiver.query} is waived until {waiver.until}: {waiver.reason}"
    if loss is None:
        return replace(outcome, verdict="pass", headline=headline, facts=facts)
    numbers = {"value": loss.now, "baseline": loss.baseline, "change": loss.now - loss.baseline}
    return replace(
        outcome,
        verdict="pass",
        headline=f"the waived query {waiver.query} got worse: {loss}",
        facts=(headline, *facts),
        warning=True,
        numbers=numbers,
    )
