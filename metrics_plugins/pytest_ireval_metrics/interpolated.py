"""Interpolated precision: the best precision at or after a level of recall."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, condensed, metric
from pytest_ireval_metrics.gains import by_relevance
from pytest_ireval_metrics.recall_levels import LEVELS, needed_documents
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import JudgedOnly, Rel, Rounding

Floats = NDArray[np.floating[Any]]


def _interpolated_precision(judged: JudgedRankings, level: float, rel: float, rounding: str) -> Floats:
    """Per query, the highest precision where at least ``level`` of the relevant documents are found."""
    needed = needed_documents(level * judged.relevant_count(rel), rounding)
    relevant, so_far = judged.relevant(rel), judged.relevant_so_far(rel)
    reached = relevant & (so_far >= needed[judged.hits.query])
    best = np.zeros(judged.count)
    np.maximum.at(best, judged.hits.query[reached], so_far[reached] / judged.hits.rank[reached])
    return best


@metric(
    name="IPrec",
    tie_order=by_relevance,
    binary=True,
    at="recall",
    spellings={"iprec_at_recall_{recall}": {}},
    steps=steps_in("interpolation", "iprec_steps"),
)
def iprec(
    judged: JudgedRankings,
    *,
    recall: Annotated[float, Param("the level of recall", low=0, high=1)],
    rel: Rel = 1,
    rounding: Rounding = "nearest",
    judged_only: JudgedOnly = False,
) -> Floats:
    """The best precision at or after a level of recall; 0 if that recall is never reached.

    Formula: IPrec@r = max of P@rank(d) over relevant documents d retrieved with at least r R relevant ones up to them
    Reference: trec_eval 10 iprec_at_recall, where r R is rounded to the nearest whole number (version 9: mostly up).
    Example: IPrec@0.5 of 0 1 1 0 0 1 1 1 = 5/8 = 0.625
    """
    judged = condensed(judged) if judged_only else judged
    return _interpolated_precision(judged, recall, rel, rounding)


@metric(
    name="IPrecAvg",
    tie_order=by_relevance,
    binary=True,
    spellings={"11pt_avg": {}},
    steps=steps_in("interpolation", "iprec_average_steps"),
)
def iprec_average(
    judged: JudgedRankings, *, rel: Rel = 1, rounding: Rounding = "nearest", judged_only: JudgedOnly = False
) -> Floats:
    """Interpolated precision averaged over recall 0, 0.1, …, 1: the area under the eleven-point curve.

    Formula: IPrecAvg = (IPrec@0 + IPrec@0.1 + … + IPrec@1) / 11
    Reference: trec_eval 10 11pt_avg.
    Example: IPrecAvg of 0 1 1 0 0 1 1 1 0 0 = (5 * 2/3 + 6 * 5/8) / 11 = 0.6439
    """
    judged = condensed(judged) if judged_only else judged
    curve = [_interpolated_precision(judged, level, rel, rounding) for level in LEVELS]
    average: Floats = np.asarray(curve).mean(axis=0)
    return average


METRICS = [iprec, iprec_average]
