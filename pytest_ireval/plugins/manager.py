"""Finds plugins: installed ones through the entry-point group, others as modules handed over by the run."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pluggy

from pytest_ireval.errors import PluginError, did_you_mean
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.registry import Origin, Registry, registered

ENTRY_POINT_GROUP = "pytest_ireval"


class Plugins:
    """The plugins of one run: a pluggy manager and the origin of each plugin in it."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.origins: dict[object, Origin] = {}

    def load_installed(self) -> None:
        """Register every installed plugin; an entry-point name that two distributions use is an error."""
        for entry in _entries():
            try:
                plugin = entry.load()
            except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
                raise PluginError(
                    f"plugin {entry.name!r} ({entry.module}) of {_origin(entry)} cannot be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
            _refuse_unmarked(plugin, _origin(entry))
            self._register(plugin, _origin(entry))
            if not self.manager.get_hookcallers(plugin):
                raise PluginError(f"plugin {entry.name!r} ({entry.module}) of {_origin(entry)} has no hook")

    def adopt(self, module: ModuleType, name: str = "") -> bool:
        """Register a module found by path, such as a conftest.py, if it has hooks of ours; True if it has."""
        if self.manager.is_registered(module):
            return False
        # Every conftest module is called "conftest", so the file is the name.
        origin = Origin(name or module.__file__ or module.__name__)
        _refuse_unmarked(module, origin)
        if not any(map(_is_ours, vars(module).items())):
            return False
        self._register(module, origin)
        return True

    def registry(self, without: Iterable[object] = ()) -> Registry:
        """What all plugins bring, but those left out."""
        hidden = list(without)
        seen = [plugin for plugin in self.origins if plugin not in hidden]

        def brought(hook: str) -> list[tuple[Origin, list[object]]]:
            return [(self.origins[plugin], self._brought(hook, plugin)) for plugin in seen]

        return registered(
            brought("ireval_metrics"),
            [self.origins[plugin] for plugin in seen],
            brought("ireval_readers"),
            lambda: (brought("ireval_sources"), brought("ireval_rules")),
            brought("ireval_report_sections"),
        )

    def _brought(self, hook: str, plugin: object) -> list[object]:
        """What a plugin returns from a hook; nothing if it does not implement it."""
        others = [other for other in self.origins if other is not plugin]
        call: Callable[[], list[Iterable[object]]] = self.manager.subset_hook_caller(hook, others)
        things = hook.removeprefix(f"{hookspecs.PROJECT}_").replace("_", " ")
        try:
            returned = [list(values) for values in call()]
        except Exception as error:  # a plugin may raise anything; the message names it
            raise PluginError(
                f"{hook} of {self.origins[plugin]} must return a list of {things}: {type(error).__name__}: {error}"
            ) from error
        if not returned and hook in {caller.name for caller in self.manager.get_hookcallers(plugin) or ()}:
            raise PluginError(f"{hook} of {self.origins[plugin]} returned None; is a return missing?")
        return [value for values in returned for value in values]

    def _register(self, plugin: object, origin: Origin) -> None:
        try:
            self.manager.register(plugin, name=origin.name)
            self.origins[plugin] = origin
            self.manager.check_pending()
        except pluggy.PluginValidationError as error:
            if self.origins.pop(plugin, None):
                self.manager.unregister(plugin)  # or the next plugin would be blamed for it
            raise PluginError(f"plugin {origin}: {error}") from error


def load_registry() -> Registry:
    """What the installed plugins bring, without any conftest.py."""
    plugins = Plugins()
    plugins.load_installed()
    return plugins.registry()


@cache
def installed() -> Registry:
    """The same, loaded once: installed plugins do not change while a process lives."""
    return load_registry()


def _entries() -> list[Installed]:
    """Entry points of our group, sorted by name; no two may have one name."""
    found: dict[str, Installed] = {}
    for entry in installed_plugins(ENTRY_POINT_GROUP):
        other = found.setdefault(entry.name, entry)
        if other is not entry:
            raise PluginError(
                f"two installed plugins are called {entry.name!r}: {_origin(other)} and {_origin(entry)}; "
                "one must rename its entry point"
            )
    return [found[name] for name in sorted(found)]


def _origin(entry: Installed) -> Origin:
    return Origin(entry.name, entry.distribution, entry.version)


def _is_ours(item: tuple[str, object]) -> bool:
    # Ask routines only: objects such as pytest.mark claim to have every attribute.
    return inspect.isroutine(item[1]) and hasattr(item[1], f"{hookspecs.PROJECT}_impl")


def _refuse_unmarked(plugin: object, origin: Origin) -> None:
    """A function that is named like a hook, or nearly so, but not marked as one would never be called: say so."""
    hooks = [name for name in vars(hookspecs) if name.startswith(f"{hookspecs.PROJECT}_")]
    for name, value in getattr(plugin, "__dict__", {}).items():
        if name.startswith(f"{hookspecs.PROJECT}_") and inspect.isroutine(value) and not _is_ours((name, value)):
            meant = "" if name in hooks else did_you_mean(name, hooks, closeness=0.9)
            if name in hooks or meant:
                raise PluginError(
                    f"plugin {origin}: {name} is not marked with @hookimpl, and would never be called"
                    + (f"; {meant}" if meant else "")
                )


METADATA_FOLDER = re.compile(r"(?P<name>.+?)(-[^-]*)?\.(dist|egg)-info")
FIELD = re.compile(r"^(Name|Version):\s*(\S+)", re.MULTILINE)
LONGEST_HEAD = 4096
"""Name and version stand at the beginning of a distribution's metadata."""


class Installed(NamedTuple):
    """An entry point: its name, the module that is the plugin, and the distribution that has it."""

    name: str
    module: str
    distribution: str
    version: str

    def load(self) -> object:
        """Import the plugin; a colon may lead to an object inside the module."""
        module, _, path = self.module.partition(":")
        plugin: object = import_module(module)
        for attribute in filter(None, path.split(".")):
            plugin = getattr(plugin, attribute)
        return plugin


def installed_plugins(group: str) -> list[Installed]:
    """All entry points of the group; of a distribution that is found twice, the first on the path counts."""
    if not _only_folders():
        return list(_asked(group))
    found: dict[str, list[Installed]] = {}
    for name, folder in _metadata_folders(sys.path):
        if name not in found:
            found[name] = list(_in_folder(folder, group))
    return [plugin for plugins in found.values() for plugin in plugins]


def _only_folders() -> bool:
    """Whether everything on the path is a folder (or not there), and nobody else finds distributions."""
    strangers = [f for f in sys.meta_path if hasattr(f, "find_distributions") and f.__module__ != PATH_FINDER]
    return not strangers and not any(os.path.isfile(entry) for entry in sys.path)


PATH_FINDER = "_frozen_importlib_external"


def _metadata_folders(path: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Each distribution's normalised name, and the folder of its metadata."""
    for entry in path:
        try:
            with os.scandir(entry or ".") as files:
                for file in files:
                    if match := METADATA_FOLDER.fullmatch(file.name):
                        yield re.sub(r"[-_.]+", "-", match["name"]).lower(), Path(file.path)
        except OSError:
            continue  # a folder on the path that is not there, or not for us, holds no plugins


def _in_folder(folder: Path, group: str) -> Iterator[Installed]:
    try:
        text = (folder / "entry_points.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[]").strip()
        elif section == group and line and line[0] not in "#;":
            name, _, module = line.partition("=")
            yield Installed(name.strip(), module.partition("[")[0].strip(), *_name_and_version(folder))


def _name_and_version(folder: Path) -> tuple[str, str]:
    file = folder / ("METADATA" if folder.suffix == ".dist-info" else "PKG-INFO")
    try:
        with open(file, encoding="utf-8", errors="replace") as metadata:
            fields = dict(FIELD.findall(metadata.read(LONGEST_HEAD)))
    except OSError:
        fields = {}  # a damaged installation still has the name of its folder
    return fields.get("Name", folder.stem), fields.get("Version", "")


def _asked(group: str) -> Iterator[Installed]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=group):
        name, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
        yield Installed(entry.name, entry.value.partition("[")[0].strip(), name, version)
