"""``equivalent``: a metric must not move, up or down, by more than its tolerance; evidence decides."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import INTERVAL_LEVEL, SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import ChangeTest, Decision, decide, has_too_few_queries, is_testable
from pytest_ireval.rules.metric_change import MetricChange, compute_figures, measure_change
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import (
    describe_look,
    describe_open_judgments,
    describe_units,
    explain_chance,
    explain_few_queries,
    format_forced,
    format_metric,
    format_move,
    format_slice,
    refuse_missing_figure,
    warn_of_many_looks,
)
from pytest_ireval.rules.worst_queries import list_worst_changes
from pytest_ireval.statistics.mean_evidence import Equivalence, equivalence
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.option_types import MetricText, ToleranceText
from pytest_ireval.suite.options import AlwaysEvidenceOptions, StagedOptions, WeightedOptions
from pytest_ireval.suite.quantities import refuse_tolerance
from pytest_ireval.words import format_count


class EquivalentOptions(AlwaysEvidenceOptions, WeightedOptions, StagedOptions):
    """A metric and its allowed move."""

    metric: MetricText = Field(description="The metric.")
    tolerance: ToleranceText = Field(description="How far it may move: 1% of the baseline, or {absolute: 0.01}.")

    @model_validator(mode="after")
    def _makes_sense(self) -> EquivalentOptions:
        refuse_tolerance(self.tolerance, self.metric, by_evidence=True)
        if not self.tolerance.relative and not self.tolerance.absolute:
            raise ValueError("a tolerance of 0 can never be confirmed: write the largest change that does not matter")
        return self


def _p_value(options: EquivalentOptions, context: RuleContext) -> float | None:
    return _test_move(options, _measure_change(options, context)).p


@rule(name="equivalent", options=EquivalentOptions, p_value=_p_value)
def equivalent(options: EquivalentOptions, context: RuleContext) -> RuleResult:
    """A metric does not move by more than a tolerance in either direction."""
    change = _measure_change(options, context)
    figures = compute_figures(change)
    refuse_missing_figure(change, figures)
    p = _compute_equivalence(change).p_moved
    decision = decide(options, change, partial(_test_move, options), two_sided=True)
    figures = replace(figures, p=p, adjusted=context.adjust_p(p), over=decision.verdict == "fail", two_sided=True)
    worst, unit = list_worst_changes(context, change.values, failed=decision.verdict != "pass"), context.metric.unit
    return RuleResult(
        decision.verdict,
        _describe(options, change, figures, decision),
        figures=(figures,),
        queries=worst.queries,
        more_queries=worst.omitted_count,
        sentence=f"{figures.worse} of {format_count(figures.queries, unit)} got worse, {figures.better} better.",
        facts=tuple(warn_of_many_looks(context)),
        statistics=(*describe_look(context), *describe_units(change), *_warn_of_heavy_queries(change)),
    )


def _measure_change(options: EquivalentOptions, context: RuleContext) -> MetricChange:
    return measure_change(context, options.tolerance, weighted=options.weighted, by_evidence=True)


def _test_move(options: EquivalentOptions, change: MetricChange) -> ChangeTest:
    if not is_testable(options, change):
        return ChangeTest(is_allowed=not change.evidence.changed, p=None)
    test = _compute_equivalence(change)
    return ChangeTest(is_allowed=test.p < LEVEL, p=test.p_moved)


def _compute_equivalence(change: MetricChange) -> Equivalence:
    allowed = 0.0 if change.margins is None else change.margins
    return equivalence(change.gains, allowed, weights=change.weights, clusters=change.clusters)


def _warn_of_heavy_queries(change: MetricChange) -> tuple[str, ...]:
    """Measured by ``benchmarks/weights.py``: where few queries move, the heavy ones show too little of the spread."""
    if change.weights is None or not change.weighting.is_decided_by_few:
        return ()
    return ("few queries hold most of the weight: up to 10% of changes as large as the tolerance pass, not 5%",)


def _describe(options: EquivalentOptions, change: MetricChange, figures: SliceFigures, decision: Decision) -> str:
    within = f"less than {options.tolerance} either way"
    if decision.verdict == "pass":
        words = f"it moved by {within}" if change.evidence.changed else "nothing changed"
    elif decision.doubt == "chance" and has_too_few_queries(options, change):
        words = explain_few_queries(options, change)
    elif decision.doubt == "chance":
        between = f"the change is so close to {options.tolerance} that it cannot be told apart"
        words = explain_chance(change, figures, f"tell whether it moved by {within}", enough=between)
    else:
        words = f"it moved, and {options.tolerance} or more is not ruled out"
    if decision.relabeled is not None:
        words += f"; {describe_open_judgments(decision.relabeled)}"
    context = change.context
    moved = f"{format_metric(context, figures)} {format_move(figures, absolute=not change.compares_ratios)}"
    return f"{moved}{format_slice(context)}{_format_interval(change, figures)}: {words}{format_forced(decision)}"


def _format_interval(change: MetricChange, figures: SliceFigures) -> str:
    """`` (90% interval -0.021 to +0.005)``; empty without one."""
    if figures.low is None or figures.high is None:
        return ""
    low, high = f"{figures.low:+.3f}", f"{figures.high:+.3f}"
    if change.compares_ratios:
        low, high = (f"{100 * end / change.baseline_figure:+.1f}%" for end in (figures.low, figures.high))
    return f" ({INTERVAL_LEVEL:.0%} interval {low} to {high})"
