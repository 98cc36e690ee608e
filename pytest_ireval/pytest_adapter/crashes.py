"""What nobody foresaw, as an error of the suite that it happened to: what it was, and where to look for it."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest_ireval
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.gate import Plan
from pytest_ireval.gate.judging import broken_outcome
from pytest_ireval.gate.telling import broken_result
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suites.suite import Suite

PACKAGE = Path(pytest_ireval.__file__).parent


def crash_of(error: BaseException, place: str) -> IrevalError:
    """As it is told: type, message, and the last place in our code."""
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    at = _places(error)
    return IrevalError(
        Problem(
            f"{told}{f' ({at})' if at else ''}",
            place=place,
            suggestion="nothing in pytest-ireval expects this; please report it, with the plugins of the run",
        )
    )


def crashed(suite: Suite, registry: Registry, plan: Plan, selected: set[str], error: BaseException) -> SuiteResult:
    """The suite with an error for everything that was selected, so that nothing is asked a second time."""
    told = error if isinstance(error, IrevalError) else crash_of(error, str(suite.place))
    outcomes = tuple(broken_outcome(check, told) for check in plan.checks if check.id in selected)
    return broken_result(suite, registry, plan.checks, outcomes, told)


def _places(error: BaseException) -> str:
    """Where it was raised, and the last line of ours on the way there."""
    walked = [each for each in traceback.walk_tb(error.__traceback__) if not each[0].f_locals.get("__tracebackhide__")]
    frames = [(Path(frame.f_code.co_filename), line) for frame, line in walked]
    ours = [f"{file.relative_to(PACKAGE.parent).as_posix()}:{n}" for file, n in frames if file.is_relative_to(PACKAGE)]
    if not frames or frames[-1][0].is_relative_to(PACKAGE):
        return "".join(ours[-1:])
    raised = f"{frames[-1][0].name}:{frames[-1][1]}"
    return f"{raised}, called from {ours[-1]}" if ours else raised
