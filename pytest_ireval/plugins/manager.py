"""Finds plugins, registers them with pluggy, and calls their hooks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pluggy

from pytest_ireval.entry_points import (
    COMMANDS_GROUP,
    ENTRY_POINT_GROUP,
    SUITES_GROUP,
    InstalledPlugin,
    describe_plugin,
    find_entry_points,
    find_left_out,
    import_plugin,
    is_built_in,
    is_missing,
)
from pytest_ireval.errors import PluginError, Problem, describe_exception, did_you_mean, find_raise_place
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.by_name import HookResults, Origin
from pytest_ireval.plugins.registry import Registry, build_registry

HOOKS_OF_SUITES = ("ireval_sources", "ireval_rules", "ireval_diagnoses")
"""The hooks that may be called in the entry-point group of suites."""
HOOKS_OF_COMMANDS = ("ireval_commands", "ireval_hookspecs")
"""The hooks that are only called in the entry-point group of commands."""


class Plugins:
    """The plugins of one run: a pluggy manager and the origin of each plugin in it."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.origins: dict[object, Origin] = {}
        """By plugin; of a plugin that only suites need, by its entry point."""
        self.loaded_for_suites: dict[object, object] = {}
        """The plugins that suites needed, by entry point."""
        self.deferred: list[InstalledPlugin] = []
        """Those that no suite has needed so far."""
        self.skip_broken = False
        self.without: tuple[Origin, ...] = ()
        self.broken: list[str] = []
        self.missing: list[str] = []
        """Packages of this distribution that are not there."""

    def load_installed(self, without: Iterable[str] = (), *, skip_broken: bool = False) -> None:
        """Register every installed plugin but those ``without`` and the variable IREVAL_WITHOUT name.

        An entry-point name that two distributions use is an error. A plugin that cannot be loaded is an error, unless
        ``skip_broken``: then it is remembered as broken, and the command says what is missing.
        """
        entries = find_entry_points()
        left_out = find_left_out(entries, without)
        self.without, self.skip_broken = tuple(dict.fromkeys(map(_make_origin, left_out))), skip_broken
        for entry in entries:
            if entry.group == ENTRY_POINT_GROUP and is_missing(entry):
                self.missing.append(entry.module.partition(".")[0])
        chosen = [entry for entry in entries if entry not in left_out and not is_missing(entry)]
        # Those with hooks of their own come first, for others may implement these.
        ordered = sorted(chosen, key=lambda entry: entry.group != COMMANDS_GROUP)
        loaded = {entry: self._load(entry) for entry in ordered if entry.group != SUITES_GROUP}
        for entry in chosen:
            if entry.group == SUITES_GROUP:
                self.origins[entry] = _make_origin(entry)
                self.deferred.append(entry)
            elif (plugin := loaded[entry]) is not None:
                self.origins[plugin] = _make_origin(entry)

    def load_deferred(self) -> None:
        """Load the plugins that only suites need."""
        while self.deferred:
            if (plugin := self._load(self.deferred[0])) is not None:
                self.loaded_for_suites[self.deferred[0]] = plugin
            del self.deferred[0]

    def _load(self, entry: InstalledPlugin) -> object | None:
        """The plugin, imported and registered; None if it is known already, or broken and a command only looks."""
        try:
            plugin = import_plugin(entry)
            if self.manager.is_registered(plugin):
                return None
            self._refuse_unmarked(plugin, _make_origin(entry))
            self._register(plugin, _make_origin(entry), f"{entry.group}: {entry.name}")
            _refuse_uncalled_hooks(entry, self._list_hooks(plugin))
        except PluginError as error:
            if not self.skip_broken or is_built_in(entry):
                raise
            self.broken.append(str(error))
            return None
        return plugin

    def register_module(self, module: ModuleType, name: str = "") -> bool:
        """Register a module found by path, such as a conftest.py, if it has hooks of ours; True if it has."""
        if self.manager.is_registered(module):
            return False
        # Every conftest module is called "conftest", so the file is the name.
        origin = Origin(name or module.__file__ or module.__name__)
        self._refuse_unmarked(module, origin)
        if not any(map(_is_hook, vars(module).values())):
            return False
        if any(hasattr(module, hook) for hook in HOOKS_OF_COMMANDS):
            raise _make_group_error(f"plugin {origin}")
        self._register(module, origin, origin.name)
        self.origins[module] = origin
        return True

    def make_registry(self, without: Iterable[object] = ()) -> Registry:
        """Make a registry of all plugins, except those left out."""
        left_out = list(without)
        chosen = [plugin for plugin in self.origins if plugin not in left_out]
        return build_registry(
            _HooksOfPlugins(self, chosen),
            [self.origins[plugin] for plugin in chosen],
            without=self.without,
            broken=self.broken,
            missing=dict.fromkeys(self.missing),
        )

    def call_hook(self, hook: str, plugin: object) -> list[object]:
        """The values that a plugin returns from a hook; none if it does not implement it."""
        origin = self.origins[plugin]
        return self._call(hook, self.loaded_for_suites.get(plugin, plugin), origin)

    def _call(self, hook: str, plugin: object, origin: Origin) -> list[object]:
        call: Callable[[], list[Iterable[object]]] = self._make_caller(hook, plugin)
        try:
            returned = [list(values) for values in call()]
        except Exception as error:  # a plugin may raise anything; the message names it
            things = "metric resolvers" if hook == "ireval_resolve_metric" else hook[len("ireval_") :].replace("_", " ")
            complaint = f"{hook} of {origin} must return a list of {things}: {describe_exception(error)}"
            raise PluginError(Problem(complaint, suggestion=find_raise_place(error))) from error
        if not returned and hook in self._list_hooks(plugin):
            raise PluginError(f"{hook} of {origin} returned None; is a return statement missing?")
        return [value for values in returned for value in values]

    def find_observers(self, hook: str, without: Collection[object]) -> Iterator[tuple[Origin, Callable[..., object]]]:
        """The plugins with an observing hook, except those left out; each with the call of its own hook."""
        for plugin, origin in self.origins.items():
            if plugin not in without and hook in self._list_hooks(plugin):
                yield origin, self._make_caller(hook, plugin)

    def _list_hooks(self, plugin: object) -> set[str]:
        return {caller.name for caller in self.manager.get_hookcallers(plugin) or ()}

    def _make_caller(self, hook: str, plugin: object) -> Callable[..., Any]:
        return self.manager.subset_hook_caller(hook, [p for p in self.manager.get_plugins() if p is not plugin])

    def _refuse_unmarked(self, plugin: object, origin: Origin) -> None:
        """Refuse a function that is named like a hook, or nearly so, but not marked as one: it is never called."""
        for name, value in getattr(plugin, "__dict__", {}).items():
            if name.startswith(f"{hookspecs.PROJECT}_") and inspect.isroutine(value) and not _is_hook(value):
                hooks = [hook for hook in vars(self.manager.hook) if hook.startswith(f"{hookspecs.PROJECT}_")]
                meant = "" if name in hooks else did_you_mean(name, hooks, closeness=0.9)
                if name in hooks or meant:
                    complaint = f"plugin {origin}: {name} is not marked with @hookimpl, so it would never be called"
                    raise PluginError("; ".join(filter(None, (complaint, meant))))

    def _register(self, plugin: object, origin: Origin, name: str) -> None:
        """Register it, and add the hooks that its package brings, which other plugins may implement."""
        try:
            self.manager.register(plugin, name=name)
            for module in self._call("ireval_hookspecs", plugin, origin):
                try:
                    self.manager.add_hookspecs(module)  # type: ignore[arg-type]  # whatever it is: pluggy looks into it
                except ValueError as error:  # it has no hooks, or those of another
                    raise PluginError(f"ireval_hookspecs of plugin {origin}: {error}") from error
            self.manager.check_pending()
        except (pluggy.PluginValidationError, PluginError) as error:
            if self.manager.is_registered(plugin):
                self.manager.unregister(plugin)  # or the next plugin would be blamed for it
            if isinstance(error, PluginError):
                raise
            unknown = re.match(r"unknown hook '(\w+)'", str(error))
            if unknown is None:
                raise PluginError(f"plugin {origin}: {error}") from error
            hooks = [name for name, caller in vars(self.manager.hook).items() if getattr(caller, "spec", None)]
            suggestion = did_you_mean(unknown[1], hooks)
            raise PluginError(Problem(f"plugin {origin}: {unknown[0]}", suggestion=suggestion)) from error


