"""Several systems under the same judgments: the values of all queries, ready to be scored again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from pytest_ireval.comparing import brought_together
from pytest_ireval.errors import IrevalError
from pytest_ireval.evaluating.evaluation import scores_under
from pytest_ireval.evaluating.setting import Companions, Setting, set_up
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.retrieval.doors import JudgmentsLike, RankingsLike
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.judged import Floats, JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import only
from pytest_ireval.statistics.differences import differences

FEW_SYSTEMS = 5
"""Orders of fewer systems than this can take few values."""


@dataclass(frozen=True, eq=False)
class Systems:
    """Two systems or more over the queries that count in all of them."""

    setting: Setting
    names: tuple[str, ...]
    origins: tuple[str, ...]
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
    companions: Companions,
    **reading: Any,
) -> Systems:
    """Named rankings, read and joined with the judgments; an error unless there are two or more.

    ``reading`` has the registry, progress and formats of ``set_up``.
    """
    if len(rankings) < 2:
        raise IrevalError(f"give two rankings or more; given: {', '.join(rankings) or 'none'}")
    setting = set_up(judgments, metrics, policies, **{"registry": None, **reading})
    found, counting = brought_together(setting, rankings, companions, {})
    judged = (each.judged if counting.all() else only(each.judged, counting) for each in found.values())
    return Systems(setting, tuple(found), tuple(each.origin for each in found.values()), tuple(judged))


def system_values(
    systems: Systems, metrics: Sequence[Metric], judged: Sequence[JudgedRankings], policies: Policies
) -> list[SystemValues]:
    """The values of each metric for ``judged``, which are views of the systems."""
    rows = [
        [scores for scores, _ in scores_under(metrics, each, policies, origin)]
        for each, origin in zip(judged, systems.origins, strict=True)
    ]
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
