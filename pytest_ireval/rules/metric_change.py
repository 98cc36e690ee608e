"""The change of a metric on a slice: its gains, the fall that is allowed, the evidence, and the figures of reports."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_ireval.errors import MetricError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import PairedValues, RuleContext
from pytest_ireval.statistics.differences import Floats, differences
from pytest_ireval.statistics.estimate import Counts, Weighting, weighting
from pytest_ireval.statistics.mean_evidence import FEWEST, MeanEvidence, mean_evidence
from pytest_ireval.statistics.resolution import LEVEL, false_alarm, queries_needed, resolution
from pytest_ireval.suite.quantities import Tolerance

if TYPE_CHECKING:
    from pytest_ireval.suite.options import RuleOptions

ROUNDING = 1e-12
"""A move beyond the tolerance by less than this share is rounding."""


@dataclass(eq=False)
class MetricChange:
    """A metric on a slice, on both sides."""

    context: RuleContext
    values: PairedValues
    tolerance: Tolerance | None = None
    """None where the rule sets none."""
    weights: Floats | None = None
    """One for each unit, where the mean is weighted."""
    assumed_gains: Floats | None = None
    """The gains of the same units under other labels of unjudged documents."""
    by_evidence: bool = False
    """True if evidence decides, which compares ratios of times."""

    @property
    def has_testable_mean(self) -> bool:
        """True if there is a mean of several units to test."""
        return self.context.metric.aggregate == "mean" and self.values.current.size > 1 and not self.has_no_weight

    @property
    def clusters(self) -> Counts | None:
        """The number of the cluster of each unit; None where each was drawn for itself."""
        clusters = self.context.population.clusters
        return None if clusters is None or self.context.metric.unit != "query" else clusters[self.values.rows]

    @cached_property
    def weighting(self) -> Weighting:
        """The weight of each unit, and the units that belong together."""
        return weighting(self.weights, self.gains.size, self.clusters)

    @property
    def effective_size(self) -> int:
        """The number of queries, or clusters, of equal weight that these queries are worth."""
        return self.weighting.effective_size

    @property
    def cluster_count(self) -> int | None:
        """None where each query was drawn for itself."""
        return None if self.weighting.clusters is None else self.weighting.units

    @property
    def compares_ratios(self) -> bool:
        """True if it is about the mean of log(current / baseline), and figures are geometric means."""
        return self.by_evidence and self.context.metric.ratio

    @property
    def has_no_weight(self) -> bool:
        """True if none of these queries has traffic, so that there is no mean."""
        return has_no_weight(self.weights)

    @cached_property
    def gains(self) -> Floats:
        """The gain of each unit; a loss is negative, whichever values of the metric are better."""
        if self.assumed_gains is not None:
            return self.assumed_gains
        current, baseline = self.values.current, self.values.baseline
        if self.compares_ratios:
            current, baseline = self._logarithms(current), self._logarithms(baseline)
        return self.context.sign * differences(current, baseline)

    def _logarithms(self, values: Floats) -> Floats:
        if (zeros := np.flatnonzero(values <= 0)).size:
            name = self.values.names[int(zeros[0])]
            complaint = f"evidence compares ratios, so every value must be above 0; {name!r} has {values[zeros[0]]:g}"
            advice = "no_regression and worsened compare differences with decide_by: observed"
            raise MetricError(Problem(complaint, place=str(self.context.metric), suggestion=advice))
        return np.log(values)

    def compute_figure(self, values: Floats) -> float | None:
        """The metric's figure over these values, of ratios the geometric mean; None if there is none."""
        if self.has_no_weight or not values.size:
            return None
        if self.compares_ratios:
            return math.exp(weighted_mean(self._logarithms(values), self.weights))
        if self.weights is not None:
            return weighted_mean(values, self.weights)
        return aggregate_values(values, self.context.metric.aggregate)

    @cached_property
    def baseline_figure(self) -> float:
        """The figure of the baseline, of which a tolerance may be a share; 0 without values."""
        return self.compute_figure(self.values.baseline) or 0.0

    @property
    def fall(self) -> float:
        """How far the figure got worse, in its own unit; below 0 it got better."""
        if self.assumed_gains is not None:
            return -weighted_mean(self.assumed_gains, self.weights)
        return -self.context.sign * ((self.compute_figure(self.values.current) or 0.0) - self.baseline_figure)

    def fell_beyond(self, allowed: float) -> bool:
        """Tell whether the figure fell by more than this, and not by rounding alone."""
        return self.fall > allowed + ROUNDING * max(1.0, abs(self.baseline_figure))

    @property
    def is_within_tolerance(self) -> bool:
        """True if the figure fell by no more than the tolerance allows."""
        return not self.fell_beyond(self.allowed_fall or 0.0)

    @property
    def allowed_fall(self) -> float | None:
        """The fall that the tolerance allows, in the unit of the figure."""
        return None if self.tolerance is None else self.tolerance.allowed(self.baseline_figure)

    @property
    def allowed_fall_of_gains(self) -> float | None:
        """The same in the unit of the gains: of ratios a logarithm."""
        if self.tolerance is None or not self.compares_ratios:
            return self.allowed_fall
        return -self.context.sign * math.log1p(-self.context.sign * self.tolerance.relative)

    @cached_property
    def margins(self) -> Floats | None:
        """The allowed fall of each unit: a share of its own value in the baseline, which is a sample as well."""
        if self.tolerance is None:
            return None
        if self.compares_ratios:
            return np.full(self.gains.size, self.allowed_fall_of_gains or 0.0)
        toward = 1.0 if self.baseline_figure >= 0 else -1.0
        margins: Floats = self.tolerance.relative * toward * self.values.baseline + self.tolerance.absolute
        return margins

    def to_figure_change(self, gain: float) -> float:
        """The change of the figure with this mean gain."""
        sign = self.context.sign
        return self.baseline_figure * math.expm1(sign * gain) if self.compares_ratios else sign * gain

    @cached_property
    def evidence(self) -> MeanEvidence:
        """All tests of the mean."""
        return mean_evidence(self.gains, alpha=LEVEL, weights=self.weights, clusters=self.clusters)


