"""The ceiling: the best value that the last stage of an answer could reach with what the earlier ones returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pytest_ireval.data.rankings import Rankings, StageAnswer, StageAnswers
from pytest_ireval.data.stages import find_unknown_judgments, join_stage, put_best_first
from pytest_ireval.evaluating.evaluation import score_under_policies
from pytest_ireval.gate.queries_and_judgments import Collection, adapt_metric
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import Floats, Mask
from pytest_ireval.suite.checks import STAGE_NEEDS


def measure_ceilings(
    collection: Collection, current: Side, before: Side | None, metric: Metric, queries: Mask
) -> dict[str, float]:
    """The mean ceiling of these queries, and the share of it that they reach; of both sides where both are known.

    For programs, and for ``describe_ceilings``. Empty for a metric of which no order is known to be the best.
    """
    sides = {"": current} if before is None else {"": current, "_baseline": before}
    ceilings = {end: compute_ceiling(collection, side, metric) for end, side in sides.items()}
    pairs = {
        end: np.array([ceiling, sides[end].scored[str(metric)].values])
        for end, ceiling in ceilings.items()
        if ceiling is not None and sides[end].has_values(str(metric))
    }
    numbers: dict[str, float] = {}
    if "" in pairs:
        known = queries & ~np.isnan([*pairs.values()]).any(axis=(0, 1))
        if not known.any():  # what was judged later is unknown in the baseline
            pairs = {"": pairs[""]}
            known = queries & ~np.isnan(pairs[""]).any(axis=0)
        for end, pair in pairs.items() if known.any() else ():
            best, reached = pair[:, known].mean(axis=1).tolist()
            numbers |= {f"ceiling{end}": best, f"reached{end}": reached / best if best else 1.0}
    return numbers


def describe_ceilings(numbers: Mapping[str, float], metric: Metric, stages: Sequence[str]) -> str:
    """``the best order of what retrieve returned has nDCG@10 0.79 (before 1), of which rerank reaches 100%``."""
    best, reached = f"{numbers['ceiling']:.4f}", f"{numbers['reached']:.0%}"
    if "ceiling_baseline" in numbers:
        best += f" (before {numbers['ceiling_baseline']:.4f})"
        reached += f" (before {numbers['reached_baseline']:.0%})"
    return (
        f"the best order of what {' and '.join(stages[:-1])} returned has {metric} {best}, of which {stages[-1]} "
        f"reaches {reached}"
    )


def compute_ceiling(collection: Collection, side: Side, metric: Metric) -> Floats | None:
    """By query of the suite, the metric of the best order of what the earlier stages returned.

    NaN where it is not known: a document was judged since. None for a metric of which no order is known to be the best.
    """
    setting, metric = collection.setting, adapt_metric(collection.suite, metric)
    stages = collection.suite.stages_of()
    has_stages = bool(stages) and all({*stages[:-1]} <= {*each.stages} for each in side.rankings)
    if setting is None or not has_stages or metric.stage or metric.direction != "higher" or metric.needs - STAGE_NEEDS:
        return None
    name = f"ceiling of {metric}"
    return side.remember(name, lambda: _compute_ceiling(collection, side, metric))


def _compute_ceiling(collection: Collection, side: Side, metric: Metric) -> Floats:
    stages = collection.suite.stages_of()[:-1]
    setting, position = collection.setting, collection.population.queries.position
    assert setting is not None  # noqa: S101 - compute_ceiling() looked
    askings = []
    for rankings in side.rankings:
        joined = join_stage(setting.judgments, _unite_stages(rankings, stages), setting.policies.scale)
        best = put_best_first(joined)
        ((scored, _),) = score_under_policies([metric], best, setting.policies)
        values = np.full(len(position), np.nan)
        values[[position[query] for query in scored.units]] = np.where(scored.counted, scored.values, np.nan)
        for row in find_unknown_judgments(setting.judgments, [rankings]).tolist():
            values[position[setting.judgments.queries[setting.judgments.query[row]]]] = np.nan
        askings.append(values)
    mean: Floats = np.mean(askings, axis=0)
    return mean


def _unite_stages(rankings: Rankings, stages: Sequence[str]) -> StageAnswers:
    """What any of the earlier stages returned; they may be several retrievers."""
    united: dict[str, StageAnswer] = {}
    for name in stages:
        for query, answer in rankings.stages[name].items():
            other = united.get(query, StageAnswer(0, {}))
            ranks = {**other.ranks, **{each: rank for each, rank in answer.ranks.items() if rank is not None}}
            united[query] = StageAnswer(max(answer.retrieved, other.retrieved), ranks)
    return united
