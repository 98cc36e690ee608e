"""The end of a run, in the process that writes: baselines are accepted, the report is written, the exit status set."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import pytest

import pytest_ireval
from pytest_ireval.baseline.rankings_file import pack_run
from pytest_ireval.clock import format_moment
from pytest_ireval.errors import IrevalError, format_inline
from pytest_ireval.gate.versus import Versus
from pytest_ireval.masking import mask_text
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.pytest_plugin.baseline_update import BaselineUpdate
from pytest_ireval.pytest_plugin.branch import read_branch_options
from pytest_ireval.pytest_plugin.change_filter import ChangeFilter, add_unaffected_suites, is_no_suite_affected
from pytest_ireval.pytest_plugin.code_host import append_step_summary
from pytest_ireval.pytest_plugin.completeness import (
    Completeness,
    check_completeness,
    find_unrun_checks,
    read_named_places,
)
from pytest_ireval.pytest_plugin.items import VERDICT_PROPERTY
from pytest_ireval.pytest_plugin.planned_suite import CollectedSuites, Evaluations, PlannedSuite, SuiteEvaluation
from pytest_ireval.pytest_plugin.python_gates import read_gates
from pytest_ireval.pytest_plugin.report_files import ReportFiles, add_problem, only_shows_information
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.pytest_plugin.sections import add_sections
from pytest_ireval.pytest_plugin.versus import add_versus_notes
from pytest_ireval.repositories.git import read_commit_state, short_ref
from pytest_ireval.results.outcome import Outcome, Verdict, find_worst_verdict
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult

RED = ("fail", "error")
BASELINE_ACCEPTED, RUN_ENDED = "ireval_baseline_accepted", "ireval_run_ended"
"""The hooks of observers."""


def read_user_property(report: pytest.TestReport, name: str) -> list[object]:
    """The values that a test recorded under a name; properties of other tests may be anything."""
    pairs = [pair for pair in report.user_properties if isinstance(pair, tuple | list) and len(pair) == 2]
    return [value for key, value in pairs if key == name]


@dataclass
class TestReports:
    """What the reports of all tests say, those of Python functions among them."""

    __test__ = False

    nodes: set[str] = field(default_factory=set)
    failed: dict[str, set[str]] = field(default_factory=dict)
    """By node, the verdicts that the failed test recorded."""
    gated_baselines: set[str] = field(default_factory=set)
    """Those of suites that Python tests have gated."""
    red_gates: dict[str, dict[str, str]] = field(default_factory=dict)
    """By Python test, the suites that it has gated with a red verdict."""

    def add(self, report: pytest.TestReport) -> None:
        # a report about another phase tells of a worker that died
        if report.when == "call" or (report.failed and report.when in ("setup", "teardown")):
            self.nodes.add(report.nodeid)
        if report.failed:
            verdicts = map(str, read_user_property(report, VERDICT_PROPERTY))
            self.failed.setdefault(report.nodeid, set()).update(verdicts)
        for gate in read_gates(report):
            self.gated_baselines.add(gate.baseline_key)
            if gate.verdict in RED:
                self.red_gates.setdefault(report.nodeid, {})[gate.suite] = gate.verdict

    def find_reported(self, suite: PlannedSuite) -> set[str]:
        """The checks whose tests were reported."""
        return {check for node, check in suite.nodes.items() if node in self.nodes}

    def find_disturbed(self, suite: PlannedSuite, evaluation: SuiteEvaluation | None) -> set[str]:
        """Those of them whose test failed though the verdict is not red: something else failed."""
        outcomes = () if evaluation is None else evaluation.result.outcomes
        red = {outcome.id for outcome in outcomes if outcome.verdict in RED}
        return {
            check
            for node, check in suite.nodes.items()
            if node in self.nodes and node in self.failed and not (check in red and self.failed[node] & {*RED})
        }

    def find_failed_python_tests(self, suites: Iterable[PlannedSuite]) -> tuple[str, ...]:
        nodes_of_suites = {node for suite in suites for node in suite.nodes}
        return tuple(sorted(node for node in self.failed if node not in nodes_of_suites))

    def describe_unasserted_gates(self) -> Iterator[str]:
        """A warning about each red gate of a Python test that did not fail."""
        for node, gates in sorted(self.red_gates.items()):
            if node not in self.failed:
                for suite, verdict in gates.items():
                    test = f"suite {suite} is {verdict} in {node}, and this test did not fail"
                    yield f"{test}: it does not assert the verdict"


@dataclass(eq=False, repr=False)
class RunEnd:
    """Registered as a pytest plugin; with ``-n`` in the process that runs no test itself."""

    config: pytest.Config
    update: BaselineUpdate
    moment: datetime
    files: ReportFiles
    evaluations: Evaluations
    changes: ChangeFilter
    plugins: RunPlugins
    versus: Versus | None = None
    reports: TestReports = field(default_factory=TestReports)
    uncollected: dict[str, str] = field(default_factory=dict)
    """The text of what could not be collected, by node."""
    collected: CollectedSuites = field(default_factory=CollectedSuites)
    usage_error: str = ""
    """Why pytest refused its options, if that ended the run before any suite was evaluated."""
    problems: tuple[str, ...] = ()
    """Those that pytest has not shown, without secrets."""
    write_error: str | None = None
    summary_error: str | None = None
    result: RunResult | None = None

    def pytest_report_header(self) -> list[str]:
        compared = [] if self.versus is None else [f"ireval: {self.versus}"]
        return [*self.changes.format_header(), *compared]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Remember what could not be collected, a suite or a Python file: the run is then not a pass."""
        if report.failed:
            self.uncollected[report.nodeid or "the session"] = report.longreprtext

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.add(report)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Accept baselines and write files; a run without a suite is never a pass, even if Python tests passed."""
        self.collected = self.evaluations.read_collected()
        if not self.is_gate:
            self.files.delete_unfinished()
        elif only_shows_information(self.config.option):
            self._end_information(session, exitstatus)
        else:
            self._end_gate(session, exitstatus)

    def _end_information(self, session: pytest.Session, exitstatus: int) -> None:
        """End a run that only lists tests or fixtures: nothing is written."""
        if not self.collected.files and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        if self._is_nothing_affected(exitstatus):
            session.exitstatus = pytest.ExitCode.OK

    def _end_gate(self, session: pytest.Session, exitstatus: int) -> None:
        """Each step needs the one before: results say what was accepted, and observers find the files written."""
        suites = self.collected.suites
        if exitstatus == pytest.ExitCode.USAGE_ERROR and not any(self._read_evaluation(suite) for suite in suites):
            self.usage_error = str(sys.exc_info()[1] or "a wrong option")
        self._accept_baselines()
        completeness = check_completeness(
            self.config,
            suites,
            self.reports.gated_baselines,
            self.changes,
            self.plugins.registry_for,
            all_collected=self._is_all_collected(session, exitstatus),
            versus_ref="" if self.versus is None else self.versus.ref,
        )
        unrun = () if self.uncollected else tuple(find_unrun_checks(self.config, suites))
        results = {suite: self._make_suite_result(suite) for suite in suites if suite.selected}
        complaints = dict.fromkeys((*self._adopt_observers(suites), *self._notify_of_accepted_baselines(results)))
        problems = tuple(map(mask_text, (*unrun, *completeness.problems, *complaints)))
        result = self._make_run_result(tuple(results.values()), completeness, problems)
        if self.versus is not None:
            whole = self._is_all_collected(session, exitstatus)
            folders = read_named_places(self.config).folders if whole else ()
            result = add_versus_notes(result, self.versus, self.config.invocation_params.dir, folders)
        if self.files.folder is not None:
            result = self._prepare_report(result, results)
        write_error = self.files.write(result)
        problems_at_end = tuple(map(mask_text, self._notify_of_end(result, results)))
        if problems_at_end:
            # Observers of the end read the written report; it is written again to name those that raised an error.
            result = replace(result, verdict="error", problems=(*result.problems, *problems_at_end))
            write_error = self.files.write(result)
        self.summary_error = append_step_summary(self.files.format_summary, add_problem(result, write_error))
        if exitstatus == pytest.ExitCode.OK or self._is_nothing_affected(exitstatus):
            session.exitstatus = self._choose_exit_status(result, write_error)
        self.result, self.problems, self.write_error = result, (*problems, *problems_at_end), write_error

    def _accept_baselines(self) -> None:
        if self.update.is_requested:
            for suite in self.collected.suites:
                evaluation = self._read_evaluation(suite)
                self.update.accept_suite(suite, evaluation, self._find_sound_checks(suite, evaluation), self.moment)

    def _prepare_report(self, result: RunResult, suites: Iterable[PlannedSuite]) -> RunResult:
        """The result with the sections that plugins add; the files get their templates and the rankings of this run."""
        result, self.files.templates = add_sections(result, self.collected.suites, self.plugins)
        evaluations = (self._read_evaluation(suite) for suite in suites)
        rankings = [each.rankings for each in evaluations if each is not None and each.rankings is not None]
        self.files.rankings = pack_run(result, rankings)
        return result

    @property
    def is_gate(self) -> bool:
        """False if the ini option alone asked for suites, and the run has none."""
        return bool(self.config.getoption("ireval") or self.collected.suites or self.uncollected)

    @property
    def is_no_suite_affected(self) -> bool:
        return is_no_suite_affected(self.collected.suites)

    def _is_nothing_affected(self, exitstatus: int) -> bool:
        return exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.is_no_suite_affected

    def _read_evaluation(self, suite: PlannedSuite) -> SuiteEvaluation | None:
        return self.evaluations.read_evaluation(suite.name)

    def _find_sound_checks(self, suite: PlannedSuite, evaluation: SuiteEvaluation | None) -> set[str]:
        return self.reports.find_reported(suite) - self.reports.find_disturbed(suite, evaluation)

    def _is_all_collected(self, session: pytest.Session, exitstatus: int) -> bool:
        ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
        return ended and not (self.uncollected or session.shouldstop or session.shouldfail)

    def _make_suite_result(self, suite: PlannedSuite) -> SuiteResult:
        """The reported verdicts of a suite, as accepted if its baseline was written.

        A missing verdict is an error, and so is one whose test failed for another reason: pytest is red then.
        """
        evaluation = self._read_evaluation(suite)
        if evaluation is None:
            why = mask_text(f": {self.usage_error}") if self.usage_error else ""
            return SuiteResult(
                name=suite.name,
                path=suite.shown_path,
                verdict="error",
                outcomes=(),
                owner=suite.owner,
                matrix=suite.matrix,
                planned=suite.checks,
                error=f"the run ended before this suite was evaluated{why}",
            )
        result, sound = evaluation.result, self._find_sound_checks(suite, evaluation)
        disturbed = self.reports.find_disturbed(suite, evaluation)
        unreported = [check for check in suite.selected if check not in sound]
        accepted = suite.name in self.update.written
        outcomes = tuple(
            replace(outcome, verdict="pass", accepted=True) if accepted and outcome.acceptable else outcome
            for outcome in result.outcomes
            if outcome.id in sound
        )
        notes = list(result.notes)
        if late := [check for check in unreported if check not in disturbed]:
            notes.append(f"the run ended before {len(late)} of its verdicts were reported")
        if disturbed:
            notes.append(f"failed for a reason other than the verdict: {', '.join(sorted(disturbed))}")
        broken = result.error or not outcomes or unreported
        return replace(
            result,
            outcomes=outcomes,
            verdict="error" if broken else find_worst_verdict(tuple(outcome.verdict for outcome in outcomes)),
            metrics=tuple(_add_verdict(metric, outcomes) for metric in result.metrics),
            notes=tuple(notes),
        )

    def _make_run_result(
        self, results: tuple[SuiteResult, ...], completeness: Completeness, problems_of_run: tuple[str, ...]
    ) -> RunResult:
        suites = self.collected.suites
        problems = (*self.uncollected.values(), *problems_of_run, *self.update.problems)
        failed_tests = self.reports.find_failed_python_tests(suites)
        verdict_of_tests: tuple[Verdict, ...] = ("fail",) if failed_tests else ()
        verdict = find_worst_verdict((*(result.verdict for result in results), *verdict_of_tests))
        unasserted = tuple(self.reports.describe_unasserted_gates())
        files = [file for suite in suites if suite.selected for file in suite.files]
        commit, branch, dirty = read_commit_state(self.files.root, files)
        result = RunResult(
            version=pytest_ireval.__version__,
            date=format_moment(self.moment),
            verdict="error" if problems or not results else verdict,
            suites=results,
            commit=commit,
            branch=branch,
            dirty=dirty,
            problems=tuple(map(mask_text, problems)),
            failed_tests=failed_tests,
            accepted=tuple(self.update.written),
            reason=self.update.reason.strip() if self.update.written else "",
            warnings=(*completeness.warnings, *unasserted),
            base=short_ref(read_branch_options(self.config).base),
            not_selected=self._list_suites_not_selected(completeness),
            unasserted=unasserted,
        )
        return add_unaffected_suites(result, self.changes.since, suites)

    def _list_suites_not_selected(self, completeness: Completeness) -> tuple[str, ...]:
        suites = self.collected.suites
        selection_made = any(suite.selected for suite in suites)  # a run that ended early has selected nothing
        names = [
            suite.name
            for suite in suites
            if suite.is_affected and not suite.selected and (selection_made or suite.deselected)
        ]
        return tuple(dict.fromkeys((*names, *(name for suite in completeness.skipped for name in suite.names))))

    def _adopt_observers(self, suites: Iterable[PlannedSuite]) -> Iterator[str]:
        """Import the conftest.py files with observers that pytest did not need; yields the complaints about them."""
        for suite in suites:
            if suite.selected:
                try:
                    self.plugins.adopt_conftests(suite.path, BASELINE_ACCEPTED.encode(), RUN_ENDED.encode())
                except IrevalError as error:
                    yield format_inline(error)

    def _notify_of_accepted_baselines(self, results: Mapping[PlannedSuite, SuiteResult]) -> Iterator[str]:
        """Call the observers of accepted baselines; yields the complaints about those that raise."""
        for suite, result in results.items():
            if written := self.update.written.get(suite.name):
                for origin, observer in self.plugins.find_observers(BASELINE_ACCEPTED, suite.path):
                    call = {"suite": result, "acceptance": written.acceptance, "file": written.path}
                    yield from self.plugins.call_observer(BASELINE_ACCEPTED, origin, observer, **call)

    def _notify_of_end(self, run: RunResult, suites: Iterable[PlannedSuite]) -> Iterator[str]:
        """Call the observers of the end, each once with the suites that it serves; yields complaints."""
        observers: dict[Origin, Callable[..., object]] = {}
        served: dict[Origin, set[str]] = {}
        for path, names in [(self.files.root, set[str]()), *((suite.path, {suite.name}) for suite in suites)]:
            for origin, observer in self.plugins.find_observers(RUN_ENDED, path):
                observers.setdefault(origin, observer)
                served.setdefault(origin, set()).update(names)
        for origin, observer in observers.items():
            visible = replace(run, suites=tuple(suite for suite in run.suites if suite.name in served[origin]))
            call = {"run": visible, "folder": self.files.folder}
            yield from self.plugins.call_observer(RUN_ENDED, origin, observer, **call)

    def _choose_exit_status(self, result: RunResult, write_error: str | None) -> pytest.ExitCode:
        """The exit status of a run in which no test failed: it is red all the same unless the gate itself passed."""
        if write_error or result.problems:
            return pytest.ExitCode.TESTS_FAILED
        if not result.suites and not self.is_no_suite_affected:
            return pytest.ExitCode.NO_TESTS_COLLECTED
        return pytest.ExitCode.TESTS_FAILED if result.verdict in RED else pytest.ExitCode.OK


def _add_verdict(metric: MetricFigures, outcomes: tuple[Outcome, ...]) -> MetricFigures:
    verdicts: tuple[Verdict, ...] = tuple(outcome.verdict for outcome in outcomes if outcome.metric == metric.name)
    return replace(metric, verdict=find_worst_verdict(verdicts) if verdicts else None)
