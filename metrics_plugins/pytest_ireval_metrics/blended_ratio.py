"""The blended ratio, which sets documents found and their gain against the best list; several metrics rest on it."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, ratio
from pytest_ireval_metrics.cumulated_gain import BestGains, best_order
from pytest_ireval_metrics.gains import gain_of, gain_range

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Beta = Annotated[float, Param("how much grades count: with 0 only the number of documents does", low=0)]


def blended_range(settings: Mapping[str, Any]) -> tuple[float, float]:
    """Ratios are 0 to 1, or without lower bound if a gain is negative."""
    return gain_range(settings, 1.0)


def collected(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> Floats:
    """For each hit, the gain of the relevant documents at its rank and above."""
    return judged.running(np.where(judged.relevant(rel), gain_of(judged.hits.grade, "linear", gains), 0.0))


def best_of_relevant(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> BestGains:
    """The best order of all relevant documents."""

    def make() -> BestGains:
        grade = judged.ideal.grade
        gain = np.where(grade >= rel, gain_of(grade, "linear", gains), 0.0)
        return best_order(judged.ideal.query, gain, judged.count)

    return judged.remember_ideal(("best relevant", rel, tuple((gains or {}).items())), make)


def best_so_far(best: BestGains, query: Integers, rank: Integers) -> Floats:
    """The gain that the best order has collected at each (query, rank)."""
    total = np.concatenate((np.zeros(1), np.cumsum(best.gain)))
    reached = np.minimum(best.first[query] + rank, best.first[query + 1])
    so_far: Floats = total[reached] - total[best.first[query]]
    return so_far


def blended_ratio(judged: JudgedRankings, rel: float, beta: float, gains: Mapping[float, float] | None) -> Floats:
    """For each hit, (beta cg + count) / (beta cg* + rank)."""
    hits = judged.hits
    best = best_so_far(best_of_relevant(judged, rel, gains), hits.query, hits.rank)
    return ratio(beta * collected(judged, rel, gains) + judged.relevant_so_far(rel), beta * best + hits.rank)


def relevant_hits(judged: JudgedRankings, rel: float, cutoff: int | None) -> Mask:
    """The relevant hits within the cutoff."""
    relevant = judged.relevant(rel)
    return relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff)