def has_no_weight(weights: Floats | None) -> bool:
    """Tell whether all weights are 0."""
    return weights is not None and not weights.any()


def weighted_mean(values: Floats, weights: Floats | None) -> float:
    """The mean, weighted or not; the order of the values does not change it."""
    if weights is None:
        return math.fsum(values.tolist()) / values.size
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def select_weights(context: RuleContext, values: PairedValues, *, weighted: bool) -> Floats | None:
    """The weight of each unit; None where all count the same."""
    weights = context.population.weights
    return weights[values.rows] if weighted and weights is not None else None


def measure_change(
    context: RuleContext, tolerance: Tolerance | None = None, *, weighted: bool = False, by_evidence: bool = False
) -> MetricChange:
    """The change of the metric of a context on its slice."""
    values = context.paired_values()
    weights = select_weights(context, values, weighted=weighted)
    return MetricChange(context, values, tolerance, weights, by_evidence=by_evidence)


def compare_figures(context: RuleContext, values: PairedValues | None = None) -> SliceFigures:
    """The figures with a baseline, over the units that both sides have."""
    return compute_figures(MetricChange(context, context.paired_values() if values is None else values))


def compute_slice_figures(options: RuleOptions, context: RuleContext) -> SliceFigures:
    """The figures of a rule that compares: its traits give the tolerance and the weights."""
    traits = options.traits
    return compute_figures(measure_change(context, traits.tolerance_on(context.slice.value), weighted=traits.weighted))


def compute_figures(change: MetricChange) -> SliceFigures:
    """The figures of a change; interval, spread, resolution and p only of a mean, where something changed."""
    context, values, gains = change.context, change.values, change.gains
    figures = SliceFigures(
        slice=str(context.slice),
        queries=int(gains.size),
        now=change.compute_figure(values.current),
        baseline=change.compute_figure(values.baseline),
        worse=int(np.count_nonzero(gains < 0)),
        better=int(np.count_nonzero(gains > 0)),
        same=int(np.count_nonzero(gains == 0)),
        share=context.population.share(context.slice),
        clusters=change.cluster_count,
        tolerance=change.allowed_fall if gains.size and not change.has_no_weight else None,
        weighted=change.weights is not None,
    )
    if not change.has_testable_mean or not gains.any():
        return figures
    evidence = change.evidence
    allowed = change.allowed_fall_of_gains if figures.tolerance is not None else None
    ends = sorted((change.to_figure_change(evidence.low), change.to_figure_change(evidence.high)))
    low, high = ends if _has_interval(evidence) else (None, None)
    smallest = resolution(evidence.sd, evidence.queries)
    return replace(
        figures,
        low=low,
        high=high,
        sd=evidence.sd if math.isfinite(evidence.sd) else None,
        p=evidence.p_worse,
        resolution=None if smallest is None else abs(change.to_figure_change(-smallest)),
        false_alarm=None if allowed is None else false_alarm(allowed, evidence.sd, evidence.queries),
        needed=count_needed_queries(change),
        effective=None if change.weights is None else evidence.effective,
        room=None if figures.baseline is None else distance_to_worst(context.metric, figures.baseline),
    )


def _has_interval(evidence: MeanEvidence) -> bool:
    """Tell whether a t interval may be shown: not of a handful of changes, nor where the exact test contradicts it."""
    if evidence.changed < FEWEST or not evidence.sd or not math.isfinite(evidence.low):
        return False
    return evidence.high >= 0 or evidence.p_worse < LEVEL


def count_needed_queries(change: MetricChange, level: float = LEVEL) -> int | None:
    """How many queries such as these, with as many among them that have no weight, show a fall of the tolerance."""
    evidence, allowed = change.evidence, change.allowed_fall_of_gains
    weighted_queries = queries_needed(evidence.sd, allowed, level) if allowed else None
    return None if weighted_queries is None else math.ceil(weighted_queries * change.gains.size / evidence.queries)


def distance_to_worst(metric: Metric, mean: float) -> float | None:
    """The distance of a mean from its worst value; None where nothing bounds it."""
    low, high = metric.bounds
    distance = high - mean if metric.direction == "lower" else mean - low
    return distance if math.isfinite(distance) else None
