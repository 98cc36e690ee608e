"""What a baseline is: accepted rankings, the judgments they were accepted under, and what decided then."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pytest_ireval.retrieval.rankings import Rankings

DIGITS = 6
"""So many digits that matter are kept: what is planned with them is rough."""
LARGEST = 1e300
"""A text that says more says nothing."""
WHOLE = "all"
"""The slice of all queries."""


@dataclass(frozen=True)
class Spreads(Mapping[str, float]):
    """Standard deviations of the differences by metric and slice; a value that can be a key itself."""

    entries: tuple[tuple[str, float], ...] = ()
    """Sorted by name."""

    def __getitem__(self, key: str) -> float:
        for name, spread in self.entries:
            if name == key:
                return spread
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NO_SPREADS = Spreads()


def spread_key(metric: str, within: str) -> str:
    """``nDCG@10`` of all queries, ``nDCG@10 segment=tail`` of a slice."""
    return metric if within == WHOLE else f"{metric} {within}"


def spreads_of(found: Iterable[tuple[str, float]]) -> Spreads:
    """Rounded and sorted; where nothing moved there is nothing to know."""
    rounded = {key: float(f"{spread:.{DIGITS}g}") for key, spread in found if math.isfinite(spread) and spread > 0}
    return Spreads(tuple(sorted(rounded.items())))


def spreads_said(said: Any) -> Spreads:
    """What a file says, exactly; TypeError or ValueError where that is nothing of the kind."""
    if not isinstance(said, dict):
        raise TypeError("spreads are no mapping")
    for key, spread in said.items():
        if isinstance(spread, bool) or not isinstance(spread, (int, float)) or not 0 < spread <= LARGEST:
            raise ValueError(f"{spread!r} is no spread of {key!r}")
    return Spreads(tuple(sorted((key, float(spread)) for key, spread in said.items())))


class Step(NamedTuple):
    """What an acceptance moved, for a mean that a rule compares with the anchor."""

    change: float
    """Of the mean, against the baseline that was replaced; in the metric's own direction."""
    spread: float
    """The standard deviation of the queries' differences to that baseline; 0 where nothing moved."""
    from_anchor: float
    """The standard deviation of the queries' differences to the anchor."""


@dataclass(frozen=True)
class StepsOfMetrics(Mapping[str, Step]):
    """Steps by metric and slice; a value that can be a key itself."""

    entries: tuple[tuple[str, Step], ...] = ()
    """Sorted by name."""

    def __getitem__(self, key: str) -> Step:
        for name, step in self.entries:
            if name == key:
                return step
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NO_STEPS = StepsOfMetrics()


def steps_of_metrics(found: Iterable[tuple[str, Step]]) -> StepsOfMetrics:
    """Rounded and sorted; a step with a figure that is not a number is left out."""
    rounded = {
        key: Step(*(float(f"{each:.{DIGITS}g}") for each in step))
        for key, step in found
        if all(map(math.isfinite, step))
    }
    return StepsOfMetrics(tuple(sorted(rounded.items())))


def steps_said(said: Any) -> StepsOfMetrics:
    """The steps that a file holds; TypeError or ValueError where it holds something else."""
    if not isinstance(said, dict):
        raise TypeError("steps are no mapping")
    for key, step in said.items():
        if not isinstance(step, list) or len(step) != len(Step._fields) or not all(map(_is_number, step)):
            raise ValueError(f"{step!r} is no step of {key!r}")
        if min(step[1:]) < 0:
            raise ValueError(f"{step!r} of {key!r} has a negative spread")
    return StepsOfMetrics(tuple(sorted((key, Step(*map(float, step))) for key, step in said.items())))


def _is_number(said: Any) -> bool:
    return isinstance(said, (int, float)) and not isinstance(said, bool) and abs(said) <= LARGEST


FORMAT = 1
"""The version of its files; another one is an error that says so."""


class Acceptance(NamedTuple):
    """Somebody accepted these rankings."""

    date: str
    """ISO 8601, in UTC, to the second."""
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    reason: str = ""
    forced: bool = False
    spreads: Spreads = NO_SPREADS
    """Of the differences to the baseline that it replaced; none of a first one, or where no value moved."""
    steps: StepsOfMetrics = NO_STEPS
    """Of each mean that a rule compares with the anchor; none where there was no anchor, or no such rule."""


class StoredMetric(NamedTuple):
    """A metric as it was when the baseline was accepted: a cache, for naming causes."""

    version: int
    origin: str
    """The distribution, without its version, or the conftest.py."""
    value: float | None
    """Its figure over all queries."""
    values: Mapping[str, float]
    """By query (or session)."""


class Fingerprints(NamedTuple):
    """One for each thing that may change besides the rankings; empty where there is no such thing."""

    queries: str = ""
    judgments: str = ""
    source: str = ""
    policies: str = ""


NO_FINGERPRINTS = Fingerprints()


@dataclass(frozen=True, eq=False)
class Baseline:
    """One suite's baseline."""

    suite: str
    depth: int
    rankings: tuple[Rankings, ...]
    """One, or one for each asking of a source that is asked several times. Documents in their final order."""
    scored: bool = False
    """Whether scores are kept; without them the score of a document is minus its position."""
    metrics: Mapping[str, StoredMetric] = field(default_factory=dict)
    """By canonical name."""
    grades: Mapping[str, Mapping[str, float]] | None = None
    """The judgments by query and document; None where there are too many to keep, or none."""
    grades_of: Mapping[str, str] = field(default_factory=dict)
    """A fingerprint of each query's judgments."""
    fingerprints: Fingerprints = NO_FINGERPRINTS
    plugins: tuple[str, ...] = ()
    """Distributions with versions."""
    acceptances: tuple[Acceptance, ...] = ()
    """The oldest first."""

    @property
    def accepted(self) -> Acceptance:
        """The last acceptance."""
        return self.acceptances[-1]
