"""Everything plugins brought, by name: the plain value that the rest of the house is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from pytest_ireval.errors import MetricError, MetricNameError, PluginError, Problem
from pytest_ireval.metrics.metric import Metric, altered
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.metrics.spellings import SPELLED, stem, stem_of
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.kinds import RuleKind, SourceKind, from_origin
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
    """Kinds of sources and of rules, each by the key that names it in a suite."""

    sources: Mapping[str, SourceKind] = MappingProxyType({})
    rules: Mapping[str, RuleKind] = MappingProxyType({})


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
            raise MetricNameError("no metric is asked for")
        return list(parsed.values())

    def _handed_over(self, value: object) -> Metric:
        """A metric that is used without being registered; its name must not be that of another."""
        if not isinstance(value, Metric):
            raise MetricError(
                f"{value!r} is no metric and no name of one: decorate the function with @per_query_metric or @metric"
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
    kinds: Callable[[], tuple[Brought, Brought]] = lambda: ((), ()),
    sections: Brought = (),
) -> Registry:
    """A registry of what plugins brought; every name may be claimed once. ``kinds`` brings sources and rules."""

    def kinds_when_asked() -> Kinds:
        sources, rules = kinds()
        return Kinds(_by_key(sources, SourceKind, "source"), _by_key(rules, RuleKind, "rule"))

    return Registry(
        _metrics_by_name(metrics),
        tuple(_named_readers(readers)),
        tuple(plugins),
        kinds_when_asked,
        _by_key(sections, ReportSection, "report_section"),
    )


def _by_key(brought: Brought, wanted: type[Any], what: str) -> Mapping[str, Any]:
    """Kinds of sources or rules, or sections, by name."""
    kinds: dict[str, Any] = {}
    called = what.replace("_", " ")
    for origin, values in brought:
        for value in values:
            if not isinstance(value, wanted):
                made = f"decorate the function with @{what}"
                raise PluginError(
                    f"plugin {origin} returned {value!r} from ireval_{what}s, which is no {called}: {made}"
                )
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
        raise PluginError(f"plugin {origin} returned {value!r} from ireval_readers, which is no Reader")
    if value.holds not in CONTENTS or not all(map(FORMAT_NAME.fullmatch, (value.name, *value.also))):
        raise PluginError(
            f"plugin {origin}: reader {value.name!r} holds {value.holds!r}; "
            f"a reader holds one of {', '.join(CONTENTS)}, and its name is lower-case letters, digits and hyphens"
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
            f"plugin {origin} returned {value!r} from ireval_metrics, which is no metric: "
            "decorate the function with @per_query_metric or @metric"
        )
    return altered(value, origin=str(origin))


def _claim(metric: Metric, claims: dict[str, tuple[str, Metric]]) -> None:
    """Take a metric's names; names that differ in letter case only are one name."""
    for name in (metric.name, *metric.spellings):
        other_name, other = claims.setdefault(name.lower(), (name, metric))
        if other is not metric:
            case = "" if other_name == name else f" (the first writes it {other_name!r}; letter case does not count)"
            raise PluginError(
                f"metric name {name!r} is claimed twice{case}: "
                f"by {other.name} of {other.origin} and by {metric.name} of {metric.origin}"
            )
