"""The start of a ``pytest --ireval`` run: in one process, or with one that writes and workers that judge (``-n``)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from pytest_ireval.errors import IrevalError, Problem, ReportError
from pytest_ireval.gate.material import moment_of
from pytest_ireval.pytest_adapter import claims
from pytest_ireval.pytest_adapter.accepting import accepting_of
from pytest_ireval.pytest_adapter.affected import affected_of, branch_of
from pytest_ireval.pytest_adapter.files import begin, files_of
from pytest_ireval.pytest_adapter.finish import RunEnd
from pytest_ireval.pytest_adapter.planned_suite import SharedRun
from pytest_ireval.pytest_adapter.run_plugins import ADOPTING, Adopting, bring_stores
from pytest_ireval.pytest_adapter.session import EvaluationSession
from pytest_ireval.pytest_adapter.terminal import width_of
from pytest_ireval.reports.templates import Templates, templates
from pytest_ireval.secrets import SHORTEST, hidden, hidden_in, keep

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)

OFFLINE = "IREVAL_OFFLINE"
"""The variable by which a source knows that it must not ask a live system."""
HANDED = "ireval"
"""The key of what a worker has to know."""


class Handed(NamedTuple):
    """The values for a worker; as plain as what execnet carries."""

    folder: str
    moment: str
    width: int


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins or the options ends the run here."""
    config.pluginmanager.register(claims, "ireval-claims")
    config.pluginmanager.register(_ShownReports(), "ireval-shown-reports")
    _keep_declared(config)
    if config.getoption("ireval_offline") and not os.environ.get(OFFLINE):
        os.environ[OFFLINE] = "1"
        config.add_cleanup(_back_online)
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
            found = EvaluationSession(config, plugins.plugins, accepting, moment, width, affected)
            config.pluginmanager.register(found, "ireval-session")
        files = replace(files_of(config, config.option), using=_templates_of(config))
        end = RunEnd(config, accepting, moment, files, found, affected, plugins.plugins)
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
    bring_stores(config, plugins.plugins)
    return plugins


def _start_writer(config: pytest.Config, moment: datetime, width: int) -> SharedRun:
    try:
        folder = tempfile.mkdtemp(prefix="ireval-")  # no other account can read or write it
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
    plugins = _adopting(config).plugins
    session = EvaluationSession(config, plugins, accepting, moment, handed.width, affected, shared)
    config.pluginmanager.register(session, "ireval-session")


@dataclass(eq=False)
class Workers:
    """Hands each worker what it has to know; the folder is deleted with the run."""

    handed: Handed

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
