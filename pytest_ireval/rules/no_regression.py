"""``no_regression``: a metric must not fall by more than its tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from pydantic import Field, model_validator

from pytest_ireval.errors import SuiteError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part, rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import ChangeTest, Decision, decide, is_testable
from pytest_ireval.rules.fall_wording import (
    describe_bounds,
    describe_decision,
    describe_drift,
    describe_fall,
    list_losses,
    warn_of_low_baseline,
)
from pytest_ireval.rules.hard_limit import DEFAULT_IN_WORDS, choose_hard_limit, is_beyond
from pytest_ireval.rules.metric_change import MetricChange, compute_figures, count_needed_queries, measure_change
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import describe_look, describe_units, refuse_missing_figure, warn_of_many_looks
from pytest_ireval.rules.worst_queries import describe_worse_queries, list_worst_changes
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.sides.slices import WHOLE, Slice, slice_where
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.option_types import MetricText, TolerancesText, ToleranceText
from pytest_ireval.suite.options import BelowMinQueries, EvidenceOptions, StagedOptions, WeightedOptions
from pytest_ireval.suite.quantities import Tolerance, refuse_tolerance


class ComparedSlice(NamedTuple):
    """All that the figures of a slice are made of besides the current side, which remembers them by it."""

    population: Population
    baseline: Side | None
    metric: Metric
    slice: Slice
    weighted: bool
    by_evidence: bool

    def compute_figures(self, current: Side) -> SliceFigures:
        """Compare the slice, without its tolerance."""
        context = RuleContext(self.population, current, self.baseline, Part(metric=self.metric), self.slice)
        return compute_figures(measure_change(context, weighted=self.weighted, by_evidence=self.by_evidence))


class NoRegressionOptions(EvidenceOptions, WeightedOptions, StagedOptions):
    """A metric and its allowed fall."""

    metric: MetricText = Field(description="The metric.")
    tolerance: TolerancesText = Field(
        description="How far it may fall: 1% of the baseline, {absolute: 0.01}, or, with per, one for each value: "
        "{head: 1%, default: 3%}."
    )
    hard_limit: ToleranceText | None = Field(
        None,
        description="With evidence: an observed fall beyond it fails, whatever these queries can tell: 10% of the "
        f"baseline, {{absolute: 0.1}}. Default: {DEFAULT_IN_WORDS}; none against an anchor.",
    )

    @property
    def by_evidence(self) -> bool:
        """True if evidence decides; it compares ratios of times, so one that is given as an amount is observed."""
        if (
            "decide_by" not in self.model_fields_set
            and self.metric.ratio
            and any(each.absolute for each in self._tolerances)
        ):
            return False
        return super().by_evidence

    @property
    def _tolerances(self) -> list[Tolerance]:
        every = (self.tolerance.default, *self.tolerance.by_value.values())
        return [tolerance for tolerance in every if tolerance is not None]

    @property
    def below_min_queries(self) -> BelowMinQueries:
        """By evidence, a slice of any size fails beyond the hard limit; against an anchor, only if one is written."""
        if not self.by_evidence:
            return "not checked"
        has_hard_limit = self.hard_limit is not None or not self.against.anchored
        return "can fail" if has_hard_limit or self.on_inconclusive == "fail" else "cannot fail"

    @model_validator(mode="after")
    def _makes_sense(self) -> NoRegressionOptions:
        if self.tolerance.by_value and not self.per:
            raise ValueError("a tolerance for each value needs per: the column that has the values")
        for tolerance in self._tolerances:
            refuse_tolerance(tolerance, self.metric, by_evidence=self.by_evidence)
        limit = self.hard_limit
        if limit is None:
            return self
        refuse_tolerance(limit, self.metric, by_evidence=self.by_evidence, what="hard_limit")
        for tolerance in self._tolerances:
            # A limit of 5% beside a tolerance of {absolute: 0.01} passes here: which of them is less depends on the
            # baseline. The larger of the two counts when the metric is compared.
            if limit.is_stricter_than(tolerance):
                less = f"hard_limit: {limit} is less than the tolerance of {tolerance}"
                raise ValueError(f"{less}: write a hard_limit of {tolerance} or more")
        return self


def _p_value(options: NoRegressionOptions, context: RuleContext) -> float | None:
    return _test_fall(options, _measure_change(options, context)).p if options.by_evidence else None


@rule(name="no_regression", options=NoRegressionOptions, p_value=_p_value)
def no_regression(options: NoRegressionOptions, context: RuleContext) -> RuleResult:
    """A metric does not fall below the baseline by more than a tolerance."""
    change = _measure_change(options, context)
    figures = compute_figures(change)
    refuse_missing_figure(change, figures)
    if options.by_evidence:
        result = _check_by_evidence(options, change, figures)
    else:
        result = _check_observed(options, change, figures)
    worst = list_worst_changes(context, change.values, failed=result.verdict != "pass")
    sentences = describe_drift(change, figures), describe_worse_queries(context, figures, worst)
    return replace(
        result,
        figures=(*result.figures, *_compare_other_slices(options, context)),
        queries=worst.queries,
        more_queries=worst.omitted_count,
        sentence=" ".join(filter(None, sentences)),
    )


def _check_observed(options: NoRegressionOptions, change: MetricChange, figures: SliceFigures) -> RuleResult:
    """Fail if the figure fell by more than the tolerance."""
    failed, tolerance = not change.is_within_tolerance, _find_tolerance(options, change.context)
    facts = [*list_losses(change, figures), *warn_of_low_baseline(tolerance, figures)]
    if failed:
        facts += describe_bounds(change)
    return RuleResult(
        "fail" if failed else "pass",
        describe_fall(change.context, figures, tolerance, f"tolerance {tolerance}"),
        figures=(replace(figures, over=failed),),
        facts=tuple(facts),
    )


def _check_by_evidence(options: NoRegressionOptions, change: MetricChange, figures: SliceFigures) -> RuleResult:
    """Fail if the figure fell by more than the tolerance and chance does not explain that, or beyond the hard limit."""
    context, tolerance, p = change.context, _find_tolerance(options, change.context), change.evidence.p_worse
    # Each of many checks is tested at a lower level, which takes more queries.
    needed = None if figures.needed is None else count_needed_queries(change, LEVEL / context.correction)
    figures = replace(figures, adjusted=context.adjust_p(p), needed=needed)
    hard_limit = choose_hard_limit(options.hard_limit, tolerance, change, against_anchor=options.against.anchored)
    if hard_limit is not None and is_beyond(hard_limit, change):
        # So large a fall is red even where chance, or judgments still to come, could explain it.
        decision = Decision("fail")
        headline = describe_fall(context, figures, hard_limit, f"hard limit {hard_limit}")
    else:
        decision = decide(options, change, partial(_test_fall, options))
        headline = describe_decision(options, change, tolerance, figures, decision)
    facts = [*list_losses(change, figures)]
    if decision.verdict != "pass":
        facts += warn_of_low_baseline(tolerance, figures)
        facts += describe_bounds(change, decision.relabeled)
    if figures.p is not None:
        facts += warn_of_many_looks(context)
    limits = {} if hard_limit is None else {"hard_limit": hard_limit.allowed(change.baseline_figure)}
    return RuleResult(
        decision.verdict,
        headline,
        figures=(replace(figures, over=decision.verdict == "fail"),),
        numbers={"p": p, **limits},
        facts=tuple(facts),
        statistics=(*(describe_look(context) if figures.p is not None else ()), *describe_units(change)),
    )


def _test_fall(options: NoRegressionOptions, change: MetricChange) -> ChangeTest:
    """The test of a fall, without the hard limit."""
    p = change.evidence.p_worse if is_testable(options, change) else None
    return ChangeTest(change.is_within_tolerance, p)


def _measure_change(options: NoRegressionOptions, context: RuleContext) -> MetricChange:
    tolerance = _find_tolerance(options, context)
    return measure_change(context, tolerance, weighted=options.weighted, by_evidence=options.by_evidence)


def _find_tolerance(options: NoRegressionOptions, context: RuleContext) -> Tolerance:
    tolerance = options.tolerance.of(context.slice.value)
    if tolerance is None:
        raise SuiteError(f"no tolerance is given for {options.per}={context.slice.value}, and no default")
    return tolerance


def _compare_other_slices(options: NoRegressionOptions, context: RuleContext) -> Iterator[SliceFigures]:
    """All queries, and the other slices of the same column."""
    slices = [WHOLE]
    if options.per:
        within = slice_where(options.where)
        slices += within.split(context.population.queries, options.per, options.traits.tolerances)

    for slice_ in slices:
        if slice_ != context.slice:
            compared = ComparedSlice(
                context.population, context.baseline, context.metric, slice_, options.weighted, options.by_evidence
            )
            # Remembered, so that a column of many values is not compared again for each of them.
            yield context.current.remember(compared, partial(compared.compute_figures, context.current))
