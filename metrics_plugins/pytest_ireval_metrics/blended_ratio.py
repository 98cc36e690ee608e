"""The blended ratio, which compares documents found and their gain with the best list, and its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Listing, Param, ratio, steps_for
from pytest_ireval_metrics.average_precision import compute_divisors, find_divisor
from pytest_ireval_metrics.cumulated_gain import BestGains, compute_gains, order_by_gain
from pytest_ireval_metrics.sets_and_ranks import describe_relevance
from pytest_ireval_metrics.vocabulary import (
    Denominator,
    Depth,
    Floats,
    Gains,
    Integers,
    Mask,
    Rel,
    compute_gain,
    condensable_metric,
    format_number,
    gain_range,
    list_as_scored,
    make_sum_steps,
    mark_found,
    sum_prefixes,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

RatioBeta = Annotated[float, Param("how much grades count: with 0 only the number of documents does", low=0)]

ratio_metric = partial(condensable_metric, range=gain_range)


def compute_collected_gain(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> Floats:
    """For each hit, the gain of the relevant documents at its rank and above."""
    return judged.running(np.where(judged.relevant(rel), compute_gain(judged.hits.grade, "linear", gains), 0.0))


def order_relevant(judged: JudgedRankings, rel: float, gains: Mapping[float, float] | None) -> BestGains:
    """The best order of the relevant documents; made once for all metrics with these settings."""

    def make() -> BestGains:
        grade = judged.ideal.grade
        gain = np.where(grade >= rel, compute_gain(grade, "linear", gains), 0.0)
        return order_by_gain(judged.ideal.query, gain, judged.count)

    return judged.remember_ideal(("best relevant", rel, tuple((gains or {}).items())), make)


def find_best_so_far(best: BestGains, query: Integers, rank: Integers) -> Floats:
    """The gain that the best order has collected at each (query, rank)."""
    total = sum_prefixes(best.gain)
    reached = np.minimum(best.first[query] + rank, best.first[query + 1])
    so_far: Floats = total[reached] - total[best.first[query]]
    return so_far


def compute_blended_ratio(
    judged: JudgedRankings, rel: float, beta: float, gains: Mapping[float, float] | None
) -> Floats:
    """For each hit, (beta cg + count) / (beta cg* + rank)."""
    hits = judged.hits
    best = find_best_so_far(order_relevant(judged, rel, gains), hits.query, hits.rank)
    return ratio(
        beta * compute_collected_gain(judged, rel, gains) + judged.relevant_so_far(rel), beta * best + hits.rank
    )


class Blend(NamedTuple):
    """A list, and the parts of the ratio at each rank; ``above`` and ``below`` are its two sides."""

    listed: Listing
    relevant: Mask
    gain: Floats
    cumulated: Floats
    best: Floats
    found: Integers
    above: Floats
    below: Floats

    @property
    def ratio(self) -> Floats:
        """The blended ratio, 0 where there is no relevant document."""
        return np.where(self.relevant, self.above / self.below, 0.0)

    def columns(self, ratio: Floats) -> dict[str, NDArray[Any]]:
        """All of it, for the table, with the ratio of relevant documents."""
        shown = np.where(self.relevant, ratio, np.nan)
        return {"gain": self.gain, "cg": self.cumulated, "cg*": self.best, "found": self.found, "ratio": shown}

    @property
    def preferred(self) -> Integers:
        """The row of the first document of the best grade among relevant ones; none if there are none."""
        rows, grade = np.flatnonzero(self.relevant), self.listed.grade
        first: Integers = rows[grade[rows] == grade[rows].max(initial=-np.inf)][:1]
        return first


def blend_with_ideal(judged: JudgedRankings, settings: Mapping[str, Any], cutoff: int | None = None) -> Blend:
    """The list of the one query, for ``ireval why``."""
    listed, rel, beta = list_as_scored(judged, settings, cutoff), settings["rel"], settings.get("beta", 1.0)
    relevant = listed.relevant(rel)
    gain = np.where(relevant, compute_gains(listed, settings), 0.0)
    found, cumulated = np.cumsum(relevant.astype(np.int64)), np.cumsum(gain)
    best = find_best_so_far(order_relevant(judged, rel, settings["gains"]), np.zeros_like(listed.rank), listed.rank)
    return Blend(listed, relevant, gain, cumulated, best, found, beta * cumulated + found, beta * best + listed.rank)


def describe_ratio(listed: Listing, settings: Mapping[str, Any], *more: str) -> list[str]:
    """Facts of the list, and the formula of the ratio."""
    beta = format_number(settings["beta"])
    return [
        *describe_relevance(listed, settings),
        f"ratio = (beta cg + found) / (beta cg* + rank), beta = {beta}",
        *more,
    ]


@ratio_metric(name="Q", spellings={"Q_measure": {}})
def q_measure(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    beta: Annotated[float, Param("how much grades count: 0 is average precision", low=0)] = 1,
    rel: Rel = 1,
    gains: Gains = None,
    denominator: Denominator = "R",
) -> Floats:
    """Average precision with a blended ratio in place of precision: documents found and their gain, against the best.

    Formula: Q = (1/R) sum over relevant retrieved d at rank r of (beta cg(r) + count(r)) / (beta cg*(r) + r)
    Reference: T. Sakai, On the reliability of information retrieval metrics based on graded relevance, IPM 43, 2007.
    Example: Q of 0 3 | 1 = ((3 + 1) / (4 + 2)) / 2 = 0.3333
    """
    blended = compute_blended_ratio(judged, rel, beta, gains)
    return ratio(
        judged.sum(blended, mark_found(judged, rel, cutoff)), compute_divisors(judged, rel, denominator, cutoff)
    )


@steps_for(q_measure)
def _q_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    blend = blend_with_ideal(judged, settings)
    among, facts = find_divisor(blend.listed, settings), describe_ratio(blend.listed, settings)
    return make_sum_steps(blend.listed, blend.columns(blend.ratio), blend.ratio, among, facts)


@ratio_metric(name="RMeasure", spellings={"R_measure": {}})
def r_measure(judged: JudgedRankings, *, beta: RatioBeta = 1, rel: Rel = 1, gains: Gains = None) -> Floats:
    """The blended ratio at rank R: Rprec that looks at grades.

    Formula: R-measure = (beta cg(R) + count(R)) / (beta cg*(R) + R)
    Reference: T. Sakai, New performance metrics based on multigrade relevance, NTCIR-4, 2004.
    Example: RMeasure of 0 3 1 | 1 = (3 + 1 + 2) / (5 + 3) = 0.75
    """
    count, query = judged.relevant_count(rel), np.arange(judged.count)
    counts = judged.relevant(rel) & (judged.hits.rank <= count[judged.hits.query])
    gain = judged.sum(compute_gain(judged.hits.grade, "linear", gains), counts)
    best = find_best_so_far(order_relevant(judged, rel, gains), query, count)
    return ratio(beta * gain + judged.sum(counts), beta * best + count)


@steps_for(r_measure)
def _r_measure_steps(judged: JudgedRankings, **settings: Any) -> Steps:
    rel, beta = settings["rel"], settings["beta"]
    count = judged.relevant_count(rel)
    blend = blend_with_ideal(judged, settings, int(count[0]))
    best = find_best_so_far(order_relevant(judged, rel, settings["gains"]), np.zeros(1, np.int64), count)
    below, adds = float(beta * best[0] + count[0]), beta * blend.gain + blend.relevant
    facts = describe_ratio(
        blend.listed, settings, f"ranks 1 to R = {count[0]} count: (beta cg + found) / (beta cg* + R)"
    )
    return make_sum_steps(blend.listed, blend.columns(blend.ratio), adds, below, facts, terms=False)
