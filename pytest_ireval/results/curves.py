"""What charts show of a suite, as numbers: recall and precision, how values are spread, what earlier runs came to."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_ireval.results.outcome import Verdict


@dataclass(frozen=True)
class RecallPrecision:
    """How precision falls while recall rises."""

    levels: tuple[float, ...]
    """Interpolated precision at recall 0, 0.1 … 1: the best precision at that recall or any higher one."""
    r_precision: float | None = None
    """Precision at the rank that equals the number of relevant documents, where it equals recall. The line from (0, 1)
    over (r, r) to (1, 0) is what this one number says of the whole curve."""


@dataclass(frozen=True)
class SliceCurves:
    """The mean of such curves over the queries of a slice that count, and on both sides have relevant documents."""

    slice: str
    queries: int
    now: RecallPrecision
    baseline: RecallPrecision | None = None


@dataclass(frozen=True)
class QueryCurve:
    """The curve of one ranking of one query."""

    recall: tuple[float, ...]
    """At each relevant document that was found, the best rank first."""
    precision: tuple[float, ...]
    """At the same documents, not interpolated."""
    interpolated: RecallPrecision


@dataclass(frozen=True)
class Distribution:
    """How the values of a metric are spread: how many queries fall between two edges."""

    metric: str
    edges: tuple[float, ...]
    """One more than there are counts. A value on an edge counts to the right of it, one on the last to its left."""
    now: tuple[int, ...]
    baseline: tuple[int, ...] = ()
    """Of the same queries; empty without a baseline."""


@dataclass(frozen=True)
class TrendPoint:
    """What one run measured."""

    date: str
    """ISO 8601 in UTC."""
    value: float
    verdict: Verdict | None = None
    """Of the rules about it; None: there was none, or only git tells of it."""
    commit: str = ""
    accepted: bool = False
    """Whether that run's figure became the baseline."""
    reason: str = ""
    """Why."""
    this: bool = False
    """Whether it is the run that the report is about."""


@dataclass(frozen=True)
class Trend:
    """One figure from run to run, the newest last."""

    metric: str
    slice: str
    points: tuple[TrendPoint, ...]


@dataclass(frozen=True)
class Accepted:
    """Somebody accepted a baseline, or pinned it as the anchor."""

    date: str
    commit: str = ""
    branch: str = ""
    dirty: bool = False
    reason: str = ""
    forced: bool = False
    anchor: bool = False
    """Whether it was pinned."""
