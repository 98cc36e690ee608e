"""One ``pytest --ireval`` run: which suites take part, what they came to, and which files that leaves."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from pytest_ireval.errors import IrevalError, SuiteError
from pytest_ireval.gate.circumstances import moment_of, written
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.pytest_adapter.accepting import Accepting, accepting_of
from pytest_ireval.pytest_adapter.run_files import RunFiles, files_of
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins
from pytest_ireval.pytest_adapter.suite_files import RuleItem, SuiteFile
from pytest_ireval.pytest_adapter.suite_run import SuiteRun
from pytest_ireval.pytest_adapter.terminal import summarise, width_of
from pytest_ireval.reports.failure_text import failure_text
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.suites.finding import is_suite

QUERIES_SHOWN = {0: 3, 1: 10}
"""By how often -v was given; from twice on, all."""


class EvaluationSession:
    """Holds the suites of the run; registered as a pytest plugin."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.plugins = RunPlugins(config.rootpath)
        self.moment = moment_of()
        self.accepting: Accepting = accepting_of(config)
        self.circumstances = Circumstances(self.moment.date(), self.accepting.accepts)
        self.files: RunFiles = files_of(config)
        self.runs: dict[str, SuiteRun] = {}
        self.told: dict[str, str] = {}
        """Suites whose broken inputs were told in full, and by which item."""
        self.problems: list[str] = []
        self.found = 0
        self.started = False
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
        """From here on a broken conftest.py is an error of the suites below it; no file of an earlier run is left."""
        self.started = True
        if not self.config.option.collectonly:
            self.files.begin(self.moment)

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

    def _named(self) -> set[Path]:
        """Files that the command line names."""
        folder = self.config.invocation_params.dir
        return {folder / argument.partition("::")[0] for argument in self.config.args}

    def shown(self, path: Path) -> str:
        """A path as messages show it."""
        folder = self.config.invocation_params.dir
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()

    def add(self, run: SuiteRun) -> None:
        """Remember a suite; its name must be its own."""
        other = self.runs.setdefault(run.suite.name, run)
        if other is not run and other.suite.path != run.suite.path:
            raise SuiteError(
                f"{run.suite.place}: another suite is called {run.suite.name!r}: {other.suite.place}; "
                "baselines and reports need one name for each"
            )
        self.runs[run.suite.name] = run

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """What could not be collected keeps the run from a pass."""
        if report.failed and Path(report.nodeid.partition("::")[0]).suffix in (".yaml", ".yml"):
            self.problems.append(report.longreprtext)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What was selected is evaluated when its first item is run."""
        for item in session.items:
            if isinstance(item, RuleItem):
                item.run.selected.add(item.check.id)

    def text(self, run: SuiteRun, outcome: Outcome) -> str:
        """What a terminal shows of a verdict against the change; broken inputs are told in full once."""
        result = run.judged().result
        if result.error:
            first = self.told.setdefault(run.suite.name, outcome.id)
            if first != outcome.id:
                return f"the inputs of {result.name} are broken; the whole error stands at {result.path}::{first}"
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
        if isinstance(item, RuleItem) and (call.when == "call" or report.failed):
            item.run.reported.add(item.check.id)
        return report

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Baselines are accepted, files written; no suite is no pass, even if Python tests passed."""
        if self.config.option.collectonly:
            if not self.found and exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
            return
        chosen = [run for run in self.runs.values() if run.selected]
        if self.accepting.asked:
            self.accepting.accept(list(self.runs.values()), self.moment)
        problems = (*self.problems, *self.accepting.problems)
        self.result = self.files.result_of(chosen, self.moment, problems, self.accepting.written)
        problem = self.files.write(self.result)
        if problem:
            self.problems.append(problem)
        if exitstatus == pytest.ExitCode.OK and (problem or self.accepting.problems):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        elif exitstatus == pytest.ExitCode.OK and not self.found:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A row for each suite and metric, what was accepted, and why the exit code is not 0."""
        if not self.found:
            terminalreporter.write_line(
                "--ireval: no suite was collected (*.ireval.yaml, or a line ireval: 1), and that is no pass"
            )
        elif self.result is not None:
            summarise(terminalreporter, self.config, self.result, self.accepting, self.files.written)


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins or the options ends the run here."""
    if hasattr(config, "workerinput") or getattr(config.option, "dist", "no") != "no":
        raise pytest.UsageError(
            "--ireval runs in one process: leave out -n (no worker of pytest-xdist can share a suite)"
        )
    try:
        config.pluginmanager.register(EvaluationSession(config), "ireval-session")
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error
