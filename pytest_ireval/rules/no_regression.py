"""``no_regression``: a metric must not fall by more than its tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field, model_validator

from pytest_ireval.errors import SuiteError
from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext
from pytest_ireval.rules.drift import describe_drift, list_losses
from pytest_ireval.rules.evidence import Decision, decide, is_significant, is_testable, relabel_unjudged
from pytest_ireval.rules.metric_change import (
    MetricChange,
    compute_figures,
    count_needed_queries,
    distance_to_worst,
    measure_change,
)
from pytest_ireval.rules.result import RuleResult, RuleVerdict
from pytest_ireval.rules.slices import WHOLE, slice_where
from pytest_ireval.rules.wording import (
    describe_bounds,
    describe_doubt,
    describe_fall,
    describe_look,
    describe_open_judgments,
    describe_units,
    explain_doubt,
    explain_few,
    format_needed,
    missing_figure_error,
    warn_of_low_baseline,
    warn_of_many_looks,
)
from pytest_ireval.rules.worst_queries import describe_worse_queries, list_worst_changes
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.option_types import MetricText, TolerancesText, ToleranceText
from pytest_ireval.suite.options import BelowMinQueries, EvidenceOptions, WeightedOptions
from pytest_ireval.suite.quantities import Tolerance, refuse_tolerance

HARD_LIMIT_TOLERANCES = 5
"""The default of the hard limit is this many tolerances, but at least one of these shares of the baseline."""
LEAST_HARD_LIMITS = ((20, 0.25), (100, 0.20), (math.inf, 0.10))
"""For less than so many queries, the least share: the means of few queries move far by chance."""


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
        "baseline, {absolute: 0.1}. Default: 5 times the tolerance, at least 10% of the baseline, 20% below 100 "
        "queries, 25% below 20; none against an anchor.",
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
    hard_limit = _choose_hard_limit(options, change, tolerance)
    is_hard_limit_broken = hard_limit is not None and _is_beyond(hard_limit, change)
    decision = _decide(options, change, is_hard_limit_broken=is_hard_limit_broken)
    figures = _complete_figures(options, figures, change, decision)
    worst = list_worst_changes(context, change.values, failed=decision.verdict != "pass")
    if hard_limit is not None and is_hard_limit_broken:
        headline = describe_fall(context, figures, hard_limit, f"hard limit {hard_limit}")
    else:
        headline = _describe(options, change, tolerance, figures, decision)
    sentences = describe_drift(change, figures), describe_worse_queries(context, figures, worst)
    return RuleResult(
        decision.verdict,
        headline,
        figures=(figures, *_compare_other_slices(options, context)),
        queries=worst.queries,
        more_queries=worst.omitted_count,
        numbers=_list_numbers(options, change, hard_limit),
        sentence=" ".join(filter(None, sentences)),
        notes=tuple(_list_notes(options, change, figures, decision)),
        statistics=tuple(_list_statistics(change, figures)) if options.by_evidence else (),
    )


def _describe(
    options: NoRegressionOptions, change: MetricChange, tolerance: Tolerance, figures: SliceFigures, decision: Decision
) -> str:
    """``nDCG@10 fell 3.4% (tolerance 2%): 60 queries are too few to rule out chance; about 200 would be enough``."""
    significance = ", statistically significant" if decision.significant else ""
    fall = describe_fall(change.context, figures, tolerance, f"tolerance {tolerance}{significance}")
    if not decision.doubt:
        return fall
    if decision.relabeled is not None:
        reason = describe_open_judgments(decision.relabeled)
    elif change.effective_size < options.query_minimum:
        reason = f"{explain_few(options, change)}{format_needed(figures)}"
    else:
        reason = explain_doubt(change, figures, "rule out chance")
    return f"{fall}: {describe_doubt(decision, reason)}"


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
    if context.correction > 1 and needed is not None and change.allowed_fall:
        # Each of many checks is tested at a lower level, which takes more queries.
        needed = count_needed_queries(change, change.allowed_loss or 0.0, LEVEL / context.correction)
    return replace(figures, over=is_failure, adjusted=context.adjust_p(change.evidence.p_worse), needed=needed)


def _measure_change(options: NoRegressionOptions, context: RuleContext, tolerance: Tolerance | None) -> MetricChange:
    return measure_change(context, tolerance, weighted=options.weighted, by_evidence=options.by_evidence)


def _check_fall(options: NoRegressionOptions, change: MetricChange) -> RuleVerdict:
    """The verdict by evidence, without a hard limit."""
    if not change.fell_beyond(change.allowed_fall or 0.0):
        return "pass"
    p, size = change.evidence.p_worse, change.effective_size
    return "fail" if is_significant(options, change.context, p, size) else "inconclusive"


def _is_beyond(hard_limit: Tolerance, change: MetricChange) -> bool:
    """Tell whether the metric fell by more; a tolerance in another unit may be larger, and then counts."""
    return change.fell_beyond(max(hard_limit.allowed(change.baseline_mean), change.allowed_fall or 0.0))


def _list_numbers(options: NoRegressionOptions, change: MetricChange, hard_limit: Tolerance | None) -> dict[str, float]:
    if not options.by_evidence:
        return {}
    numbers = {"p": change.evidence.p_worse}
    if hard_limit is not None:
        numbers["hard_limit"] = hard_limit.allowed(change.baseline_mean)
    return numbers


def _choose_hard_limit(options: NoRegressionOptions, change: MetricChange, tolerance: Tolerance) -> Tolerance | None:
    """The hard limit; None where the observed fall decides, or where no fall is too large."""
    if not options.by_evidence:
        return None
    hard_limit = options.hard_limit
    # Harmless changes since a release add up, so there is no default against an anchor.
    if hard_limit is None and not options.against.anchored:
        room = distance_to_worst(change.context.metric, change.baseline_mean)
        hard_limit = default_hard_limit(tolerance, change.baseline_mean, room, change.effective_size)
    # A share of a baseline of 0 is 0, which every fall exceeds: it limits nothing.
    return hard_limit if hard_limit is not None and hard_limit.allowed(change.baseline_mean) else None


def default_hard_limit(tolerance: Tolerance, baseline: float, room: float | None, queries: float) -> Tolerance:
    """The hard limit of a rule that names none.

    It is never more than halfway from the tolerance to the loss of everything, so that a wide tolerance keeps one.
    ``room`` is the distance of the baseline from the worst value. Three digits are enough for a message.
    """
    least = next(share for below, share in LEAST_HARD_LIMITS if queries < below)
    size = abs(baseline)
    if tolerance.absolute:
        most = math.inf if room is None else (tolerance.absolute + room) / 2
        amount = min(max(HARD_LIMIT_TOLERANCES * tolerance.absolute, least * size), most)
        return Tolerance(absolute=max(tolerance.absolute, float(f"{amount:.3g}")))
    most = math.inf if room is None or not size else (tolerance.relative + room / size) / 2
    share = min(max(HARD_LIMIT_TOLERANCES * tolerance.relative, least), most)
    return Tolerance(relative=max(tolerance.relative, float(f"{share:.3g}")))


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
        for part in within.split(context.population.queries, options.per, options.facts.tolerances):
            if part != context.slice:
                yield compare(replace(context, slice=part))


def _list_notes(
    options: NoRegressionOptions, change: MetricChange, figures: SliceFigures, decision: Decision
) -> Iterator[str]:
    yield from list_losses(change, figures)
    if decision.verdict != "pass" or not options.by_evidence:
        yield from warn_of_low_baseline(change, figures)
    if decision.verdict != "pass" and change.context.metric.aggregate == "mean":
        yield from describe_bounds(change, decision.relabeled or relabel_unjudged(change))
    if options.by_evidence and figures.p is not None:
        yield from warn_of_many_looks(change.context)


def _list_statistics(change: MetricChange, figures: SliceFigures) -> Iterator[str]:
    if figures.p is not None:
        yield from describe_look(change.context)
    yield from describe_units(change)
