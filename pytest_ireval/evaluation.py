"""Judgments and rankings in, metrics out: the one call that a notebook, the command line and the gate share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, get_args

import numpy as np

from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import Scores, counting, score
from pytest_ireval.plugins.manager import load_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results import Evaluation, MetricResult, Policies, TieSpread
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.doors import (
    FilePath,
    JudgmentsLike,
    RankingsLike,
    as_judgments,
    brought,
    some,
)
from pytest_ireval.retrieval.formats.trec_judgments import Grades
from pytest_ireval.retrieval.judged import JudgedRankings, Mask
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.ties import reordered
from pytest_ireval.retrieval.views import condensed, cut, only

Ties = Literal["trec", "input", "pessimistic", "optimistic", "error"]
MissingQueries = Literal["error", "zero", "ignore"]
NoRelevant = Literal["zero", "ignore", "error"]
Unjudged = Literal["irrelevant", "removed"]

DEEPEST = 10**9
"""No ranking is longer."""

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
    collection: int | None = None,
    attributes: Mapping[str, Mapping[str, Any]] | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    preferences: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    timings: Mapping[str, float] | None = None,
    reference: FilePath | Rankings | RankingsLike | None = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
) -> Evaluation:
    """Score rankings under judgments; both are paths, or any of the Python forms that the documentation lists.

    ``ties`` orders equal scores: ``trec`` by document id descending, ``input`` as they stand, ``pessimistic`` and
    ``optimistic`` as bad and as good as they allow, ``error`` refuses them where a judged document is tied.
    ``missing_queries`` says what becomes of a judged query that has no ranking, ``no_relevant`` of one that has no
    relevant documents, ``unjudged`` of documents without a judgment. ``depth`` is how many documents of each ranking
    count, ``scale`` the top grade (unless given, the highest of the judgments). ``collection``, how many documents
    there are to find, and the five arguments from ``attributes`` on are for metrics that need them.
    """
    policies = checked_policies(
        Policies(ties, missing_queries, no_relevant, unjudged, depth, scale, grades, collection)
    )
    registry = registry or installed()
    wanted = registry.parse_metrics(
        metrics if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    )
    judged_by = as_judgments(judgments, grades, progress)
    check_judgments(judged_by, policies)
    by_id = ties != "input"
    documents = any(metric.needs & DOCUMENT_NEEDS for metric in wanted)
    found = brought(judged_by, rankings, documents=documents, highest_grade=scale, by_id=by_id, progress=progress)
    judged = with_companions(
        found.judged,
        collection=collection,
        sessions=sessions,
        timings=timings,
        attributes=attributes,
        preferences=preferences,
        reference=None if reference is None else reference_of(judged_by, reference, policies),
    )
    names = np.array(judged.queries, object)
    missing = tuple(names[~judged.present].tolist())
    counting_queries = _without_missing(judged, missing, policies, found.origin)
    return Evaluation(
        metrics=tuple(_results(wanted, counting_queries, policies)),
        queries=judged.count,
        missing=missing,
        empty=tuple(names[judged.present & (judged.retrieved == 0)].tolist()),
        without_judgments=found.without_judgments,
        highest_grade=judged_by.highest_grade,
        policies=policies,
        judgments=judged_by.origin,
        rankings=found.origin,
        plugins=tuple(map(str, registry.plugins)),
    )


@cache
def installed() -> Registry:
    """The installed plugins; they do not change while a process lives."""
    return load_registry()


ALLOWED = {
    "ties": get_args(Ties),
    "missing_queries": get_args(MissingQueries),
    "no_relevant": get_args(NoRelevant),
    "unjudged": get_args(Unjudged),
    "grades": get_args(Grades),
}


def checked_policies(policies: Policies) -> Policies:
    """``policies``, if all of them can be followed."""
    for name, allowed in ALLOWED.items():
        value = getattr(policies, name)
        if value not in allowed:
            raise IrevalError(
                Problem(
                    f"{name}={value!r} is unknown",
                    suggestion=did_you_mean(str(value), allowed),
                    allowed="allowed: " + ", ".join(allowed),
                )
            )
    depth, scale = policies.depth, policies.scale
    if depth is not None and not (_is(depth, Integral) and 1 <= depth <= DEEPEST):
        raise IrevalError(f"depth={depth!r} is not a whole number from 1 to {DEEPEST:,}")
    size = policies.collection
    if size is not None and not (_is(size, Integral) and size >= 1):
        raise IrevalError(f"collection={size!r} is not a number of documents")
    if scale is not None and not (_is(scale, Real) and 0 < scale < np.inf):
        raise IrevalError(f"scale={scale!r} is not a number above 0")
    return policies


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def check_judgments(judgments: Judgments, policies: Policies) -> None:
    """Refuses judgments that go beyond the scale or the size of the collection."""
    _check_scale(judgments, policies.scale)
    _check_collection(judgments, policies.collection)


def _check_scale(judgments: Judgments, scale: float | None) -> None:
    if scale is not None and judgments.highest_grade > scale:
        raise InputError(
            Problem(f"its grades go up to {judgments.highest_grade:g}, above scale={scale:g}", place=judgments.origin)
        )


def _check_collection(judgments: Judgments, size: int | None) -> None:
    """No fewer documents than are judged, over all queries."""
    if size is None:
        return
    judged = np.unique(judgments.documents.keys()).size
    if judged > size:
        complaint = f"{judged:,} documents are judged, more than the collection={size:,} has"
        raise InputError(Problem(complaint, place=judgments.origin))


def reference_of(
    judgments: Judgments, source: FilePath | Rankings | RankingsLike, policies: Policies
) -> JudgedRankings:
    """Other rankings of the same queries; what becomes of those it lacks is said by ``missing_queries``, too."""
    by_id = policies.ties != "input"
    judged, origin, _ = brought(judgments, source, documents=True, highest_grade=policies.scale, by_id=by_id)
    missing = tuple(np.array(judged.queries, object)[~judged.present].tolist())
    if missing and policies.missing_queries == "error":
        raise _lacking(missing, judged, f"{origin} (the reference)")
    return judged


def _without_missing(
    judged: JudgedRankings, missing: tuple[str, ...], policies: Policies, origin: str
) -> JudgedRankings:
    """The queries that count, as ``missing_queries`` says."""
    if missing and policies.missing_queries == "error":
        raise _lacking(missing, judged, origin)
    return only(judged, judged.present) if missing and policies.missing_queries == "ignore" else judged


def _lacking(missing: Sequence[str], judged: JudgedRankings, origin: str) -> InputError:
    return InputError(
        Problem(
            f"{len(missing)} of {judged.count} judged queries have no ranking: {some(missing)}",
            place=origin,
            suggestion='missing_queries="zero" scores them 0, "ignore" leaves them out',
        )
    )


def _results(metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies) -> Iterator[MetricResult]:
    """One result a metric; the orders that equal scores allow are scored too where there are any."""
    any_ties = _tied(judged).any()
    best = reordered(judged, best_first=True) if any_ties else judged
    worst = reordered(judged, best_first=False) if any_ties else judged
    told = {"optimistic": best, "pessimistic": worst}.get(policies.ties, judged)
    views = [_as_told(view, policies) for view in (told, best, worst)]
    _refuse_ties(views[0], policies)
    for metric in metrics:
        scores = _counted(score(metric, views[0]), policies)
        yield _result(scores, _spread(scores, views, policies) if any_ties else None)


def as_policies_say(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Equal scores in the order that was chosen, cut at the depth, and without unjudged documents if so told."""
    if policies.ties in ("optimistic", "pessimistic") and _tied(judged).any():
        judged = reordered(judged, best_first=policies.ties == "optimistic")
    judged = _as_told(judged, policies)
    _refuse_ties(judged, policies)
    return judged


def _refuse_ties(judged: JudgedRankings, policies: Policies) -> None:
    tied = _tied(judged)
    if policies.ties == "error" and tied.any():
        query = judged.queries[int(judged.hits.query[tied][0])]
        raise InputError(f"query {query!r}: a judged document shares its score with others, and ties are an error")


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
