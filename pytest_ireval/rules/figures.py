"""The figures of one metric on one slice: means, change, gains and losses, the interval, and the resolution."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import Seen, Values
from pytest_ireval.rules.question import Question, weights_of
from pytest_ireval.statistics.mean_evidence import FEWEST, MeanEvidence
from pytest_ireval.statistics.student import false_alarm, queries_needed, resolution
from pytest_ireval.suites.options import RuleOptions


def figures_compared(seen: Seen, values: Values | None = None) -> SliceFigures:
    """The figures with a baseline, over the units that both sides have."""
    return figures_of(Question(seen, seen.paired() if values is None else values))


def slice_figures(options: RuleOptions, seen: Seen) -> SliceFigures:
    """The figures of a rule that compares: its facts give the tolerance, the weights and the level."""
    facts, values = options.facts, seen.paired()
    weights = weights_of(seen, values, weighted=facts.weighted)
    return figures_of(Question(seen, values, facts.tolerance_on(seen.slice.value), facts.alpha, weights))


def figures_of(question: Question) -> SliceFigures:
    """The figures with the tolerance, under the weights of the question."""
    seen, values, gains = question.seen, question.values, question.gains
    found = SliceFigures(
        slice=str(seen.slice),
        queries=int(gains.size),
        now=question.figure(values.now),
        baseline=question.figure(values.before),
        worse=int(np.count_nonzero(gains < 0)),
        better=int(np.count_nonzero(gains > 0)),
        same=int(np.count_nonzero(gains == 0)),
        share=seen.population.share(seen.slice),
        clusters=question.clusters,
        tolerance=question.allowed if gains.size and not question.weightless else None,
        weighted=question.weights is not None,
    )
    return _with_evidence(found, question) if question.about_a_mean and gains.any() else found


def _with_evidence(found: SliceFigures, question: Question) -> SliceFigures:
    """Add interval, spread, resolution and p, which only means have, and only where something changed."""
    evidence, allowed = question.evidence, question.drop if found.tolerance is not None else None
    found = replace(found, room=None if found.baseline is None else room_of(question.seen.metric, found.baseline))
    if not evidence.left:  # the change of the population is known: there is nothing to estimate
        return found
    ends = question.change_of(evidence.low), question.change_of(evidence.high)
    low, high = sorted(ends) if _has_interval(question) else (None, None)
    spread = evidence.sd * math.sqrt(evidence.left)
    smallest = resolution(spread, evidence.queries, per_unit=_per_unit(evidence))
    return replace(
        found,
        low=low,
        high=high,
        level=1 - 2 * question.alpha,
        sd=_known(evidence.sd),
        skew=_known(evidence.skew),
        p=evidence.p_worse,
        resolution=None if smallest is None else abs(question.change_of(-smallest)),
        false_alarm=None if allowed is None else false_alarm(allowed, spread, evidence.queries),
        needed=needed_for(question, allowed, question.alpha) if allowed else None,
        effective=None if question.weights is None else evidence.effective,
    )


def _has_interval(question: Question) -> bool:
    """Tell whether a t interval may be shown: not of a handful of changes, nor where the exact test contradicts it."""
    evidence = question.evidence
    if evidence.changed < FEWEST or not evidence.sd or not math.isfinite(evidence.low):
        return False
    return evidence.high >= 0 or evidence.p_worse < question.alpha


def needed_for(question: Question, drop: float, level: float) -> int | None:
    """Return how many queries such as these, with as many among them that have no weight, show a drop at a level."""
    evidence = question.evidence
    counting = queries_needed(evidence.sd, drop, level, _per_unit(evidence))
    if counting is None:
        return None
    share = (1 - evidence.left) / evidence.queries  # of the population that one query is
    return math.ceil(counting / (1 + counting * share) * question.gains.size / evidence.queries)


def _per_unit(evidence: MeanEvidence) -> float:
    """The number of queries for one degree of freedom; 1 unless they were drawn in clusters or strata."""
    return 1.0 if evidence.degrees == evidence.queries - 1 else evidence.queries / (evidence.degrees + 1)


def room_of(metric: Metric, mean: float) -> float | None:
    """The distance of a mean from its worst value; None where nothing bounds it."""
    low, high = metric.bounds
    room = high - mean if metric.direction == "lower" else mean - low
    return room if math.isfinite(room) else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
