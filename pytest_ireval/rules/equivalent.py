"""``equivalent``: a metric must not move, up or down, by more than its tolerance; evidence decides."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field, model_validator

from pytest_ireval.errors import MetricError
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import SliceFigures, Verdict
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.evidence import correction_factor, decide, p_for_suite
from pytest_ireval.rules.question import Question, figures_of, weights_of
from pytest_ireval.rules.result import RuleResult
from pytest_ireval.rules.wording import (
    cannot_tell,
    describe_units,
    few_words,
    look_words,
    metric_words,
    moved_words,
    no_weight_words,
    on,
    too_many_looks,
    worst_changes,
)
from pytest_ireval.statistics.mean_evidence import Equivalence, equivalence
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.option_types import MetricText, ToleranceText
from pytest_ireval.suite.options import AlwaysEvidenceOptions, WeightedOptions
from pytest_ireval.suite.quantities import refuse_tolerance
from pytest_ireval.words import format_count


class EquivalentOptions(AlwaysEvidenceOptions, WeightedOptions):
    """A metric and its allowed move."""

    metric: MetricText = Field(description="The metric.")
    tolerance: ToleranceText = Field(description="How far it may move: 1% of the baseline, or {absolute: 0.01}.")

    @model_validator(mode="after")
    def _makes_sense(self) -> EquivalentOptions:
        refuse_tolerance(self.tolerance, self.metric, by_evidence=True)
        if not self.tolerance.relative and not self.tolerance.absolute:
            raise ValueError("a tolerance of 0 can never be confirmed: write the largest change that does not matter")
        return self


def _describe(options: EquivalentOptions, context: RuleContext, result: RuleResult) -> str:
    change, decision = result.details
    figures = result.figures[0]
    within = f"less than {options.tolerance} either way"
    if decision.verdict == "pass":
        words = f"it moved by {within}" if change.evidence.changed else "nothing changed"
    elif decision.doubt == "chance" and change.worth < options.fewest:
        words = few_words(options, change)
    elif decision.doubt == "chance":
        between = ": the change lies between the two"
        words = cannot_tell(change, figures, f"whether it moved by {within}", enough=between)
    else:
        words = f"it moved, and {options.tolerance} or more is not ruled out"
    if decision.doubt == "judgments":
        documents = format_count(decision.relabeled.documents, "unjudged document")
        words += f"; inconclusive, as judgments of {documents} could change the verdict"
    forced = "; on_inconclusive: fail" if decision.is_forced else ""
    moved = moved_words(figures, absolute=not change.ratio)
    return f"{metric_words(context, figures)} {moved}{on(context)}{_format_interval(change, figures)}: {words}{forced}"


def _p_value(options: EquivalentOptions, context: RuleContext) -> float | None:
    change = _measure_change(options, context)
    return p_for_suite(options, change, lambda: _test(change).p_moved)


@rule(
    name="equivalent",
    options=EquivalentOptions,
    describe=_describe,
    compares=True,
    id_ends_in_all=True,
    p_value=_p_value,
)
def equivalent(options: EquivalentOptions, context: RuleContext) -> RuleResult:
    """A metric does not move by more than a tolerance in either direction."""
    change = _measure_change(options, context)
    figures = figures_of(change)
    if figures.change is None or figures.tolerance is None:
        raise MetricError(f"{context.metric} has no figure to compare{on(context)}{no_weight_words(change)}")
    p = _test(change).p_moved
    factor = correction_factor(options, context, p)
    decision = decide(options, change, lambda other: _check_move(options, other, factor), two_sided=True)
    worst = worst_changes(context, change.values, failed=decision.verdict != "pass")
    failed = decision.verdict == "fail"
    return RuleResult(
        decision.verdict,
        figures=(replace(figures, p=p, adjusted=min(1.0, factor * p), over=failed, two_sided=True),),
        queries=worst.queries,
        more_queries=worst.more,
        sentence=f"{figures.worse} of {figures.queries} queries got worse, {figures.better} better.",
        notes=tuple(too_many_looks(context)),
        statistics=(*look_words(context), *describe_units(change)),
        warning=decision.verdict == "inconclusive",
        details=(change, decision),
    )


def _measure_change(options: EquivalentOptions, context: RuleContext) -> Question:
    values = context.paired()
    weights = weights_of(context, values, weighted=options.weighted)
    return Question(context, values, options.tolerance, weights, by_evidence=True)


def _test(change: Question) -> Equivalence:
    allowed = 0.0 if change.margins is None else change.margins
    return equivalence(change.gains, allowed, weights=change.weights, clusters=change.cluster_of)


def _check_move(options: EquivalentOptions, change: Question, factor: float) -> Verdict:
    if not change.evidence.changed:
        return "pass"
    if change.worth < options.fewest:
        return "inconclusive"
    test = _test(change)
    if test.p < LEVEL:
        return "pass"
    return "fail" if min(1.0, factor * test.p_moved) < LEVEL else "inconclusive"


def _format_interval(change: Question, figures: SliceFigures) -> str:
    """`` (90% interval -0.021 to +0.005)``; empty without one."""
    if figures.low is None or figures.high is None:
        return ""
    low, high = f"{figures.low:+.3f}", f"{figures.high:+.3f}"
    if change.ratio:
        low, high = (f"{100 * end / change.baseline:+.1f}%" for end in (figures.low, figures.high))
    return f" ({figures.level * 100:.4g}% interval {low} to {high})"
