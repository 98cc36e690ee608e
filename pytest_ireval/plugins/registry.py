"""Everything that plugins bring, by name; finds plugins and calls their hooks."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pluggy

from pytest_ireval.errors import MetricError, MetricNameError, PluginError, Problem, did_you_mean, raised_at, told
from pytest_ireval.metrics.metric import Metric, altered
from pytest_ireval.metrics.names import Vocabulary, plain_distribution, vocabulary_of
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.kinds import (
    DiagnosisKind,
    Kinds,
    KindsByName,
    RuleKind,
    SourceKind,
    from_origin,
    refuse_wrong_defaults,
)
from pytest_ireval.retrieval.formats.reader import CONTENTS, Reader


@dataclass(frozen=True)
class Origin:
    """The origin of a plugin. ``name`` is its entry point, or the path of a conftest.py."""

    name: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip() or self.name


WITHOUT = "IREVAL_WITHOUT"
"""The variable with names of plugins that are left out, separated by commas; ``--ireval-without`` does the same."""


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
    broken: tuple[str, ...] = ()
    """Plugins that could not be loaded, each with the reason; only in a registry for commands that look."""

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

    @property
    def distributions(self) -> tuple[str, ...]:
        """The distributions that take part, each once, in the order in which plugins were found."""
        return tuple(dict.fromkeys(map(str, self.plugins)))

    @property
    def metrics(self) -> Mapping[str, Metric]:
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

    def _handed_over(self, value: object) -> Metric:
        """A metric that is used without being registered; its name must not be that of another."""
        if not isinstance(value, Metric):
            raise MetricError(
                f"{value!r} is neither a metric nor the name of one: decorate the function with @per_query_metric "
                "or @metric"
            )
        known, _ = self.vocabulary.heads.get(value.name.lower(), (value, {}))
        _refuse_another(known, value)
        return value


def _refuse_another(metric: Metric, other: Metric) -> None:
    """Two metrics of one name are an error, never an override."""
    if metric.batch is not other.batch:
        raise PluginError(
            f"metric name {other.name!r} is claimed twice: by {metric.name} of {metric.source} "
            f"and by {other.name} of {other.source}"
        )


Brought = Iterable[tuple[Origin, Iterable[object]]]
"""The values that each plugin returned from one hook."""


def registered(
    metrics: Brought,
    plugins: Iterable[Origin],
    readers: Brought = (),
    kinds: Callable[[], tuple[Brought, Brought, Brought]] = lambda: ((), (), ()),
    sections: Brought = (),
    without: Iterable[Origin] = (),
    broken: Iterable[str] = (),
) -> Registry:
    """A registry of what plugins brought; every name may be claimed once by a distribution.

    ``kinds`` brings sources, rules and diagnoses.
    """

    def kinds_when_asked() -> Kinds:
        sources, rules, diagnoses = kinds()
        brought = Kinds(
            _by_key(sources, SourceKind, "source"),
            _by_key(rules, RuleKind, "rule"),
            _by_key(diagnoses, DiagnosisKind, "diagnosis"),
        )
        refuse_wrong_defaults(brought, Registry(vocabulary))
        return brought

    found = [(plain_distribution(by.distribution), _metric(each, by)) for by, values in metrics for each in values]
    vocabulary = vocabulary_of(found)
    return Registry(
        vocabulary,
        tuple(_named_readers(readers)),
        tuple(plugins),
        kinds_when_asked,
        _by_key(sections, ReportSection, "report_section"),
        tuple(without),
        tuple(broken),
    )


def _by_key(brought: Brought, wanted: type[Any], what: str) -> Mapping[str, Any]:
    found: dict[str, list[tuple[str, Any]]] = {}
    called = what.replace("_", " ")
    for origin, values in brought:
        for value in values:
            if not isinstance(value, wanted):
                hook = "ireval_diagnoses" if what == "diagnosis" else f"ireval_{what}s"
                made = f"decorate the function with @{what}"
                raise PluginError(f"plugin {origin} returned {value!r} from {hook}, which is not a {called}: {made}")
            kind = from_origin(value, str(origin))
            owner, others = plain_distribution(origin.distribution), found.setdefault(kind.name, [])
            for whose, other in others:
                if other is not kind and (whose == owner or not whose or not owner):
                    by = f"by {other.source} and by {kind.source}"
                    raise PluginError(f"{called} {kind.name!r} is claimed twice: {by}")
            others.append((owner, kind))
    listed: dict[str, Any] = {}
    qualified: dict[str, Callable[[], Any]] = {}
    for name, claims in found.items():
        for owner, kind in claims:
            whole = f"{owner}:{name}"  # the options of a source have a field of its bare name
            called_so = partial(replace, kind, name=name if wanted is SourceKind else whole)
            if owner:
                qualified[whole] = called_so
            if len(claims) > 1:
                listed[whole] = called_so()
            else:
                listed[name] = kind
    return KindsByName(listed, qualified)


def _metric(value: object, origin: Origin) -> Metric:
    if not isinstance(value, Metric):
        complaint = f"plugin {origin} returned {value!r} from ireval_metrics, which is not a metric"
        raise PluginError(f"{complaint}: decorate the function with @per_query_metric or @metric")
    return altered(value, origin=str(origin))


def _named_readers(brought: Brought) -> list[Reader]:
    claims: dict[tuple[str, str], Reader] = {}
    readers = [_reader(value, origin) for origin, values in brought for value in values]
    for reader in readers:
        for name in (reader.name, *reader.also):
            other = claims.setdefault((reader.holds, name), reader)
            if other is not reader:
                by = f"by {other.name} of {other.origin} and by {reader.name} of {reader.origin}"
                raise PluginError(f"format {name!r} of {reader.holds} is claimed twice: {by}")
    return readers


def _reader(value: object, origin: Origin) -> Reader:
    if not isinstance(value, Reader):
        raise PluginError(f"plugin {origin} returned {value!r} from ireval_readers, which is not a Reader")
    named = all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in (value.name, *value.also))
    if value.holds not in CONTENTS or not named:
        raise PluginError(
            f"plugin {origin}: reader {value.name!r} holds {value.holds!r}; "
            f"holds must be one of {', '.join(CONTENTS)}; a name has only lower-case letters, digits and hyphens"
        )
    return value._replace(origin=str(origin))


ENTRY_POINT_GROUP = "pytest_ireval"


class Plugins:
    """The plugins of one run: a pluggy manager and the origin of each plugin in it."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self.origins: dict[object, Origin] = {}
        self.without: tuple[Origin, ...] = ()
        self.broken: list[str] = []

    def load_installed(self, without: Iterable[str] = (), *, looks: bool = False) -> None:
        """Register every installed plugin but those ``without`` and the variable IREVAL_WITHOUT name.

        An entry-point name that two distributions use is an error. A plugin that cannot be loaded is an error, unless
        a command only ``looks``: then it is remembered as broken, and the command says what is missing.
        """
        entries = _entries()
        left_out = _left_out(entries, {"--ireval-without": without, WITHOUT: os.environ.get(WITHOUT, "").split(",")})
        self.without = tuple(map(_origin, left_out))
        for entry in entries:
            try:
                if entry not in left_out:
                    self._load(entry, _origin(entry))
            except PluginError as error:
                if not looks or _is_built_in(entry):
                    raise
                self.broken.append(str(error))

    def _load(self, entry: Installed, origin: Origin) -> None:
        named = f"plugin {entry.name!r} ({entry.module}) of {origin}"
        try:
            plugin = entry.load()
        except (Exception, SystemExit) as error:  # a plugin may raise anything while it is imported
            way_out = f"repair it, or run without it: --ireval-without {entry.name} (or {WITHOUT}={entry.name})"
            complaint = f"{named} cannot be loaded: {told(error)}"
            raise PluginError(Problem(complaint, suggestion=raised_at(error), allowed=way_out)) from error
        _refuse_unmarked(plugin, origin)
        self._register(plugin, origin)
        if not self.manager.get_hookcallers(plugin):
            raise PluginError(f"{named} implements no hook of pytest-ireval")

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
        """A registry of all plugins, except those left out."""
        hidden = list(without)
        seen = [plugin for plugin in self.origins if plugin not in hidden]

        def brought(hook: str) -> list[tuple[Origin, list[object]]]:
            return [(self.origins[plugin], self._brought(hook, plugin)) for plugin in seen]

        return registered(
            brought("ireval_metrics"),
            [self.origins[plugin] for plugin in seen],
            brought("ireval_readers"),
            lambda: (brought("ireval_sources"), brought("ireval_rules"), brought("ireval_diagnoses")),
            brought("ireval_report_sections"),
            self.without,
            self.broken,
        )

    def _brought(self, hook: str, plugin: object) -> list[object]:
        """The values that a plugin returns from a hook; none if it does not implement it."""
        others = [other for other in self.origins if other is not plugin]
        call: Callable[[], list[Iterable[object]]] = self.manager.subset_hook_caller(hook, others)
        things = hook.removeprefix(f"{hookspecs.PROJECT}_").replace("_", " ")
        try:
            returned = [list(values) for values in call()]
        except Exception as error:  # a plugin may raise anything; the message names it
            complaint = f"{hook} of {self.origins[plugin]} must return a list of {things}: {told(error)}"
            raise PluginError(Problem(complaint, suggestion=raised_at(error))) from error
        if not returned and hook in {caller.name for caller in self.manager.get_hookcallers(plugin) or ()}:
            raise PluginError(f"{hook} of {self.origins[plugin]} returned None; is a return statement missing?")
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


