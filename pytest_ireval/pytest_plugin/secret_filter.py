"""Secrets are hidden in reports of pytest, wherever those are shown: terminal, JUnit files, other processes."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

from pytest_ireval.masking import SHORTEST, mask_text, mask_values, register_secret

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


class SecretFilter:
    """Hides secrets in reports of tests and of collecting."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        report.user_properties = mask_values(report.user_properties)  # anybody may record anything
        return _hide_secrets(report)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_make_collect_report(self) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        return _hide_secrets((yield))


def _hide_secrets(report: Report) -> Report:
    text = str(report.longrepr) if report.longrepr else ""
    if mask_text(text) != text:
        report.longrepr = mask_text(text)
    report.sections = [(title, mask_text(content)) for title, content in report.sections]
    return report


def register_declared_secrets(config: pytest.Config) -> None:
    """Hide the variables that the ini file declares; one that is too short to be hidden ends the run."""
    for name in config.getini("ireval_secrets"):
        value = os.environ.get(name, "")
        if 0 < len(value) < SHORTEST:
            raise pytest.UsageError(
                f"ireval_secrets: the value of {name} has fewer than {SHORTEST} characters, so it cannot be hidden"
            )
        register_secret(name, value)
