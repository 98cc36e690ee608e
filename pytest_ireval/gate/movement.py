"""How far the means of a suite moved: the figures that an acceptance keeps, and the way since the anchor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.index_facts import NOTHING
from pytest_ireval.baseline.record import Spreads, Step, StepsOfMetrics, round_spreads, round_steps, spread_key
from pytest_ireval.gate.comparison import ComparedSides, ScoredReference
from pytest_ireval.gate.planning import (
    MetricOnSlice,
    RuleCheck,
    compares_with_anchor,
    list_anchored_means,
    list_compared_figures,
    needs_queries,
    plan_checks,
    select_rule_checks,
)
from pytest_ireval.gate.score import Scores
from pytest_ireval.plugins.plugin_types import Part
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.metric_change import measure_change
from pytest_ireval.sides.accepted_chain import AcceptedChain, AcceptedChange
from pytest_ireval.sides.population import Population
from pytest_ireval.statistics.differences import Floats, differences


class Movement(NamedTuple):
    """The spreads and steps of the means that an acceptance keeps."""

    spreads: Spreads = NOTHING
    steps: StepsOfMetrics = NOTHING


NO_MOVEMENT = Movement()


def measure_movement(scores: Scores) -> Movement:
    """Measure every mean that a rule compares with the stored baseline or the anchor; empty without a baseline.

    A baseline that does not fit the suite is not used: its differences are not those of a change of ranking.
    """
    baseline = scores.baseline.trusted
    if baseline is None:
        return NO_MOVEMENT
    suite, queries = scores.collection.suite, scores.population.queries
    checks = select_rule_checks(plan_checks(suite, queries if needs_queries(suite) else None))
    anchor = _find_anchor(scores)
    return Movement(
        round_spreads(_measure_spreads(scores.population, checks, baseline)),
        round_steps(_measure_steps(scores.population, checks, baseline, anchor) if anchor is not None else ()),
    )


def trace_way_from_anchor(scores: Scores, anchor: ScoredReference, held: MetricOnSlice) -> AcceptedChain:
    """The way of a mean from the anchor to the current rankings: committed acceptances, and this change."""
    changes = [AcceptedChange(each.date, each.reason, each.steps.get(_key(held))) for each in anchor.acceptances]
    baseline = scores.baseline.trusted
    step = None
    if baseline is not None and anchor.comparison is not None:
        step = _measure_step(scores.population, held, baseline, anchor.comparison)
    return AcceptedChain(
        tuple(each for each in changes if each.may_have_moved), AcceptedChange("", "", step).may_have_moved, step
    )


def _find_anchor(scores: Scores) -> ComparedSides | None:
    """The anchor, scored; None where no rule compares with one, or where that cannot be done."""
    anchored = (scores.find_reference(rule) for rule in scores.collection.suite.rules if compares_with_anchor(rule))
    return next((each.comparison for each in anchored if each.comparison is not None), None)


def _measure_spreads(
    population: Population, checks: Sequence[RuleCheck], baseline: ComparedSides
) -> Iterator[tuple[str, float]]:
    for held in list_compared_figures(checks):
        gains = _measure_gains(population, held, baseline)
        if gains.size > 1:
            clustered = _measure_clustered_spread(population, held, baseline)
            yield _key(held), clustered or _standard_deviation(gains)


def _measure_steps(
    population: Population, checks: Sequence[RuleCheck], baseline: ComparedSides, anchor: ComparedSides
) -> Iterator[tuple[str, Step]]:
    for held in list_anchored_means(checks):
        step = _measure_step(population, held, baseline, anchor)
        if step is not None:
            yield _key(held), step


def _measure_step(
    population: Population, held: MetricOnSlice, baseline: ComparedSides, anchor: ComparedSides
) -> Step | None:
    """From the stored baseline to the current rankings; None where one of them cannot be compared."""
    step, whole_way = (_measure_gains(population, held, each) for each in (baseline, anchor))
    if min(step.size, whole_way.size) < 2:
        return None
    return Step(float(step.mean()), _standard_deviation(step), _standard_deviation(whole_way))


def _measure_gains(population: Population, held: MetricOnSlice, comparison: ComparedSides) -> Floats:
    """The gain of each query on a reference; empty where the metric has no values on one of the sides."""
    name = str(held.metric)
    if held.metric.aggregate != "mean" or not comparison.has_values(name):
        return np.zeros(0)
    values = _make_context(population, held, comparison).paired_values()
    return differences(values.current, values.baseline)


def _measure_clustered_spread(population: Population, held: MetricOnSlice, comparison: ComparedSides) -> float | None:
    """The spread of single queries with the same error of the mean; None where queries have no clusters."""
    if population.clusters is None:
        return None
    return measure_change(_make_context(population, held, comparison)).evidence.sd


def _make_context(population: Population, held: MetricOnSlice, comparison: ComparedSides) -> RuleContext:
    return RuleContext(population, comparison.current, comparison.baseline, Part(metric=held.metric), held.slice)


def _key(held: MetricOnSlice) -> str:
    return spread_key(str(held.metric), str(held.slice))


def _standard_deviation(gains: Floats) -> float:
    return float(gains.std(ddof=1))
