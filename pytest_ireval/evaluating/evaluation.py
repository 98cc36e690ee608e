"""Judgments and rankings in, metrics out: the setting that rankings share, and the one call of faces and gate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_ireval.data.arrays import Mask
from pytest_ireval.data.coerce import (
    JoinedRankings,
    JudgmentsLike,
    RankingsLike,
    coerce_judgments,
    coerce_queries,
    join_rankings,
)
from pytest_ireval.data.formats.input_file import FilePath
from pytest_ireval.data.formats.reader import Reading
from pytest_ireval.data.formats.recognition import Format
from pytest_ireval.data.judged import JudgedRankings
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.side_data import SideData, join_side_data
from pytest_ireval.data.views import condensed, cut_to_depth, select_queries
from pytest_ireval.errors import InputError, MetricError, Problem, make_exception_problem
from pytest_ireval.evaluating.executors import read_with
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import Scores, count_only, score
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Evaluation, MetricResult
from pytest_ireval.results.policies import DEEPEST, Policies
from pytest_ireval.words import format_count, format_some

if TYPE_CHECKING:
    from concurrent.futures import Executor

DOCUMENT_NEEDS = {"documents", "unjudged", "fields", "preferences"}


@dataclass(eq=False)
class EvaluationSetup:
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
    side_data: SideData = SideData()
    """The data that all rankings share."""
    executor: Executor | None = None
    """Its workers read the files of rankings; None: this process does."""

    def join_rankings(
        self,
        rankings: FilePath | Rankings | RankingsLike,
        side_data: SideData | None = None,
        *,
        documents: bool | None = None,
    ) -> JoinedRankings:
        """Rankings joined with the judgments, with all their ``documents`` or those that the metrics need."""
        side_data = side_data or self.side_data
        _check_collection(self.judgments, side_data.collection)
        if documents is None:
            documents = any(metric.needs & DOCUMENT_NEEDS for metric in self.metrics)
        found = self._read_and_join(rankings, self.rankings_format, documents)
        given: dict[str, Any] = {each.name: getattr(side_data, each.name) for each in fields(side_data)}
        if isinstance(rankings, Rankings):
            given |= {name: getattr(rankings, name) for name in ("timings", "fields") if given[name] is None}
        if side_data.queries is not None:
            given["queries"] = coerce_queries(side_data.queries, self.registry.readers)
        if side_data.reference is not None:
            given["reference"] = self._join_reference(side_data.reference)
        if all(each is None for each in given.values()):
            return found
        return found._replace(judged=join_side_data(found.judged, **given))

    def _read_and_join(
        self, source: FilePath | Rankings | RankingsLike, named: Format, documents: bool
    ) -> JoinedRankings:
        there = None
        if self.executor is not None:
            there = partial(read_with, self.executor, self.judgments, named, self.how, documents)
        return join_rankings(
            self.judgments,
            source,
            self.registry.readers,
            named,
            self.how,
            documents=documents,
            highest_grade=self.policies.scale,
            read_elsewhere=there,
        )

    def _join_reference(self, source: FilePath | Rankings | RankingsLike) -> JudgedRankings:
        """Other rankings of the same queries; ``missing_queries`` applies to them, too."""
        found = self._read_and_join(source, None, documents=True)
        refuse_missing([found._replace(origin=f"{found.origin} (the reference)")], self.policies)
        return found.judged


def prepare_evaluation(
    judgments: FilePath | Judgments | JudgmentsLike,
    metrics: str | Metric | Iterable[str | Metric],
    policies: Policies,
    registry: Registry | None,
    progress: Progress = SILENT,
    judgments_format: Format = None,
    rankings_format: Format = None,
) -> EvaluationSetup:
    """Judgments and metrics, read; raises an error if the scale cannot hold the grades."""
    registry = (registry or installed_registry()).in_dialect(policies.dialect)
    named = list(metrics) if isinstance(metrics, Iterable) and not isinstance(metrics, str) else [metrics]
    wanted = registry.parse_metrics(named)
    how = Reading(policies.grades, by_id=policies.ties != "input", progress=progress)
    judged_by = coerce_judgments(judgments, registry.readers, judgments_format, how)
    _check_scale(judged_by, policies.scale)
    return EvaluationSetup(
        judged_by, wanted, policies, registry, how, rankings_format, _find_canonical_names(named, registry)
    )


def _find_canonical_names(named: Iterable[str | Metric], registry: Registry) -> dict[str, str]:
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
    judged = len(set(judgments.documents.texts()))
    if judged > size:
        complaint = f"{judged:,} documents are judged, but the collection has only {size:,}"
        raise InputError(Problem(complaint, place=judgments.origin))


def refuse_missing(rankings: Iterable[JoinedRankings], policies: Policies) -> None:
    """Raise an error with everything that is missing, if missing queries are an error."""
    if policies.missing_queries != "error":
        return
    problems = [
        Problem(
            f"{len(missing)} of {judged.count} judged queries have no ranking: {format_some(missing)}",
            place=origin,
            suggestion='missing_queries="zero" (command line: --missing zero) gives them the worst score, '
            '"ignore" leaves them out',
        )
        for judged, origin, *_ in rankings
        if (missing := np.array(judged.queries, object)[~judged.present].tolist())
    ]
    if problems:
        raise InputError(*problems)


def evaluate(
    judgments: FilePath | Judgments | JudgmentsLike,
    rankings: FilePath | Rankings | RankingsLike,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    policies: Policies = Policies(),
    side_data: SideData = SideData(),
    judgments_format: Format = None,
    rankings_format: Format = None,
    registry: Registry | None = None,
    progress: Progress = SILENT,
    executor: Executor | None = None,
) -> Evaluation:
    """Score rankings under judgments; both are paths, or any of the Python forms that the documentation lists.

    ``policies`` are the choices where the data leave one, such as a judged query without a ranking. ``side_data`` is
    for metrics that need more than judgments and rankings. The format of a file is recognised by its content, unless
    ``judgments_format`` or ``rankings_format`` names it. The workers of an ``executor`` (of :mod:`concurrent.futures`:
    processes, or machines) read the files of rankings.

    >>> from pytest_ireval import evaluate
    >>> evaluation = evaluate({"mug": {"a": 2, "b": 1}}, {"mug": ["x", "a", "b"]}, ["RR", "P@2"])
    >>> evaluation["RR"].mean, evaluation["P@2"].values
    (0.5, {'mug': 0.5})
    """
    setting = prepare_evaluation(judgments, metrics, policies, registry, progress, judgments_format, rankings_format)
    setting = replace(setting, executor=executor)
    found = setting.join_rankings(rankings, side_data)
    refuse_missing([found], setting.policies)
    return build_evaluation(setting, found)


def build_evaluation(setting: EvaluationSetup, found: JoinedRankings, queries: Mask | None = None) -> Evaluation:
    """The metrics of these rankings, over all queries that ``missing_queries`` leaves or over the marked ones."""
    judged = found.judged
    names = np.array(judged.queries, object)
    if queries is None and setting.policies.missing_queries == "ignore":
        queries = judged.present
    counting_queries = judged if queries is None or queries.all() else select_queries(judged, queries)
    return Evaluation(
        metrics=tuple(_make_results(setting.metrics, counting_queries, setting.policies)),
        queries=judged.count,
        missing=tuple(names[~judged.present].tolist()),
        empty=tuple(names[judged.present & (judged.retrieved == 0)].tolist()),
        without_judgments=found.without_judgments,
        tied=count_tied(counting_queries, setting.metrics, setting.policies),
        highest_grade=setting.judgments.highest_grade,
        policies=setting.policies,
        judgments=setting.judgments.origin,
        rankings=found.origin,
        plugins=setting.registry.distributions,
        collection=found.judged.collection,
        asked=setting.asked,
        contradicted=len(found.contradicted),
    )


def score_under_policies(
    metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies
) -> Iterator[tuple[Scores, JudgedRankings]]:
    """The scores of each metric under the policies, with the view of the rankings that it scored."""
    views: dict[str, JudgedRankings] = {}
    for metric in metrics:
        unjudged = policies.unjudged if metric.judged else "irrelevant"
        if unjudged not in views:
            views[unjudged] = apply_policies(judged, replace(policies, unjudged=unjudged))
        yield _apply_no_relevant(score(metric, views[unjudged]), policies), views[unjudged]


def apply_policies(judged: JudgedRankings, policies: Policies) -> JudgedRankings:
    """Cut at the depth, and without unjudged documents, if the policies ask for that."""
    if policies.depth is not None:
        judged = cut_to_depth(judged, policies.depth)
    return condensed(judged) if policies.unjudged == "removed" else judged


def find_deepest_rank(metrics: Iterable[Metric], depth: int) -> int:
    """The lowest rank that metrics look at: the largest cutoff, or the depth if one has none."""
    cutoffs = [metric.settings.get("cutoff") for metric in metrics if metric.unit == "query" and not metric.stage]
    known = [cutoff for cutoff in cutoffs if isinstance(cutoff, int)]
    return min(depth, max(known)) if known and len(known) == len(cutoffs) else depth


def count_tied(judged: JudgedRankings, metrics: Sequence[Metric], policies: Policies) -> int:
    """The number of queries in which a judged document has the score of another one, as far down as metrics look."""
    deepest = policies.depth or DEEPEST
    if policies.unjudged == "removed":
        judged = apply_policies(judged, policies)
    elif not any(metric.settings.get("judged_only") for metric in metrics):  # they count judged documents alone
        deepest = find_deepest_rank(metrics, deepest)
    hits = judged.hits
    return int(np.count_nonzero(np.bincount(hits.query[(hits.tied_from < hits.tied_to) & (hits.tied_from <= deepest)])))


def _make_results(metrics: Sequence[Metric], judged: JudgedRankings, policies: Policies) -> Iterator[MetricResult]:
    for scores, view in score_under_policies(metrics, judged, policies):
        yield _make_result(scores, tuple(collect_notes(scores, view)))


def collect_notes(scores: Scores, judged: JudgedRankings) -> Iterator[str]:
    """Sentences about units without a value, and about what the metric left out."""
    metric, without = scores.metric, int(np.isnan(scores.values).sum())
    if without:
        units = format_count(len(scores.units), metric.unit)
        yield f"{metric} has no value for {without:,} of {units}: {metric.undefined}"
    for note in _call_notes(metric, judged):
        yield f"{metric}: {note}"


def _call_notes(metric: Metric, judged: JudgedRankings) -> list[str]:
    """What the metric itself notes; whatever its code raises is an error of this metric alone."""
    try:
        return [] if metric.notes is None else [*metric.notes(judged, **metric.settings)]
    except MetricError:
        raise
    except Exception as error:  # the code of a plugin may raise anything; the message names it
        problem = make_exception_problem("its notes", error, f"the metric comes from {metric.source}")
        raise MetricError(replace(problem, place=str(metric))) from error


def _apply_no_relevant(scores: Scores, policies: Policies) -> Scores:
    if policies.no_relevant == "zero" or not scores.no_relevant.any():
        return scores
    if policies.no_relevant == "ignore":
        return count_only(scores, ~scores.no_relevant)
    names = [unit for unit, without in zip(scores.units, scores.no_relevant.tolist(), strict=True) if without]
    complaint = f"{len(names)} of {len(scores.units)} queries have no relevant documents: {format_some(names)}"
    suggestion = 'no_relevant="zero" (command line: --no-relevant zero) lets them count, "ignore" leaves them out'
    raise InputError(Problem(complaint, place=str(scores.metric), suggestion=suggestion))


def _make_result(scores: Scores, notes: tuple[str, ...]) -> MetricResult:
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
