"""A ``pytest --ireval`` run: begun in one process or with workers (``-n``), suites collected, verdicts judged."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from pytest_ireval.errors import IrevalError, Problem, SuiteError
from pytest_ireval.gate.last_run import BEFORE
from pytest_ireval.gate.material import moment_of, written
from pytest_ireval.gate.run import Plan, plan_of
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_plugin import selection
from pytest_ireval.pytest_plugin.accepting import Accepting, accepting_of
from pytest_ireval.pytest_plugin.files import begin, files_of
from pytest_ireval.pytest_plugin.finish import RunEnd
from pytest_ireval.pytest_plugin.items import RuleItem, SuiteFile, SuiteRun, node_name
from pytest_ireval.pytest_plugin.planned_suite import Collected, Evaluated, SharedRun, planned_suite
from pytest_ireval.pytest_plugin.run_plugins import ADOPTING, Adopting, RunPlugins
from pytest_ireval.pytest_plugin.selection import Affected, affected_of, branch_of, circumstances_of
from pytest_ireval.pytest_plugin.terminal import width_of
from pytest_ireval.report.commands import node_path
from pytest_ireval.report.failure_text import failure_text, short_text, told_whole
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.planning import INPUTS, Check
from pytest_ireval.secrets import SHORTEST, hidden, hidden_in, keep
from pytest_ireval.suite.finding import is_suite, lost_suites
from pytest_ireval.suite.loading import load_suites
from pytest_ireval.suite.suite import Suite


@dataclass(eq=False, repr=False)
class EvaluationSession:
    """The suites of the run; registered as a pytest plugin."""

    config: pytest.Config
    plugins: RunPlugins
    accepting: Accepting
    moment: datetime
    width: int
    affected: Affected
    shared: SharedRun | None = None
    """None: this process writes, too."""
    runs: dict[str, SuiteRun] = field(default_factory=dict)
    of_files: dict[Path, list[SuiteRun]] = field(default_factory=dict)
    """Pytest may collect a file several times, and each suite is evaluated once."""
    suites_seen: int = 0

    def __post_init__(self) -> None:
        folder = files_of(self.config, self.config.option).folder
        found = circumstances_of(self.config, self.moment.date())
        self.circumstances = found._replace(last_run=folder and folder / BEFORE)
        self.begun = self.shared is not None or self.config.getoption("ireval")
        """True if the files of an earlier run are gone; by the ini option alone, they stay until a suite is read."""

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
        """Refuse links that lead nowhere: pytest passes over them, and a suite among them would be missed.

        pytest also asks about the folders beside those that the command line names; nothing there takes part.
        """
        named = (os.path.abspath(each) for each in self._named())
        lost = lost_suites(path) if any(path.is_relative_to(each) for each in named) else []
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
        # of a suite that takes no part one verdict stands for all, so that no query has to be read
        unread = Plan((Check(INPUTS, suite.place),), None)
        plan = plan_of(suite, registry, lowering=lowering) if looked_at else unread
        return SuiteRun(suite, registry, plan, planned_suite(suite, plan.checks, reason), self)

    def another(self) -> bool:
        """Evaluate a suite that was not begun yet, rather than wait for another worker."""
        shared = self.shared
        return shared is not None and any(run.begin(shared) for run in self.runs.values() if run.evaluated is None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect the verdicts of suites that are not affected by what changed."""
        gone = [item for item in items if isinstance(item, RuleItem) and item.run.planned.affected_by is None]
        if gone:
            config.hook.pytest_deselected(items=gone)
            away = set(gone)
            items[:] = [item for item in items if item not in away]

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note the deselected verdicts, so that they are not missed."""
        for item in items:
            if isinstance(item, RuleItem):
                item.run.planned.deselected.add(item.check.id)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the selected verdicts; a suite is evaluated when its first item is run."""
        for item in session.items:
            if isinstance(item, RuleItem):
                item.run.planned.select(item.check.id, item.nodeid)
        if self.shared is not None:
            self.shared.tell(self.collected())

    def collected(self) -> Collected:
        """The suites of the run."""
        return Collected([run.planned for run in self.runs.values()], self.suites_seen)

    def found(self, name: str) -> Evaluated | None:
        """The evaluation of a suite; None if there was none."""
        return self.runs[name].evaluated

    def text(self, run: SuiteRun, outcome: Outcome) -> str:
        """The terminal's text of a verdict against the change; broken inputs are shown in full once."""
        result = run.judged()
        if result.error:
            first = run.planned.selected[0]
            if first != outcome.id:
                return f"the inputs of {result.name} are broken; the full error is at {node_path(result)}::{first}"
            return result.error
        files, verbose = files_of(self.config, self.config.option), self.config.get_verbosity()
        if verbose < 2 and not told_whole(result, outcome.id):
            return short_text(outcome, result, self.width, files.everything)
        return failure_text(
            outcome,
            result,
            date=written(self.moment),
            width=self.width,
            queries={0: 3, 1: 10}.get(max(verbose, 0)),  # from -vv on, all
            report=files.report(result, outcome.id),
            statistics=verbose > 0,
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Make the one-line form of a failure point at the rule."""
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


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

OFFLINE = "IREVAL_OFFLINE"
"""The variable by which a source knows that it must not ask a live system."""
HANDED = "ireval"
"""The key of what a worker has to know."""


class _Handed(NamedTuple):
    """The values for a worker; as plain as what execnet carries."""

    folder: str
    moment: str
    width: int


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins or the options ends the run here."""
    config.pluginmanager.register(selection, "ireval-claims")
    config.pluginmanager.register(_ShownReports(), "ireval-shown-reports")
    _keep_declared(config)
    if config.getoption("ireval_offline") and not os.environ.get(OFFLINE):
        os.environ[OFFLINE] = "1"
        config.add_cleanup(_back_online)
    try:
        if hasattr(config, "workerinput"):
            _start_worker(config, _Handed(*config.workerinput[HANDED]))
            return
        if config.getoption("ireval") or _distributes(config):  # else with the first suite
            begin(config, config.option)
        branch_of(config)  # workers would tell what is wrong with it, each for itself
        plugins = _adopting(config)
        accepting, moment, width = accepting_of(config), moment_of(), width_of(config)
        affected = affected_of(config)
        found: SharedRun | EvaluationSession
        if _distributes(config):
            found = _start_writer(config, moment, width)
            found.hand_out(affected.repositories.changes)
        else:
            found = EvaluationSession(config, plugins.plugins, accepting, moment, width, affected)
            config.pluginmanager.register(found, "ireval-session")
        end = RunEnd(config, accepting, moment, files_of(config, config.option), found, affected, plugins.plugins)
        config.pluginmanager.register(end, "ireval-end")
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error


def _back_online() -> None:
    os.environ.pop(OFFLINE, None)


def _distributes(config: pytest.Config) -> bool:
    option = config.option
    return getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None)) and not option.collectonly


