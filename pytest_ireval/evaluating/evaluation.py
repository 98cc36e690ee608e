"""Judgments and rankings in, metrics out: the setting that rankings share, and the one call of faces and gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple, cast, get_args

import numpy as np

from pytest_ireval.data.coerce import (
    Brought,
    JudgmentsLike,
    QueriesLike,
    RankingsLike,
    as_judgments,
    as_queries,
    brought,
    some,
)
from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.recognised import Format
from pytest_ireval.data.judged import JudgedRankings, Mask
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import Fields, Preferences, with_companions
from pytest_ireval.data.views import condensed, cut_to_depth, only
from pytest_ireval.errors import InputError, IrevalError, MetricError, Problem, did_you_mean, raised
from pytest_ireval.evaluating.executors import read_with
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import Scores, counting, score
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import (
    Dialect,
    Evaluation,
    Grades,
    MetricResult,
    MissingQueries,
    NoRelevant,
    Policies,
    Ties,
    Unjudged,
)
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from concurrent.futures import Executor

DOCUMENT_NEEDS = {"documents", "unjudged", "fields", "preferences"}


class Companions(NamedTuple):
    """Data in addition to rankings, for metrics that need them."""

    sessions: Mapping[str, tuple[str, int]] | None = None
    timings: FilePath | Mapping[str, float] | None = None
    fields: FilePath | Fields | None = None
    preferences: FilePath | Preferences | None = None
    queries: FilePath | Queries | QueriesLike | None = None
    reference: FilePath | Rankings | RankingsLike | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """Everything shared by rankings that are evaluated together: judgments, metrics, policies, plugins."""

    judgments: Judgments
    metrics: Sequence[Metric]
    policies: Policies
    registry: Registry
    how: Reading
    """The way in which rankings are read."""
    rankings_format: Format = None
    asked: Mapping[str, str] = field(default_factory=dict)
    """The given names of single metrics, with their canonical names."""
    companions: Companions | None = None
    """The data that all rankings share."""
    executor: Executor | None = None
    """Its workers read the files of rankings; None: this process does."""

    def brought(
        self,
        rankings: FilePath | Rankings | RankingsLike,
        companions: Companions | None = None,
        *,
        documents: bool | None = None,
    ) -> Brought:
        """Rankings joined with the judgments, with all their ``documents`` or those that the metrics need."""
        companions = companions or self.companions or Companions()
        if documents is None:
            documents = any(metric.needs & DOCUMENT_NEEDS for metric in self.metrics)
        found = self._joined(rankings, self.rankings_format, documents)
        given = companions._asdict()
        if isinstance(rankings, Rankings):
            given |= {name: getattr(rankings, name) for name in ("timings", "fields") if given[name] is None}
        if companions.queries is not None:
            given["queries"] = as_queries(companions.queries, self.registry.readers)
        if companions.reference is not None:
            given["reference"] = self._reference(companions.reference)
        given["collection"] = self.policies.collection
        if all(each is None for each in given.values()):
            return found
        return found._replace(judged=with_companions(found.judged, **given))

    def _joined(self, source: FilePath | Rankings | RankingsLike, named: Format, documents: bool) -> Brought:
        there = None
        if self.executor is not None:
            there = partial(read_with, self.executor, self.judgments, named, self.how, documents)
        return brought(
            self.judgments,
            source,
            self.registry.readers,
            named,
            self.how,
            documents=documents,
            highest_grade=self.policies.scale,
            read_elsewhere=there,
        )

    def _reference(self, source: FilePath | Rankings | RankingsLike) -> JudgedRankings:
        """Other rankings of the same queries; ``missing_queries`` applies to them, too."""
        found = self._joined(source, None, documents=True)
        refuse_missing([found._replace(origin=f"{found.origin} (the reference)")], self.policies)
        return found.judged


def set_up(
    judgments: FilePath | Judgments | JudgmentsLike,
    metrics: str | Metric | Iterable[str | Metric],
    policies: Policies,
    registry: Registry | None,
    progress: Progress = SILENT,
    judgments_format: Format = None,
    rankings_format: Format = None,
) -> Setting:
    """Judgments and metrics, read; raises an error if the policies cannot be followed."""
    check_policies(policies)
    registry = (registry or installed()).in_dialect(policies.dialect)
    named = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    wanted = registry.parse_metrics(named)
    how = Reading(cast("Grades", policies.grades), by_id=policies.ties != "input", progress=progress)
    judged_by = as_judgments(judgments, registry.readers, judgments_format, how)
    _check_scale(judged_by, policies.scale)
    _check_collection(judged_by, policies.collection)
    return Setting(judged_by, wanted, policies, registry, how, rankings_format, _asked(named, registry))


def _asked(named: Iterable[str | Metric], registry: Registry) -> dict[str, str]:
    """The canonical name for each text that names one metric; ``P@[5, 10]`` names two."""
    parsed = {text: registry.vocabulary.parse(text) for text in named if isinstance(text, str)}
    return {text: str(found[0]) for text, found in parsed.items() if len(found) == 1}


def _check_scale(judgments: Judgments, scale: float | None) -> None:
    if scale is not None and judgments.highest_grade > scale:
        complaint = f"its grades go up to {judgments.highest_grade:g}, above scale={scale:g}"
        raise InputError(Problem(complaint, place=judgments.origin))


def _check_collection(judgments: Judgments, size: int | None) -> None:
    """Refuse a size below the number of judged documents, over all queries."""
    if size is None:
        return
    judged = np.unique(judgments.documents.keys()).size
    if judged > size:
        complaint = f"{judged:,} documents are judged, but the collection has only {size:,}"
        raise InputError(Problem(complaint, place=judgments.origin))


def refuse_missing(rankings: Iterable[Brought], policies: Policies) -> None:
    """Raise an error with everything that is missing, if missing queries are an error."""
    if policies.missing_queries != "error":
        return
    problems = [
        Problem(
            f"{len(missing)} of {judged.count} judged queries have no ranking: {some(missing)}",
            place=origin,
            suggestion='missing_queries="zero" (command line: --missing zero) gives them the worst score, '
            '"ignore" leaves them out',
        )
        for judged, origin, _ in rankings
        if (missing := np.array(judged.queries, object)[~judged.present].tolist())
    ]
    if problems:
        raise InputError(*problems)


DEEPEST = 10**9
"""The greatest depth; no ranking is longer."""

ALLOWED = {
    "ties": get_args(Ties),
    "missing_queries": get_args(MissingQueries),
    "no_relevant": get_args(NoRelevant),
    "unjudged": get_args(Unjudged),
    "grades": get_args(Grades),
}


def check_policies(policies: Policies) -> None:
    """Refuse unknown values."""
    for name, allowed in ALLOWED.items():
        value = getattr(policies, name)
        if value not in allowed:
            hint = did_you_mean(str(value), allowed)
            listed = f"allowed: {', '.join(allowed)}"
            raise IrevalError(Problem(f"{name}={value!r} is unknown", suggestion=hint, allowed=listed))
    depth, scale = policies.depth, policies.scale
    if depth is not None and not (_is(depth, Integral) and 1 <= depth <= DEEPEST):
        raise IrevalError(f"depth={depth!r} is not a whole number from 1 to {DEEPEST:,}")
    if policies.dialect not in (None, *get_args(Dialect)):
        known = f"allowed: {', '.join(get_args(Dialect))}; without one, names mean what they mean here"
        raise IrevalError(Problem(f"dialect={policies.dialect!r} is unknown", allowed=known))
    size = policies.collection
    if size is not None and not (_is(size, Integral) and size >= 1):
        raise IrevalError(f"collection={size!r} is not a whole number of documents")
    if scale is not None and not (_is(scale, Real) and 0 < scale < np.inf):
        raise IrevalError(f"scale={scale!r} is not a number above 0")


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


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
    dialect: Dialect | None = None,
    judgments_format: Format = None,
    rankings_format: Format = None,
    fields: FilePath | Fields | None = None,
    sessions: Mapping[str, tuple[str, int]] | None = None,
    preferences: FilePath | Preferences | None = None,
    timings: FilePath | Mapping[str, float] | None = None,
    queries: FilePath | Queries | QueriesLike | None = None,
    reference: FilePath | Rankings | RankingsLike | None = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
    executor: Executor | None = None,
) -> Evaluation:
    """Score rankings under judgments; both are paths, or any of the Python forms that the documentation lists.

    The format of a file is recognised by its content, unless ``judgments_format`` or ``rankings_format`` names it.
    ``ties`` orders equal scores: ``trec`` by document id descending, ``input`` in the order of the input.
    ``missing_queries`` is the treatment of a judged query that has no ranking, ``no_relevant`` of one that has
    no relevant documents, ``unjudged`` of documents without a judgment. ``depth`` is the number of documents of each
    ranking that count, ``scale`` the top grade (unless given, the highest of the judgments). ``collection``, the number
    of documents to find, and the six arguments from ``fields`` on are for metrics that need them; fields, preferences,
    timings and queries may be files. With a ``dialect`` the names of metrics mean what they mean in that package.
    The workers of an ``executor`` (of :mod:`concurrent.futures`: processes, or machines) read the files of rankings.
    """
    policies = Policies(ties, missing_queries, no_relevant, unjudged, depth, scale, grades, collection, dialect)
    setting = set_up(judgments, metrics, policies, registry, progress, judgments_format, rankings_format)
    setting = replace(setting, executor=executor)
    found = setting.brought(rankings, Companions(sessions, timings, fields, preferences, queries, reference))
    refuse_missing([found], setting.policies)
    return evaluated(setting, found)


def evaluated(setting: Setting, found: Brought, queries: Mask | None = None) -> Evaluation:
    """The metrics of these rankings, over all queries that ``missing_queries`` leaves or over the marked ones."""
    judged = found.judged
    names = np.array(judged.queries, object)
    if queries is None and setting.policies.missing_queries == "ignore":
        queries = judged.present
    counting_queries = judged if queries is None or queries.all() else only(judged, queries)
    return Evaluation(
        metrics=tuple(_results(setting.metrics, counting_queries, setting.policies)),
        queries=judged.count,
        missing=tuple(names[~judged.present].tolist()),
        empty=tuple(names[judged.present & (judged.retrieved == 0)].tolist()),
        without_judgments=found.without_judgments,
        tied=_count_tied(counting_queries, setting.metrics, setting.policies),
        highest_grade=setting.judgments.highest_grade,
        policies=setting.policies,
        judgments=setting.judgments.origin,
        rankings=found.origin,
        plugins=setting.registry.distributions,
        asked=setting.asked,
    )


def scores_under(
    metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies
) -> Iterator[tuple[Scores, JudgedRankings]]:
    """The scores of each metric under the policies, with the view of the rankings that it scored."""
    views: dict[str, JudgedRankings] = {}
    for metric in metrics:
        unjudged = policies.unjudged if metric.judged else "irrelevant"
        if unjudged not in views:
            views[unjudged] = apply_policies(judged, replace(policies, unjudged=unjudged))
        yield _counted(score(metric, views[unjudged]), policies), views[unjudged]


def apply_policies(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies ask for that."""
    if policies.depth is not None:
        judged = cut_to_depth(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged


def deepest_rank(metrics: Iterable[Metric], depth: int) -> int:
    """The lowest rank that metrics look at: the largest cutoff, or the depth if one has none."""
    cutoffs = [metric.settings.get("cutoff") for metric in metrics if metric.unit == "query"]
    known = [cutoff for cutoff in cutoffs if isinstance(cutoff, int)]
    return min(depth, max(known)) if known and len(known) == len(cutoffs) else depth


def _count_tied(judged: JudgedRankings, metrics: Sequence[Metric], policies: Policies) -> int:
    """The number of queries in which a judged document has the score of another one, as far down as metrics look."""
    deepest = policies.depth or DEEPEST
    if policies.unjudged == "removed":
        judged = apply_policies(judged, policies)
    elif not any(metric.settings.get("judged_only") for metric in metrics):  # they count judged documents alone
        deepest = deepest_rank(metrics, deepest)
    hits = judged.hits
    return int(np.count_nonzero(np.bincount(hits.query[(hits.tied_from < hits.tied_to) & (hits.tied_from <= deepest)])))


def _results(metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies) -> Iterator[MetricResult]:
    for scores, view in scores_under(metrics, judged, policies):
        yield _result(scores, tuple(_notes(scores, view)))


def _notes(scores: Scores, judged: JudgedRankings) -> Iterator[str]:
    """Sentences about units without a value, and about what the metric left out."""
    metric, without = scores.metric, int(np.isnan(scores.values).sum())
    if without:
        units = format_count(len(scores.units), metric.unit)
        yield f"{metric} has no value for {without:,} of {units}: {metric.undefined}"
    for note in _notes_of_metric(metric, judged):
        yield f"{metric}: {note}"


def _notes_of_metric(metric: Metric, judged: JudgedRankings) -> list[str]:
    """What the metric itself notes; whatever its code raises is an error of this metric alone."""
    try:
        return [] if metric.notes is None else [*metric.notes(judged, **metric.settings)]
    except MetricError:
        raise
    except Exception as error:  # the code of a plugin may raise anything; the message names it
        problem = raised("its notes", error, f"the metric comes from {metric.source}")
        raise MetricError(replace(problem, place=str(metric))) from error


def _counted(scores: Scores, policies: Policies) -> Scores:
    if policies.no_relevant == "zero" or not scores.no_relevant.any():
        return scores
    if policies.no_relevant == "ignore":
        return counting(scores, ~scores.no_relevant)
    names = [unit for unit, without in zip(scores.units, scores.no_relevant.tolist(), strict=True) if without]
    complaint = f"{len(names)} of {len(scores.units)} queries have no relevant documents: {some(names)}"
    suggestion = 'no_relevant="zero" (command line: --no-relevant zero) lets them count, "ignore" leaves them out'
    raise InputError(Problem(complaint, place=str(scores.metric), suggestion=suggestion))


def _result(scores: Scores, notes: tuple[str, ...]) -> MetricResult:
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
        notes=notes,
    )
