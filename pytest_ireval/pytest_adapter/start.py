"""How a ``pytest --ireval`` run is set up: in one process, or as one that writes and workers that judge (``-n``)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from pytest_ireval.errors import IrevalError, Problem, ReportError
from pytest_ireval.gate.material import moment_of
from pytest_ireval.pytest_adapter import claims
from pytest_ireval.pytest_adapter.accepting import Accepting, accepting_of
from pytest_ireval.pytest_adapter.affected import Affected, affected_of, branch_of
from pytest_ireval.pytest_adapter.files import begin, files_of
from pytest_ireval.pytest_adapter.finish import RunEnd
from pytest_ireval.pytest_adapter.planned_suite import SharedRun
from pytest_ireval.pytest_adapter.run_plugins import ADOPTING, Adopting
from pytest_ireval.pytest_adapter.session import SESSION, EvaluationSession
from pytest_ireval.pytest_adapter.terminal import width_of
from pytest_ireval.reports.templates import Templates, templates
from pytest_ireval.secrets import SHORTEST, hidden, hidden_in, keep

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

HANDED = "ireval"
"""The key under which a worker is told what it has to know."""


class Handed(NamedTuple):
    """What a worker is told; as plain as what execnet carries."""

    folder: str
    moment: str
    width: int


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins or the options ends the run here."""
    config.pluginmanager.register(claims, "ireval-claims")
    config.pluginmanager.register(_ShownReports(), "ireval-shown-reports")
    _keep_declared(config)
    try:
        if hasattr(config, "workerinput"):
            _start_worker(config, Handed(*config.workerinput[HANDED]))
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
            found = _start_session(config, plugins, accepting, moment, width, affected)
        files = replace(files_of(config, config.option), using=_templates_of(config))
        end = RunEnd(config, accepting, moment, files, found, affected, plugins.plugins)
        config.pluginmanager.register(end, "ireval-end")
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error


def _distributes(config: pytest.Config) -> bool:
    """Tell whether pytest-xdist has the tests run by workers."""
    option = config.option
    return getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None)) and not option.collectonly


def _adopting(config: pytest.Config) -> Adopting:
    plugins = Adopting(config.rootpath)
    config.pluginmanager.register(plugins, ADOPTING)
    return plugins


def _start_session(
    config: pytest.Config,
    adopting: Adopting,
    accepting: Accepting,
    moment: datetime,
    width: int,
    affected: Affected,
    shared: SharedRun | None = None,
) -> EvaluationSession:
    session = EvaluationSession(config, adopting.plugins, accepting, moment, width, affected, shared)
    config.pluginmanager.register(session, SESSION)
    return session


def _start_writer(config: pytest.Config, moment: datetime, width: int) -> SharedRun:
    try:
        folder = tempfile.mkdtemp(prefix="ireval-")  # nobody else can read or write it
    except OSError as error:
        complaint = f"cannot create a folder for the workers of this run: {error.strerror or error}"
        raise IrevalError(Problem(complaint, suggestion="set TMPDIR to another folder")) from error
    config.pluginmanager.register(Workers(Handed(folder, moment.isoformat(), width)), "ireval-workers")
    return SharedRun(Path(folder))


def _start_worker(config: pytest.Config, handed: Handed) -> None:
    folder = Path(handed.folder)
    if not folder.is_dir():
        complaint = f"a worker of pytest-xdist does not see the folder {folder} of this run"
        raise IrevalError(Problem(complaint, suggestion="workers on other machines cannot share a suite: use -n"))
    moment, accepting = datetime.fromisoformat(handed.moment), accepting_of(config)
    shared = SharedRun(folder)
    affected = affected_of(config, shared.handed_out())
    _start_session(config, _adopting(config), accepting, moment, handed.width, affected, shared)


class Workers:
    """Tells each worker what it has to know; the folder is gone with the run."""

    def __init__(self, handed: Handed) -> None:
        self.handed = handed

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Of pytest-xdist, before a worker starts."""
        node.workerinput[HANDED] = tuple(self.handed)

    def pytest_unconfigure(self) -> None:
        """Workers have ended by now."""
        shutil.rmtree(self.handed.folder, ignore_errors=True)


INI = "ireval_templates"


def _templates_of(config: pytest.Config) -> Templates | None:
    """As the ini file says, from rootdir, or None; raises ReportError with all that is wrong with the folder."""
    told = str(config.getini(INI)).strip()
    if not told:
        return None
    try:
        return templates(config.rootpath / told)
    except ReportError as error:
        raise ReportError(*error.problems, f"{INI} = {told} names the folder") from error


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
        """Of a test, after all other plugins."""
        return _shown((yield))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        """Of what was collected."""
        return _shown((yield))


def _shown(report: Report) -> Report:
    said = str(report.longrepr) if report.longrepr else ""
    if hidden(said) != said:
        report.longrepr = hidden(said)
    report.sections = [(title, hidden(text)) for title, text in report.sections]
    if isinstance(report, pytest.TestReport):
        report.user_properties = hidden_in(report.user_properties)  # anybody may record anything
    return report
