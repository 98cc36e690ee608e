"""``no_regression``: a metric must not fall below the baseline by more than its tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pydantic import Field, model_validator

from pytest_ireval.plugins.kinds import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.by_evidence import numbers_of, ruled_by_evidence, tested_p
from pytest_ireval.rules.evidence_wording import no_weight_words, numbers_words, open_words
from pytest_ireval.rules.figures import figure_of, figures_of
from pytest_ireval.rules.question import Question, weights_of
from pytest_ireval.rules.ruling import Ruling, percent
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.slices import WHOLE, one_value, slice_of
from pytest_ireval.rules.tie_breaking import decided_by_ties
from pytest_ireval.rules.wording import metric_words, moved, on, who_got_worse
from pytest_ireval.rules.worst import worst_changes
from pytest_ireval.suites.options import EvidenceOptions, WeightedOptions
from pytest_ireval.suites.quantities import Tolerance
from pytest_ireval.suites.values import MetricText, TolerancesText

ROUNDING = 1e-12
"""A drop beyond the tolerance by no more than this is none."""
LOW_BASELINE = 0.05
"""Below this a share of the baseline is smaller than the noise of anything."""


class NoRegressionOptions(EvidenceOptions, WeightedOptions):
    """A metric and how far it may fall."""

    metric: MetricText = Field(description="The metric.")
    tolerance: TolerancesText = Field(
        description="How far it may fall: 1% of the baseline, {absolute: 0.01}, or with per one for each value: "
        "{head: 1%, default: 3%}."
    )

    @model_validator(mode="after")
    def _makes_sense(self) -> NoRegressionOptions:
        if self.tolerance.by_value and not self.per:
            raise ValueError("a tolerance for each value needs per: the column that has the values")
        for each in (self.tolerance.default, *self.tolerance.by_value.values()):
            low, high = self.metric.bounds
            if each is not None and (each.relative >= 1 or each.absolute >= high - low):
                raise ValueError(f"a tolerance of {each} lets everything pass")
        return self


def p_of_no_regression(options: NoRegressionOptions, seen: Seen) -> float | None:
    """The p of a fall, if evidence decides."""
    tolerance = options.tolerance.of(seen.slice.value)
    if not options.by_evidence or tolerance is None:
        return None
    question = _question(options, seen, tolerance)
    return tested_p(options, question, lambda: question.evidence.p_worse)


@rule(name="no_regression", options=NoRegressionOptions, compares=True, names_whole=True, tested=p_of_no_regression)
def no_regression(options: NoRegressionOptions, seen: Seen) -> Ruling:
    """A metric does not fall below the baseline by more than a tolerance."""
    tolerance = options.tolerance.of(seen.slice.value)
    if tolerance is None:
        return Ruling("error", f"no tolerance is given for {options.per}={seen.slice.value}, and no default")
    question = _question(options, seen, tolerance)
    figures = figures_of(question)
    if figures.baseline is None or figures.now is None or figures.tolerance is None:
        return Ruling("error", f"{seen.metric} has no figure to compare{on(seen)}{no_weight_words(question)}")
    beside = tuple(_beside(options, seen))
    if options.by_evidence:
        return ruled_by_evidence(options, question, figures, beside, over=_over(question))
    failed = _over(question)
    figures = replace(figures, over=failed)
    worst = worst_changes(seen, question.values, failed=failed)
    fell = f"{metric_words(seen, figures)} {moved(figures, absolute=bool(tolerance.absolute))}"
    return Ruling(
        "fail" if failed else "pass",
        f"{fell}{on(seen)} (tolerance {tolerance})",
        who_got_worse(seen, figures, worst),
        figures=(figures, *beside),
        queries=worst.queries,
        more_queries=worst.more,
        facts=tuple(_facts(question, figures, failed=failed)),
        numbers=numbers_of(figures),
    )


def _question(options: NoRegressionOptions, seen: Seen, tolerance: Tolerance) -> Question:
    values = seen.paired()
    weights = weights_of(seen, values, weighted=options.weighted)
    return Question(seen, values, tolerance, options.alpha, weights)


def _over(question: Question) -> bool:
    """Whether the observed figure fell by more than is allowed."""
    now, before = (figure_of(question.seen, each, question.weights) or 0.0 for each in question.values[2:])
    drop = -question.seen.sign * (now - before)
    return drop > (question.allowed or 0.0) + ROUNDING * max(1.0, abs(before))


def _beside(options: NoRegressionOptions, seen: Seen) -> Iterator[SliceFigures]:
    """All queries, and the other slices of the same column."""

    def compared(each: Seen) -> SliceFigures:
        values = each.paired()
        return figures_of(Question(each, values, weights=weights_of(each, values, weighted=options.weighted)))

    if seen.slice.conditions:
        yield compared(seen.of(WHOLE))
    if options.per:
        within = slice_of(options.where)
        inside = within.mask(seen.population.queries).tolist()
        column = seen.population.queries.columns[options.per]
        for value in dict.fromkeys(each for each, there in zip(column, inside, strict=True) if there):
            if value != seen.slice.value:
                yield compared(seen.of(one_value(within, options.per, value)))


def _facts(question: Question, figures: SliceFigures, *, failed: bool) -> Iterator[str]:
    """What the figures do not say of themselves."""
    tolerance = question.tolerance
    if tolerance and tolerance.relative and figures.baseline is not None and abs(figures.baseline) < LOW_BASELINE:
        yield (
            f"the baseline is {figures.baseline:.4f}: a share of so little is noise; write tolerance: {{absolute: …}}"
        )
    if figures.false_alarm is not None:
        yield f"a harmless change of this spread would break the tolerance in {percent(figures.false_alarm)} of cases"
    yield from numbers_words(figures, 0, None)
    if failed:
        yield from open_words(question)
    ties = decided_by_ties(question, lambda other: "fail" if _over(other) else "pass")
    if ties:
        yield ties
