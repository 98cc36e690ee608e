"""What documents that nobody judged leave open: the same differences under other labels of theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.results.suite_result import ToJudge
from pytest_ireval.rules.side import Floats


class JudgedThere(NamedTuple):
    """Judged documents of both sides at the ranks where new unjudged ones stand now; arrays have an entry for each.

    ``place`` is the query's place among those of the suite, ``relevant`` whether judges found the document so; for
    metrics of grades, whether they gave it the top grade.
    """

    place: NDArray[np.int64]
    rank: NDArray[np.int64]
    relevant: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Unjudged:
    """One metric on both sides; arrays have an entry for each query of the suite, NaN where a side has no value.

    A document that is unjudged on both sides has the same label on both.
    """

    condensed_now: Floats
    """Values with the unjudged documents taken out of the rankings; NaN where that leaves nothing."""
    condensed_before: Floats
    worst: Floats
    """``now - before``, whatever the metric's direction, where labels are as bad for the change as can be."""
    best: Floats
    """The same where they are as good as can be."""
    exact: bool
    """Whether no labels give more or less than ``worst`` and ``best``."""
    error: str = ""
    """Why nothing can be said, the arrays being NaN: a metric that cannot be computed under labels that nobody gave."""
    documents: tuple[ToJudge, ...] = ()
    """Those whose judgment would move the metric's difference, the most influential first."""
    all_new: Floats | None = None
    """``now - before`` where the unjudged documents that the baseline does not list have the top label."""
    there: JudgedThere | None = None
    """What judges said of documents where those stand."""
    top_grade: float | None = None
    """The top label; None where relevant documents are all alike to the metric, or to the judges."""
