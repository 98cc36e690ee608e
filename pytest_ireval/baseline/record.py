"""The content of a baseline: rankings, judgments and figures as they were accepted, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple

from pytest_ireval.baseline.index_facts import NO_INDEX, NOTHING, IndexFacts
from pytest_ireval.data.rankings import Rankings

DIGITS = 6
"""Significant digits that are kept of spreads and steps: plans made with them are rough."""
WHOLE = "all"
"""The slice of all queries."""

Grades = Mapping[str, Mapping[str, float]]
"""By query and document."""


class Step(NamedTuple):
    """The change by an acceptance, for a mean that a rule compares with the anchor."""

    change: float
    """Of the mean, compared with the baseline that was replaced; in the metric's own direction."""
    spread: float
    """The standard deviation of the queries' differences to that baseline; 0 where nothing moved."""
    from_anchor: float
    """The standard deviation of the queries' differences to the anchor."""


Spreads = Mapping[str, float]
"""Standard deviations of the differences, by metric and slice."""
StepsOfMetrics = Mapping[str, Step]
"""By metric and slice."""


def spread_key(metric: str, within: str) -> str:
    """``nDCG@10`` of all queries, ``nDCG@10 segment=tail`` of a slice."""
    return metric if within == WHOLE else f"{metric} {within}"


def round_spreads(spreads: Iterable[tuple[str, float]]) -> Spreads:
    """Round the spreads, and leave out those that are 0: nothing moved there."""
    return {key: _round(spread) for key, spread in spreads if isfinite(spread) and spread > 0}


def round_steps(steps: Iterable[tuple[str, Step]]) -> StepsOfMetrics:
    """Round the steps; a step with a figure that is not a number is left out."""
    return {key: Step(*map(_round, step)) for key, step in steps if all(map(isfinite, step))}


def _round(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


class Acceptance(NamedTuple):
    """The acceptance of rankings as the baseline."""

    date: str
    """ISO 8601, in UTC, to the second."""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    reason: str = ""
    forced: bool = False
    figures: Mapping[str, float] = NOTHING
    """The figure of each metric that was accepted."""
    spreads: Spreads = NOTHING
    """Of the differences to the baseline that it replaced; none for a first one, or if no value moved."""
    steps: StepsOfMetrics = NOTHING
    """Of each mean that a rule compares with the anchor; none without an anchor or without such a rule."""


class StoredMetric(NamedTuple):
    """A metric as it was when the baseline was accepted: a cache, for naming causes."""

    version: int
    origin: str
    """The distribution, without its version, or the conftest.py."""
    value: float | None
    """Its figure over all queries."""
    values: Mapping[str, float]
    """By query (or session)."""
    definition: str = ""
    """What decides which values are better, in words."""


class Fingerprints(NamedTuple):
    """One for each input that may change apart from the rankings; empty where there is no such input."""

    queries: str = ""
    judgments: str = ""
    source: str = ""
    policies: str = ""
    documents: str = ""
    """The key that defines which documents count, as it is written: spans."""
    side_files: str = ""
    """Other files that values depend on: aliases, groups of variants, preferences."""


class JudgmentPrints(NamedTuple):
    """Judgments as a baseline keeps them."""

    whole: str = ""
    """A fingerprint of all judgments."""
    grades_of: Mapping[str, str] = NOTHING
    """A fingerprint of each query's judgments."""
    grades: Grades | None = None
    """The grades themselves; None where there are too many to keep, or none."""
    judges: Mapping[str, int] = NOTHING
    """The number of judgments of each judge, such as a model with its prompt; empty where the file names none."""


NO_JUDGMENTS = JudgmentPrints()


@dataclass(frozen=True)
class Search:
    """How the rankings were made, as far as a baseline keeps it."""

    source: str = ""
    """The name of the source."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """Its options, without secrets; that of its name is the first."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Fingerprints of its own files, by their paths from the suite: the module of a function, a script."""
    index: IndexFacts = NO_INDEX
    """The facts of the searched index, if the source reported some."""


NO_SEARCH = Search()


@dataclass(eq=False)
class Baseline:
    """One suite's baseline."""

    suite: str
    depth: int
    rankings: tuple[Rankings, ...]
    """One, or one for each asking of a source that is asked several times. Documents in their final order, with the
    timings and fields that metrics of the suite use."""
    scored: bool = False
    """Scores are kept; without them the score of a document is minus its position."""
    metrics: Mapping[str, StoredMetric] = field(default_factory=dict)
    """By canonical name."""
    judgments: JudgmentPrints = NO_JUDGMENTS
    fingerprints: Fingerprints = field(default_factory=Fingerprints)
    search: Search = NO_SEARCH
    waived: tuple[str, ...] = ()
    """Queries that were waived: their rankings and values are those of an earlier acceptance."""
    plugins: tuple[str, ...] = ()
    """Distributions with versions."""
    acceptances: tuple[Acceptance, ...] = ()
    """The oldest first."""

    @property
    def accepted(self) -> Acceptance:
        """The last acceptance."""
        return self.acceptances[-1]

    @property
    def fields(self) -> Mapping[str, Mapping[str, Any]]:
        """The fields of documents, by document."""
        return self.rankings[0].fields or {}

    @property
    def timings(self) -> Mapping[str, Sequence[float | None]]:
        """The seconds of each query in each asking; None in an asking without an answer."""
        askings = [rankings.timings or {} for rankings in self.rankings]
        return {query: [times.get(query) for times in askings] for times in askings for query in times}


def list_acceptances_since(anchor: Baseline, stored: Baseline) -> tuple[Acceptance, ...]:
    """The acceptances of the baseline that the anchor lacks, the oldest first.

    After a merge the baseline may lack acceptances that the anchor has: one side was kept, and the other was accepted
    once more. The acceptances of the kept side led away from the anchor.
    """
    return tuple(acceptance for acceptance in stored.acceptances if acceptance not in anchor.acceptances)


def describe_anchor(anchoring: Acceptance) -> str:
    """``the anchor of 2026-03-01 (release 4.2)``."""
    return f"the anchor of {anchoring.date[:10]}{f' ({anchoring.reason})' if anchoring.reason else ''}"
