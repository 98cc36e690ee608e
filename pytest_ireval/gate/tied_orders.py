"""What equal scores leave open: the values of now with such documents in the worst and in the best order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pytest_ireval.evaluating.policies import Ties
from pytest_ireval.gate.gathering import Gathered
from pytest_ireval.gate.scoring import Evaluated, side_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.rules.side import Floats
from pytest_ireval.suites.suite import Suite

Orders = tuple[Floats, Floats]


def tie_orders(suite: Suite, gathered: Gathered, found: Evaluated) -> Callable[[Metric], Orders | None]:
    """Gives both for a metric, scored when first asked for; None for one that no equal scores matter to."""
    if found.evaluation is None or not any(metric.ties for metric in found.evaluation.metrics):
        return _none
    made: dict[str, Orders | None] = {}

    def orders(metric: Metric) -> Orders | None:
        name = str(metric)
        if name not in made:
            made[name] = _orders(suite, gathered, found, metric)
        return made[name]

    return orders


def _none(metric: Metric) -> None:
    """Where no score is shared."""


def _orders(suite: Suite, gathered: Gathered, found: Evaluated, metric: Metric) -> Orders | None:
    name = str(metric)
    if name not in found.side.scored:
        return None
    worst, best = (_values(suite, gathered, found, metric, ties) for ties in ("pessimistic", "optimistic"))
    return None if np.array_equal(worst, best, equal_nan=True) else (worst, best)


def _values(suite: Suite, gathered: Gathered, found: Evaluated, metric: Metric, ties: Ties) -> Floats:
    assert gathered.setting is not None  # noqa: S101 - what was evaluated had a setting
    setting = replace(gathered.setting, policies=replace(gathered.setting.policies, ties=ties))
    side = side_of(suite, replace(gathered, setting=setting), found.side.rankings, found.side.origin, metrics=[metric])
    return side.side.scored[str(metric)].values
