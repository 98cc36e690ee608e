"""The suites of a run in the process that evaluates them: collected, selected, evaluated, their failures shown."""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest

from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.clock import format_moment
from pytest_ireval.gate.last_run import BEFORE
from pytest_ireval.gate.run import Plan, make_plan
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.baseline_update import BaselineUpdate
from pytest_ireval.pytest_plugin.branch import make_run_context
from pytest_ireval.pytest_plugin.change_filter import ChangeFilter
from pytest_ireval.pytest_plugin.code_host import make_printable
from pytest_ireval.pytest_plugin.items import RuleItem, SuiteFile
from pytest_ireval.pytest_plugin.planned_suite import CollectedSuites, SuiteEvaluation, plan_suite
from pytest_ireval.pytest_plugin.report_files import discard_earlier_report, make_report_files
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.pytest_plugin.suite_run import SuiteRun
from pytest_ireval.pytest_plugin.workers import WorkerFolder
from pytest_ireval.report.commands import node_path
from pytest_ireval.report.failure_text import format_failure, format_short_failure, is_shown_whole
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.planning import INPUTS, Check
from pytest_ireval.suite.finding import find_broken_links, is_suite
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite

QUERIES_BY_VERBOSITY = {0: 3, 1: 10}
"""The worst queries that a failure shows; from -vv on, all."""


