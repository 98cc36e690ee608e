"""``no_regression``: a metric must not fall by more than its tolerance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.by_evidence import numbers_of, rule_by_evidence, tested_p
from pytest_ireval.rules.context import RuleContext, RuleResult, percent
from pytest_ireval.rules.question import Question, figures_of, room_of, weights_of
from pytest_ireval.rules.side import WHOLE, in_order, one_value, slice_of
from pytest_ireval.rules.wording import (
    drift_facts,
    drift_words,
    fell_words,
    low_baseline_words,
    no_weight_words,
    numbers_words,
    on,
    open_words,
    who_got_worse,
    worst_changes,
)
from pytest_ireval.suite.option_types import MetricText, TolerancesText, ToleranceText
from pytest_ireval.suite.options import EvidenceOptions, WeightedOptions
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
        if "decide_by" not in self.model_fields_set and self.metric.ratio and self._has_amount:
            return False
        return super().by_evidence

    @property
    def _has_amount(self) -> bool:
        return any(
            each is not None and each.absolute for each in (self.tolerance.default, *self.tolerance.by_value.values())
        )

    @property
    def judges_few(self) -> bool:
        """A fall beyond the hard limit fails on a slice of any size."""
        return self.by_evidence

    @property
    def can_fail_few(self) -> bool:
        """A few queries fail by the hard limit, which rules that compare with an anchor have only if it is written."""
        limited = self.hard_limit is not None or not self.against.anchored
        return self.by_evidence and (limited or self.on_inconclusive == "fail")

    @model_validator(mode="after")
    def _makes_sense(self) -> NoRegressionOptions:
        if self.tolerance.by_value and not self.per:
            raise ValueError("a tolerance for each value needs per: the column that has the values")
        tolerances = [each for each in (self.tolerance.default, *self.tolerance.by_value.values()) if each is not None]
        for each in tolerances:
            refuse_tolerance(each, self.metric, by_evidence=self.by_evidence)
        limit = self.hard_limit
        if limit is None:
            return self
        refuse_tolerance(limit, self.metric, by_evidence=self.by_evidence, what="hard_limit")
        for each in tolerances:
            if limit.relative < each.relative if limit.relative else limit.absolute < each.absolute:
                raise ValueError(
                    f"hard_limit: {limit} is less than the tolerance of {each}: write a hard_limit of {each} or more"
                )
        return self


def _p_of_no_regression(options: NoRegressionOptions, context: RuleContext) -> float | None:
    """The p of a fall, if evidence decides."""
    tolerance = options.tolerance.of(context.slice.value)
    if not options.by_evidence or tolerance is None:
        return None
    question = _question(options, context, tolerance)
    return tested_p(options, question, lambda: question.evidence.p_worse)


def _hard_limit(
    options: NoRegressionOptions, tolerance: Tolerance, baseline: float, room: float | None, queries: float
) -> Tolerance | None:
    """The hard limit; against an anchor none but a written one, because harmless changes since a release add up."""
    if options.hard_limit is not None or options.against.anchored:
        return options.hard_limit
    return default_hard_limit(tolerance, baseline, room, queries)


def default_hard_limit(tolerance: Tolerance, baseline: float, room: float | None, queries: float) -> Tolerance:
    """The hard limit of a rule that names none.

    It is never more than halfway from the tolerance to the loss of everything, so that a wide tolerance keeps one.
    ``room`` is the distance of the baseline from the worst value.
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


@rule(name="no_regression", options=NoRegressionOptions, compares=True, names_whole=True, tested=_p_of_no_regression)
def no_regression(options: NoRegressionOptions, context: RuleContext) -> RuleResult:
    """A metric does not fall below the baseline by more than a tolerance."""
    tolerance = options.tolerance.of(context.slice.value)
    if tolerance is None:
        return RuleResult("error", f"no tolerance is given for {options.per}={context.slice.value}, and no default")
    question = _question(options, context, tolerance)
    figures = figures_of(question)
    if figures.baseline is None or figures.now is None or figures.tolerance is None:
        return RuleResult("error", f"{context.metric} has no figure to compare{on(context)}{no_weight_words(question)}")
    beside = tuple(_beside(options, context))
    if options.by_evidence:
        room = room_of(context.metric, question.baseline)
        limit = _hard_limit(options, tolerance, question.baseline, room, question.worth)
        return rule_by_evidence(options, question, figures, beside, limit)
    failed = question.fell_beyond(figures.tolerance)
    figures = replace(figures, over=failed)
    worst = worst_changes(context, question.values, failed=failed)
    return RuleResult(
        "fail" if failed else "pass",
        fell_words(context, figures, tolerance, f"tolerance {tolerance}"),
        " ".join(filter(None, (drift_words(question, figures), who_got_worse(context, figures, worst)))),
        figures=(figures, *beside),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(_facts(question, figures, failed=failed)),
        numbers=numbers_of(figures),
        statistics=tuple(_statistics(figures)),
    )


def _question(options: NoRegressionOptions, context: RuleContext, tolerance: Tolerance) -> Question:
    values = context.paired()
    weights = weights_of(context, values, weighted=options.weighted)
    return Question(context, values, tolerance, weights, by_evidence=options.by_evidence)


def _beside(options: NoRegressionOptions, context: RuleContext) -> Iterator[SliceFigures]:
    """All queries, and the other slices of the same column."""

    def compared(each: RuleContext) -> SliceFigures:
        asked = (each.population, each.baseline, str(each.metric), each.slice, options.weighted, options.by_evidence)
        return each.now.remembered(("beside", *asked), lambda: figures(each))  # once, and not for every slice again

    def figures(each: RuleContext) -> SliceFigures:
        values = each.paired()
        weights = weights_of(each, values, weighted=options.weighted)
        return figures_of(Question(each, values, weights=weights, by_evidence=options.by_evidence))

    if context.slice.conditions:
        yield compared(context.of(WHOLE))
    if options.per:
        within = slice_of(options.where)
        inside = within.mask(context.population.queries).tolist()
        column = context.population.queries.composed[options.per]
        values = (each for each, there in zip(column, inside, strict=True) if there)
        for value in in_order(values, options.facts.tolerances):
            if value != context.slice.value:
                yield compared(context.of(one_value(within, options.per, value)))


def _facts(question: Question, figures: SliceFigures, *, failed: bool) -> Iterator[str]:
    yield from drift_facts(question, figures)
    yield from low_baseline_words(question, figures)
    if failed:
        yield from open_words(question)


def _statistics(figures: SliceFigures) -> Iterator[str]:
    if figures.false_alarm is not None:
        often = f"{percent(figures.false_alarm)} of the time"
        yield f"with this spread, a harmless change would exceed the tolerance {often}"
    yield from numbers_words(figures, 0)
