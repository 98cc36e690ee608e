"""What is different from the baseline: rankings, judgments, queries, metrics, source; and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class JudgmentEdit:
    """A judgment that is not what it was; None where there is none."""

    query: str
    document: str
    before: float | None
    now: float | None


@dataclass(frozen=True)
class Restated:
    """What a metric says of the baseline itself: when it was accepted, and under the judgments of now."""

    then: float | None
    now: float | None


@dataclass(frozen=True)
class Cause:
    """What changed since the baseline was accepted."""

    rankings: int = 0
    """Queries whose ranking is another one."""
    compared: int = 0
    """Queries that have a ranking on both sides."""
    judgments: int = 0
    """Queries whose judgments are others."""
    edits: tuple[JudgmentEdit, ...] = ()
    """The judgments that changed, as far as they can be named: the first hundred."""
    edited: int | None = None
    """How many judgments changed; None where the baseline does not keep them."""
    restated: Mapping[str, Restated] = field(default_factory=dict)
    """Metrics whose figure of the baseline itself is not what it was."""
    added: tuple[str, ...] = ()
    """Queries that are new since the baseline."""
    removed: tuple[str, ...] = ()
    """Queries of the baseline that are gone."""
    queries: bool = False
    """Whether the queries file says something else (texts, columns, other queries)."""
    metrics: tuple[str, ...] = ()
    """Metrics whose definition is another one."""
    source: bool = False
    """Whether the source is described in other words."""
    policies: bool = False
    """Whether queries are evaluated under other policies."""

    @property
    def nothing(self) -> bool:
        """Whether everything is as it was."""
        return self == Cause(compared=self.compared)