def _adopting(config: pytest.Config) -> Adopting:
    plugins = Adopting(config.rootpath, config.getoption("ireval_without"))
    config.pluginmanager.register(plugins, ADOPTING)
    return plugins


def _start_writer(config: pytest.Config, moment: datetime, width: int) -> SharedRun:
    try:
        folder = tempfile.mkdtemp(prefix="ireval-")  # no other account can read or write it
    except OSError as error:
        complaint = f"cannot create a folder for the workers of this run: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error
    config.pluginmanager.register(_Workers(_Handed(folder, moment.isoformat(), width)), "ireval-workers")
    return SharedRun(Path(folder))


def _start_worker(config: pytest.Config, handed: _Handed) -> None:
    folder = Path(handed.folder)
    if not folder.is_dir():
        complaint = f"a worker of pytest-xdist does not see the folder {folder} of this run"
        raise IrevalError(Problem(complaint, suggestion="workers on other machines cannot share a suite: use -n"))
    moment, accepting = datetime.fromisoformat(handed.moment), accepting_of(config)
    shared = SharedRun(folder)
    affected = affected_of(config, shared.handed_out())
    plugins = _adopting(config).plugins
    session = EvaluationSession(config, plugins, accepting, moment, handed.width, affected, shared)
    config.pluginmanager.register(session, "ireval-session")


@dataclass(eq=False)
class _Workers:
    """Hands each worker what it has to know; the folder is deleted with the run."""

    handed: _Handed

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Of pytest-xdist, before a worker starts."""
        node.workerinput[HANDED] = tuple(self.handed)

    def pytest_unconfigure(self) -> None:
        """Workers have ended by now."""
        shutil.rmtree(self.handed.folder, ignore_errors=True)


def _keep_declared(config: pytest.Config) -> None:
    """The variables that the ini file declares; one that is too short to be hidden ends the run."""
    for name in config.getini("ireval_secrets"):
        value = os.environ.get(name, "")
        if 0 < len(value) < SHORTEST:
            raise pytest.UsageError(
                f"ireval_secrets: the value of {name} has fewer than {SHORTEST} characters, so it cannot be hidden"
            )
        keep(name, value)


class _ShownReports:
    """Hides secrets in reports of tests and of collecting, wherever they are shown: terminal, JUnit files, workers."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        return _shown((yield))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        return _shown((yield))


def _shown(report: Report) -> Report:
    said = str(report.longrepr) if report.longrepr else ""
    if hidden(said) != said:
        report.longrepr = hidden(said)
    report.sections = [(title, hidden(text)) for title, text in report.sections]
    if isinstance(report, pytest.TestReport):
        report.user_properties = hidden_in(report.user_properties)  # anybody may record anything
    return report
