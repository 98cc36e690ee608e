"""The start of a ``pytest --ireval`` run: its options are read, and its parts are registered as plugins of pytest."""

from __future__ import annotations

import pytest

from pytest_ireval.baseline.rankings_file import BEFORE
from pytest_ireval.clock import read_clock
from pytest_ireval.errors import IrevalError
from pytest_ireval.pytest_plugin.baseline_update import read_update_options
from pytest_ireval.pytest_plugin.branch import make_run_context, read_branch_options
from pytest_ireval.pytest_plugin.change_filter import make_change_filter
from pytest_ireval.pytest_plugin.finish import RunEnd
from pytest_ireval.pytest_plugin.planned_suite import Evaluations
from pytest_ireval.pytest_plugin.python_gates import GateRecorder
from pytest_ireval.pytest_plugin.report_files import discard_earlier_report, make_report_files
from pytest_ireval.pytest_plugin.run_plugins import PluginCollector
from pytest_ireval.pytest_plugin.secret_filter import SecretFilter, register_declared_secrets
from pytest_ireval.pytest_plugin.session import SuiteCollector
from pytest_ireval.pytest_plugin.suite_run import RunState
from pytest_ireval.pytest_plugin.terminal import TerminalSummary, get_width
from pytest_ireval.pytest_plugin.versus import VERSUS, prepare_versus
from pytest_ireval.pytest_plugin.workers import WorkerFolder, read_worker_setup, set_up_workers, uses_workers


def start_session(config: pytest.Config) -> None:
    """Register the parts of this run; anything wrong with the plugins or the options ends the run here."""
    config.pluginmanager.register(GateRecorder(), "ireval-gate-recorder")
    config.pluginmanager.register(SecretFilter(), "ireval-secret-filter")
    register_declared_secrets(config)
    try:
        _register_parts(config)
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error


def _register_parts(config: pytest.Config) -> None:
    """In a worker only collection and evaluation; in a process that has workers only the end of the run."""
    setup = read_worker_setup(config)
    in_worker, with_workers = setup is not None, setup is None and uses_workers(config)
    if not in_worker and (config.getoption("ireval") or with_workers):  # by the ini option alone, with the first suite
        discard_earlier_report(config, config.option)
    read_branch_options(config)  # a mistake in them is an error now, not one of each worker
    collector = PluginCollector(config)
    config.pluginmanager.register(collector, PluginCollector.NAME)
    update = read_update_options(config)
    moment, width = (setup.moment, setup.width) if setup is not None else (read_clock(), get_width(config))
    worker_folder = WorkerFolder(setup.folder) if setup is not None else None
    changes = make_change_filter(config, worker_folder.read_changes() if worker_folder is not None else {})
    versus = worker_folder.read_versus() if worker_folder is not None else prepare_versus(config, moment)
    config.stash[VERSUS] = versus
    evaluations: Evaluations
    if with_workers:
        evaluations = shared = set_up_workers(config, moment, width)
        shared.write_changes(changes.repositories.changes)
        shared.write_versus(versus)
    else:
        report = make_report_files(config, config.option).folder
        last_run = None if report is None else report / BEFORE
        context = make_run_context(config, moment.date(), last_run, versus)
        state = RunState(config, update, moment, width, context, worker_folder)
        evaluations = SuiteCollector(state, collector.plugins, changes)
        config.pluginmanager.register(evaluations, "ireval-session")
    if not in_worker:
        files = make_report_files(config, config.option)
        end = RunEnd(config, update, moment, files, evaluations, changes, collector.plugins, versus)
        config.pluginmanager.register(end, "ireval-end")
        config.pluginmanager.register(TerminalSummary(end), "ireval-terminal-summary")
