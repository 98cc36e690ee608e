"""The blended ratio expected of a population of readers, who stop at different documents: NCU."""

from collections.abc import Mapping
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, MetricError, Param, condensed, metric, ratio
from pytest_ireval_metrics.blended_ratio import Beta, blended_range, blended_ratio
from pytest_ireval_metrics.gains import gain_of
from pytest_ireval_metrics.steps_when_asked import steps_in
from pytest_ireval_metrics.vocabulary import Gains, JudgedOnly, Rel

Floats = NDArray[np.float64]
Stop = Annotated[
    Literal["graded", "rank_biased", "uniform"],
    Param("at which relevant documents readers stop: more often at better ones, more often at early ones, or at all"),
]
Stops = Annotated[
    dict[float, float] | None,
    Param("for stop='graded', how many readers stop at a document of each grade; unless given, as many as its gain"),
]
Gamma = Annotated[
    float,
    Param(
        "for stop='rank_biased', how many readers stop at a relevant document for one that stops at the one before",
        above=0,
        high=1,
    ),
]


@metric(
    name="NCU",
    not_promised={"promotion_never_harms": "readers who stop at the promoted document have collected less above it"},
    steps=steps_in("blended_ratio", "ncu_steps"),
    range=blended_range,
)
def normalised_cumulative_utility(
    judged: JudgedRankings,
    *,
    stop: Stop = "graded",
    beta: Beta = 1,
    gamma: Gamma = 0.95,
    rel: Rel = 1,
    gains: Gains = None,
    stops: Stops = None,
    judged_only: JudgedOnly = False,
) -> Floats:
    """The blended ratio expected where readers stop; with beta=0 the precision expected there.

    Formula: NCU = sum over relevant retrieved d at rank r of p(d) (beta cg(r) + count(r)) / (beta cg*(r) + r), where
        p(d) is the share of readers who stop at d: in proportion to its gain (graded), to gamma^(count(r) - 1)
        (rank_biased), or 1/R (uniform, which is Q)
    Reference: T. Sakai, S. Robertson, Modelling a user population for designing information retrieval metrics,
        EVIA 2008: graded is NCUgu,BR, rank_biased NCUrb,BR, and with beta=0 NCUgu,P and NCUrb,P.
    Example: NCU of 1 3 0 = 1/4 * (1 + 1)/(3 + 1) + 3/4 * (4 + 2)/(4 + 2) = 0.875
    """
    judged = condensed(judged) if judged_only else judged
    relevant = judged.relevant(rel)
    stopping, all_readers = _readers(judged, stop, rel, gamma, stops or gains)
    return ratio(judged.sum(stopping * blended_ratio(judged, rel, beta, gains), relevant), all_readers)


def _readers(
    judged: JudgedRankings, stop: str, rel: float, gamma: float, stops: Mapping[float, float] | None
) -> tuple[Floats, Floats]:
    """How many readers stop at each hit, and how many there are for each query."""
    count = judged.relevant_count(rel)
    if stop == "uniform":
        return np.ones(judged.hits.rank.size, np.float64), count.astype(np.float64)
    if stop == "rank_biased":
        total = count if gamma == 1 else (1 - gamma**count) / (1 - gamma)
        return np.power(gamma, judged.relevant_so_far(rel) - 1.0), np.asarray(total, np.float64)
    if stops and min(stops.values()) < 0:
        raise MetricError("a share of readers is not below 0: give stops where gains are below 0")
    ideal = judged.ideal
    willing = np.where(ideal.grade >= rel, gain_of(ideal.grade, "linear", stops), 0.0)
    all_readers = np.bincount(ideal.query, willing, minlength=judged.count).astype(np.float64)
    return gain_of(judged.hits.grade, "linear", stops), all_readers


METRICS = [normalised_cumulative_utility]
