"""The plugins of a pytest run: installed ones, ``-p`` modules, and each conftest.py for its own folder and below."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple, TypeVar

import pytest

from pytest_ireval.errors import IrevalError, PluginError, format_inline, make_exception_problem
from pytest_ireval.plugins.by_name import Origin
from pytest_ireval.plugins.conftests import find_conftests, import_conftest
from pytest_ireval.plugins.manager import Plugins
from pytest_ireval.plugins.registry import Registry

Answer = TypeVar("Answer")


class BrokenPlugin(NamedTuple):
    folder: Path | None
    """The folder of a broken conftest.py; None for a plugin that serves the whole run."""
    message: str


class RunPlugins:
    """The modules with hooks of ours, and the registry of each file: what it may use."""

    def __init__(self, root: Path, without: Sequence[str] = ()) -> None:
        self.root = root
        """Files are named from here: a baseline must not show the machine it was made on."""
        self.plugins = Plugins()
        self.plugins.load_installed(without)
        self.broken: list[BrokenPlugin] = []
        self._known_files: set[Path] = set()
        self._registries: dict[frozenset[object], Registry] = {}

    def adopt(self, plugin: object) -> None:
        """Take a module in if it has hooks of ours; raises IrevalError where they cannot be used."""
        if not isinstance(plugin, ModuleType) or plugin.__name__.startswith("_pytest."):
            return  # pytest's own modules, thirty of them, have none of our hooks
        if plugin.__file__:
            self._known_files.add(Path(plugin.__file__))
        folder, name = _conftest_folder(plugin), ""  # other plugins keep their names
        if folder is not None and folder.is_relative_to(self.root):
            name = (folder / "conftest.py").relative_to(self.root).as_posix()
        if self.plugins.register_module(plugin, name):
            self._registries.clear()

    def adopt_conftests(self, path: Path, *words: bytes) -> None:
        """Adopt the conftest.py files of ``path`` that pytest had no reason to import here, and that contain a word."""
        for file in find_conftests(path):
            if file not in self._known_files:
                content = file.read_bytes()
                if any(word in content for word in words):
                    self.adopt(import_conftest(file))

    def remember_broken(self, plugin: object, error: IrevalError) -> None:
        self.broken.append(BrokenPlugin(_conftest_folder(plugin), str(error)))

    def registry_for(self, path: Path) -> Registry:
        """The registry for a file at ``path``; raises PluginError if a plugin that serves it is broken."""
        for plugin in self.broken:
            if plugin.folder is None or plugin.folder in path.parents:
                raise PluginError(plugin.message)
        others = self._find_conftests_elsewhere(path)
        if others not in self._registries:  # shared by files that see the same plugins: suite models are made for each
            self._registries[others] = self.plugins.make_registry(without=others)
        return self._registries[others]

    def find_observers(self, hook: str, path: Path) -> list[tuple[Origin, Callable[..., object]]]:
        return list(self.plugins.find_observers(hook, self._find_conftests_elsewhere(path)))

    def call_observer(
        self, hook: str, origin: Origin, observer: Callable[..., object], **arguments: object
    ) -> Iterator[str]:
        try:
            call_plugin(lambda: observer(**arguments), self.root)
        except PluginError as error:
            yield f"{hook} of {origin} {format_inline(error)}"

    @property
    def module_paths(self) -> tuple[Path, ...]:
        """Modules and packages of the plugins that serve the whole run; conftest.py files are known by their places."""
        plugins = [self.plugins.loaded_for_suites.get(plugin, plugin) for plugin in self.plugins.origins]
        names = [p.__name__ for p in plugins if isinstance(p, ModuleType) and _conftest_folder(p) is None]
        return tuple(dict.fromkeys(path for name in names for path in _locate_package(name.partition(".")[0])))

    def _find_conftests_elsewhere(self, path: Path) -> frozenset[object]:
        return frozenset(
            plugin
            for plugin in self.plugins.origins
            if (folder := _conftest_folder(plugin)) and folder not in path.parents
        )

    def __str__(self) -> str:
        without = ", ".join(dict.fromkeys(map(str, self.plugins.without)))
        return ", ".join(dict.fromkeys(map(str, self.plugins.origins.values()))) + (without and f"; without {without}")


def call_plugin(call: Callable[[], Answer], root: Path) -> Answer:
    """Return the answer of a plugin; raises PluginError that names its file and line, whatever it raises."""
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything, skips and exits among it
        raise PluginError(make_exception_problem("", error, folder=root)) from error


def _locate_package(name: str) -> list[Path]:
    module = sys.modules.get(name)
    folders = list(getattr(module, "__path__", ()))
    file = getattr(module, "__file__", None)
    return [Path(path) for path in folders or ([file] if file else [])]


def _conftest_folder(plugin: object) -> Path | None:
    """The folder that a conftest.py serves; None for a plugin that serves the whole run."""
    file = getattr(plugin, "__file__", None)
    return Path(file).parent if file and Path(file).name == "conftest.py" else None


class PluginCollector:
    """Adopts modules as pytest registers them."""

    NAME = "ireval-plugins"

    def __init__(self, config: pytest.Config) -> None:
        self.plugins = RunPlugins(config.rootpath, config.getoption("ireval_without"))
        self.started = False

    def pytest_plugin_registered(self, plugin: object) -> None:
        """Pytest also calls this for the plugins that were registered before this one."""
        try:
            self.plugins.adopt(plugin)
        except IrevalError as error:
            if not self.started:
                raise pytest.UsageError(str(error)) from error
            self.plugins.remember_broken(plugin, error)

    def pytest_sessionstart(self) -> None:
        self.started = True  # from here on a broken conftest.py is an error of the suites below it

    def pytest_report_header(self) -> str:
        return f"ireval plugins: {self.plugins}"


def find_plugins(config: pytest.Config) -> RunPlugins:
    """The plugins of this run; without ``--ireval``, those that pytest knows by now."""
    collector = config.pluginmanager.get_plugin(PluginCollector.NAME)
    if isinstance(collector, PluginCollector):
        return collector.plugins
    plugins = RunPlugins(config.rootpath, config.getoption("ireval_without"))
    for plugin in config.pluginmanager.get_plugins():
        plugins.adopt(plugin)
    return plugins
