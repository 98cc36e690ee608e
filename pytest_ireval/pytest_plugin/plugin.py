"""The options and the fixture of pytest-ireval. Every pytest run imports this file, so it imports nothing heavy.

With ``--ireval``, ``start_session`` (start.py) registers what does the work, each as a pytest plugin:

* ``PluginCollector`` (run_plugins.py) takes our hooks from the modules that pytest registers, and fills the header.
* ``SuiteCollector`` (session.py) collects suites, and deselects those that no change concerns. Its nodes are in
  items.py; ``SuiteRun`` (suite_run.py) evaluates a suite when its first item is run.
* ``GateRecorder`` (python_gates.py) adds the suites that a Python test has gated to the report of that test.
* ``SecretFilter`` (secret_filter.py) hides secrets in reports.
* ``WorkerSetup`` (workers.py), with pytest-xdist only, gives each worker the folder that the processes share.
* ``RunEnd`` (finish.py) counts reports of tests; at the end it accepts baselines, writes the report, and sets the exit
  status.
* ``TerminalSummary`` (terminal.py) shows the failures of a suite as one block, and the summary.

What they know of a suite, from the first step to the last:

* ``Plan`` (gate/run.py): its checks, before the run has selected any.
* ``PlannedSuite`` (planned_suite.py): the ids of its checks and the selected ones among them, as plain data.
* ``SuiteEvaluation`` (planned_suite.py): its result, and what accepting it would write, as plain data.
* ``SuiteRun`` (suite_run.py): these three together in a process that evaluates; ``RunState`` is what its suites share.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_ireval.pytest_plugin.fixture import Gatekeeper


SUITE_SUFFIXES = (".ireval.yaml", ".ireval.yml")

OFFLINE = "IREVAL_OFFLINE"
"""The variable by which a source knows that it must not ask a live system."""

ACCEPTING = ("ireval_update", "ireval_update_new", "ireval_reason", "ireval_force", "ireval_allow_ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("ireval", "search-ranking evaluation")
    group.addoption("--ireval", action="store_true", help="run the gate: each verdict of a YAML suite is a test")
    group.addoption("--ireval-update", action="store_true", help="accept what this run measures as the new baselines")
    group.addoption("--ireval-update-new", action="store_true", help="accept only suites that have no baseline yet")
    group.addoption("--ireval-reason", metavar="TEXT", default="", help="why the change is fine; kept in the baseline")
    group.addoption("--ireval-force", action="store_true", help="accept even if something else is red")
    group.addoption("--ireval-allow-ci", action="store_true", help="accept even if CI is set")
    group.addoption(
        "--ireval-changed-since", metavar="REF", default=None, help="run only suites affected by changes since REF"
    )
    group.addoption("--ireval-report", metavar="DIR", default=None, help="folder of the report, or none: no files")
    group.addoption(
        "--ireval-without",
        metavar="NAME",
        action="append",
        default=[],
        help="run without an installed plugin; repeatable",
    )
    group.addoption(
        "--ireval-offline", action="store_true", help="ask no live system: answers come from recordings alone"
    )
    group.addoption("--ireval-base", metavar="REF", help="compare baselines with those at the merge base with REF")
    group.addoption(
        "--ireval-versus",
        metavar="FOLDER|REF",
        help="compare with another commit, not with baselines: a folder of ireval rank, or the merge base with REF",
    )
    parser.addini("ireval", "true: as --ireval; a run without suites is then a usual run of pytest", type="bool")
    parser.addini("ireval_baseline_lowering", "with --ireval-base: report (default) or fail", default="report")
    parser.addini("ireval_versus_setup", "with --ireval-versus REF: a command that prepares each side", default="")
    parser.addini("ireval_versus_max_age", "the age up to which a folder is compared with", default="1 day")
    parser.addini("ireval_secrets", "names of environment variables whose values are hidden", type="args")
    parser.addini("ireval_report", "same as --ireval-report; default: ireval-report", default="ireval-report")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Discard the report of an earlier run first: a conftest.py that cannot be imported ends the run after this."""
    if early_config.known_args_namespace.ireval and "PYTEST_XDIST_WORKER" not in os.environ:  # workers write nothing
        from pytest_ireval.pytest_plugin.assertion_rewriting import suspend_assertion_rewriting

        with suspend_assertion_rewriting(early_config):
            from pytest_ireval.errors import IrevalError
            from pytest_ireval.pytest_plugin.report_files import discard_earlier_report

            with suppress(IrevalError):  # the start of the session reports it
                discard_earlier_report(early_config, early_config.known_args_namespace)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ireval: a rule of an evaluation suite")
    if config.getoption("ireval_offline") and not os.environ.get(OFFLINE):  # without --ireval for the fixture
        os.environ[OFFLINE] = "1"
        config.add_cleanup(_end_offline)
    if config.getoption("ireval") or config.getini("ireval"):
        from pytest_ireval.pytest_plugin.assertion_rewriting import suspend_assertion_rewriting

        with suspend_assertion_rewriting(config):
            from pytest_ireval.pytest_plugin.start import start_session

            start_session(config)
    elif any(config.getoption(option) for option in ACCEPTING):
        raise pytest.UsageError("--ireval-update and the other options for accepting need --ireval")
    elif config.getoption("ireval_changed_since") is not None:
        raise pytest.UsageError("--ireval-changed-since needs --ireval")
    elif config.getoption("ireval_versus") is not None:
        raise pytest.UsageError("--ireval-versus needs --ireval")
    elif config.args_source == config.ArgsSource.ARGS:
        for argument in config.args:
            if argument.partition("::")[0].endswith(SUITE_SUFFIXES):
                raise pytest.UsageError(f"{argument} is a suite: add --ireval, or ireval = true to the ini file")


def _end_offline() -> None:
    os.environ.pop(OFFLINE, None)


@pytest.fixture
def ireval(request: pytest.FixtureRequest) -> Gatekeeper:
    """``ireval.check("suite.yaml")``, ``.gate``, ``.gates``, ``.evaluate``; paths are relative to the test's file."""
    from pytest_ireval.pytest_plugin.fixture import make_gatekeeper

    return make_gatekeeper(request)
