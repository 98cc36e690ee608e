"""Finds plugins: installed ones through the entry-point group, others as modules handed over by the run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType

import pluggy

from pytest_ireval.errors import PluginError, did_you_mean
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.discovery import Installed, installed_plugins
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
