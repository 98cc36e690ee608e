"""Metrics that average what was collected against the best list over relevant documents: Q and AWP."""

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, condensed, metric, ratio
from pytest_ireval_metrics.average_precision import divisor_of
from pytest_ireval_metrics.blended_ratio import (
    best_of_relevant,
    best_so_far,
    blended_range,
    blended_ratio,
    collected,
    relevant_hits,
)
from pytest_ireval_metrics.gains import by_relevant_gain
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Denominator, Depth, Gains, JudgedOnly, Rel

Floats = NDArray[np.float64]


@metric(
    name="Q",
    tie_order=by_relevant_gain,
    steps=steps_in("blended_ratio", "q_steps"),
    range=blended_range,
    spellings={"Q_measure": {}, "QMeasure": {}},
)
def q_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Annotated[float, Param("how much grades count: 0 is average precision", low=0)] = 1,
    rel: Rel = 1,
    gains: Gains = None,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Average precision with a blended ratio in place of precision: documents found and their gain, against the best.

    Formula: Q = (1/R) sum over relevant retrieved d at rank r of (beta cg(r) + count(r)) / (beta cg*(r) + r)
    Reference: T. Sakai, On the reliability of information retrieval metrics based on graded relevance, IPM 43, 2007.
    Example: Q of 0 3 | 1 = ((3 + 1) / (4 + 2)) / 2 = 0.3333
    """
    judged = condensed(judged) if judged_only else judged
    blended = blended_ratio(judged, rel, beta, gains)
    return ratio(judged.sum(blended, relevant_hits(judged, rel, cutoff)), divisor_of(judged, rel, denominator, cutoff))


@metric(name="AWP", tie_order=by_relevant_gain, steps=steps_in("blended_ratio", "awp_steps"), range=blended_range)
def average_weighted_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    rel: Rel = 1,
    gains: Gains = None,
    denominator: Denominator = "R",
    judged_only: JudgedOnly = False,
) -> Floats:
    """Average precision with gains in place of documents: what was collected, against the best list of that length.

    Formula: AWP = (1/R) sum over relevant retrieved d at rank r of cg(r) / cg*(r)
    Reference: N. Kando et al., Information retrieval system evaluation using multi-grade relevance judgments, 2001.
        Below rank R, cg* grows no more, so that late documents cost nothing: Q mends that.
    Example: AWP of 0 3 | 1 = (3 / 4) / 2 = 0.375
    """
    judged = condensed(judged) if judged_only else judged
    hits = judged.hits
    best = best_so_far(best_of_relevant(judged, rel, gains), hits.query, hits.rank)
    weighted = ratio(collected(judged, rel, gains), best)
    return ratio(judged.sum(weighted, relevant_hits(judged, rel, cutoff)), divisor_of(judged, rel, denominator, cutoff))


METRICS = [q_measure, average_weighted_precision]
