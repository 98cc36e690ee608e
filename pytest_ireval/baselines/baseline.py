"""What a baseline is: accepted rankings, the judgments they were accepted under, and what decided then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pytest_ireval.baselines.spreads import NO_SPREADS, NO_STEPS, Spreads, Steps
from pytest_ireval.retrieval.rankings import Rankings

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
    steps: Steps = NO_STEPS
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
