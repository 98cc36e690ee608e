"""Judgments, rankings, a metric and a query in, its arithmetic out; beside it that of a second ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_ireval.errors import InputError, MetricError, MetricNameError, Problem, did_you_mean, shown
from pytest_ireval.evaluating.policies import Ties, Unjudged
from pytest_ireval.evaluating.setting import Companions, set_up
from pytest_ireval.evaluating.told import as_told
from pytest_ireval.explaining.moves import moves_between
from pytest_ireval.explaining.steps import explainable, explained
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import score
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Policies
from pytest_ireval.results.explanation import Explanation
from pytest_ireval.retrieval.doors import Brought, JudgmentsLike, RankingsLike, some
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Grades
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import only

ROUNDING = 1e-12
"""Values that differ by no more are the same."""


def why(
    metric: str | Metric,
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: FilePath | Rankings | RankingsLike,
    query: str | None = None,
    other: FilePath | Rankings | RankingsLike | None = None,
    *,
    ties: Ties = "trec",
    unjudged: Unjudged = "irrelevant",
    depth: int | None = None,
    scale: float | None = None,
    grades: Grades = "integer",
    judgments_format: Format = None,
    rankings_format: Format = None,
    collection: int | None = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    timings: Mapping[str, float] | None = None,
    reference: FilePath | Rankings | RankingsLike | None = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Explanation:
    """How a metric comes to its value on one query; with ``other`` rankings, what is different there.

    Without a ``query``, the one is taken on which the two rankings differ most. A query that a ranking lacks is
    explained as an empty ranking, and scores the worst value there is. The other arguments are those of ``evaluate``.
    """
    policies = Policies(ties, "zero", "zero", unjudged, depth, scale, grades, collection)
    setting = set_up(judgments, metric, policies, registry, progress, judgments_format, rankings_format)
    wanted = _only_metric(setting.metrics)
    companions = Companions(sessions, timings, attributes, preferences, reference)
    found = [setting.brought(source, companions, documents=True) for source in (rankings, other) if source is not None]
    name, proposed = (query, "") if query is not None else _proposed(wanted, found, policies)
    alone = [each._replace(judged=_only(each.judged, name, setting.judgments.origin)) for each in found]
    single = [as_told(each.judged, policies, each.origin, wanted) for each in alone]
    first = explained(wanted, single[0], found[0].origin, policies)
    second = explained(wanted, single[1], found[1].origin, policies) if other is not None else None
    return Explanation(
        metric=str(wanted),
        query=name,
        proposed=proposed,
        judgments=setting.judgments.origin,
        policies=policies,
        first=first,
        other=second,
        moves=moves_between(first, second, *single) if second is not None else (),
    )


def _only_metric(found: Sequence[Metric]) -> Metric:
    """The one metric, which has to score queries one by one."""
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise MetricNameError(f"one metric is explained at a time, not {names}")
    unit = "session" if "sessions" in found[0].needs else found[0].unit
    if unit != "query":
        raise MetricError(
            Problem(f"looks at a whole {unit}; only metrics of single queries are explained", place=str(found[0]))
        )
    return found[0]


def _proposed(metric: Metric, rankings: Sequence[Brought], policies: Policies) -> tuple[str, str]:
    """A query that nobody named: the only one, or that with the largest difference."""
    queries = rankings[0].judged.queries
    if len(queries) == 1:
        return queries[0], "the only query"
    if len(rankings) == 1:
        raise InputError(
            Problem(
                f"which query is to be explained? {len(queries)} are judged: {some(queries)}",
                suggestion=f"say --query {queries[0]}, or query={queries[0]!r} from Python",
            )
        )
    views = [explainable(metric, as_told(each.judged, policies, each.origin, metric)) for each in rankings]
    before, after = (score(metric, view).values for view in views)
    change = np.abs(after - before)
    if (change <= ROUNDING * np.maximum(np.abs(before), 1)).all():
        raise InputError(
            Problem(
                f"{metric} is the same on all {len(queries)} queries: which one is to be explained?",
                suggestion=f"say --query {queries[0]}, or query={queries[0]!r} from Python",
            )
        )
    return queries[int(np.argmax(change))], f"the largest difference of {len(queries)} queries"


def _only(judged: JudgedRankings, query: str, judgments: str) -> JudgedRankings:
    """The judged ranking of one query."""
    if query not in judged.queries:
        raise InputError(
            Problem(
                f"query {shown(query)} is not judged",
                place=judgments,
                suggestion=did_you_mean(query, judged.queries),
                allowed=f"judged are {some(judged.queries)}",
            )
        )
    return only(judged, np.array(judged.queries, object) == query)
