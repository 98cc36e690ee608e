"""A suite in a run of pytest: evaluated once, when the first of its items is run."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

import pytest_ireval
from pytest_ireval.clock import format_moment
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.gate.acceptance import propose_baseline
from pytest_ireval.gate.last_run import keep_rankings
from pytest_ireval.gate.outcomes import report_broken_suite
from pytest_ireval.gate.planning import Check
from pytest_ireval.gate.result import make_broken_result
from pytest_ireval.gate.run import Plan, gate_suite
from pytest_ireval.gate.run_context import RunContext
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.assertion_rewriting import suspend_assertion_rewriting
from pytest_ireval.pytest_plugin.baseline_update import BaselineUpdate
from pytest_ireval.pytest_plugin.code_host import make_printable
from pytest_ireval.pytest_plugin.planned_suite import PlannedSuite, SuiteEvaluation
from pytest_ireval.pytest_plugin.progress_lines import ProgressLines
from pytest_ireval.pytest_plugin.report_files import make_report_files
from pytest_ireval.pytest_plugin.workers import WorkerFolder
from pytest_ireval.report.commands import node_path
from pytest_ireval.report.failure_text import format_failure, format_short_failure, is_shown_whole
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.plain import mask_secrets
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.suite.suite import Suite

QUERIES_BY_VERBOSITY = {0: 3, 1: 10}
"""The worst queries that a failure shows; from -vv on, all."""


@dataclass(eq=False)
class RunState:
    """What the suites of a run share in one process."""

    config: pytest.Config
    update: BaselineUpdate
    moment: datetime
    width: int
    context: RunContext
    worker_folder: WorkerFolder | None = None
    """The folder that workers of pytest-xdist share; None in a process that is no worker."""
    runs: dict[str, SuiteRun] = field(default_factory=dict)
    """The suites collected so far, by name."""

    @property
    def is_worker(self) -> bool:
        """True in a worker of pytest-xdist, which leaves the report to the process that started it."""
        return self.worker_folder is not None

    def evaluate_waiting_suite(self, folder: WorkerFolder) -> bool:
        """In a worker, evaluate a suite that nobody has begun, rather than wait; returns whether there was one."""
        return any(run.evaluate_if_free(folder) for run in self.runs.values() if run.evaluation is None)


@dataclass(eq=False)
class SuiteRun:
    suite: Suite
    registry: Registry
    plan: Plan
    planned: PlannedSuite
    state: RunState
    evaluation: SuiteEvaluation | None = None
    """None: it was not evaluated yet, or not needed in this process."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)

    @property
    def node_name(self) -> str:
        """The name of a suite of a matrix below its file."""
        return ".".join(self.suite.values.values())

    def evaluate(self) -> SuiteResult:
        """Return the result of all selected checks; with workers, one process evaluates for all."""
        if self.evaluation is None:
            folder = self.state.worker_folder
            if folder is None:
                self.evaluation = self._evaluate_here()
            else:
                self.evaluation = self._turn_errors_into_results(lambda: self._evaluate_shared(folder))
            self.outcomes = {outcome.id: outcome for outcome in self.evaluation.result.outcomes}
        return self.evaluation.result

    def get_outcome(self, check: Check) -> Outcome:
        self.evaluate()
        return self.outcomes[check.id]

    def evaluate_if_free(self, folder: WorkerFolder) -> bool:
        """Evaluate it before any of its items is run, unless another process does or did; returns whether it was."""
        try:
            return bool(self.planned.selected) and folder.evaluate_if_free(self.suite.name, self._evaluate_here)
        except IrevalError:  # the result cannot be written; the first item of the suite tries again, and reports that
            return False

    def is_test_passed(self, outcome: Outcome) -> bool:
        """Tell whether the test of an outcome passes; a run that accepts what it measures accepts a comparison, too."""
        if outcome.verdict in ("pass", "inconclusive"):
            return True
        return self.planned.is_complete and self.state.update.would_settle(outcome)

    def format_failure(self, outcome: Outcome) -> str:
        """The text of a failed check; broken inputs are shown in full once."""
        return make_printable(self._format_failure(outcome))

    def _format_failure(self, outcome: Outcome) -> str:
        result = self.evaluate()
        if result.error:
            first = self.planned.selected[0]
            if first == outcome.id:
                return result.error
            return f"the inputs of {result.name} are broken; the full error is at {node_path(result)}::{first}"
        config, width = self.state.config, self.state.width
        files, verbosity = make_report_files(config, config.option), config.get_verbosity()
        if verbosity < 2 and not is_shown_whole(result, outcome.id):
            return format_short_failure(outcome, result, width, files.shown_results_path)
        return format_failure(
            outcome,
            result,
            date=format_moment(self.state.moment),
            width=width,
            queries=QUERIES_BY_VERBOSITY.get(max(verbosity, 0)),
            report=files.format_page_link(result, outcome.id),
            statistics=verbosity > 0,
        )

    def _evaluate_shared(self, folder: WorkerFolder) -> SuiteEvaluation:
        evaluate_another = partial(self.state.evaluate_waiting_suite, folder)
        return SuiteEvaluation(folder.evaluate_once(self.suite.name, self._evaluate_here, evaluate_another))

    def _evaluate_here(self) -> SuiteEvaluation:
        return self._turn_errors_into_results(self._run_gate)

    def _run_gate(self) -> SuiteEvaluation:
        config = self.state.config
        with suspend_assertion_rewriting(config):
            gated = gate_suite(
                self.suite,
                self.registry,
                self.plan,
                self.state.context,
                set(self.planned.selected),
                ProgressLines(config),
            )
            if gated.inputs is None or gated.scores is None:
                return SuiteEvaluation(gated.result)
            update, keeps = self.state.update, make_report_files(config, config.option).folder is not None
            proposal = propose_baseline(gated.inputs, gated.scores) if update.is_requested else None
            return SuiteEvaluation(gated.result, proposal, keep_rankings(gated.inputs) if keeps else None)

    def _turn_errors_into_results(self, evaluate: Callable[[], SuiteEvaluation]) -> SuiteEvaluation:
        try:
            return evaluate()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - all checks of the suite report it, so that none is lost
            problem = error if isinstance(error, IrevalError) else describe_crash(error, str(self.suite.place))
            selected, checks = set(self.planned.selected), self.plan.checks
            outcomes = tuple(report_broken_suite(check, problem) for check in checks if check.id in selected)
            return SuiteEvaluation(
                mask_secrets(make_broken_result(self.suite, self.registry, checks, outcomes, problem))
            )


PACKAGE = Path(pytest_ireval.__file__).parent


def describe_crash(error: BaseException, place: str) -> IrevalError:
    """An exception that nothing here expects, as an error of the suite at ``place``."""
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    origin = _locate_crash(error)
    return IrevalError(
        Problem(
            f"{message} ({origin})" if origin else message,
            place=place,
            suggestion="nothing in pytest-ireval expects this; please report it, with the plugins of the run",
        )
    )


def _locate_crash(error: BaseException) -> str:
    """Where it was raised, and the last line of ours on the way there."""
    frames = [
        (Path(frame.f_code.co_filename), line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_locals.get("__tracebackhide__")
    ]
    ours = [f"{file.relative_to(PACKAGE.parent).as_posix()}:{n}" for file, n in frames if file.is_relative_to(PACKAGE)]
    if not frames or frames[-1][0].is_relative_to(PACKAGE):
        return ours[-1] if ours else ""
    raised = f"{frames[-1][0].name}:{frames[-1][1]}"
    return f"{raised}, called from {ours[-1]}" if ours else raised
