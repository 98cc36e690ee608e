"""What unjudged documents may do to the difference of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.statistics.differences import Floats


class JudgedPeers(NamedTuple):
    """Judged documents of both sides at the ranks of new unjudged ones; arrays have an entry for each.

    ``row`` is the query's row among those of the suite. ``relevant`` is true if judges found the document
    relevant; for metrics of grades, if they gave it the top grade.
    """

    row: NDArray[np.int64]
    rank: NDArray[np.int64]
    relevant: NDArray[np.bool_]


@dataclass(eq=False)
class UnjudgedEffect:
    """One metric on both sides; arrays have an entry for each query of the suite, NaN where a side has no value.

    A document that is unjudged on both sides has the same label on both.
    """

    condensed_current: Floats
    """Values with the unjudged documents taken out of the rankings; NaN where that leaves nothing."""
    condensed_baseline: Floats
    worst: Floats
    """``current - baseline``, whatever the metric's direction, with the worst labels for the change."""
    best: Floats
    """``current - baseline`` with the best labels for the change."""
    exact: bool
    """True if no labels give more or less than ``worst`` and ``best``; else these are approximate."""
    error: str = ""
    """The error of a metric that cannot be computed under other labels; the arrays are NaN then."""
    documents: tuple[ToJudge, ...] = ()
    """Those whose judgment would move the metric's difference, the most influential first."""
    all_new: Floats | None = None
    """``current - baseline`` where the unjudged documents that the baseline does not list have the top label."""
    peers: JudgedPeers | None = None
    top_grade: float | None = None
    """The top label; None where relevant documents are all alike to the metric, or to the judges."""
    below: int | None = None
    """Unjudged documents below this rank in both lists count as judged; None where there are none."""


class Effects(Protocol):
    """What judgments of unjudged documents could change in a comparison."""

    def measure(self, metric: Metric) -> UnjudgedEffect | None:
        """The effect on one metric; None where no label would matter."""


class NoEffects:
    """Nothing depends on unjudged documents, as where values were made without documents."""

    def measure(self, metric: Metric) -> UnjudgedEffect | None:  # noqa: ARG002 - whatever the metric is
        """Always None."""
        return None
