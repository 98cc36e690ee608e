"""A suite after it was read: typed, complete, each part with its place in the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_ireval.errors import Problem, SuiteError
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.plugin_types import Part, RuleKind, SourceKind
from pytest_ireval.results.policies import Policies

if TYPE_CHECKING:
    from pytest_ireval.suite.options import RuleTraits
    from pytest_ireval.suite.suite_keys import DocumentsKeys, JudgmentsKeys, QueriesKeys

OFFLINE = "IREVAL_OFFLINE"
"""The variable with which no system is asked: answers come from recordings alone."""


class Place(NamedTuple):
    """A place in a file; ``file`` as messages show it."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass
class FileSpec:
    """A file that a suite names."""

    path: Path
    """Absolute; the suite writes it relative to its file."""
    place: Place = field(compare=False)


@dataclass
class SourceSpec:
    """A source with its options."""

    kind: SourceKind
    options: Any
    """An instance of ``kind.options``, with absolute paths."""
    place: Place
    public_texts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """The texts of the suite, in which variables that may hold a secret are names, as ``${TOKEN}``."""

    @property
    def repeat(self) -> int:
        """The number of times that it is asked."""
        return int(self.options.repeat)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of its answers, in order; the last is the ranking. Empty where it tells none."""
        return tuple(getattr(self.options, "stages", ()))


@dataclass(frozen=True)
class Reference:
    """The reference of a rule: the stored baseline, the anchor, or the answer of a source."""

    source: SourceSpec | None = None
    anchored: bool = False
    """True for the anchor, which does not move with each acceptance."""

    @property
    def stored(self) -> bool:
        """True for the stored baseline."""
        return self.source is None and not self.anchored


STORED = Reference()
ANCHOR = Reference(anchored=True)


@dataclass
class RuleSpec:
    """A rule with its options."""

    kind: RuleKind
    options: Any
    """An instance of ``kind.options``, with ``name``, ``where``, ``per`` and the other options of every rule."""
    place: Place
    """The line of the rule's key."""
    parts: tuple[Part, ...]
    places: tuple[Place, ...]
    """The place of each part."""
    index: int = 0
    """Its place among the rules of its suite: two of them may be equal in all else."""

    @cached_property
    def traits(self) -> RuleTraits:
        """The traits of its options, which each step of a gate asks for."""
        traits: RuleTraits = self.options.traits
        return traits

    @property
    def compares(self) -> bool:
        """True if it looks at a baseline: its options say so, or all its metrics compare two lists."""
        return self.options.compares or self.compares_lists

    @property
    def compares_lists(self) -> bool:
        """True if it compares lists of documents, not values of a metric."""
        if self.options.compares:
            return bool(self.options.compares_lists)
        metrics = [part.metric for part in self.parts]
        return bool(metrics) and all(metric is not None and metric.compares_lists for metric in metrics)

    def only_warns(self, metric: Metric | None) -> bool:
        """Tell whether a failure of a metric is a warning: the rule says so, or says nothing and it measures time."""
        timed = metric is not None and "timings" in metric.needs
        return self.options.on_fail == "warn" or (timed and "on_fail" not in self.options.model_fields_set)


@dataclass
class Waiver:
    """A query that comparisons leave out until a day."""

    query: str
    until: date
    reason: str
    place: Place


@dataclass
class Component:
    """A part of the search, with the patch that switches it off."""

    name: str
    place: Place
    source: SourceSpec
    """The source of the suite with the patch."""
    environment: Mapping[str, str]
    """The variables of the patch."""
    new_keys: tuple[str, ...] = ()
    """The paths of the patch that the source does not have."""


class Pattern(NamedTuple):
    """Paths of files."""

    base: Path
    """Absolute, without wildcards."""
    wild: tuple[str, ...]
    """The names below it, folder by folder, with wildcards; ``**`` is any number of folders, or none."""


@dataclass
class Watch:
    """Files whose change concerns a suite, or exceptions from them."""

    text: str
    """The glob as it is written."""
    place: Place
    pattern: Pattern
    excludes: bool = False


@dataclass
class Suite:
    """Everything that a suite file asks for."""

    name: str
    """Unique in a run; with a matrix it ends in the values, as ``shop.de``."""
    path: Path
    """The file, absolute."""
    shown: str
    """The file as messages show it: relative to the folder of the run, if it is inside."""
    place: Place
    documents: DocumentsKeys
    values: Mapping[str, str] = field(default_factory=dict)
    """Names and values of the matrix; empty without a matrix."""
    owner: str = ""
    tags: tuple[str, ...] = ()
    source: SourceSpec | None = None
    queries: QueriesKeys | None = None
    weight: str = ""
    """The column of the queries with the traffic of each query."""
    cluster: str = ""
    """The column of the queries whose equal values are variants of one intent."""
    judgments: JudgmentsKeys | None = None
    metrics: tuple[Metric, ...] = ()
    """The listed metrics, then those of the rules, each once; ``relevant_from`` is not applied to them."""
    policies: Policies = field(default_factory=lambda: Policies(depth=100))
    rules: tuple[RuleSpec, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    files: tuple[Path, ...] = ()
    """All YAML files of the suite, then its tables of expectations."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The environment variables that its files name and that are set; ``…`` in place of values that may be secret."""
    components: tuple[Component, ...] = ()
    watches: tuple[Watch, ...] = ()
    """Empty if the suite does not name the files that it depends on."""
    weight_place: Place | None = None
    """The place of ``weight``, if it was given."""
    cluster_place: Place | None = None
    """The place of ``cluster``, if it was given."""
    compress_baseline: bool = False
    """True if its baseline is packed by gzip."""

    def with_judgments(self, file: Path) -> Suite:
        """The same under the judgments of a file that ``write_judgments`` wrote as JSON lines, fractions included."""
        if self.judgments is None:
            raise SuiteError(Problem("has no judgments", str(self.place)))
        changed = {"file": replace(self.judgments.file, path=file), "format": "jsonl", "lock": False}
        judgments = self.judgments.model_copy(update=changed)
        return replace(self, judgments=judgments, policies=replace(self.policies, grades="float"))

    @property
    def depth(self) -> int:
        """The number of documents of each ranking that count."""
        return self.policies.depth or 100

    def stages_of(self, metric: Metric | None = None) -> tuple[str, ...]:
        """The stages of the answers of its source, down to the one that a metric is about."""
        stages = () if self.source is None else self.source.stages
        return stages[: stages.index(metric.stage) + 1] if metric is not None and metric.stage else stages

    @property
    def baselines(self) -> Path:
        """The folder of its baseline."""
        return self.path.parent / "baselines"

    def columns(self) -> Iterator[str]:
        """Columns of the queries that rules, weights and clusters name."""
        for asked in self.rules:
            yield from asked.options.where
            yield from (column for part in asked.parts for column in part.where)
            if asked.options.per:
                yield asked.options.per
        yield from (column for column in (self.weight, self.cluster) if column)
