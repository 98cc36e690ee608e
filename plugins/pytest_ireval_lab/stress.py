"""Fewer judgments, drawn at random, and how far the orders of systems and the decisions about pairs change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import Judgments, Metric
from pytest_ireval.plugin_api import SILENT, MetricComparison, Progress, compare_orders, drop_judgments
from pytest_ireval_lab.systems import Floats, Systems

Integers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

ALL = 100
"""The level of all judgments, in percent."""


class Draw(NamedTuple):
    """For each judgment its place in a random order of its query's relevant, or other, documents; and their number."""

    place: Integers
    size: Integers
    relevant: Mask

    def select(self, level: int) -> Mask:
        """The judgments that are left at a level in percent; those of a lower level are among them.

        Of each query the share is rounded, and one relevant document stays in any case.
        """
        count = (2 * level * self.size + ALL) // (2 * ALL)
        selected: Mask = self.place < np.maximum(count, self.relevant)
        return selected


def draw_orders(judgments: Judgments, rel: float, seed: int, repeats: int) -> Iterator[Draw]:
    """Random orders of the judgments, which do not depend on the order of their rows."""
    relevant = judgments.grade >= rel
    pairs = list(zip((judgments.queries[i] for i in judgments.query), judgments.documents.texts(), strict=True))
    by_id = np.array(sorted(range(len(pairs)), key=pairs.__getitem__), np.int64)
    group = 2 * judgments.query + relevant
    size = np.bincount(group, minlength=2 * len(judgments.queries))
    first = np.cumsum(size) - size
    for repeat in range(repeats):
        number, place = np.empty(by_id.size), np.empty(by_id.size, np.int64)
        number[by_id] = np.random.Generator(np.random.PCG64([seed, repeat])).random(by_id.size)
        order = np.lexsort((number, group))
        place[order] = np.arange(order.size) - first[group[order]]
        yield Draw(place, size[group], relevant)


@dataclass
class StressPlan:
    """The levels in percent, the number of random draws, and the way in which pairs of systems are tested."""

    levels: tuple[int, ...]
    repeats: int
    seed: int
    rel: float
    test: Literal["t", "sign-flip"]
    alpha: float


class ReducedJudgments(NamedTuple):
    """The judgments of a draw that are left at a level below 100%."""

    level: int
    draw: int
    judgments: Judgments


def reduce_judgments(judgments: Judgments, plan: StressPlan) -> Iterator[ReducedJudgments]:
    """The judgments of each draw that are left at each level below 100%."""
    for number, draw in enumerate(draw_orders(judgments, plan.rel, plan.seed, plan.repeats)):
        for level in plan.levels:
            if level < ALL:
                left = drop_judgments(judgments, np.flatnonzero(~draw.select(level)))
                yield ReducedJudgments(level, number, left)


@dataclass
class StressResult:
    """One metric at one level: means over the draws, and standard deviations (None for a single draw).

    None also where a figure is not defined, as the order of equal systems.
    """

    metric: str
    level: int
    judgments: int
    """The number of judgments that are left."""
    tau: float | None
    """Kendall's tau between the order of systems and the order under all judgments."""
    tau_sd: float | None
    tau_ap: float | None
    """The AP correlation of the same two orders."""
    tau_ap_sd: float | None
    power: float | None
    """The share of pairs of systems that differ significantly."""
    power_sd: float | None
    flips: float | None
    """The share of pairs with another decision (better, worse, not significant) than under all judgments."""
    flips_sd: float | None
    lost: float | None
    """Of these, pairs that were significant and are not; then the reverse; then significant in the opposite order."""
    gained: float | None
    reversed: float | None


def with_condensed_forms(metrics: Sequence[Metric]) -> list[Metric]:
    """Each metric, followed by itself on condensed lists if it has such a form."""
    both = [(each, each(judged_only=True)) if each.parameter("judged_only") else (each,) for each in metrics]
    return list(dict.fromkeys(each for pair in both for each in pair))


def stress_metrics(
    systems: Systems,
    judgments: Judgments,
    metrics: Sequence[Metric],
    whole: Sequence[MetricComparison],
    plan: StressPlan,
    progress: Progress = SILENT,
) -> list[list[StressResult]]:
    """For each metric a result at each level; ``whole`` has the figures under all judgments."""
    systems = systems.with_policies(scale=systems.policies.scale or judgments.highest_grade or None)
    if systems.policies.no_relevant == "error":  # with all judgments every query has relevant documents
        systems = systems.with_policies(no_relevant="zero")
    counts = dict.fromkeys(plan.levels, len(judgments))
    trials: dict[int, list[list[_Trial]]] = {level: [[] for _ in whole] for level in plan.levels}
    trials[ALL] = [[_compare_with_whole(each, each, plan)] * plan.repeats for each in whole]
    progress.expect((len(plan.levels) - 1) * plan.repeats, "scoring with fewer judgments")
    for reduced in reduce_judgments(judgments, plan):
        counts[reduced.level] = len(reduced.judgments)
        comparison = systems.compare(SILENT, reduced.judgments, metrics, test=plan.test, alpha=plan.alpha)
        for column, metric, of_all in zip(trials[reduced.level], comparison.metrics, whole, strict=True):
            column.append(_compare_with_whole(metric, of_all, plan))
        progress.advance(1)
    return [
        [_sum_up(metric.name, level, counts[level], trials[level][number]) for level in plan.levels]
        for number, metric in enumerate(whole)
    ]


class _Trial(NamedTuple):
    """One metric under the judgments of one draw at one level."""

    tau: float | None
    tau_ap: float | None
    power: float | None = None
    flips: float | None = None
    lost: float | None = None
    gained: float | None = None
    reversed: float | None = None


def _compare_with_whole(metric: MetricComparison, whole: MetricComparison, plan: StressPlan) -> _Trial:
    sign = -1 if metric.direction == "lower" else 1
    order = compare_orders([*metric.values.values()], [*whole.values.values()], sign)
    mine, true = _decide(metric, plan.alpha), _decide(whole, plan.alpha)
    if mine is None or true is None:
        return _Trial(order.tau, order.tau_ap)
    masks = (mine != 0, mine != true, (mine == 0) & (true != 0), (mine != 0) & (true == 0), mine * true < 0)
    return _Trial(order.tau, order.tau_ap, *(float(mask.mean()) for mask in masks))


def _decide(metric: MetricComparison, alpha: float) -> Integers | None:
    """For each pair 1, -1, or 0 where the difference is not significant; None if nothing can be tested."""
    if all(pair.p is None for pair in metric.pairs):
        return None
    return np.array([np.sign(pair.difference) * (pair.p is not None and pair.p < alpha) for pair in metric.pairs], int)


def _sum_up(metric: str, level: int, judgments: int, trials: Sequence[_Trial]) -> StressResult:
    mean, sd = {}, {}
    for name in _Trial._fields:
        known: Floats = np.array([value for trial in trials if (value := getattr(trial, name)) is not None])
        mean[name] = float(known.mean()) if known.size else None
        sd[f"{name}_sd"] = float(known.std(ddof=1)) if known.size > 1 else None
    spreads = {name: sd[name] for name in ("tau_sd", "tau_ap_sd", "power_sd", "flips_sd")}
    return StressResult(metric, level, judgments, **mean, **spreads)