class _HooksOfPlugins:
    def __init__(self, plugins: Plugins, chosen: Collection[object]) -> None:
        self.plugins, self.chosen = plugins, chosen

    def call(self, hook: str) -> HookResults:
        return [(self.plugins.origins[plugin], self.plugins.call_hook(hook, plugin)) for plugin in self.chosen]

    def load_plugins_of_suites(self) -> None:
        self.plugins.load_deferred()


def load_installed_registry(*, skip_broken: bool = False) -> Registry:
    """Load the installed plugins, without any conftest.py."""
    plugins = Plugins()
    plugins.load_installed(skip_broken=skip_broken)
    return plugins.make_registry()


@cache
def installed_registry() -> Registry:
    """The registry of the installed plugins, loaded once: they do not change while a process lives."""
    return load_installed_registry()


def _refuse_uncalled_hooks(entry: InstalledPlugin, hooks: Collection[str]) -> None:
    """Refuse a plugin without hooks, or with one that is not called in its group."""
    if not hooks:
        raise PluginError(f"{describe_plugin(entry)} implements no hook of pytest-ireval")
    if entry.group == SUITES_GROUP and (uncalled := sorted(set(hooks).difference(HOOKS_OF_SUITES))):
        complaint = (
            f"{describe_plugin(entry)} implements {', '.join(uncalled)}, which is not called in the group "
            f"{SUITES_GROUP}"
        )
        suggestion = f"name a module with these hooks in the entry-point group {ENTRY_POINT_GROUP}"
        allowed = f"{SUITES_GROUP}: {', '.join(HOOKS_OF_SUITES)}"
        raise PluginError(Problem(complaint, suggestion=suggestion, allowed=allowed))
    if entry.group == COMMANDS_GROUP and "ireval_commands" not in hooks:
        complaint = f"does not implement ireval_commands, which the group {COMMANDS_GROUP} is for"
        raise PluginError(f"{describe_plugin(entry)} {complaint}")
    if entry.group == ENTRY_POINT_GROUP and not set(hooks).isdisjoint(HOOKS_OF_COMMANDS):
        raise _make_group_error(describe_plugin(entry))


def _make_group_error(plugin: str) -> PluginError:
    """Commands are listed without importing the plugins of evaluations; new hooks must be known before those."""
    hooks = " or ".join(HOOKS_OF_COMMANDS)
    complaint = f"{plugin} implements {hooks}: they are only called in the group {COMMANDS_GROUP}"
    suggestion = f"move them to a module that the entry-point group {COMMANDS_GROUP} names"
    return PluginError(Problem(complaint, suggestion=suggestion))


def _make_origin(entry: InstalledPlugin) -> Origin:
    return Origin(entry.name, entry.distribution, entry.version)


def _is_hook(value: object) -> bool:
    # Ask routines only: objects such as pytest.mark claim to have every attribute.
    return inspect.isroutine(value) and hasattr(value, f"{hookspecs.PROJECT}_impl")
