"""``equivalent``: a metric must not move, up or down, by more than its tolerance; evidence decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from pytest_ireval.plugins.plugin_types import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.by_evidence import few_words, numbers_of, tested_p, undecided
from pytest_ireval.rules.context import RuleContext, RuleResult
from pytest_ireval.rules.evidence import factor_of, left_open_of
from pytest_ireval.rules.question import Question, figures_of, weights_of
from pytest_ireval.rules.wording import (
    cannot_tell,
    describe_units,
    look_words,
    metric_words,
    moved_words,
    no_weight_words,
    numbers_words,
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


def _p_of_equivalent(options: EquivalentOptions, context: RuleContext) -> float | None:
    question = _question(options, context)
    return tested_p(options, question, lambda: _tests(question).p_moved)


@rule(name="equivalent", options=EquivalentOptions, compares=True, names_whole=True, tested=_p_of_equivalent)
def equivalent(options: EquivalentOptions, context: RuleContext) -> RuleResult:
    """A metric does not move by more than a tolerance in either direction."""
    question = _question(options, context)
    figures = figures_of(question)
    if figures.change is None or figures.tolerance is None:
        return RuleResult("error", f"{context.metric} has no figure to compare{on(context)}{no_weight_words(question)}")
    tests = _tests(question)
    factor = factor_of(options, context, tests.p_moved)
    figures = replace(figures, p=tests.p_moved, adjusted=min(1.0, factor * tests.p_moved))
    verdict, words, warning = _decided(options, question, figures, factor)
    worst = worst_changes(context, question.values, failed=verdict != "pass")
    return RuleResult(
        verdict,
        f"{_format_change(question, figures)}: {words}",
        f"{figures.worse} of {figures.queries} queries got worse, {figures.better} better.",
        figures=(replace(figures, over=verdict == "fail", two_sided=True),),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(too_many_looks(context)),
        warning=warning,
        numbers=numbers_of(figures),
        statistics=(*numbers_words(figures, context.tests), *look_words(context), *describe_units(question)),
    )


def _format_change(question: Question, figures: SliceFigures) -> str:
    """``nDCG@10 fell by 0.0080 (90% interval -0.021 to +0.005)``."""
    moved = moved_words(figures, absolute=not question.ratio)
    text = f"{metric_words(question.context, figures)} {moved}{on(question.context)}"
    if figures.low is None or figures.high is None:
        return text
    low, high = f"{figures.low:+.3f}", f"{figures.high:+.3f}"
    if question.ratio:
        low, high = (f"{100 * end / question.baseline:+.1f}%" for end in (figures.low, figures.high))
    return f"{text} ({figures.level * 100:.4g}% interval {low} to {high})"


def _question(options: EquivalentOptions, context: RuleContext) -> Question:
    values = context.paired()
    weights = weights_of(context, values, weighted=options.weighted)
    return Question(context, values, options.tolerance, weights, by_evidence=True)


def _tests(question: Question) -> Equivalence:
    allowed = 0.0 if question.margins is None else question.margins
    return equivalence(question.gains, allowed, weights=question.weights, clusters=question.cluster_of)


def _enough(options: EquivalentOptions, question: Question) -> bool:
    return question.worth >= options.fewest


def _shown(options: EquivalentOptions, question: Question) -> bool:
    return _enough(options, question) and _tests(question).p < LEVEL


def _moved(options: EquivalentOptions, question: Question, factor: float) -> bool:
    return _enough(options, question) and min(1.0, factor * _tests(question).p_moved) < LEVEL


def _unconfirmed(options: EquivalentOptions, question: Question, factor: float) -> str:
    """Name the documents whose judgments could undo a move; empty where none can."""
    left_open = None if options.on_inconclusive == "fail" else left_open_of(question)
    if left_open is None:
        return ""
    fell = question.evidence.mean < 0
    end = left_open.best if fell else left_open.worst

    def fails(other: Question) -> bool:
        return _moved(options, other, factor) and not _shown(options, other)

    if fails(left_open.condensed) or (fails(end) and (end.evidence.mean < 0) == fell):
        return ""
    return f"judgments of {format_count(left_open.documents, 'unjudged document')} could change the verdict"


def _decided(
    options: EquivalentOptions, question: Question, figures: SliceFigures, factor: float
) -> tuple[Literal["pass", "fail", "inconclusive", "error"], str, bool]:
    within = f"less than {options.tolerance} either way"
    if not question.evidence.changed:
        return "pass", "nothing changed", False
    if _shown(options, question):
        return "pass", f"it moved by {within}", False
    if _moved(options, question, factor):
        words = f"it moved, and {options.tolerance} or more is not ruled out"
        left_open = _unconfirmed(options, question, factor)
        return ("inconclusive", f"{words}; inconclusive, as {left_open}", True) if left_open else ("fail", words, False)
    settled = undecided(options)
    words = (
        cannot_tell(question, figures, f"whether it moved by {within}", enough=": the change lies between the two")
        if _enough(options, question)
        else few_words(options, question)
    )
    return settled.verdict, f"{words}{settled.because}", settled.warning
