"""What every check does to its outcome: it begins one, and reports an error in it."""

from __future__ import annotations

from dataclasses import replace

from pytest_ireval.errors import IrevalError, format_error_lines
from pytest_ireval.explaining import can_be_explained
from pytest_ireval.gate.planning import INPUTS, Check, RuleCheck
from pytest_ireval.results.outcome import Outcome


def begin_outcome(check: Check) -> Outcome:
    """The outcome of a check with what is known before anything is checked.

    Its verdict is an error until the check gives another one, so that a check that is never made cannot pass.
    """
    outcome = Outcome(
        id=check.id,
        kind=check.family,
        verdict="error",
        headline="",
        file=check.place.file,
        line=check.place.line,
        column=check.place.column,
        explained=False,
        tags=check.tags,
    )
    if not isinstance(check, RuleCheck):
        return outcome
    metric = check.part.metric
    return replace(
        outcome,
        name=check.rule.options.name,
        metric="" if metric is None else str(metric),
        stage="" if metric is None else metric.stage,
        explained=metric is not None and can_be_explained(metric) and not (metric.compares_lists or metric.stage),
        slice=str(check.slice),
    )


def report_error(outcome: Outcome, headline: str) -> Outcome:
    """The outcome of a check that could not be made."""
    return replace(outcome, verdict="error", headline=headline)


def report_exception(outcome: Outcome, error: IrevalError) -> Outcome:
    """The outcome of a check that raised an error: its first line is the headline, the others are the facts."""
    first, *others = format_error_lines(error)
    return replace(report_error(outcome, first), facts=tuple(line.strip() for line in others))


def report_broken_suite(check: Check, error: IrevalError) -> Outcome:
    """The outcome of a check of a suite whose inputs are broken; the check of the inputs has the whole text."""
    outcome = report_exception(begin_outcome(check), error)
    if check.id == INPUTS:
        return outcome
    headline = f"the inputs of this suite are broken: {outcome.headline}"
    return replace(outcome, headline=headline, facts=(f"see the outcome of {INPUTS}",))
