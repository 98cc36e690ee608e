"""A suite as everything below the faces sees it: typed, complete, and sure where each part was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.kinds import Part, RuleKind, SourceKind
from pytest_ireval.results.evaluation import Policies


class Place(NamedTuple):
    """Where something stands; ``file`` as messages show it."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class FileAsked:
    """A file that a suite names."""

    path: Path
    """Absolute; what the suite says is relative to the file it is written in."""
    place: Place
    format: str | None = None
    """None: recognised by its content."""


@dataclass(frozen=True)
class JudgmentsAsked:
    """Which judgments count, and how."""

    file: FileAsked
    relevant_from: float | None = None
    """The lowest relevant grade for metrics that have no ``rel`` of their own; None: what each metric says."""
    scale: Mapping[float, str] = field(default_factory=dict)
    """Labels of grades; empty: none were given."""
    lock: bool = False
    """Whether judgments that differ from those of the baseline are an error."""


@dataclass(frozen=True)
class DocumentsAsked:
    """What is said about documents."""

    aliases: FileAsked | None = None
    """A table from, to: ids that have other names now."""
    collapse: FileAsked | None = None
    """A table document, group: variants of which only the first of a ranking counts."""
    size: int | None = None
    """How many documents there are to find."""
    texts: FileAsked | None = None
    """A file of titles and other fields of documents."""
    pictures: bool = False
    """True if pages show their pictures."""


@dataclass(frozen=True)
class SourceAsked:
    """A source with its options."""

    kind: SourceKind
    options: Any
    """An instance of ``kind.options``; paths in it are absolute."""
    place: Place

    @property
    def repeat(self) -> int:
        """How often it is asked."""
        return int(self.options.repeat)


@dataclass(frozen=True)
class PopulationAsked:
    """What the queries of a suite were drawn from."""

    place: Place
    strata: str = ""
    """The column of the queries that has the stratum of each."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """By stratum, its share of the population; empty: the sizes say it."""
    size: int | None = None
    """How many queries the whole population has."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The same by stratum."""


@dataclass(frozen=True)
class RuleAsked:
    """A rule with its options."""

    kind: RuleKind
    options: Any
    """An instance of ``kind.options``, which has ``name``, ``where``, ``per`` and what else every rule takes."""
    place: Place
    """The line of the rule's key."""
    parts: tuple[Part, ...]
    places: tuple[Place, ...]
    """Where each part stands."""


@dataclass(frozen=True)
class Waiver:
    """A query that no comparison counts until a day."""

    query: str
    until: date
    reason: str
    place: Place


class Pattern(NamedTuple):
    """Paths of files."""

    base: Path
    """Absolute, without wildcards."""
    wild: tuple[str, ...]
    """What may lie below it, folder by folder, with wildcards; ``**`` is any number of folders, none too."""


@dataclass(frozen=True)
class Watch:
    """Files whose change concerns a suite, or some of them that do not."""

    text: str
    """As it is written."""
    place: Place
    pattern: Pattern
    excludes: bool = False


@dataclass(frozen=True)
class Suite:
    """Everything a suite file asks for."""

    name: str
    """Unique in a run; with a matrix it ends in the values, as ``shop.de``."""
    path: Path
    """The file, absolute."""
    shown: str
    """The file as messages show it: relative to where the run began, if it lies there."""
    place: Place
    values: Mapping[str, str] = field(default_factory=dict)
    """Of the matrix; empty without one."""
    owner: str = ""
    tags: tuple[str, ...] = ()
    source: SourceAsked | None = None
    queries: FileAsked | None = None
    weight: str = ""
    """The column of the queries that says how much traffic each stands for."""
    cluster: str = ""
    """The column of the queries whose equal values are variants of one intent."""
    population: PopulationAsked | None = None
    """What the queries were drawn from; None: unknown."""
    judgments: JudgmentsAsked | None = None
    documents: DocumentsAsked = DocumentsAsked()
    metrics: tuple[Metric, ...] = ()
    """Those listed, then those that rules add, each once; ``relevant_from`` is not applied to them."""
    policies: Policies = field(default_factory=lambda: Policies("trec", "error", "zero", "irrelevant", depth=100))
    rules: tuple[RuleAsked, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    longest_waiver: int = 365
    """How many days a waiver may last."""
    nothing_judged: Literal["fail", "pass"] = "fail"
    """What becomes of the suite where no rule judges anything."""
    files: tuple[Path, ...] = ()
    """All YAML files that were read for it."""
    watches: tuple[Watch, ...] = ()
    """Empty: nobody said what it depends on."""
    weight_place: Place | None = None
    """Where ``weight`` stands, if it was given."""
    cluster_place: Place | None = None
    """Where ``cluster`` stands, if it was given."""

    @property
    def depth(self) -> int:
        """How many documents of each ranking count."""
        return self.policies.depth or 100

    @property
    def baselines(self) -> Path:
        """The folder in which its baseline lies."""
        return self.path.parent / "baselines"

    def columns(self) -> Iterator[str]:
        """Columns of the queries that rules, weights, clusters and strata name."""
        for asked in self.rules:
            yield from asked.options.where
            if asked.options.per:
                yield asked.options.per
        strata = self.population.strata if self.population else ""
        yield from (column for column in (self.weight, self.cluster, strata) if column)
