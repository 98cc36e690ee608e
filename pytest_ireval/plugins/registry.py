"""Everything that plugins bring, by name; and how plugins are found and asked."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple

import pluggy

from pytest_ireval.errors import MetricError, MetricNameError, PluginError, Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric, altered
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.spellings import SPELLED, stem, stem_of
from pytest_ireval.plugins import hookspecs
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.kinds import DiagnosisKind, RuleKind, SourceKind, from_origin
from pytest_ireval.retrieval.formats.reader import CONTENTS, Reader

FORMAT_NAME = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from. ``name`` is its entry point, or the path of a conftest.py."""

    name: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip() or self.name


class Kinds(NamedTuple):
    """Kinds of sources and of rules, each by the key that names it in a suite; and diagnoses by name."""

    sources: Mapping[str, SourceKind] = MappingProxyType({})
    rules: Mapping[str, RuleKind] = MappingProxyType({})
    diagnoses: Mapping[str, DiagnosisKind] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Registry:
    """What can be named in a suite or on the command line."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    readers: tuple[Reader, ...] = ()
    plugins: tuple[Origin, ...] = ()
    kinds_when_asked: Callable[[], Kinds] = Kinds
    """Their options are models of suites, which only those who read suites shall pay for."""
    sections: Mapping[str, ReportSection] = field(default_factory=dict)
    """What is added to the report, by name."""

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
        """Who takes part, each once, in the order in which plugins were found."""
        return tuple(dict.fromkeys(map(str, self.plugins)))

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The metrics by every name they answer to."""
        return Vocabulary(self.metrics)

    def parse_metrics(self, texts: Iterable[str | Metric]) -> list[Metric]:
        """The metrics that texts name, each once, in order; raises MetricNameError with all that is wrong."""
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
"""What each plugin returned from one hook."""


def registered(
    metrics: Brought,
    plugins: Iterable[Origin],
    readers: Brought = (),
    kinds: Callable[[], tuple[Brought, Brought, Brought]] = lambda: ((), (), ()),
    sections: Brought = (),
) -> Registry:
    """A registry of what plugins brought; every name may be claimed once.

    ``kinds`` brings sources, rules and diagnoses.
    """

    def kinds_when_asked() -> Kinds:
        sources, rules, diagnoses = kinds()
        return Kinds(
            _by_key(sources, SourceKind, "source"),
            _by_key(rules, RuleKind, "rule"),
            _by_key(diagnoses, DiagnosisKind, "diagnosis"),
        )

    return Registry(
        _metrics_by_name(metrics),
        tuple(_named_readers(readers)),
        tuple(plugins),
        kinds_when_asked,
        _by_key(sections, ReportSection, "report_section"),
    )


PLURAL = {"diagnosis": "diagnoses"}


def _by_key(brought: Brought, wanted: type[Any], what: str) -> Mapping[str, Any]:
    """Kinds of sources or rules, or sections, by name."""
    kinds: dict[str, Any] = {}
    called = what.replace("_", " ")
    for origin, values in brought:
        for value in values:
            if not isinstance(value, wanted):
                made, hook = f"decorate the function with @{what}", f"ireval_{PLURAL.get(what, f'{what}s')}"
                raise PluginError(f"plugin {origin} returned {value!r} from {hook}, which is not a {called}: {made}")
            kind = from_origin(value, str(origin))
            other = kinds.setdefault(kind.name, kind)
            if other is not kind:
                raise PluginError(f"{called} {kind.name!r} is claimed twice: by {other.source} and by {kind.source}")
    return MappingProxyType(kinds)


def _metrics_by_name(brought: Brought) -> dict[str, Metric]:
    metrics: dict[str, Metric] = {}
    claims: dict[str, tuple[str, Metric]] = {}
    for origin, values in brought:
        for value in values:
            metric = _metric(value, origin)
            _claim(metric, claims)
            metrics[metric.name] = metric
    _refuse_hidden(metrics)
    return metrics


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
    if value.holds not in CONTENTS or not all(map(FORMAT_NAME.fullmatch, (value.name, *value.also))):
        raise PluginError(
            f"plugin {origin}: reader {value.name!r} holds {value.holds!r}; "
            f"holds must be one of {', '.join(CONTENTS)}; a name has only lower-case letters, digits and hyphens"
        )
    return value._replace(origin=str(origin))


def _refuse_hidden(metrics: dict[str, Metric]) -> None:
    """A name such as ``P_5`` would be read as the spelling ``P_{cutoff}`` of another metric."""
    stems: dict[str, tuple[str, Metric]] = {}
    for metric in metrics.values():
        for name in metric.spellings:
            if known := stem_of(name):
                other_name, other = stems.setdefault(known, (name, metric))
                if other is not metric:
                    raise _read_as_another(name, metric, other_name, other)
    for metric in metrics.values():
        for name in (metric.name, *metric.spellings):
            match = SPELLED.fullmatch(name)
            if match and (hiding := stems.get(stem(match["stem"]))) and hiding[1] is not metric:
                raise _read_as_another(name, metric, *hiding)


def _read_as_another(name: str, metric: Metric, other_name: str, other: Metric) -> PluginError:
    return PluginError(
        f"metric name {name!r} of {metric.name} of {metric.source} would be read as {other_name!r} "
        f"of {other.name} of {other.source}"
    )


def _metric(value: object, origin: Origin) -> Metric:
    if not isinstance(value, Metric):
        raise PluginError(
            f"plugin {origin} returned {value!r} from ireval_metrics, which is not a metric: "
            "decorate the function with @per_query_metric or @metric"
        )
    return altered(value, origin=str(origin))


def _claim(metric: Metric, claims: dict[str, tuple[str, Metric]]) -> None:
    """Take a metric's names; names that differ in letter case only are one name."""
    for name in (metric.name, *metric.spellings):
        other_name, other = claims.setdefault(name.lower(), (name, metric))
        if other is not metric:
            case = "" if other_name == name else f" (the first spells it {other_name!r}; letter case is ignored)"
            raise PluginError(
                f"metric name {name!r} is claimed twice{case}: "
                f"by {other.name} of {other.origin} and by {metric.name} of {metric.origin}"
            )


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
                raise PluginError(
                    f"plugin {entry.name!r} ({entry.module}) of {_origin(entry)} implements no hook of pytest-ireval"
                )

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
            lambda: (brought("ireval_sources"), brought("ireval_rules"), brought("ireval_diagnoses")),
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
                    f"plugin {origin}: {name} is not marked with @hookimpl, so it would never be called"
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
    """Tell whether everything on the path is a folder (or not there), and nobody else finds distributions."""
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
