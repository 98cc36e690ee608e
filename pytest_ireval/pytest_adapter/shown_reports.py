"""Reports of tests and of collecting, as anybody may see them: in the terminal, in JUnit files, and from a worker."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

from pytest_ireval.secrets import SHORTEST, hidden, hidden_in, keep

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def keep_declared(config: pytest.Config) -> None:
    """The variables that the ini file declares; one that is too short to be hidden ends the run."""
    for name in config.getini("ireval_secrets"):
        value = os.environ.get(name, "")
        if 0 < len(value) < SHORTEST:
            raise pytest.UsageError(
                f"ireval_secrets: the value of {name} has fewer than {SHORTEST} characters, so it cannot be hidden"
            )
        keep(name, value)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of a test, once everybody else has had their say."""
    return _shown((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Of what was collected."""
    return _shown((yield))


def _shown(report: Report) -> Report:
    """What it says, and what was printed meanwhile."""
    said = str(report.longrepr) if report.longrepr else ""
    if hidden(said) != said:
        report.longrepr = hidden(said)
    report.sections = [(title, hidden(text)) for title, text in report.sections]
    if isinstance(report, pytest.TestReport):
        report.user_properties = hidden_in(report.user_properties)  # anybody may record anything
    return report
