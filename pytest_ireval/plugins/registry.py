"""Everything that plugins bring, by name; finds plugins and calls their hooks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from types import ModuleType
from typing import Any

import pluggy

from pytest_ireval.data.formats.reader import Reader
from pytest_ireval.entry_points import (
    ENTRY_POINT_GROUP,
    OF_COMMANDS,
    OF_SUITES,
    Installed,
    describe,
    find_entries,
    find_left_out,
    import_plugin,
    is_built_in,
    is_missing,
)
from pytest_ireval.errors import MetricError, MetricNameError, PluginError, Problem, did_you_mean, raised_at, told
from pytest_ireval.metrics.catalog import MetricCatalog
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.by_name import Brought, Origin, Thing, kinds_by_name, readers_by_name, vocabulary_of
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.plugin_types import DiagnosisKind, Kinds, RuleKind, SourceKind, refuse_wrong_defaults


@dataclass(frozen=True, eq=False)
class Registry:
    """Everything that can be named in a suite or on the command line."""

    vocabulary: Vocabulary
    """The metrics by every name they answer to."""
    readers: tuple[Reader, ...] = ()
    plugins: tuple[Origin, ...] = ()
    kinds_when_asked: Callable[[], Kinds] = Kinds
    """Their options are models of suites, which take time to load; only commands that read suites need them."""
    sections: Mapping[str, ReportSection] = field(default_factory=dict)
    """Sections of the report, by name."""
    without: tuple[Origin, ...] = ()
    """Plugins that were left out by name."""
    broken: Sequence[str] = ()
    """Plugins that could not be loaded, each with the reason; only in a registry for commands that look."""
    call_hook: Callable[[str], Brought] = lambda hook: ()  # noqa: ARG005 - without plugins no hook returns anything

    @cached_property
    def _kinds(self) -> Kinds:
        return self.kinds_when_asked()

    @property
    def sources(self) -> Mapping[str, SourceKind]:
        """Kinds of sources by name."""
        return self._kinds.sources

    @property
    def rules(self) -> Mapping[str, RuleKind]:
        """Kinds of rules by name."""
        return self._kinds.rules

    @property
    def diagnoses(self) -> Mapping[str, DiagnosisKind]:
        """Diagnoses by name, ours first."""
        return self._kinds.diagnoses

    @cached_property
    def distributions(self) -> tuple[str, ...]:
        """The distributions that take part, each once, in the order in which plugins were found."""
        return tuple(dict.fromkeys(map(str, self.plugins)))

    def returned(self, hook: str, kind: type[Thing], made_by: str) -> Mapping[str, Thing]:
        """What plugins return from a hook of :func:`~pytest_ireval.plugins.hookspecs.ireval_hookspecs`, by name.

        ``kind`` is a dataclass with the fields ``name`` and ``origin`` and the property ``source``; ``made_by`` is the
        decorator that makes it. Names are claimed as those of rules are: two plugins with one name are an error, and
        ``acme:fresh`` tells those of two distributions apart.
        """
        return kinds_by_name(self.call_hook(hook), kind, made_by, hook)

    @property
    def metrics(self) -> MetricCatalog:
        """The metrics by name."""
        return self.vocabulary.metrics

    def parse_metrics(self, texts: Iterable[str | Metric]) -> list[Metric]:
        """The metrics that texts name, each once, in order; raises MetricNameError with all problems."""
        parsed: dict[str, Metric] = {}
        problems: list[Problem] = []
        for text in texts:
            try:
                found = self.vocabulary.parse(text) if isinstance(text, str) else [self._handed_over(text)]
            except MetricNameError as error:
                problems.extend(error.problems)
                continue
            for metric in found:
                _refuse_another(parsed.setdefault(str(metric), metric), metric)
        if problems:
            raise MetricNameError(*problems)
        if not parsed:
            raise MetricNameError("no metric was requested")
        return list(parsed.values())

    def in_dialect(self, dialect: str | None) -> Registry:
        """The same with names of metrics as another package means them; itself without a dialect."""
        vocabulary = replace(self.vocabulary, dialect=dialect or "")
        return replace(self, vocabulary=vocabulary, kinds_when_asked=lambda: self._kinds) if dialect else self

    def _handed_over(self, value: object) -> Metric:
        """A metric that is used without being registered; its name must not be that of another."""
        if not isinstance(value, Metric):
            made = "decorate the function with @per_query_metric or @metric"
            raise MetricError(f"{value!r} is neither a metric nor the name of one: {made}")
        if known := self.vocabulary.meaning(value.name):
            _refuse_another(known[0], value)
        return value


def _refuse_another(metric: Metric, other: Metric) -> None:
    """Two metrics of one name are an error, never an override."""
    if metric.batch is not other.batch:
        by = f"by {metric.name} of {metric.source} and by {other.name} of {other.source}"
        raise PluginError(f"metric name {other.name!r} is claimed twice: {by}")


def registered(
    metrics: Brought,
    plugins: Iterable[Origin],
    readers: Brought = (),
    kinds: Callable[[], Sequence[Brought]] = lambda: ((), (), ()),
    sections: Brought = (),
    without: Iterable[Origin] = (),
    broken: Sequence[str] = (),
    resolvers: Brought = (),
    elsewhere: Callable[[], Brought] = tuple,
    missing: Sequence[str] = (),
    call_hook: Callable[[str], Brought] = lambda hook: (),  # noqa: ARG005 - as in the class
) -> Registry:
    """A registry of what plugins brought; every name may be claimed once by a distribution.

    ``kinds`` brings sources, rules and diagnoses, ``elsewhere`` names of other packages;
    ``missing`` are packages of this distribution that are not there.
    """

    def kinds_when_asked() -> Kinds:
        sources, rules, diagnoses = kinds()
        brought = Kinds(
            kinds_by_name(sources, SourceKind, "source", "ireval_sources"),
            kinds_by_name(rules, RuleKind, "rule", "ireval_rules"),
            kinds_by_name(diagnoses, DiagnosisKind, "diagnosis", "ireval_diagnoses"),
        )
        refuse_wrong_defaults(brought, Registry(vocabulary))
        return brought

    vocabulary = replace(vocabulary_of(metrics, resolvers, elsewhere), missing=tuple(missing))
    return Registry(
        vocabulary,
        readers_by_name(readers),
        tuple(plugins),
        kinds_when_asked,
        kinds_by_name(sections, ReportSection, "report_section", "ireval_report_sections"),
        tuple(without),
        broken,
        call_hook,
    )


KINDS = ("ireval_sources", "ireval_rules", "ireval_diagnoses")
"""The hooks of these plugins."""
RESOLVERS = "ireval_resolve_metric"
COMMANDS = "ireval_commands"
HOOKSPECS = "ireval_hookspecs"
OF_PACKAGES = (COMMANDS, HOOKSPECS)
"""The hooks that are only called in the entry-point group of commands."""


class Plugins:
    """The plugins of one run: a pluggy manager and the origin of each plugin in it."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.origins: dict[object, Origin] = {}
        """By plugin; of a plugin that only suites need, by its entry point."""
        self.late: dict[object, object] = {}
        """The plugins that suites needed, by entry point."""
        self.waiting: list[Installed] = []
        """Those that no suite has needed so far."""
        self.looks = False
        self.without: tuple[Origin, ...] = ()
        self.broken: list[str] = []
        self.missing: list[str] = []
        """Packages of this distribution that are not there."""

    def load_installed(self, without: Iterable[str] = (), *, looks: bool = False) -> None:
        """Register every installed plugin but those ``without`` and the variable IREVAL_WITHOUT name.

        An entry-point name that two distributions use is an error. A plugin that cannot be loaded is an error, unless
        a command only ``looks``: then it is remembered as broken, and the command says what is missing.
        """
        entries = find_entries()
        left_out = find_left_out(entries, without)
        self.without, self.looks = tuple(dict.fromkeys(map(_origin, left_out))), looks
        with_metrics = (entry for entry in entries if entry.group == ENTRY_POINT_GROUP)
        self.missing += [entry.module.partition(".")[0] for entry in with_metrics if is_missing(entry)]
        chosen = [entry for entry in entries if entry not in left_out and not is_missing(entry)]
        # Those with hooks of their own come first, for others may implement these.
        first = sorted(chosen, key=lambda entry: entry.group != OF_COMMANDS)
        loaded = {entry: self._loaded(entry) for entry in first if entry.group != OF_SUITES}
        for entry in chosen:
            if entry.group == OF_SUITES:
                self.origins[entry] = _origin(entry)
                self.waiting.append(entry)
            elif (plugin := loaded[entry]) is not None:
                self.origins[plugin] = _origin(entry)

    def _loaded(self, entry: Installed) -> object | None:
        """The plugin, imported and registered; None if it is known already, or broken and a command only looks."""
        try:
            plugin = import_plugin(entry)
            if self.manager.is_registered(plugin):
                return None
            self._refuse_unmarked(plugin, _origin(entry))
            self._register(plugin, _origin(entry), f"{entry.group}: {entry.name}")
            _refuse_unfit(entry, self._hooks_of(plugin))
        except PluginError as error:
            if not self.looks or is_built_in(entry):
                raise
            self.broken.append(str(error))
            return None
        return plugin

    def adopt(self, module: ModuleType, name: str = "") -> bool:
        """Register a module found by path, such as a conftest.py, if it has hooks of ours; True if it has."""
        if self.manager.is_registered(module):
            return False
        # Every conftest module is called "conftest", so the file is the name.
        origin = Origin(name or module.__file__ or module.__name__)
        self._refuse_unmarked(module, origin)
        if not any(map(_is_ours, vars(module).items())):
            return False
        if any(hasattr(module, hook) for hook in OF_PACKAGES):
            raise _not_called_there(f"plugin {origin}")
        self._register(module, origin, origin.name)
        self.origins[module] = origin
        return True

    def registry(self, without: Iterable[object] = ()) -> Registry:
        """A registry of all plugins, except those left out."""
        hidden = list(without)
        seen = [plugin for plugin in self.origins if plugin not in hidden]

        def brought(hook: str) -> list[tuple[Origin, list[object]]]:
            return [
                (self.origins[plugin], self._brought(hook, self.late.get(plugin, plugin), self.origins[plugin]))
                for plugin in seen
            ]

        def kinds() -> Sequence[Brought]:
            while self.waiting:
                if (plugin := self._loaded(self.waiting[0])) is not None:
                    self.late[self.waiting[0]] = plugin
                del self.waiting[0]
            return [brought(hook) for hook in KINDS]

        return registered(
            brought("ireval_metrics"),
            [self.origins[plugin] for plugin in seen],
            brought("ireval_readers"),
            kinds,
            brought("ireval_report_sections"),
            self.without,
            self.broken,
            brought(RESOLVERS),
            lambda: brought("ireval_names_elsewhere"),
            list(dict.fromkeys(self.missing)),
            brought,
        )

    def _brought(self, hook: str, plugin: object, origin: Origin) -> list[object]:
        """The values that a plugin returns from a hook; none if it does not implement it."""
        call: Callable[[], list[Iterable[object]]] = self._caller(hook, plugin)
        things = "metric resolvers" if hook == RESOLVERS else hook.removeprefix("ireval_").replace("_", " ")
        try:
            returned = [list(values) for values in call()]
        except Exception as error:  # a plugin may raise anything; the message names it
            complaint = f"{hook} of {origin} must return a list of {things}: {told(error)}"
            raise PluginError(Problem(complaint, suggestion=raised_at(error))) from error
        if not returned and hook in self._hooks_of(plugin):
            raise PluginError(f"{hook} of {origin} returned None; is a return statement missing?")
        return [value for values in returned for value in values]

    def observers(self, hook: str, without: Collection[object]) -> Iterator[tuple[Origin, Callable[..., object]]]:
        """The plugins with an observing hook, except those left out; each with the call of its own hook."""
        for plugin, origin in self.origins.items():
            if plugin not in without and hook in self._hooks_of(plugin):
                yield origin, self._caller(hook, plugin)

    def _hooks_of(self, plugin: object) -> set[str]:
        return {caller.name for caller in self.manager.get_hookcallers(plugin) or ()}

    def _caller(self, hook: str, plugin: object) -> Callable[..., Any]:
        return self.manager.subset_hook_caller(hook, [p for p in self.manager.get_plugins() if p is not plugin])

    def _add_hooks_of(self, plugin: object, origin: Origin) -> None:
        """Add the hooks that a package brings, which other plugins may implement."""
        for module in self._brought(HOOKSPECS, plugin, origin):
            try:
                self.manager.add_hookspecs(module)  # type: ignore[arg-type]  # whatever it is: pluggy looks into it
            except ValueError as error:  # it has no hooks, or those of another
                raise PluginError(f"{HOOKSPECS} of plugin {origin}: {error}") from error

    def _refuse_unmarked(self, plugin: object, origin: Origin) -> None:
        """Refuse a function that is named like a hook, or nearly so, but not marked as one: it is never called."""
        hooks = [name for name in vars(self.manager.hook) if name.startswith(f"{hookspecs.PROJECT}_")]
        for name, value in getattr(plugin, "__dict__", {}).items():
            if name.startswith(f"{hookspecs.PROJECT}_") and inspect.isroutine(value) and not _is_ours((name, value)):
                meant = "" if name in hooks else did_you_mean(name, hooks, closeness=0.9)
                if name in hooks or meant:
                    raise PluginError(
                        f"plugin {origin}: {name} is not marked with @hookimpl, so it would never be called"
                        + (f"; {meant}" if meant else "")
                    )

    def _register(self, plugin: object, origin: Origin, name: str) -> None:
        try:
            self.manager.register(plugin, name=name)
            self._add_hooks_of(plugin, origin)
            self.manager.check_pending()
        except (pluggy.PluginValidationError, PluginError) as error:
            if self.manager.is_registered(plugin):
                self.manager.unregister(plugin)  # or the next plugin would be blamed for it
            if isinstance(error, PluginError):
                raise
            raise PluginError(f"plugin {origin}: {error}") from error


