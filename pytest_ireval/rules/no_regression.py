"""``no_regression``: a metric must not fall below the baseline by more than its tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from pydantic import Field, model_validator

from pytest_ireval.plugins.kinds import rule
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.ruling import Ruling, percent
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.slices import WHOLE, one_value, slice_of
from pytest_ireval.rules.wording import moved, on, who_got_worse
from pytest_ireval.rules.worst import worst_changes
from pytest_ireval.suites.options import ComparingOptions
from pytest_ireval.suites.values import MetricText, Tolerance, TolerancesText

ROUNDING = 1e-12
"""A drop beyond the tolerance by no more than this is none."""
LOW_BASELINE = 0.05
"""Below this a share of the baseline is smaller than the noise of anything."""


class NoRegressionOptions(ComparingOptions):
    """A metric and how far it may fall."""

    metric: MetricText = Field(description="The metric.")
    tolerance: TolerancesText = Field(
        description="How far it may fall: 1% of the baseline, {absolute: 0.01}, or with per one for each value: "
        "{head: 1%, default: 3%}."
    )
    decide_by: Literal["observed"] = Field("observed", description="What decides: the change that was observed.")

    @model_validator(mode="after")
    def _makes_sense(self) -> NoRegressionOptions:
        if self.tolerance.by_value and not self.per:
            raise ValueError("a tolerance for each value needs per: the column that has the values")
        for each in (self.tolerance.default, *self.tolerance.by_value.values()):
            low, high = self.metric.bounds
            if each is not None and (each.relative >= 1 or each.absolute >= high - low):
                raise ValueError(f"a tolerance of {each} lets everything pass")
        return self


@rule(name="no_regression", options=NoRegressionOptions, compares=True, names_whole=True)
def no_regression(options: NoRegressionOptions, seen: Seen) -> Ruling:
    """A metric does not fall below the baseline by more than a tolerance."""
    tolerance = options.tolerance.of(seen.slice.value)
    if tolerance is None:
        return Ruling("error", f"no tolerance is given for {options.per}={seen.slice.value}, and no default")
    values = seen.paired()
    plain = figures_compared(seen, values)
    if plain.baseline is None or plain.now is None:
        return Ruling("error", f"{seen.metric} has no figure to compare{on(seen)}")
    allowed = tolerance.allowed(plain.baseline)
    drop = -seen.sign * (plain.now - plain.baseline)
    failed = drop > allowed + ROUNDING * max(1.0, abs(plain.baseline))
    figures = replace(figures_compared(seen, values, allowed), over=failed)
    changes = worst_changes(seen, values, failed=failed)
    return Ruling(
        "fail" if failed else "pass",
        f"{seen.metric} {moved(figures, absolute=bool(tolerance.absolute))}{on(seen)} (tolerance {tolerance})",
        who_got_worse(seen, figures, changes),
        figures=(figures, *_beside(options, seen)),
        queries=changes,
        facts=tuple(_facts(figures, tolerance)),
        numbers={
            "value": plain.now,
            "baseline": plain.baseline,
            "change": plain.now - plain.baseline,
            "tolerance": allowed,
        },
    )


def _beside(options: NoRegressionOptions, seen: Seen) -> Iterator[SliceFigures]:
    """All queries, and the other slices of the same column."""
    if seen.slice.conditions:
        yield figures_compared(seen.of(WHOLE))
    if options.per:
        within = slice_of(options.where)
        inside = within.mask(seen.population.queries).tolist()
        column = seen.population.queries.columns[options.per]
        for value in dict.fromkeys(each for each, there in zip(column, inside, strict=True) if there):
            if value != seen.slice.value:
                yield figures_compared(seen.of(one_value(within, options.per, value)))


def _facts(figures: SliceFigures, tolerance: Tolerance) -> Iterator[str]:
    """What the figures do not say of themselves."""
    if tolerance.relative and figures.baseline is not None and abs(figures.baseline) < LOW_BASELINE:
        yield (
            f"the baseline is {figures.baseline:.4f}: a share of so little is noise; write tolerance: {{absolute: …}}"
        )
    if figures.false_alarm is not None:
        yield f"a harmless change of this spread would break the tolerance in {percent(figures.false_alarm)} of cases"
