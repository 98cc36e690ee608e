"""Several systems under the same judgments, and under fewer: their values, orders, significant pairs and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.comparing import Test, brought_together, pair_tests, why_untested
from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.coerce import JudgmentsLike, RankingsLike
from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import Judgments, drop_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import SideData
from pytest_ireval.data.views import only, with_fewer_judgments
from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import Setting, scores_under, set_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.policies import Policies
from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.orders import compare_orders

FEW_SYSTEMS = 5
"""Orders of fewer systems than this can take few values."""


@dataclass(frozen=True, eq=False)
class Systems:
    """Two systems or more over the queries that count in all of them."""

    setting: Setting
    names: tuple[str, ...]
    judged: tuple[JudgedRankings, ...]

    @property
    def queries(self) -> int:
        """The number of queries that count."""
        return self.judged[0].count


@dataclass(frozen=True, eq=False)
class SystemValues:
    """One metric of all systems: ``each`` is a row a system, a column a query (or session) that has a value in all."""

    metric: Metric
    figures: tuple[float | None, ...]
    """The figure of each system."""
    each: Floats

    @property
    def sign(self) -> int:
        """1 where higher values are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1


def systems_of(
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: Mapping[str, FilePath | Rankings | RankingsLike],
    metrics: Sequence[str | Metric],
    policies: Policies,
    side_data: SideData,
    **reading: Any,
) -> Systems:
    """Named rankings, read and joined with the judgments; an error unless there are two or more.

    ``reading`` has the registry, progress and formats of ``set_up``.
    """
    if len(rankings) < 2:
        raise IrevalError(f"give two rankings or more; given: {', '.join(rankings) or 'none'}")
    setting = set_up(judgments, metrics, policies, **{"registry": None, **reading})
    found, counting = brought_together(setting, rankings, dict.fromkeys(rankings, side_data))
    judged = (each.judged if counting.all() else only(each.judged, counting) for each in found.values())
    return Systems(setting, tuple(found), tuple(judged))


def system_values(
    metrics: Sequence[Metric], judged: Sequence[JudgedRankings], policies: Policies
) -> list[SystemValues]:
    """The values of each metric for ``judged``, which are views of the systems."""
    rows = [[scores for scores, _ in scores_under(metrics, each, policies)] for each in judged]
    found = []
    for number, metric in enumerate(metrics):
        column = [row[number] for row in rows]
        counted = np.logical_and.reduce([scores.counted for scores in column])
        each = np.array([scores.values[counted] for scores in column])
        found.append(SystemValues(metric, tuple(scores.aggregate for scores in column), each))
    return found


def doubts(systems: Systems, found: Sequence[SystemValues]) -> Iterator[str]:
    """Sentences about systems that are too few, or the same."""
    if len(systems.names) < FEW_SYSTEMS:
        yield (
            f"{len(systems.names)} systems are too few for figures that you can rely on: "
            "an order of few systems can change in few ways; name ten or more"
        )
    for values in found:
        same = [
            f"{systems.names[a]} = {systems.names[b]}"
            for a, b in combinations(range(len(systems.names)), 2)
            if values.each.size and not differences(values.each[a], values.each[b]).any()
        ]
        if same:
            more = f" and {len(same) - 3} more pairs" if len(same) > 3 else ""
            yield f"{values.metric}: the same values on every query: {', '.join(same[:3])}{more}"


ALL = 100
"""The level of all judgments, in percent."""


class Draw(NamedTuple):
    """For each judgment its place in a random order of its query's relevant, or other, documents; and their number."""

    place: Integers
    size: Integers
    relevant: Mask

    def kept(self, level: int) -> Mask:
        """The judgments that are left at a level in percent; those of a lower level are among them.

        Of each query the share is rounded, and one relevant document stays in any case.
        """
        count = (2 * level * self.size + ALL) // (2 * ALL)
        kept: Mask = self.place < np.maximum(count, self.relevant)
        return kept


def draws(judgments: Judgments, rel: float, seed: int, repeats: int) -> Iterator[Draw]:
    """Random orders of the judgments, which do not depend on the order of their rows."""
    relevant = judgments.grade >= rel
    by_id, group = judgments.order_by_ids(), 2 * judgments.query + relevant
    size = np.bincount(group, minlength=2 * len(judgments.queries))
    first = np.cumsum(size) - size
    for repeat in range(repeats):
        number, place = np.empty(by_id.size), np.empty(by_id.size, np.int64)
        number[by_id] = np.random.Generator(np.random.PCG64([seed, repeat])).random(by_id.size)
        order = np.lexsort((number, group))
        place[order] = np.arange(order.size) - first[group[order]]
        yield Draw(place, size[group], relevant)


