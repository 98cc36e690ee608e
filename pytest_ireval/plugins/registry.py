"""Everything that plugins bring, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from pytest_ireval.data.formats.reader import Reader
from pytest_ireval.errors import MetricError, MetricNameError, PluginError, Problem
from pytest_ireval.metrics.catalog import MetricCatalog
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary
from pytest_ireval.plugins.by_name import HookResults, Origin, Thing, build_vocabulary, index_kinds, index_readers
from pytest_ireval.plugins.hookspecs import ReportSection
from pytest_ireval.plugins.plugin_types import DiagnosisKind, Kinds, RuleKind, SourceKind, refuse_wrong_defaults


class Hooks(Protocol):
    """The hooks of some plugins."""

    def call(self, hook: str) -> HookResults:
        """What each plugin returns from a hook."""

    def load_plugins_of_suites(self) -> None:
        """Import the plugins that only suites need; their sources, rules and diagnoses are known from then on."""


class GivenHooks:
    """Results in place of plugins: ``GivenHooks(ireval_metrics=[(origin, metrics)])``."""

    def __init__(self, **results: HookResults) -> None:
        self.results = results

    def call(self, hook: str) -> HookResults:
        return self.results.get(hook, ())

    def load_plugins_of_suites(self) -> None:
        """All results are there."""


@dataclass(eq=False)
class Registry:
    """Everything that can be named in a suite or on the command line."""

    vocabulary: Vocabulary
    """The metrics by every name they answer to."""
    readers: tuple[Reader, ...] = ()
    plugins: tuple[Origin, ...] = ()
    sections: Mapping[str, ReportSection] = field(default_factory=dict)
    """Sections of the report, by name."""
    without: tuple[Origin, ...] = ()
    """Plugins that were left out by name."""
    broken: Sequence[str] = ()
    """Plugins that could not be loaded, each with the reason; only in a registry for commands that look."""
    hooks: Hooks = field(default_factory=GivenHooks)
    known_kinds: Kinds | None = None
    """In place of what the hooks return."""
    shares_kinds_with: Registry | None = None

    @cached_property
    def _kinds(self) -> Kinds:
        """Options are models of suites, which take time to load; only commands that read suites need them."""
        if self.shares_kinds_with is not None:
            return self.shares_kinds_with._kinds
        if self.known_kinds is not None:
            return self.known_kinds
        self.hooks.load_plugins_of_suites()
        sources = index_kinds(self.hooks.call("ireval_sources"), SourceKind, "source", "ireval_sources")
        rules = index_kinds(self.hooks.call("ireval_rules"), RuleKind, "rule", "ireval_rules")
        diagnoses = index_kinds(self.hooks.call("ireval_diagnoses"), DiagnosisKind, "diagnosis", "ireval_diagnoses")
        refuse_wrong_defaults([*sources.brought, *rules.brought], Registry(self.vocabulary))
        return Kinds(sources, rules, diagnoses)

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

    @property
    def metrics(self) -> MetricCatalog:
        """The metrics by name."""
        return self.vocabulary.metrics

    def collect(self, hook: str, kind: type[Thing], made_by: str) -> Mapping[str, Thing]:
        """What plugins return from a hook of :func:`~pytest_ireval.plugins.hookspecs.ireval_hookspecs`, by name.

        ``kind`` is a dataclass with the fields ``name`` and ``origin`` and the property ``source``; ``made_by`` is the
        decorator that makes it. Names are claimed as those of rules are: two plugins with one name are an error, and
        ``acme:fresh`` tells those of two distributions apart.
        """
        return index_kinds(self.hooks.call(hook), kind, made_by, hook)

    def parse_metrics(self, texts: Iterable[str | Metric]) -> list[Metric]:
        """The metrics that texts name, each once, in order; raises MetricNameError with all problems."""
        parsed: dict[str, Metric] = {}
        problems: list[Problem] = []
        for text in texts:
            try:
                metrics = self.vocabulary.parse(text) if isinstance(text, str) else [self._check_unregistered(text)]
            except MetricNameError as error:
                problems.extend(error.problems)
                continue
            for metric in metrics:
                _refuse_another(parsed.setdefault(str(metric), metric), metric)
        if problems:
            raise MetricNameError(*problems)
        if not parsed:
            raise MetricNameError("no metric was requested")
        return list(parsed.values())

    def in_dialect(self, dialect: str | None) -> Registry:
        """The same with names of metrics as another package means them; itself without a dialect."""
        if not dialect:
            return self
        return replace(self, vocabulary=replace(self.vocabulary, dialect=dialect), shares_kinds_with=self)

    def _check_unregistered(self, value: object) -> Metric:
        """A metric that is used without being registered; its name must not be that of another."""
        if not isinstance(value, Metric):
            suggestion = "decorate the function with @per_query_metric or @metric"
            raise MetricError(f"{value!r} is neither a metric nor the name of one: {suggestion}")
        if meaning := self.vocabulary.meaning(value.name):
            _refuse_another(meaning[0], value)
        return value


def _refuse_another(metric: Metric, other: Metric) -> None:
    """Two metrics of one name are an error, never an override."""
    if metric.batch is not other.batch:
        by = f"by {metric.name} of {metric.source} and by {other.name} of {other.source}"
        raise PluginError(f"metric name {other.name!r} is claimed twice: {by}")


def build_registry(
    hooks: Hooks,
    plugins: Iterable[Origin] = (),
    *,
    without: Iterable[Origin] = (),
    broken: Sequence[str] = (),
    missing: Iterable[str] = (),
) -> Registry:
    """Build a registry of what plugins bring; every name may be claimed once by a distribution.

    ``missing`` are packages of this distribution that are not there.
    """
    vocabulary = build_vocabulary(
        hooks.call("ireval_metrics"), hooks.call("ireval_resolve_metric"), lambda: hooks.call("ireval_names_elsewhere")
    )
    return Registry(
        replace(vocabulary, missing=tuple(missing)),
        index_readers(hooks.call("ireval_readers")),
        tuple(plugins),
        index_kinds(hooks.call("ireval_report_sections"), ReportSection, "report_section", "ireval_report_sections"),
        tuple(without),
        broken,
        hooks,
    )
