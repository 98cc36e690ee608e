"""What waivers hide: the waived queries that got worse, which no rule counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.views import of_queries
from pytest_ireval.gate.finding import Finding
from pytest_ireval.gate.inputs import Gathered, time_left
from pytest_ireval.gate.scoring import side_of
from pytest_ireval.rules.side import Side
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.suite.suite import Suite, Waiver

if TYPE_CHECKING:
    from pytest_ireval.gate.material import Material


class WaivedLoss(NamedTuple):
    """The first metric of a comparing rule by which a waived query got worse."""

    metric: str
    baseline: float
    now: float

    def __str__(self) -> str:
        return f"{self.metric} {self.baseline:.3f} -> {self.now:.3f}"


def find_losses_of_waived_queries(
    suite: Suite, gathered: Gathered, now: Side, reference: Side | None
) -> Mapping[str, WaivedLoss]:
    """Score the waived queries alone, by every metric that a rule compares."""
    waived = gathered.population.waived
    parts = [part for asked in suite.rules if asked.kind.compares for part in asked.parts]
    metrics = {str(part.metric): part.metric for part in parts if part.metric is not None}
    compared = [
        each for each in metrics.values() if each.unit == "query" and not each.needs & {"reference", "sessions"}
    ]
    if not waived or reference is None or not compared:
        return {}
    others = frozenset(gathered.population.queries.ids) - waived
    alone = replace(gathered, population=replace(gathered.population, waived=others))
    after, before = (
        side_of(suite, alone, _rankings_of(each, waived), each.origin, metrics=compared).side.scored
        for each in (now, reference)
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


def _rankings_of(side: Side, queries: frozenset[str]) -> list[Rankings]:
    """Those of a few queries, so that the others are not scored once more."""
    return [of_queries(each, queries.__contains__)[0] for each in side.rankings]


def rule_on_waiver(waiver: Waiver, material: Material, today: date) -> Finding:
    """Fail where a waiver is over; a waived query that got worse is a warning."""
    if waiver.query not in material.population.queries.position:
        return Finding("error", f"waives query {waiver.query!r}, which is not in {material.population.queries.origin}")
    if waiver.until < today:
        return Finding(
            "fail",
            f"the waiver of {waiver.query} ended on {waiver.until}",
            f"It was given for: {waiver.reason}. Its query counts again; renew or remove the waiver.",
        )
    left = time_left(waiver, today)
    facts = (f"it ends {left}",) if left else ()
    headline = f"{waiver.query} is waived until {waiver.until}: {waiver.reason}"
    loss = material.losses_of_waived.get(waiver.query)
    if loss is None:
        return Finding("pass", headline, facts=facts)
    numbers = {"value": loss.now, "baseline": loss.baseline, "change": loss.now - loss.baseline}
    return Finding(
        "pass",
        f"the waived query {waiver.query} got worse: {loss}",
        facts=(headline, *facts),
        warning=True,
        numbers=numbers,
    )
