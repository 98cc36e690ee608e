"""The results of an evaluation: plain frozen values that faces and reports show, and that survive JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from typing import Any, Literal

from pytest_ireval.errors import InputError
from pytest_ireval.results.policies import Policies
from pytest_ireval.words import describe_contradicted_ranks, format_count, pluralize

Library = Literal["pandas", "polars"]


class InNotebook:
    """A result that a notebook draws; a face that knows all results does it, and is imported only then."""

    def _repr_html_(self) -> str:
        return str(import_module("pytest_ireval.notebooks").render_html(self))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """The HTML, and the text of the command line for places that show none; IPython asks for this first."""
        return {
            "text/html": self._repr_html_(),
            "text/plain": import_module("pytest_ireval.notebooks").render_text(self),
        }

    def to_frame(self, library: Library | None = None) -> Any:
        """A data frame with a row for each query (of an explanation: for each document).

        It is one of pandas or, where that is not installed, of polars, unless ``library`` names one.
        """
        return import_module("pytest_ireval.notebooks").make_frame(self, library)


FORMAT = 1
"""The version of the JSON form; a reader refuses another one."""

UNITS = ("query", "session", "run")


@dataclass
class MetricResult:
    """One metric over all queries (or sessions, or the run as one)."""

    name: str
    """The canonical name."""
    mean: float | None
    """The arithmetic mean over the counted units; None if none counts."""
    aggregate: str
    """The kind of ``value``: ``mean``, ``sum``, …"""
    value: float | None
    """The figure of that kind."""
    direction: str
    unit: str
    values: Mapping[str, float]
    """The value of every counted unit."""
    no_relevant: int
    """The number of queries without relevant documents, counted or not."""
    version: int
    origin: str
    notes: tuple[str, ...] = ()
    """Sentences about queries without a value, and about what the metric left out."""


@dataclass
class Evaluation(InNotebook):
    """Metrics of one set of rankings under one set of judgments.

    >>> from pytest_ireval import evaluate
    >>> evaluation = evaluate({"mug": {"a": 1}, "cup": {"b": 1}}, {"mug": ["a"], "cup": ["x", "b"]}, ["RR", "AP"])
    >>> [metric.name for metric in evaluation.metrics], evaluation["RR"].values
    (['RR', 'AP'], {'mug': 1.0, 'cup': 0.5})
    """

    metrics: tuple[MetricResult, ...]
    queries: int
    """The number of judged queries."""
    missing: tuple[str, ...]
    """Judged queries that have no ranking."""
    empty: tuple[str, ...]
    """Judged queries whose ranking is empty."""
    without_judgments: tuple[str, ...]
    """Ranked queries that have no judgments; they do not count."""
    tied: int
    """Queries in which a judged document has the score of another one, as far down as the metrics look."""
    highest_grade: float
    """The highest grade of the whole judgments; the top of the scale, unless ``policies.scale`` gives another."""
    policies: Policies
    judgments: str
    rankings: str
    plugins: tuple[str, ...]
    collection: int | None = None
    """The number of documents in the collection, if it was given."""
    asked: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """The names by which single metrics were asked for, with their canonical names; not part of the JSON form."""
    contradicted: int = 0
    """Queries, judged or not, whose ranks in the file contradict their scores; the scores count."""

    def __getitem__(self, name: str) -> MetricResult:
        """The result of the metric with this canonical name, or that was asked for by this name."""
        for metric in self.metrics:
            if metric.name in (name, self.asked.get(name)):
                return metric
        raise KeyError(f"{name!r}; evaluated: {', '.join(metric.name for metric in self.metrics)}")

    def to_dict(self, *, per_query: bool = True) -> dict[str, Any]:
        """The JSON form."""
        return {
            "format": FORMAT,
            "judgments": self.judgments,
            "rankings": self.rankings,
            "metrics": {metric.name: _metric_to_dict(metric, per_query) for metric in self.metrics},
            "queries": self.queries,
            "missing": list(self.missing),
            "empty": list(self.empty),
            "without_judgments": list(self.without_judgments),
            "tied": self.tied,
            "contradicted": self.contradicted,
            "highest_grade": self.highest_grade,
            "policies": asdict(self.policies),
            "collection": self.collection,
            "plugins": list(self.plugins),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evaluation:
        """The value that :meth:`to_dict` wrote."""
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            found = f"format {data.get('format')!r}" if isinstance(data, Mapping) else type(data).__name__
            raise InputError(f"{found} is not an evaluation that this version can read; it reads format {FORMAT}")
        scalars = ("queries", "tied", "contradicted", "highest_grade", "judgments", "rankings", "collection")
        plain: dict[str, Any] = {key: data[key] for key in scalars}
        plain |= {key: tuple(data[key]) for key in ("missing", "empty", "without_judgments", "plugins")}
        metrics = tuple(_metric_from_dict(name, entry) for name, entry in data["metrics"].items())
        return cls(metrics=metrics, policies=Policies(**data["policies"]), **plain)


def describe_ties(tied: int, policies: Policies) -> str:
    """The number of queries whose figures the order of equal scores may decide, and that order; empty without any."""
    if not tied:
        return ""
    verb = "has" if tied == 1 else "have"
    order = "by document id, descending" if policies.ties == "trec" else "as in the input"
    said = f"{format_count(tied, 'query')} {verb} equal scores at a judged document"
    return f"{said}, ordered {order} (ties: {policies.ties})"


def describe_contradicted(evaluation: Evaluation) -> str:
    """The number of queries whose ranks contradict their scores; empty without any."""
    ranked = evaluation.queries - len(evaluation.missing) + len(evaluation.without_judgments)
    return describe_contradicted_ranks(evaluation.contradicted, ranked)


def _metric_to_dict(metric: MetricResult, per_query: bool) -> dict[str, Any]:
    entry = {each.name: getattr(metric, each.name) for each in fields(metric)}
    name_of_values = pluralize(metric.unit)
    del entry["name"], entry["values"]
    entry["notes"] = list(metric.notes)
    return {**entry, name_of_values: dict(metric.values)} if per_query else entry


def _metric_from_dict(name: str, entry: Mapping[str, Any]) -> MetricResult:
    known = {each.name: entry[each.name] for each in fields(MetricResult) if each.name in entry}
    values = entry.get(pluralize(entry["unit"]), {})
    notes = tuple(entry.get("notes", ()))
    return MetricResult(**{**known, "name": name, "values": values, "notes": notes})
