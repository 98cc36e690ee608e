"""The question of every test: the change of a metric on a slice, the allowed fall, and the figures that answer it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_ireval.errors import MetricError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext, Values
from pytest_ireval.rules.side import Floats
from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.estimate import Counts, Weighting, weighting
from pytest_ireval.statistics.mean_evidence import FEWEST, MeanEvidence, mean_evidence
from pytest_ireval.statistics.resolution import LEVEL, false_alarm, queries_needed, resolution
from pytest_ireval.suite.quantities import Tolerance

if TYPE_CHECKING:
    from pytest_ireval.suite.options import RuleOptions

ROUNDING = 1e-12
"""A move beyond the tolerance by less than this share is rounding."""


@dataclass(frozen=True, eq=False)
class Question:
    """A metric on a slice, paired; ``tolerance`` is None where the rule sets none."""

    context: RuleContext
    values: Values
    tolerance: Tolerance | None = None
    weights: Floats | None = None
    """One for each unit, where the mean is weighted."""
    told: Floats | None = None
    """Other gains of the same units, where the question is about labels of unjudged documents."""
    by_evidence: bool = False
    """True if evidence decides, which compares ratios of times."""

    @property
    def about_a_mean(self) -> bool:
        """True if there is a mean of several units to test."""
        return self.context.metric.aggregate == "mean" and self.values.now.size > 1 and not self.weightless

    @property
    def cluster_of(self) -> Counts | None:
        """The number of the cluster of each unit; None where each was drawn for itself."""
        clusters = self.context.population.clusters
        return None if clusters is None or self.context.metric.unit != "query" else clusters[self.values.place]

    @cached_property
    def weighting(self) -> Weighting:
        """The weight of each unit, and the units that belong together."""
        return weighting(self.weights, self.gains.size, self.cluster_of)

    @property
    def worth(self) -> int:
        """The worth of these queries in queries, or clusters, of equal weight."""
        return self.weighting.worth

    @property
    def clusters(self) -> int | None:
        """The number of clusters; None where each query is drawn for itself."""
        return None if self.weighting.clusters is None else self.weighting.units

    @property
    def ratio(self) -> bool:
        """True if the question is about the mean of log(now / before), and figures are geometric means."""
        return self.by_evidence and self.context.metric.ratio

    @property
    def weightless(self) -> bool:
        """True if none of these queries has traffic, so that there is no mean."""
        return weightless(self.weights)

    @cached_property
    def gains(self) -> Floats:
        """The gain of each unit; a loss is negative, whichever values of the metric are better."""
        if self.told is not None:
            return self.told
        now, before = (self._logs(each) if self.ratio else each for each in self.values[2:])
        return self.context.sign * differences(now, before)

    def _logs(self, values: Floats) -> Floats:
        if (zeros := np.flatnonzero(values <= 0)).size:
            name = self.values.names[int(zeros[0])]
            complaint = f"evidence compares ratios, so every value must be above 0; {name!r} has {values[zeros[0]]:g}"
            advice = "no_regression and worsened compare differences with decide_by: observed"
            raise MetricError(Problem(complaint, place=str(self.context.metric), suggestion=advice))
        return np.log(values)

    def figure(self, values: Floats) -> float | None:
        """The metric's figure over these values, of ratios the geometric mean; None if there is none."""
        if weightless(self.weights) or not values.size:
            return None
        if self.ratio:
            return math.exp(mean_of(self._logs(values), self.weights))
        return (
            aggregated(values, self.context.metric.aggregate) if self.weights is None else mean_of(values, self.weights)
        )

    @cached_property
    def baseline(self) -> float:
        """The mean of the baseline, which is geometric where ratios are compared; 0 without values."""
        if self.ratio:
            return self.figure(self.values.before) or 0.0
        return mean_of(self.values.before, self.weights) if self.values.before.size else 0.0

    @property
    def fall(self) -> float:
        """How far the figure got worse, in its own unit; below 0 it got better."""
        if self.told is not None:
            return -mean_of(self.told, self.weights)
        now, before = (self.figure(each) or 0.0 for each in self.values[2:])
        return -self.context.sign * (now - before)

    def fell_beyond(self, allowed: float) -> bool:
        """Tell whether the figure fell by more than this, and not by rounding alone."""
        return self.fall > allowed + ROUNDING * max(1.0, abs(self.baseline))

    @property
    def allowed(self) -> float | None:
        """The allowed fall of the figure."""
        return None if self.tolerance is None else self.tolerance.allowed(self.baseline)

    @cached_property
    def margins(self) -> Floats | None:
        """The allowed fall of each unit: a share of its own value in the baseline, which is a sample as well."""
        if self.tolerance is None:
            return None
        if self.ratio:
            return np.full(self.gains.size, self.drop or 0.0)
        toward = 1.0 if self.baseline >= 0 else -1.0
        margins: Floats = self.tolerance.relative * toward * self.values.before + self.tolerance.absolute
        return margins

    @property
    def drop(self) -> float | None:
        """The allowed fall in the unit of the gains: of ratios a logarithm."""
        if self.tolerance is None or not self.ratio:
            return self.allowed
        return -self.context.sign * math.log1p(-self.context.sign * self.tolerance.relative)

    def change_of(self, gain: float) -> float:
        """The change of the figure with this mean gain."""
        return self.baseline * math.expm1(self.context.sign * gain) if self.ratio else self.context.sign * gain

    @cached_property
    def evidence(self) -> MeanEvidence:
        """All tests of the mean."""
        clusters = self.cluster_of
        return mean_evidence(self.gains, alpha=LEVEL, weights=self.weights, clusters=clusters)