@dataclass(eq=False, repr=False)
class EvaluationSession:
    """Collects suites, and evaluates each when its first check is run."""

    config: pytest.Config
    plugins: RunPlugins
    update: BaselineUpdate
    moment: datetime
    width: int
    changes: ChangeFilter
    worker_folder: WorkerFolder | None = None
    """None: this process writes the report, too."""
    runs: dict[str, SuiteRun] = field(default_factory=dict)
    runs_by_path: dict[Path, list[SuiteRun]] = field(default_factory=dict)
    """Pytest may collect a file several times, and each suite is evaluated once."""
    files: int = 0

    def __post_init__(self) -> None:
        report = make_report_files(self.config, self.config.option).folder
        last_run = None if report is None else report / BEFORE
        self.run_context = replace(make_run_context(self.config, self.moment.date()), last_run=last_run)
        # by the ini option alone, the files of an earlier run stay until a suite is read
        self.earlier_report_discarded = self.worker_folder is not None or self.config.getoption("ireval")

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        with suppress(OSError):  # it may be a suite, so it is not passed over: reading it says what is wrong
            if not is_suite(file_path, named=file_path in self._read_arguments()):
                return None
        return self.make_suite_file(file_path, parent)

    def make_suite_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile:
        self.files += 1
        node: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        node.evaluation_session = self
        return node

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Add links that lead nowhere to a folder: pytest passes over them, and a suite among them would be missed.

        Pytest also asks about the siblings of folders that the command line names; nothing there takes part.
        """
        report = yield
        if isinstance(collector, pytest.Directory) and report.passed:
            arguments = (os.path.abspath(argument) for argument in self._read_arguments())
            if any(collector.path.is_relative_to(argument) for argument in arguments):
                report.result += [self.make_suite_file(link, collector) for link in find_broken_links(collector.path)]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the checks of suites that no change concerns."""
        unaffected = {item for item in items if isinstance(item, RuleItem) and item.run.planned.affected_by is None}
        if unaffected:
            config.hook.pytest_deselected(items=list(unaffected))
            items[:] = [item for item in items if item not in unaffected]

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            if isinstance(item, RuleItem):
                item.run.planned.deselected.add(item.check.id)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if isinstance(item, RuleItem):
                item.run.planned.select(item.check.id, item.nodeid)
        if self.worker_folder is not None:
            self.worker_folder.write_collected(self.read_collected())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, RuleItem) and report.failed and call.excinfo is not None:
            item.point_at_rule(report, call.excinfo.value)
        return report

    def load_runs(self, path: Path) -> list[SuiteRun]:
        """Read and plan the suites of a file; raises SuiteError where two suites of the run have one name."""
        if not self.earlier_report_discarded:
            discard_earlier_report(self.config, self.config.option)
            self.earlier_report_discarded = True
        if path not in self.runs_by_path:
            registry = self.plugins.registry_for(path)
            suites = load_suites(path, registry, shown=self.display_path(path))
            runs = [self._plan_run(suite, registry) for suite in suites]
            self.runs = _add_runs(self.runs, runs)
            self.runs_by_path[path] = runs
        return self.runs_by_path[path]

    def _plan_run(self, suite: Suite, registry: Registry) -> SuiteRun:
        affected_by = self.changes.find_reason(suite, self.plugins.module_paths)
        if affected_by is not None or suite.path in self._read_arguments(only_parts=True):
            plan = make_plan(suite, registry, with_base=self.run_context.base is not None)
        else:
            # of a suite that takes no part one check stands for all, so that no query has to be read
            plan = Plan((Check(INPUTS, suite.place),), None)
        return SuiteRun(suite, registry, plan, plan_suite(suite, plan.checks, affected_by), self)

    def _read_arguments(self, only_parts: bool = False) -> set[Path]:
        """The paths that the command line names; with ``only_parts`` the files of which it names a part."""
        folder = self.config.invocation_params.dir
        arguments = (argument for argument in self.config.args if not only_parts or "::" in argument)
        return {folder / argument.partition("::")[0] for argument in arguments}

    def display_path(self, path: Path) -> str:
        folder = self.config.invocation_params.dir
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()

    def evaluate_waiting_suite(self) -> bool:
        """In a worker, evaluate a suite that nobody has begun, rather than wait; returns whether there was one."""
        folder = self.worker_folder
        return folder is not None and any(
            run.evaluate_if_free(folder) for run in self.runs.values() if run.evaluation is None
        )

    def read_collected(self) -> CollectedSuites:
        return CollectedSuites([run.planned for run in self.runs.values()], self.files)

    def read_evaluation(self, name: str) -> SuiteEvaluation | None:
        return self.runs[name].evaluation

    def format_failure(self, run: SuiteRun, outcome: Outcome) -> str:
        """The text of a failed check; broken inputs are shown in full once."""
        return make_printable(self._format_failure(run, outcome))

    def _format_failure(self, run: SuiteRun, outcome: Outcome) -> str:
        result = run.evaluate()
        if result.error:
            first = run.planned.selected[0]
            if first == outcome.id:
                return result.error
            return f"the inputs of {result.name} are broken; the full error is at {node_path(result)}::{first}"
        files, verbosity = make_report_files(self.config, self.config.option), self.config.get_verbosity()
        if verbosity < 2 and not is_shown_whole(result, outcome.id):
            return format_short_failure(outcome, result, self.width, files.shown_results_path)
        return format_failure(
            outcome,
            result,
            date=format_moment(self.moment),
            width=self.width,
            queries=QUERIES_BY_VERBOSITY.get(max(verbosity, 0)),
            report=files.format_page_link(result, outcome.id),
            statistics=verbosity > 0,
        )


def _add_runs(known: Mapping[str, SuiteRun], runs: Sequence[SuiteRun]) -> dict[str, SuiteRun]:
    """All suites by name, those of one more file among them; raises SuiteError where two would be one."""
    by_name, by_node = dict(known), dict[str, SuiteRun]()
    for run in runs:
        suite, other = run.suite, by_name.setdefault(run.suite.name, run).suite
        if other is not suite and other.path == suite.path:
            both = f"{_format_matrix(suite)} and {_format_matrix(other)}"
            message = f"the matrix makes two suites called {suite.name!r}: {both}; give each its own name"
            raise SuiteError(f"{suite.place}: {message}")
        if other is not suite:
            message = f"another suite is called {suite.name!r}: {other.place}; every suite needs its own name"
            raise SuiteError(f"{suite.place}: {message}")
        twin = by_node.setdefault(run.node_name, run).suite
        if twin is not suite:
            both = f"{_format_matrix(suite)} and {_format_matrix(twin)}"
            message = f"the matrix makes two nodes called {run.node_name!r}: {both}; choose other values"
            raise SuiteError(f"{suite.place}: {message}")
    return by_name


def _format_matrix(suite: Suite) -> str:
    return ", ".join(f"{name}: {value}" for name, value in suite.values.items())