def loaded(*, looks: bool = False) -> Registry:
    """The registry of the installed plugins, without any conftest.py."""
    plugins = Plugins()
    plugins.load_installed(looks=looks)
    return plugins.registry()


@cache
def installed() -> Registry:
    """The registry of the installed plugins, loaded once: they do not change while a process lives."""
    return loaded()


def _refuse_unfit(entry: Installed, hooks: Collection[str]) -> None:
    """Refuse a plugin without hooks, or with one that is not called in its group."""
    if not hooks:
        raise PluginError(f"{describe(entry)} implements no hook of pytest-ireval")
    if entry.group == OF_SUITES and (uncalled := sorted(set(hooks).difference(KINDS))):
        complaint = f"{describe(entry)} implements {', '.join(uncalled)}, which is not called in the group {OF_SUITES}"
        suggestion = f"name a module with these hooks in the entry-point group {ENTRY_POINT_GROUP}"
        raise PluginError(Problem(complaint, suggestion=suggestion, allowed=f"{OF_SUITES}: {', '.join(KINDS)}"))
    if entry.group == OF_COMMANDS and COMMANDS not in hooks:
        raise PluginError(f"{describe(entry)} does not implement {COMMANDS}, which the group {OF_COMMANDS} is for")
    if entry.group == ENTRY_POINT_GROUP and not set(hooks).isdisjoint(OF_PACKAGES):
        raise _not_called_there(describe(entry))


def _not_called_there(plugin: str) -> PluginError:
    """Commands are listed without importing the plugins of evaluations; new hooks must be known before those."""
    complaint = f"{plugin} implements {' or '.join(OF_PACKAGES)}: they are only called in the group {OF_COMMANDS}"
    return PluginError(
        Problem(complaint, suggestion=f"move them to a module that the entry-point group {OF_COMMANDS} names")
    )


def _origin(entry: Installed) -> Origin:
    return Origin(entry.name, entry.distribution, entry.version)


def _is_ours(item: tuple[str, object]) -> bool:
    # Ask routines only: objects such as pytest.mark claim to have every attribute.
    return inspect.isroutine(item[1]) and hasattr(item[1], f"{hookspecs.PROJECT}_impl")
