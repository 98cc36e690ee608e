"""The plugins of a pytest run: installed ones, ``-p`` modules, and each conftest.py for its own folder and below."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pytest

from pytest_ireval.errors import IrevalError, PluginError, one_line, raised
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.conftests import MENTIONED, conftests_for, imported
from pytest_ireval.plugins.registry import Plugins, Registry

Answer = TypeVar("Answer")


class RunPlugins:
    """Adopts modules as pytest finds them; knows what a file may use."""

    def __init__(self, root: Path, without: Sequence[str] = ()) -> None:
        self.root = root
        """Files are named from here: a baseline must not show the machine it was made on."""
        self.plugins = Plugins()
        self.plugins.load_installed(without)
        self.seen: set[Path] = set()
        """Files of modules that were looked at."""
        self.broken: list[tuple[Path | None, str]] = []
        self._made: dict[frozenset[object], Registry] = {}

    def adopt(self, plugin: object) -> None:
        """Take a module in if it has hooks of ours; raises IrevalError where they cannot be used."""
        if not isinstance(plugin, ModuleType):
            return
        if plugin.__file__:
            self.seen.add(Path(plugin.__file__))
        if self.plugins.adopt(plugin, self._named(plugin)):
            self._made.clear()

    def _named(self, plugin: ModuleType) -> str:
        """A conftest.py by its place below the root; others keep their names."""
        home = _home_of(plugin)
        below = home is not None and home.is_relative_to(self.root)
        return (home / "conftest.py").relative_to(self.root).as_posix() if home is not None and below else ""

    def remember_broken(self, plugin: object, error: IrevalError) -> None:
        """Remember the error for the files that a broken conftest.py serves."""
        self.broken.append((_home_of(plugin), str(error)))

    def registry_for(self, path: Path) -> Registry:
        """The plugins of a file at ``path``."""
        for home, message in self.broken:
            if home is None or home in path.parents:
                raise PluginError(message)
        hidden = self._hidden(path)
        if hidden not in self._made:  # one registry for all files that see the same: suite models are made for each
            self._made[hidden] = self.plugins.registry(without=hidden)
        return self._made[hidden]

    def _hidden(self, path: Path) -> frozenset[object]:
        return frozenset(p for p in self.plugins.origins if (home := _home_of(p)) and home not in path.parents)

    def registry_beside(self, path: Path, mentioned: bytes = MENTIONED) -> Registry:
        """The same, with the conftest.py files that pytest had no reason to import here and that mention a word."""
        self.adopt_beside(path, mentioned)
        return self.registry_for(path)

    def adopt_beside(self, path: Path, *mentioned: bytes) -> None:
        """Adopt the conftest.py files that mention one of these words."""
        for file in conftests_for(path):
            if file not in self.seen and any(word in file.read_bytes() for word in mentioned):
                self.adopt(imported(file))

    def observers(self, hook: str, path: Path) -> list[tuple[Origin, Callable[..., object]]]:
        """The plugins that serve a file and observe; each with the call of its own hook."""
        return list(self.plugins.observers(hook, self._hidden(path)))

    def troubles(self, hook: str, origin: Origin, observe: Callable[[], object]) -> Iterator[str]:
        """Call an observer; yields the complaint about it if it raises."""
        try:
            answer_of(observe, self.root)
        except PluginError as error:
            yield f"{hook} of {origin} {one_line(error)}"

    @property
    def places(self) -> tuple[Path, ...]:
        """Modules and packages of the plugins that serve the whole run; conftest.py files are known by their places."""
        plugins = [self.plugins.late.get(plugin, plugin) for plugin in self.plugins.origins]
        names = [each.__name__ for each in plugins if isinstance(each, ModuleType) and _home_of(each) is None]
        return tuple(dict.fromkeys(place for name in names for place in _places_of(name.partition(".")[0])))

    def __str__(self) -> str:
        without = ", ".join(dict.fromkeys(map(str, self.plugins.without)))
        return ", ".join(dict.fromkeys(map(str, self.plugins.origins.values()))) + (without and f"; without {without}")


def answer_of(call: Callable[[], Answer], root: Path) -> Answer:
    """The answer of a plugin; raises PluginError that names its file and line, whatever it raises."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, skips and exits among it
        raise PluginError(raised("", error, folder=root)) from error


def _places_of(name: str) -> Iterator[Path]:
    module = sys.modules.get(name)
    folders = list(getattr(module, "__path__", ()))
    file = getattr(module, "__file__", None)
    yield from map(Path, folders or ([file] if file else []))


def _home_of(plugin: object) -> Path | None:
    """The folder that a conftest.py serves; None for a plugin that serves the whole run."""
    file = getattr(plugin, "__file__", None)
    return Path(file).parent if file and Path(file).name == "conftest.py" else None


def plugins_of(config: pytest.Config) -> RunPlugins:
    """The plugins of a run that has no session of ours: those that pytest knows by now."""
    found = RunPlugins(config.rootpath, config.getoption("ireval_without"))
    for plugin in config.pluginmanager.get_plugins():
        found.adopt(plugin)
    return found


ADOPTING = "ireval-plugins"


class Adopting:
    """Registered as a pytest plugin."""

    def __init__(self, root: Path, without: Sequence[str]) -> None:
        self.plugins = RunPlugins(root, without)
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
        """The plugins that decide, with their versions."""
        return f"ireval plugins: {self.plugins}"