def weightless(weights: Floats | None) -> bool:
    """Tell whether all weights are 0."""
    return weights is not None and not weights.any()


def mean_of(values: Floats, weights: Floats | None) -> float:
    """The mean, weighted or not; the order of the values does not change it."""
    if weights is None:
        return math.fsum(values.tolist()) / values.size
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def weights_of(context: RuleContext, values: Values, *, weighted: bool) -> Floats | None:
    """The weight of each unit; None where all count the same."""
    weights = context.population.weights
    return weights[values.place] if weighted and weights is not None else None


def figures_compared(context: RuleContext, values: Values | None = None) -> SliceFigures:
    """The figures with a baseline, over the units that both sides have."""
    return figures_of(Question(context, context.paired() if values is None else values))


def slice_figures(options: RuleOptions, context: RuleContext) -> SliceFigures:
    """The figures of a rule that compares: its facts give the tolerance and the weights."""
    facts, values = options.facts, context.paired()
    weights = weights_of(context, values, weighted=facts.weighted)
    return figures_of(Question(context, values, facts.tolerance_on(context.slice.value), weights))


def figures_of(question: Question) -> SliceFigures:
    """The figures with the tolerance, under the weights of the question."""
    context, values, gains = question.context, question.values, question.gains
    found = SliceFigures(
        slice=str(context.slice),
        queries=int(gains.size),
        now=question.figure(values.now),
        baseline=question.figure(values.before),
        worse=int(np.count_nonzero(gains < 0)),
        better=int(np.count_nonzero(gains > 0)),
        same=int(np.count_nonzero(gains == 0)),
        share=context.population.share(context.slice),
        clusters=question.clusters,
        tolerance=question.allowed if gains.size and not question.weightless else None,
        weighted=question.weights is not None,
    )
    return _with_evidence(found, question) if question.about_a_mean and gains.any() else found


def _with_evidence(found: SliceFigures, question: Question) -> SliceFigures:
    """Add interval, spread, resolution and p, which only means have, and only where something changed."""
    evidence, allowed = question.evidence, question.drop if found.tolerance is not None else None
    found = replace(found, room=None if found.baseline is None else room_of(question.context.metric, found.baseline))
    ends = question.change_of(evidence.low), question.change_of(evidence.high)
    low, high = sorted(ends) if _has_interval(question) else (None, None)
    smallest = resolution(evidence.sd, evidence.queries)
    return replace(
        found,
        low=low,
        high=high,
        level=1 - 2 * LEVEL,
        sd=_known(evidence.sd),
        p=evidence.p_worse,
        resolution=None if smallest is None else abs(question.change_of(-smallest)),
        false_alarm=None if allowed is None else false_alarm(allowed, evidence.sd, evidence.queries),
        needed=needed_for(question, allowed, LEVEL) if allowed else None,
        effective=None if question.weights is None else evidence.effective,
    )


def _has_interval(question: Question) -> bool:
    """Tell whether a t interval may be shown: not of a handful of changes, nor where the exact test contradicts it."""
    evidence = question.evidence
    if evidence.changed < FEWEST or not evidence.sd or not math.isfinite(evidence.low):
        return False
    return evidence.high >= 0 or evidence.p_worse < LEVEL


def needed_for(question: Question, drop: float, level: float) -> int | None:
    """Return how many queries such as these, with as many among them that have no weight, show a drop at a level."""
    evidence = question.evidence
    counting = queries_needed(evidence.sd, drop, level)
    return None if counting is None else math.ceil(counting * question.gains.size / evidence.queries)


def room_of(metric: Metric, mean: float) -> float | None:
    """The distance of a mean from its worst value; None where nothing bounds it."""
    low, high = metric.bounds
    room = high - mean if metric.direction == "lower" else mean - low
    return room if math.isfinite(room) else None


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
