"""What became of a suite in a run: of its result, whatever was reported; an error where something was not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from pytest_ireval.pytest_adapter.planned_suite import Evaluated, PlannedSuite
from pytest_ireval.results.outcome import Outcome, Verdict, worst_of
from pytest_ireval.results.suite_result import MetricFigures, SuiteResult


def ended(
    suite: PlannedSuite,
    evaluated: Evaluated | None,
    reported: Collection[str],
    disturbed: Collection[str] = (),
    *,
    written: bool = False,
) -> SuiteResult:
    """What was ``reported``, as accepted if its baseline was ``written``.

    With a verdict missing it is an error, and with one whose test failed for another reason: pytest is red then.
    """
    if evaluated is None:
        return _never_judged(suite)
    result = evaluated.result
    unreported = [each for each in suite.selected if each not in reported]
    outcomes = tuple(_settled(each, written) for each in result.outcomes if each.id in reported)
    broken = result.error or not outcomes or unreported
    late = [each for each in unreported if each not in disturbed]
    notes = [f"the run ended before {len(late)} of its verdicts were reported"] if late else []
    if disturbed:
        notes.append(f"failed for another reason than the verdict: {', '.join(sorted(disturbed))}")
    return replace(
        result,
        outcomes=outcomes,
        verdict="error" if broken else worst_of(tuple(each.verdict for each in outcomes)),
        metrics=tuple(_judged_by(metric, outcomes) for metric in result.metrics),
        notes=(*result.notes, *notes),
    )


def _never_judged(suite: PlannedSuite) -> SuiteResult:
    """An error, for nobody looked."""
    return SuiteResult(
        suite.name,
        suite.shown,
        "error",
        (),
        suite.owner,
        matrix=suite.values,
        planned=suite.planned,
        error="the run ended before this suite was evaluated",
    )


def _settled(outcome: Outcome, written: bool) -> Outcome:
    """What was against the change is accepted once the baseline is written, and not before."""
    if not written or not outcome.acceptable:
        return outcome
    return replace(outcome, verdict="pass", accepted=True)


def _judged_by(metric: MetricFigures, outcomes: tuple[Outcome, ...]) -> MetricFigures:
    about: tuple[Verdict, ...] = tuple(each.verdict for each in outcomes if each.metric == metric.name)
    return replace(metric, verdict=worst_of(about) if about else None)