def load_registry(*, looks: bool = False) -> Registry:
    """The registry of the installed plugins, without any conftest.py.

    A plugin that cannot be loaded is an error, unless the caller only ``looks``: then it is in ``broken``.
    """
    plugins = Plugins()
    plugins.load_installed(looks=looks)
    return plugins.registry()


@cache
def installed() -> Registry:
    """The registry of the installed plugins, loaded once: they do not change while a process lives."""
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


def _is_built_in(entry: Installed) -> bool:
    return plain_distribution(entry.distribution) == "pytest-ireval"


def _left_out(entries: Sequence[Installed], asked: Mapping[str, Iterable[str]]) -> list[Installed]:
    """The plugins that are left out by name: that of the entry point, or of the distribution."""
    found = []
    for asker, names in asked.items():
        for name in filter(None, map(str.strip, names)):
            plain = plain_distribution(name)
            meant = [
                each
                for each in entries
                if plain_distribution(each.name) == plain or plain_distribution(each.distribution) == plain
            ]
            others = sorted(each.name for each in entries if not _is_built_in(each))
            allowed = f"installed: {', '.join(others)}" if others else "no plugins of others are installed"
            if not meant:
                complaint = f"{asker} names {name!r}, which is not an installed plugin"
                raise PluginError(Problem(complaint, suggestion=did_you_mean(name, others), allowed=allowed))
            if any(map(_is_built_in, meant)):
                raise PluginError(
                    Problem(f"{asker} names {name!r}, which is built in and cannot be left out", allowed=allowed)
                )
            found += meant
    return found


