"""The suites of a run in the process that evaluates them: collected and selected."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest

from pytest_ireval.errors import IrevalError, Problem, SuiteError
from pytest_ireval.gate.planning import INPUTS, Check
from pytest_ireval.gate.run import Plan, make_plan
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin.assertion_rewriting import suspend_assertion_rewriting
from pytest_ireval.pytest_plugin.change_filter import ChangeFilter
from pytest_ireval.pytest_plugin.code_host import make_printable
from pytest_ireval.pytest_plugin.items import MatrixSuite, RuleItem, make_nodes
from pytest_ireval.pytest_plugin.planned_suite import CollectedSuites, SuiteEvaluation, plan_suite
from pytest_ireval.pytest_plugin.report_files import discard_earlier_report
from pytest_ireval.pytest_plugin.run_plugins import RunPlugins
from pytest_ireval.pytest_plugin.suite_run import RunState, SuiteRun, describe_crash
from pytest_ireval.suite.finding import find_unreadable, is_suite
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite


@dataclass(eq=False, repr=False)
class SuiteCollector:
    """Collects and selects suites; the first item of a suite that is run evaluates it."""

    state: RunState
    plugins: RunPlugins
    changes: ChangeFilter
    runs_by_path: dict[Path, list[SuiteRun]] = field(default_factory=dict)
    """Pytest may collect a file several times, and each suite is evaluated once."""
    files: int = 0

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        with suppress(OSError):  # it may be a suite, so it is not passed over: reading it says what is wrong
            if not is_suite(file_path, named=file_path in self.named_paths):
                return None
        return self.make_suite_file(file_path, parent)

    def make_suite_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile:
        self.files += 1
        node: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        node.collector = self
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
            arguments = map(os.path.abspath, self.named_paths)
            if any(collector.path.is_relative_to(argument) for argument in arguments):
                report.result += [self.make_suite_file(link, collector) for link in find_unreadable(collector.path)]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the checks of suites that no change concerns."""
        unaffected = {item for item in items if isinstance(item, RuleItem) and not item.run.planned.is_affected}
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
        if self.state.worker_folder is not None:
            self.state.worker_folder.write_collected(self.read_collected())

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
        if not self.state.is_worker:
            # With the ini option alone a run may have no suite: the earlier report stays until the first one is read.
            discard_earlier_report(self.state.config, self.state.config.option)
        if path not in self.runs_by_path:
            registry = self.plugins.registry_for(path)
            suites = load_suites(path, registry, shown=self.display_path(path))
            runs = [self._plan_run(suite, registry) for suite in suites]
            _refuse_equal_names(runs, self.state.runs)
            self.state.runs.update({run.suite.name: run for run in runs})
            self.runs_by_path[path] = runs
        return self.runs_by_path[path]

    def _plan_run(self, suite: Suite, registry: Registry) -> SuiteRun:
        affected_by = self.changes.find_reason(suite, self.plugins)
        if affected_by is not None or suite.path in self.files_named_in_part:
            plan = make_plan(suite, registry, with_base=self.state.context.base is not None)
        else:
            # The suite takes no part: pytest needs an item to deselect, and its real checks would cost reading queries.
            plan = Plan((Check(INPUTS, suite.place),), None)
        return SuiteRun(suite, registry, plan, plan_suite(suite, plan.checks, affected_by), self.state)

    @cached_property
    def named_paths(self) -> set[Path]:
        """The paths that the command line names."""
        return self._read_paths(self.state.config.args)

    @cached_property
    def files_named_in_part(self) -> set[Path]:
        """The files of which the command line names a part."""
        return self._read_paths(argument for argument in self.state.config.args if "::" in argument)

    def _read_paths(self, arguments: Iterable[str]) -> set[Path]:
        folder = self.state.config.invocation_params.dir
        return {folder / argument.partition("::")[0] for argument in arguments}

    def display_path(self, path: Path) -> str:
        folder = self.state.config.invocation_params.dir
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()

    def read_collected(self) -> CollectedSuites:
        return CollectedSuites([run.planned for run in self.state.runs.values()], self.files)

    def read_evaluation(self, name: str) -> SuiteEvaluation | None:
        return self.state.runs[name].evaluation


class SuiteFile(pytest.File):
    """A YAML file with one suite, or one for each value of a matrix."""

    collector: SuiteCollector

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            with suspend_assertion_rewriting(self.config):
                runs = self.collector.load_runs(self.path)
            for run in runs:
                _register_tags(self.config, run)
        except IrevalError as error:
            raise self.CollectError(make_printable(str(error))) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # plugins may raise anything, and pytest takes a skip for green
            crash = describe_crash(error, self.collector.display_path(self.path))
            raise self.CollectError(make_printable(str(crash))) from error
        if len(runs) == 1 and not runs[0].suite.values:
            return make_nodes(self, runs[0])
        return [MatrixSuite.from_run(self, run) for run in runs]


def _refuse_equal_names(runs: Sequence[SuiteRun], known: Mapping[str, SuiteRun]) -> None:
    """Raise SuiteError where two suites of the run, or of a matrix, would have one name."""
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


def _format_matrix(suite: Suite) -> str:
    return ", ".join(f"{name}: {value}" for name, value in suite.values.items())


def _register_tags(config: pytest.Config, run: SuiteRun) -> None:
    """Register tags as marks; a mark of a plugin that takes arguments acts on tests, so it cannot be a tag."""
    places = dict.fromkeys(run.suite.tags, run.suite.place)
    places |= {tag: check.place for check in run.plan.checks for tag in check.tags}
    marks = [line.partition(":")[0].strip() for line in config.getini("markers")]
    marks_with_arguments = {mark.partition("(")[0]: mark for mark in marks if "(" in mark}
    problems = [
        Problem(
            f"{tag!r} is not a tag: a pytest plugin uses marks of that name",
            str(place),
            suggestion=f"it is registered as {marks_with_arguments[tag]}; choose another word",
        )
        for tag, place in places.items()
        if tag in marks_with_arguments
    ]
    if problems:
        raise SuiteError(*problems)
    for tag in places:
        config.addinivalue_line("markers", f"{tag}: a tag of suite {run.suite.name}")
