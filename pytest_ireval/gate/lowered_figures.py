"""A figure of two references beside each other, and the outcome of a branch that lowers one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.gate.planning import MetricOnSlice
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import Outcome, SliceFigures
from pytest_ireval.rules.context import PairedValues, RuleContext
from pytest_ireval.rules.metric_change import compare_figures
from pytest_ireval.rules.worst_queries import list_worst_changes
from pytest_ireval.suite.suite import Suite

SAME = 1e-9
"""Figures that are closer, as a share where they are above 1, are one figure."""


class ComparedFigure(NamedTuple):
    """A metric on a slice in two references."""

    held: MetricOnSlice
    context: RuleContext
    values: PairedValues
    figures: SliceFigures
    drop: float
    """The loss against the base; negative where it is better."""

    @property
    def lowered(self) -> bool:
        """True if it is worse by more than rounding."""
        return self.drop > SAME * max(1.0, abs(self.figures.baseline or 0.0))

    @property
    def drop_as_share(self) -> float:
        """The loss as a share of the base's figure."""
        return self.drop / abs(self.figures.baseline or 1.0)

    @property
    def numbers(self) -> dict[str, float]:
        """For programs."""
        before, now = self.figures.baseline or 0.0, self.figures.now or 0.0
        return {"value": now, "baseline": before, "change": now - before}

    @property
    def moved(self) -> str:
        """``0.8800 -> 0.6100``."""
        before, now = (f"{value or 0.0:.4f}" for value in (self.figures.baseline, self.figures.now))
        by = f" (worse by {self.drop:.2g})" if self.lowered else ""
        return f"{before} -> {now}" if before != now else before + by

    def __str__(self) -> str:
        return f"{self.held.metric} {self.moved} on {self.held.slice}"


def compare_figure(context: RuleContext, held: MetricOnSlice) -> ComparedFigure | None:
    """A figure of two references; None where no query has a value in both."""
    values = context.paired_values()
    figures = replace(compare_figures(context, values), resolution=None)
    if figures.now is None or figures.baseline is None:
        return None
    return ComparedFigure(held, context, values, figures, -context.sign * (figures.now - figures.baseline))


def add_loss(
    outcome: Outcome,
    headline: str,
    *,
    fails: bool,
    sentence: str = "",
    facts: tuple[str, ...] = (),
    worst: ComparedFigure | None = None,
    figures: tuple[SliceFigures, ...] = (),
    lists_queries: bool = False,
) -> Outcome:
    """Add one more way in which the branch lowers what later changes are compared with.

    ``worst`` is the figure that fell most; ``lists_queries`` shows its worst queries. The first loss takes the place of
    an outcome that is a plain pass.
    """
    numbers = {} if worst is None else worst.numbers
    if outcome.verdict != "pass" or outcome.warning:
        verdict = outcome.verdict if outcome.verdict != "pass" else "fail" if fails else "pass"
        return replace(
            outcome,
            verdict=verdict,
            warning=verdict == "pass",
            headline=f"{outcome.headline}; {headline}",
            facts=(*facts, *outcome.facts),
            figures=(*outcome.figures, *figures),
            numbers=outcome.numbers or numbers,
        )
    outcome = replace(
        outcome,
        verdict="fail" if fails else "pass",
        warning=not fails,
        headline=headline,
        sentence=sentence,
        facts=(*facts, outcome.headline, *outcome.facts),
        figures=figures,
        numbers=numbers,
    )
    return add_worst_queries(outcome, worst) if worst is not None and lists_queries else outcome


def add_worst_queries(outcome: Outcome, worst: ComparedFigure) -> Outcome:
    """Add the queries on which a figure fell most."""
    queries = list_worst_changes(worst.context, worst.values, failed=True)
    title = f"worst by {worst.held.metric}"
    return replace(outcome, queries=queries.queries, more_queries=queries.omitted_count, queries_title=title)


def can_fail(metric: Metric, suite: Suite) -> bool:
    """Tell whether a lower figure may fail: times only warn, unless a rule says ``on_fail: fail``."""
    rules = (asked for asked in suite.rules if any(part.metric == metric for part in asked.parts))
    return "timings" not in metric.needs or any(not asked.only_warns(metric) for asked in rules)


def format_line(each: ComparedFigure, *, several: bool) -> SliceFigures:
    """Its line in a table, with the name of the metric where there are several."""
    named = f"{each.held.metric} {each.held.slice}" if several else each.figures.slice
    return replace(each.figures, slice=named, over=each.lowered)
