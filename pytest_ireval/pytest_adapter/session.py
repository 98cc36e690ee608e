"""One ``pytest --ireval`` run: which plugins take part, and what becomes of suite files."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from pytest_ireval.errors import IrevalError, PluginError
from pytest_ireval.plugins.manager import Plugins
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.pytest_adapter.suite_files import SuiteFile, is_suite


class EvaluationSession:
    """Holds the plugins of the run; registered as a pytest plugin."""

    def __init__(self) -> None:
        self.plugins = Plugins()
        self.plugins.load_installed()
        self.suites = 0
        self.started = False
        self.broken: list[tuple[Path | None, str]] = []

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Adopt conftest.py files and ``-p`` modules; pytest replays those that came earlier."""
        if isinstance(plugin, ModuleType):
            try:
                self.plugins.adopt(plugin)
            except IrevalError as error:
                if not self.started:
                    raise pytest.UsageError(str(error)) from error
                self.broken.append((home_of(plugin), str(error)))

    def pytest_sessionstart(self) -> None:
        """From here on a broken conftest.py is an error of the suites below it, not of the run."""
        self.started = True

    def registry_for(self, path: Path) -> Registry:
        """What a suite at ``path`` may use: a conftest.py serves its own folder and those below."""
        for home, message in self.broken:
            if home is None or home in path.parents:
                raise PluginError(message)
        return self.plugins.registry(
            without=[p for p in self.plugins.origins if (home := home_of(p)) and home not in path.parents]
        )

    def pytest_report_header(self) -> str:
        """Who decides, in which version."""
        return "ireval plugins: " + ", ".join(dict.fromkeys(map(str, self.plugins.origins.values())))

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteFile | None:
        """A node for every suite."""
        if not is_suite(file_path):
            return None
        self.suites += 1
        suite: SuiteFile = SuiteFile.from_parent(parent, path=file_path)
        suite.session_of_ireval = self
        return suite

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say why the exit code is not 0."""
        if not self.suites:
            terminalreporter.write_line("--ireval: no suite was collected (*.ireval.yaml), and that is no pass")

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """No suite is no pass, even if Python tests passed."""
        if not self.suites and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def home_of(plugin: object) -> Path | None:
    """The folder that a conftest.py serves; None for a plugin that serves the whole run."""
    file = getattr(plugin, "__file__", None)
    return Path(file).parent if file and Path(file).name == "conftest.py" else None


def start(config: pytest.Config) -> None:
    """Begin; anything wrong with the plugins ends the run here."""
    try:
        config.pluginmanager.register(EvaluationSession(), "ireval-session")
    except IrevalError as error:
        raise pytest.UsageError(str(error)) from error