@dataclass(frozen=True)
class StressPlan:
    """The levels in percent, the number of random draws, and the way in which pairs of systems are tested."""

    levels: tuple[int, ...]
    repeats: int
    seed: int
    rel: float
    test: Test
    alpha: float


def reduced(judgments: Judgments, plan: StressPlan) -> Iterator[tuple[int, int, Judgments]]:
    """The judgments of each draw that are left at each level below 100%, after the level and the number of the draw."""
    for number, draw in enumerate(draws(judgments, plan.rel, plan.seed, plan.repeats)):
        for level in plan.levels:
            if level < ALL:
                yield level, number, drop_judgments(judgments, np.flatnonzero(~draw.kept(level)))


@dataclass(frozen=True)
class Stressed:
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


def condensed_of(metrics: Sequence[Metric]) -> list[Metric]:
    """Each metric, followed by itself on condensed lists if it has such a form."""
    both = [(each, each(judged_only=True)) if each.parameter("judged_only") else (each,) for each in metrics]
    return list(dict.fromkeys(each for pair in both for each in pair))


def stressed(
    systems: Systems,
    metrics: Sequence[Metric],
    whole: Sequence[SystemValues],
    plan: StressPlan,
    progress: Progress = SILENT,
) -> list[Stressed]:
    """Each metric at each level; ``whole`` has the values under all judgments."""
    judgments = systems.setting.judgments
    policies = systems.setting.policies
    if policies.no_relevant == "error":  # with all judgments every query has relevant documents
        policies = replace(policies, no_relevant="zero")
    truth = [_Truth(values, _decisions(values, plan)) for values in whole]
    progress.expect(len(plan.levels) * plan.repeats * len(systems.names), "scoring with fewer judgments")
    found: dict[int, list[list[_Trial]]] = {level: [] for level in plan.levels}
    counts = dict.fromkeys(plan.levels, len(judgments))
    for draw in draws(judgments, plan.rel, plan.seed, plan.repeats):
        for level in plan.levels:
            kept = draw.kept(level)
            counts[level] = int(kept.sum())
            views = with_fewer_judgments(systems.judged, kept)
            reduced = system_values(metrics, views, policies) if level < ALL else whole
            pairs = zip(reduced, truth, strict=True)
            found[level].append([_trial(values, each, plan) for values, each in pairs])
            progress.advance(len(systems.names))
    return [
        _summed_up(str(metric), level, counts[level], [trials[number] for trials in found[level]])
        for number, metric in enumerate(metrics)
        for level in plan.levels
    ]


class _Truth(NamedTuple):
    values: SystemValues
    decisions: Integers | None


class _Trial(NamedTuple):
    """One metric under the judgments of one draw at one level."""

    tau: float | None
    tau_ap: float | None
    power: float | None = None
    flips: float | None = None
    lost: float | None = None
    gained: float | None = None
    reversed: float | None = None


def _decisions(values: SystemValues, plan: StressPlan) -> Integers | None:
    """For each pair 1, -1, or 0 where the difference is not significant; None if nothing can be tested."""
    if why_untested(values.metric, values.each.shape[1]):
        return None
    p, difference = pair_tests(values.each, plan.test)
    if np.isnan(p).all():
        return None
    decided: Integers = np.where(p < plan.alpha, np.sign(difference), 0).astype(np.int64)
    return decided


def _trial(values: SystemValues, truth: _Truth, plan: StressPlan) -> _Trial:
    order = compare_orders(values.figures, truth.values.figures, values.sign)
    mine, true = _decisions(values, plan), truth.decisions
    if mine is None or true is None:
        return _Trial(order.tau, order.tau_ap)
    masks = (mine != 0, mine != true, (mine == 0) & (true != 0), (mine != 0) & (true == 0), mine * true < 0)
    return _Trial(order.tau, order.tau_ap, *(float(mask.mean()) for mask in masks))


def _summed_up(metric: str, level: int, judgments: int, trials: Sequence[_Trial]) -> Stressed:
    mean, sd = {}, {}
    for name in _Trial._fields:
        known: Floats = np.array([value for trial in trials if (value := getattr(trial, name)) is not None])
        mean[name] = float(known.mean()) if known.size else None
        sd[f"{name}_sd"] = float(known.std(ddof=1)) if known.size > 1 else None
    spreads = {name: sd[name] for name in ("tau_sd", "tau_ap_sd", "power_sd", "flips_sd")}
    return Stressed(metric, level, judgments, **mean, **spreads)
