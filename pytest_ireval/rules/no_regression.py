"""``no_regression``: a metric must not fall by more than its tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field, model_validator

from pytest_ireval.errors import SuiteError
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.drift import describe_drift
from pytest_ireval.rules.evidence import Decision, decide, is_significant, is_testable
from pytest_ireval.rules.fall_wording import describe_decision, describe_fall, list_notes, list_statistics
from pytest_ireval.rules.hard_limit import DEFAULT_IN_WORDS, choose_hard_limit, is_beyond
from pytest_ireval.rules.metric_change import MetricChange, compute_figures, count_needed_queries, measure_change
from pytest_ireval.rules.result import RuleResult, RuleVerdict
from pytest_ireval.rules.wording import missing_figure_error
from pytest_ireval.rules.worst_queries import describe_worse_queries, list_worst_changes
from pytest_ireval.sides.slices import WHOLE, slice_where
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.option_types import MetricText, TolerancesText, ToleranceText
from pytest_ireval.suite.options import BelowMinQueries, EvidenceOptions, WeightedOptions
from pytest_ireval.suite.quantities import Tolerance, refuse_tolerance


class NoRegressionOptions(EvidenceOptions, WeightedOptions):
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
    """The p of a fall, if evidence decides."""
    tolerance = options.tolerance.of(context.slice.value)
    if not options.by_evidence or tolerance is None:
        return None
    change = _measure_change(options, context, tolerance)
    return change.evidence.p_worse if is_testable(options, change) else None


@rule(name="no_regression", options=NoRegressionOptions, p_value=_p_value)
def no_regression(options: NoRegressionOptions, context: RuleContext) -> RuleResult:
    """A metric does not fall below the baseline by more than a tolerance."""
    tolerance = options.tolerance.of(context.slice.value)
    if tolerance is None:
        raise SuiteError(f"no tolerance is given for {options.per}={context.slice.value}, and no default")
    change = _measure_change(options, context, tolerance)
    figures = compute_figures(change)
    if figures.baseline is None or figures.now is None or figures.tolerance is None:
        raise missing_figure_error(change)
    hard_limit = choose_hard_limit(options.hard_limit, change, against_anchor=options.against.anchored)
    is_hard_limit_broken = hard_limit is not None and is_beyond(hard_limit, change)
    decision = _decide(options, change, is_hard_limit_broken=is_hard_limit_broken)
    figures = _complete_figures(options, figures, change, decision)
    if hard_limit is not None and is_hard_limit_broken:
        headline = describe_fall(context, figures, hard_limit, f"hard limit {hard_limit}")
    else:
        headline = describe_decision(options, change, tolerance, figures, decision)
    worst = list_worst_changes(context, change.values, failed=decision.verdict != "pass")
    sentences = describe_drift(change, figures), describe_worse_queries(context, figures, worst)
    return RuleResult(
        decision.verdict,
        headline,
        figures=(figures, *_compare_other_slices(options, context)),
        queries=worst.queries,
        more_queries=worst.omitted_count,
        numbers=_list_numbers(options, change, hard_limit),
        sentence=" ".join(filter(None, sentences)),
        facts=tuple(list_notes(options, change, figures, decision)),
        statistics=tuple(list_statistics(change, figures)) if options.by_evidence else (),
    )


def _decide(options: NoRegressionOptions, change: MetricChange, *, is_hard_limit_broken: bool) -> Decision:
    if not options.by_evidence:
        return Decision("fail" if change.fell_beyond(change.allowed_fall or 0.0) else "pass")
    if is_hard_limit_broken:
        # So large a fall is red even where chance, or judgments still to come, could explain it.
        return Decision("fail")
    return decide(options, change, lambda other: _check_fall(options, other))


def _complete_figures(
    options: NoRegressionOptions, figures: SliceFigures, change: MetricChange, decision: Decision
) -> SliceFigures:
    """The figures with the decision, and with what the correction for the suite's other checks changes."""
    is_failure = decision.verdict == "fail"
    if not options.by_evidence:
        return replace(figures, over=is_failure)
    context, needed = change.context, figures.needed
    if context.correction > 1 and needed is not None and change.allowed_loss:
        # Each of many checks is tested at a lower level, which takes more queries.
        needed = count_needed_queries(change, change.allowed_loss, LEVEL / context.correction)
    return replace(figures, over=is_failure, adjusted=context.adjust_p(change.evidence.p_worse), needed=needed)


def _measure_change(options: NoRegressionOptions, context: RuleContext, tolerance: Tolerance | None) -> MetricChange:
    return measure_change(context, tolerance, weighted=options.weighted, by_evidence=options.by_evidence)


def _check_fall(options: NoRegressionOptions, change: MetricChange) -> RuleVerdict:
    """The verdict by evidence, without a hard limit."""
    if not change.fell_beyond(change.allowed_fall or 0.0):
        return "pass"
    p, size = change.evidence.p_worse, change.effective_size
    return "fail" if is_significant(options, change.context, p, size) else "inconclusive"


def _list_numbers(options: NoRegressionOptions, change: MetricChange, hard_limit: Tolerance | None) -> dict[str, float]:
    if not options.by_evidence:
        return {}
    numbers = {"p": change.evidence.p_worse}
    if hard_limit is not None:
        numbers["hard_limit"] = hard_limit.allowed(change.baseline_mean)
    return numbers


def _compare_other_slices(options: NoRegressionOptions, context: RuleContext) -> Iterator[SliceFigures]:
    """All queries, and the other slices of the same column."""

    def compare(other: RuleContext) -> SliceFigures:
        compared = (other.population, other.baseline, str(other.metric), other.slice)
        key = ("figures of a slice", *compared, options.weighted, options.by_evidence)
        # Remembered, so that a column of many values is not compared again for each of them.
        return other.current.remember(key, lambda: compute_figures(_measure_change(options, other, None)))

    if context.slice.conditions:
        yield compare(replace(context, slice=WHOLE))
    if options.per:
        within = slice_where(options.where)
        for part in within.split(context.population.queries, options.per, options.traits.tolerances):
            if part != context.slice:
                yield compare(replace(context, slice=part))
