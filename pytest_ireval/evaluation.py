"""Judgments and rankings in, metrics out: the one call that a notebook, the command line and the gate share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import Scores, counting, score
from pytest_ireval.plugins.manager import installed
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.policies import MissingQueries, NoRelevant, Ties, Unjudged, checked_policies
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results import Evaluation, MetricResult, Policies, TieSpread
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.doors import (
    Brought,
    FilePath,
    JudgmentsLike,
    RankingsLike,
    as_judgments,
    brought,
    some,
)
from pytest_ireval.retrieval.formats.reader import Grades, Reading
from pytest_ireval.retrieval.judged import JudgedRankings, Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.ties import reordered
from pytest_ireval.retrieval.views import condensed, cut, only

SAME = 1e-12
"""Values closer than this are one value."""

DOCUMENT_NEEDS = {"documents", "unjudged", "attributes", "preferences"}


def evaluate(
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: FilePath | Rankings | RankingsLike,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    ties: Ties = "trec",
    missing_queries: MissingQueries = "error",
    no_relevant: NoRelevant = "zero",
    unjudged: Unjudged = "irrelevant",
    depth: int | None = None,
    scale: float | None = None,
    grades: Grades = "integer",
    judgments_format: str | None = None,
    rankings_format: str | None = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    timings: Mapping[str, float] | None = None,
    reference: FilePath | Rankings | RankingsLike | None = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Evaluation:
    """Score rankings under judgments; both are paths, or any of the Python forms that the documentation lists.

    The format of a file is recognised by its content, unless ``judgments_format`` or ``rankings_format`` names it.
    ``ties`` orders equal scores: ``trec`` by document id descending, ``input`` as they stand, ``pessimistic`` and
    ``optimistic`` as bad and as good as they allow, ``error`` refuses them where a judged document is tied.
    ``missing_queries`` says what becomes of a judged query that has no ranking, ``no_relevant`` of one that has no
    relevant documents, ``unjudged`` of documents without a judgment. ``depth`` is how many documents of each ranking
    count, ``scale`` the top grade (unless given, the highest of the judgments). The five arguments from ``attributes``
    on are for metrics that need them.
    """
    policies = Policies(ties, missing_queries, no_relevant, unjudged, depth, scale, grades)
    setting = set_up(judgments, metrics, policies, registry, progress, judgments_format, rankings_format)
    found = setting.brought(rankings, Companions(sessions, timings, attributes, preferences, reference))
    refuse_missing([found], setting.policies)
    return setting.evaluation(found)


class Companions(NamedTuple):
    """What is brought besides rankings, for metrics that need it."""

    sessions: Mapping[str, tuple[str, int]] | None = None
    timings: Mapping[str, float] | None = None
    attributes: Mapping[str, Mapping[str, Any]] | None = None
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None
    reference: FilePath | Rankings | RankingsLike | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """What all rankings that are evaluated together share: judgments, metrics, policies, plugins."""

    judgments: Judgments
    metrics: Sequence[Metric]
    policies: Policies
    registry: Registry
    how: Reading
    """How rankings are read."""
    rankings_format: str | None = None

    def brought(self, rankings: FilePath | Rankings | RankingsLike, companions: Companions) -> Brought:
        """Rankings joined with the judgments, and with what else was brought."""
        policies = self.policies
        documents = any(metric.needs & DOCUMENT_NEEDS for metric in self.metrics)
        found = brought(
            self.judgments,
            rankings,
            self.registry.readers,
            self.rankings_format,
            self.how,
            documents=documents,
            highest_grade=policies.scale,
        )
        reference = companions.reference
        judged = with_companions(
            found.judged,
            sessions=companions.sessions,
            timings=companions.timings,
            attributes=companions.attributes,
            preferences=companions.preferences,
            reference=None if reference is None else self._reference(reference),
        )
        return found._replace(judged=judged)

    def _reference(self, source: FilePath | Rankings | RankingsLike) -> JudgedRankings:
        """Other rankings of the same queries; what becomes of those it lacks is said by ``missing_queries``, too."""
        found = brought(
            self.judgments,
            source,
            self.registry.readers,
            None,
            self.how,
            documents=True,
            highest_grade=self.policies.scale,
        )
        refuse_missing([found._replace(origin=f"{found.origin} (the reference)")], self.policies)
        return found.judged

    def evaluation(self, found: Brought, queries: Mask | None = None) -> Evaluation:
        """The metrics of these rankings, over all queries that ``missing_queries`` leaves or over the marked ones."""
        judged = found.judged
        names = np.array(judged.queries, object)
        if queries is None and self.policies.missing_queries == "ignore":
            queries = judged.present
        counting_queries = judged if queries is None or queries.all() else only(judged, queries)
        return Evaluation(
            metrics=tuple(_results(self.metrics, counting_queries, self.policies)),
            queries=judged.count,
            missing=tuple(names[~judged.present].tolist()),
            empty=tuple(names[judged.present & (judged.retrieved == 0)].tolist()),
            without_judgments=found.without_judgments,
            highest_grade=self.judgments.highest_grade,
            policies=self.policies,
            judgments=self.judgments.origin,
            rankings=found.origin,
            plugins=self.registry.distributions,
        )


def set_up(
    judgments: FilePath | Judgments | JudgmentsLike,
    metrics: str | Metric | Iterable[str | Metric],
    policies: Policies,
    registry: Registry | None,
    progress: Progress = SILENT,
    judgments_format: str | None = None,
    rankings_format: str | None = None,
) -> Setting:
    """Judgments read and metrics understood, if the policies can be followed."""
    checked_policies(policies)
    registry = registry or installed()
    wanted = registry.parse_metrics(
        metrics if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    )
    how = Reading(cast("Grades", policies.grades), by_id=policies.ties != "input", progress=progress)
    judged_by = as_judgments(judgments, registry.readers, judgments_format, how)
    _check_scale(judged_by, policies.scale)
    return Setting(judged_by, wanted, policies, registry, how, rankings_format)


def _check_scale(judgments: Judgments, scale: float | None) -> None:
    if scale is not None and judgments.highest_grade > scale:
        raise InputError(
            Problem(f"its grades go up to {judgments.highest_grade:g}, above scale={scale:g}", place=judgments.origin)
        )


def refuse_missing(rankings: Iterable[Brought], policies: Policies) -> None:
    """An error with everything that is missing, if missing queries are to be one."""
    if policies.missing_queries != "error":
        return
    problems = [
        Problem(
            f"{len(missing)} of {judged.count} judged queries have no ranking: {some(missing)}",
            place=origin,
            suggestion='missing_queries="zero" scores them 0, "ignore" leaves them out',
        )
        for judged, origin, _ in rankings
        if (missing := np.array(judged.queries, object)[~judged.present].tolist())
    ]
    if problems:
        raise InputError(*problems)


def _results(metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies) -> Iterator[MetricResult]:
    """One result a metric; the orders that equal scores allow are scored too where there are any."""
    any_ties = _tied(judged).any()
    best = reordered(judged, best_first=True) if any_ties else judged
    worst = reordered(judged, best_first=False) if any_ties else judged
    told = {"optimistic": best, "pessimistic": worst}.get(policies.ties, judged)
    views = [_as_told(view, policies) for view in (told, best, worst)]
    tied = _tied(views[0])
    if policies.ties == "error" and tied.any():
        query = views[0].queries[int(views[0].hits.query[tied][0])]
        raise InputError(f"query {query!r}: a judged document shares its score with others, and ties are an error")
    for metric in metrics:
        scores = _counted(score(metric, views[0]), policies)
        yield _result(scores, _spread(scores, views, policies) if any_ties else None)


def _tied(judged: JudgedRankings) -> Mask:
    tied: Mask = judged.hits.tied_from < judged.hits.tied_to
    return tied


def _as_told(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies say so."""
    if policies.depth is not None:
        judged = cut(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged


def _spread(told: Scores, views: Sequence[JudgedRankings], policies: Policies) -> TieSpread | None:
    """How far equal scores leave the metric open; None when no value depends on their order."""
    scores = [told, *(_counted(score(told.metric, view), policies) for view in views[1:])]
    values = np.array([each.values for each in scores])
    depends = np.ptp(values, axis=0) > SAME
    figures = [each.aggregate for each in scores if each.aggregate is not None]
    if not depends.any() or not figures:
        return None
    return TieSpread(int(np.count_nonzero(depends)), min(figures), max(figures))


def _counted(scores: Scores, policies: Policies) -> Scores:
    if policies.no_relevant == "zero" or not scores.no_relevant.any():
        return scores
    if policies.no_relevant == "ignore":
        return counting(scores, ~scores.no_relevant)
    names = [unit for unit, without in zip(scores.units, scores.no_relevant.tolist(), strict=True) if without]
    raise InputError(
        Problem(
            f"{len(names)} of {len(scores.units)} queries have no relevant documents: {some(names)}",
            place=str(scores.metric),
            suggestion='no_relevant="zero" scores them 0, "ignore" leaves them out',
        )
    )


def _result(scores: Scores, spread: TieSpread | None) -> MetricResult:
    metric = scores.metric
    values = zip(scores.units, scores.values.tolist(), scores.counted.tolist(), strict=True)
    return MetricResult(
        name=str(metric),
        mean=scores.mean,
        aggregate=metric.aggregate,
        value=scores.aggregate,
        direction=metric.direction,
        unit=metric.unit,
        values={unit: value for unit, value, counted in values if counted},
        no_relevant=int(np.count_nonzero(scores.no_relevant)),
        version=metric.version,
        origin=metric.origin,
        ties=spread,
    )
