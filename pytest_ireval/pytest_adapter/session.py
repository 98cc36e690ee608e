"""Collecting suites and judging their verdicts, in the process that runs the tests; with ``-n`` in each worker."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pytest

from pytest_ireval.errors import SuiteError
from pytest_ireval.gate.material import written
from pytest_ireval.gate.run import plan_of
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.accepting import Accepting
from pytest_ireval.pytest_adapter.affected import Affected, circumstances_of, left_out, stand_in
from pytest_ireval.pytest_adapter.files import begin, files_of
from pytest_ireval.pytest_adapter.items import RuleItem, SuiteFile, SuiteRun, node_name
from pytest_ireval.pytest_adapter.planned_suite import Collected, Evaluated, SharedRun, planned_suite
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins
from pytest_ireval.reports.commands import node_path
from pytest_ireval.reports.failure_text import failure_text, short_text, told_whole
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.suites.finding import is_suite, lost_suites
from pytest_ireval.suites.loading import load_suites
from pytest_ireval.suites.suite import Suite

SESSION = "ireval-session"
ALL = 2
QUERIES_SHOWN = {0: 3, 1: 10}
"""By how often -v was given; from twice on, all."""


class EvaluationSession:
    """Holds the suites of the run; registered as a pytest plugin."""

    def __init__(
        self,
        config: pytest.Config,
        plugins: RunPlugins,
        accepting: Accepting,
        moment: datetime,
        width: int,
        affected: Affected,
        shared: SharedRun | None = None,
    ) -> None:
        self.config = config
        self.plugins = plugins
        self.accepting = accepting
        self.moment = moment
        self.width = width
        self.affected = affected
        self.shared = shared
        """None: this process writes, too."""
        self.circumstances = circumstances_of(config, moment.date())
        self.runs: dict[str, SuiteRun] = {}
        self.of_files: dict[Path, list[SuiteRun]] = {}
        """Pytest may collect a file several times, and each suite is evaluated once."""
        self.begun = shared is not None or config.getoption("ireval")
        """Whether the files of an earlier run are gone; by the ini option alone, they stay until a suite is read."""
        self.suites_seen = 0
        """Files, be they right or wrong."""

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        """A node for every suite."""
        try:
            if not is_suite(file_path, named=file_path in self._named()):
                return None
        except OSError as error:  # it may be a suite, so it is not passed over
            raise pytest.Collector.CollectError(f"{file_path}: cannot be read: {error.strerror}") from error
        self.suites_seen += 1
        suite: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        suite.session_of_ireval = self
        return suite

    def pytest_collect_directory(self, path: Path) -> None:
        """Pytest passes over links that lead nowhere; a suite among them would be missed by nobody."""
        lost = lost_suites(path)
        if lost:
            shown = ", ".join(map(self.shown, lost))
            raise pytest.Collector.CollectError(f"{shown}: cannot be read: the link is broken")

    def _named(self, part: bool = False) -> set[Path]:
        """Files that the command line names; those of which it names a part."""
        folder = self.config.invocation_params.dir
        return {folder / each.partition("::")[0] for each in self.config.args if not part or "::" in each}

    def shown(self, path: Path) -> str:
        """A path as messages show it."""
        folder = self.config.invocation_params.dir
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()

    def runs_of(self, path: Path) -> list[SuiteRun]:
        """The suites of a file; their names must be their own."""
        if not self.begun:
            begin(self.config, self.config.option)
            self.begun = True
        if path not in self.of_files:
            registry = self.plugins.registry_for(path)
            runs = [self._run(suite, registry) for suite in load_suites(path, registry, shown=self.shown(path))]
            self.runs = _told_apart(self.runs, runs)
            self.of_files[path] = runs
        return self.of_files[path]

    def _run(self, suite: Suite, registry: Registry) -> SuiteRun:
        reason = self.affected.reason(suite, self.plugins.places)
        looked_at = reason is not None or suite.path in self._named(part=True)
        lowering = self.circumstances.base is not None
        plan = plan_of(suite, registry, lowering=lowering) if looked_at else stand_in(suite)
        return SuiteRun(
            suite,
            registry,
            plan,
            planned_suite(suite, plan.checks, reason),
            self.circumstances,
            self.text,
            self.accepting.accepts,
            self.accepting.asked,
            files_of(self.config, self.config.option).folder is not None,
            self.shared,
            self._another,
        )

    def _another(self) -> bool:
        """Evaluate a suite that nobody has begun, rather than wait for the worker that is at one."""
        shared = self.shared
        return shared is not None and any(run.begin(shared) for run in self.runs.values() if run.evaluated is None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Suites that are not affected by what changed take no part."""
        left_out(config, items)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """What somebody took out of the run, so that it is not missed."""
        for item in items:
            if isinstance(item, RuleItem):
                item.run.planned.deselected.add(item.check.id)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What was selected is evaluated when its first item is run."""
        for item in session.items:
            if isinstance(item, RuleItem):
                item.run.planned.select(item.check.id, item.nodeid)
        if self.shared is not None:
            self.shared.tell(self.collected())

    def collected(self) -> Collected:
        """The suites of the run."""
        return Collected([run.planned for run in self.runs.values()], self.suites_seen)

    def found(self, name: str) -> Evaluated | None:
        """What a suite came to; None if it was not evaluated."""
        return self.runs[name].evaluated

    def text(self, run: SuiteRun, outcome: Outcome) -> str:
        """What a terminal shows of a verdict against the change; broken inputs are told in full once."""
        result = run.judged()
        if result.error:
            first = run.planned.selected[0]
            if first != outcome.id:
                return f"the inputs of {result.name} are broken; the full error is at {node_path(result)}::{first}"
            return result.error
        files, verbose = files_of(self.config, self.config.option), self.config.get_verbosity()
        if verbose < ALL and not told_whole(result, outcome.id):
            return short_text(outcome, result, self.width, files.everything)
        return failure_text(
            outcome,
            result,
            date=written(self.moment),
            width=self.width,
            queries=QUERIES_SHOWN.get(max(verbose, 0)),
            report=files.report(result, outcome.id),
            statistics=verbose > 0,
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """What is shown of a failure in one line stands at the rule."""
        report = yield
        if isinstance(item, RuleItem) and report.failed and call.excinfo is not None:
            item.at_the_rule(report, call.excinfo.value)
        return report


def _told_apart(known: Mapping[str, SuiteRun], runs: Sequence[SuiteRun]) -> dict[str, SuiteRun]:
    """All suites by name, those of one more file among them; raises SuiteError where two would be one."""
    found, nodes = dict(known), dict[str, SuiteRun]()
    for run in runs:
        other = found.setdefault(run.suite.name, run)
        if other is not run:
            raise SuiteError(_same_name(run.suite, other.suite))
        twin = nodes.setdefault(node_name(run), run)
        if twin is not run:
            raise SuiteError(_same_node(run, twin))
    return found


def _same_name(suite: Suite, other: Suite) -> str:
    if suite.path == other.path:
        both = f"{_values(suite)} and {_values(other)}"
        return f"{suite.place}: the matrix makes two suites called {suite.name!r}: {both}; give each its own name"
    return f"{suite.place}: another suite is called {suite.name!r}: {other.place}; every suite needs its own name"


def _same_node(run: SuiteRun, twin: SuiteRun) -> str:
    both = f"{_values(run.suite)} and {_values(twin.suite)}"
    return f"{run.suite.place}: the matrix makes two nodes called {node_name(run)!r}: {both}; choose other values"


def _values(suite: Suite) -> str:
    return ", ".join(f"{name}: {value}" for name, value in suite.values.items())
