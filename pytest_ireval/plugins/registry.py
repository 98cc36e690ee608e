"""Everything plugins brought, by name: the plain value that the rest of the house is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from pytest_ireval.errors import MetricNameError, PluginError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.names import Vocabulary


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from. ``name`` is its entry point, or the path of a conftest.py."""

    name: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip() or self.name


@dataclass(frozen=True)
class Registry:
    """What can be named in a suite or on the command line."""

    metrics: dict[str, Metric] = field(default_factory=dict)
    plugins: tuple[Origin, ...] = ()

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
                found = [text] if isinstance(text, Metric) else self.vocabulary.parse(text)
            except MetricNameError as error:
                problems.extend(error.problems)
            else:
                parsed.update((str(metric), metric) for metric in found)
        if problems:
            raise MetricNameError(*problems)
        return list(parsed.values())


def registered(brought: Iterable[tuple[Origin, Iterable[object]]], plugins: Iterable[Origin]) -> Registry:
    """A registry of the metrics that each plugin brought; every name may be claimed once."""
    metrics: dict[str, Metric] = {}
    claims: dict[str, tuple[str, Metric]] = {}
    for origin, values in brought:
        for value in values:
            metric = _metric(value, origin)
            _claim(metric, claims)
            metrics[metric.name] = metric
    return Registry(metrics, tuple(plugins))


def _metric(value: object, origin: Origin) -> Metric:
    if not isinstance(value, Metric):
        raise PluginError(
            f"plugin {origin} returned {value!r} from ireval_metrics, which is no metric: "
            "decorate the function with @per_query_metric or @metric"
        )
    return replace(value, origin=str(origin))


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
