"""One ``pytest --ireval`` run: which suites take part, what they came to, and which files that leaves."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.circumstances import moment_of, written
from pytest_ireval.gate.gate import plan_of
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.plurals import counted
from pytest_ireval.pytest_adapter.accepting import Accepting, accepting_of
from pytest_ireval.pytest_adapter.run_files import RunFiles, begin, files_of, only_looks
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins
from pytest_ireval.pytest_adapter.suite_files import RuleItem, SuiteFile
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.pytest_adapter.telling_apart import told_apart
from pytest_ireval.pytest_adapter.terminal import summarise, width_of
from pytest_ireval.reports.commands import node_path
from pytest_ireval.reports.failure_text import failure_text
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.suites.finding import is_suite, lost_suites
from pytest_ireval.suites.loading import load_suites
from pytest_ireval.suites.suite import Suite

QUERIES_SHOWN = {0: 3, 1: 10}
"""By how often -v was given; from twice on, all."""


class EvaluationSession:
    """Holds the suites of the run; registered as a pytest plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.plugins = RunPlugins(config.rootpath)
        self.moment = moment_of()
        self.accepting: Accepting = accepting_of(config)
        self.circumstances = Circumstances(self.moment.date())
        self.files: RunFiles = files_of(config, config.option)
        self.runs: dict[str, SuiteRun] = {}
        self.collected: dict[Path, list[SuiteRun]] = {}
        """By file: pytest may collect one several times, and each suite is evaluated once."""
        self.told: dict[str, str] = {}
        """Suites whose broken inputs were told in full, and by which item."""
        self.uncollected: dict[str, str] = {}
        """The text of what could not be collected, by node."""
        self.unwritten = ""
        self.found = 0
        self.started = False
        self.lost: tuple[str, ...] = ()
        self.result: RunResult | None = None

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Adopt conftest.py files and ``-p`` modules; pytest replays those that came earlier."""
        try:
            self.plugins.adopt(plugin)
        except IrevalError as error:
            if not self.started:
                raise pytest.UsageError(str(error)) from error
            self.plugins.remember_broken(plugin, error)

    def pytest_sessionstart(self) -> None:
        """From here on a broken conftest.py is an error of the suites below it."""
        self.started = True

    def pytest_report_header(self) -> str:
        """Who decides, in which version."""
        return f"ireval plugins: {self.plugins}"

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        """A node for every suite."""
        try:
            if not is_suite(file_path, named=file_path in self._named()):
                return None
        except OSError as error:  # it may be a suite, so it is not passed over
            raise pytest.Collector.CollectError(f"{file_path}: cannot be read: {error.strerror}") from error
        self.found += 1
        suite: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        suite.session_of_ireval = self
        return suite

    def pytest_collect_directory(self, path: Path) -> None:
        """Pytest passes over links that lead nowhere; a suite among them would be missed by nobody."""
        lost = lost_suites(path)
        if lost:
            shown = ", ".join(map(self.shown, lost))
            raise pytest.Collector.CollectError(f"{shown}: cannot be read: the link leads nowhere")

    def _named(self) -> set[Path]:
        """Files that the command line names."""
        folder = self.config.invocation_params.dir
        return {folder / argument.partition("::")[0] for argument in self.config.args}

    def shown(self, path: Path) -> str:
        """A path as messages show it."""
        folder = self.config.invocation_params.dir
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()

    def runs_of(self, path: Path) -> list[SuiteRun]:
        """The suites of a file; their names must be their own."""
        if path not in self.collected:
            registry = self.plugins.registry_for(path)
            runs = [self._run(suite, registry) for suite in load_suites(path, registry, shown=self.shown(path))]
            self.runs = told_apart(self.runs, runs)
            self.collected[path] = runs
        return self.collected[path]

    def _run(self, suite: Suite, registry: Registry) -> SuiteRun:
        plan = plan_of(suite, registry)
        return SuiteRun(suite, registry, plan, self.circumstances, self.text, self.accepting.accepts)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """What could not be collected keeps the run from a pass, be it a suite or a Python file."""
        if report.failed:
            self.uncollected[report.nodeid or "the session"] = report.longreprtext

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """What somebody took out of the run, so that it is not missed."""
        for item in items:
            if isinstance(item, RuleItem):
                item.run.deselected.add(item.check.id)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What was selected is evaluated when its first item is run."""
        for item in session.items:
            if isinstance(item, RuleItem):
                item.run.selected.add(item.check.id)

    def _lost(self) -> Iterator[str]:
        """Suites that the command line names whole, and that pytest collected in part."""
        folder, option = self.config.invocation_params.dir, self.config.option
        if self.uncollected or getattr(option, "lf", False):  # --lf collects less, and does not say what
            return
        named = [Path(os.path.abspath(folder / each)) for each in self.config.args if "::" not in each]
        for run in self.runs.values():
            missing = {check.id for check in run.checks} - run.selected - run.deselected
            if missing and any(each in (run.suite.path, *run.suite.path.parents) for each in named):
                count = counted(len(missing), "verdict")
                yield f"{run.suite.name}: {count} neither run nor deselected, though the command line names it whole"

    def text(self, run: SuiteRun, outcome: Outcome) -> str:
        """What a terminal shows of a verdict against the change; broken inputs are told in full once."""
        result = run.judged().result
        if result.error:
            first = self.told.setdefault(run.suite.name, outcome.id)
            if first != outcome.id:
                return f"the inputs of {result.name} are broken; the whole error stands at {node_path(result)}::{first}"
            return result.error
        verbose = self.config.get_verbosity()
        return failure_text(
            outcome,
            result,
            date=written(self.moment),
            width=width_of(self.config),
            queries=QUERIES_SHOWN.get(max(verbose, 0)),
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """A verdict counts once its report exists."""
        report = yield
        if isinstance(item, RuleItem):
            if call.when == "call" or report.failed:
                item.run.reported.add(item.check.id)
            if report.failed and call.excinfo is not None:
                item.at_the_rule(report, call.excinfo.value)
        return report

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Baselines are accepted, files written; no suite is no pass, even if Python tests passed."""
        if only_looks(self.config.option):
            if not self.found and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            return
        chosen = [run for run in self.runs.values() if run.selected]
        if self.accepting.asked:
            self.accepting.accept(list(self.runs.values()), self.moment)
        self.lost = tuple(self._lost())
        problems = (*self.uncollected.values(), *self.lost, *self.accepting.problems)
        self.result = self.files.result_of(chosen, self.moment, problems, self.accepting.written)
        self.unwritten = self.files.write(self.result)
        if exitstatus == pytest.ExitCode.OK:
            session.exitstatus = self._exit_status(self.result)

    def _exit_status(self, result: RunResult) -> pytest.ExitCode:
        """Of a run in which no test failed: whatever made pytest content, a run without a pass is not green."""
        if self.unwritten or result.problems:
            return pytest.ExitCode.TESTS_FAILED
        if not result.suites:
            return pytest.ExitCode.NO_TESTS_COLLECTED
        return pytest.ExitCode.TESTS_FAILED if result.verdict in ("fail", "error") else pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A row for each suite and metric, what was accepted, and why the exit code is not 0."""
        if not self.found:
            terminalreporter.write_line(
                "--ireval: no suite was collected (*.ireval.yaml, or a line ireval: 1), and that is no pass"
            )
        elif self.result is not None:
            if not self.result.suites and not self.result.problems:
                terminalreporter.write_line("--ireval: no verdict of a suite was selected, and that is no pass")
            uncollected = tuple(f"{node} could not be collected" for node in self.uncollected)
            shown = replace(self.result, problems=uncollected)  # pytest has shown the texts
            summarise(terminalreporter, self.config, shown, self.accepting, self.files.written)
            for problem in filter(None, (*self.lost, self.unwritten)):
                terminalreporter.write_line(f"problem: {problem}", red=True)


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins or the options ends the run here."""
    begin(config, config.option)
    distributed = getattr(config.option, "dist", "no") != "no" and getattr(config.option, "tx", None)
    if hasattr(config, "workerinput") or distributed:
        raise pytest.UsageError(
            "--ireval runs in one process: leave out -n (no worker of pytest-xdist can share a suite)"
        )
    try:
        config.pluginmanager.register(EvaluationSession(config), "ireval-session")
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error