def _origin(entry: Installed) -> Origin:
    return Origin(entry.name, entry.distribution, entry.version)


def _is_ours(item: tuple[str, object]) -> bool:
    # Ask routines only: objects such as pytest.mark claim to have every attribute.
    return inspect.isroutine(item[1]) and hasattr(item[1], f"{hookspecs.PROJECT}_impl")


def _refuse_unmarked(plugin: object, origin: Origin) -> None:
    """Refuse a function that is named like a hook, or nearly so, but not marked as one: it would never be called."""
    hooks = [name for name in vars(hookspecs) if name.startswith(f"{hookspecs.PROJECT}_")]
    for name, value in getattr(plugin, "__dict__", {}).items():
        if name.startswith(f"{hookspecs.PROJECT}_") and inspect.isroutine(value) and not _is_ours((name, value)):
            meant = "" if name in hooks else did_you_mean(name, hooks, closeness=0.9)
            if name in hooks or meant:
                raise PluginError(
                    f"plugin {origin}: {name} is not marked with @hookimpl, so it would never be called"
                    + (f"; {meant}" if meant else "")
                )


METADATA_FOLDER = re.compile(r"(?P<name>.+?)(-[^-]*)?\.(dist|egg)-info")
FIELD = re.compile(r"^(Name|Version):\s*(\S+)", re.MULTILINE)


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
    """Tell whether the path has only folders, and only Python's own finder looks for distributions."""
    finders = [finder.__module__ for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return {*finders} <= {"_frozen_importlib_external"} and not any(os.path.isfile(entry) for entry in sys.path)


def _metadata_folders(path: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Each distribution's normalised name, and the folder of its metadata."""
    for entry in path:
        try:
            with os.scandir(entry or ".") as files:
                for file in files:
                    if match := METADATA_FOLDER.fullmatch(file.name):
                        yield plain_distribution(match["name"]), Path(file.path)
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
            fields = dict(FIELD.findall(metadata.read(4096)))  # name and version come first
    except OSError:
        fields = {}  # a damaged installation still has the name of its folder
    return fields.get("Name", folder.stem), fields.get("Version", "")


def _asked(group: str) -> Iterator[Installed]:
    from importlib.metadata import entry_points

    for entry in entry_points(group=group):
        name, version = (entry.dist.name, entry.dist.version) if entry.dist else ("", "")
        yield Installed(entry.name, entry.value.partition("[")[0].strip(), name, version)
