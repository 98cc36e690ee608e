"""A figure of two references beside each other, and the finding that a branch lowers one."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pytest_ireval.gate.finding import Finding
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.context import RuleContext, ValuesOnBothSides
from pytest_ireval.rules.metric_change import compare_figures
from pytest_ireval.rules.planning import MetricOnSlice
from pytest_ireval.suite.suite import Suite

SAME = 1e-9
"""Figures that are closer, as a share where they are above 1, are one figure."""


class ComparedFigure(NamedTuple):
    """A metric on a slice in two references."""

    held: MetricOnSlice
    context: RuleContext
    values: ValuesOnBothSides
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


def add_finding(finding: Finding, found: Finding, *, fails: bool) -> Finding:
    """The finding with one more way in which the branch lowers what later changes are compared with."""
    if finding.verdict == "pass" and not finding.warning:
        return replace(
            found,
            verdict="fail" if fails else "pass",
            warning=not fails,
            facts=(*found.facts, finding.headline, *finding.facts),
        )
    verdict = finding.verdict if finding.verdict != "pass" else "fail" if fails else "pass"
    return replace(
        finding,
        verdict=verdict,
        warning=verdict == "pass",
        headline=f"{finding.headline}; {found.headline}",
        facts=(*found.facts, *finding.facts),
        figures=(*finding.figures, *found.figures),
        numbers=finding.numbers or found.numbers,
    )


def can_fail(metric: Metric, suite: Suite) -> bool:
    """Tell whether a lower figure may fail: times only warn, unless a rule says ``on_fail: fail``."""
    rules = (asked for asked in suite.rules if any(part.metric == metric for part in asked.parts))
    return "timings" not in metric.needs or any(not asked.only_warns(metric) for asked in rules)


def format_line(each: ComparedFigure, *, several: bool) -> SliceFigures:
    """Its line in a table, with the name of the metric where there are several."""
    named = f"{each.held.metric} {each.held.slice}" if several else each.figures.slice
    return replace(each.figures, slice=named, over=each.lowered)
