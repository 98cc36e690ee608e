"""Every process of a run knows the plugins: conftest.py files and ``-p`` modules are adopted as pytest finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ireval.errors import IrevalError
from pytest_ireval.pytest_adapter.run_plugins import RunPlugins

ADOPTING = "ireval-plugins"


class Adopting:
    """Registered as a pytest plugin."""

    def __init__(self, root: Path) -> None:
        self.plugins = RunPlugins(root)
        self.started = False

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Pytest replays those that came earlier."""
        try:
            self.plugins.adopt(plugin)
        except IrevalError as error:
            if not self.started:
                raise pytest.UsageError(str(error)) from error
            self.plugins.remember_broken(plugin, error)

    def pytest_sessionstart(self) -> None:
        """From here on a broken conftest.py is an error of the suites below it."""
        self.started = True

    def pytest_report_header(self) -> str:
        """Who decides, in which version."""
        return f"ireval plugins: {self.plugins}"
