"""The setting of an evaluation: judgments, metrics and policies that rankings share, and the way each is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import NamedTuple, cast, get_args

import numpy as np

from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Dialect, Grades, MissingQueries, NoRelevant, Policies, Ties, Unjudged
from pytest_ireval.retrieval.companions import Fields, Preferences, with_companions
from pytest_ireval.retrieval.doors import (
    Brought,
    JudgmentsLike,
    QueriesLike,
    RankingsLike,
    as_judgments,
    as_queries,
    brought,
    parts_in,
    some,
)
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings

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

    def brought(
        self,
        rankings: FilePath | Rankings | RankingsLike,
        companions: Companions | None = None,
        *,
        documents: bool | None = None,
    ) -> Brought:
        """Rankings joined with the judgments, with all their ``documents`` or those that the metrics need."""
        companions = companions or self.companions or Companions()
        if parts_in(rankings):
            refuse_parts(self.metrics)
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
        return found._replace(judged=with_companions(found.judged, collection=self.policies.collection, **given))

    def _joined(self, source: FilePath | Rankings | RankingsLike, named: Format, documents: bool) -> Brought:
        readers, top = self.registry.readers, self.policies.scale
        return brought(self.judgments, source, readers, named, self.how, documents=documents, highest_grade=top)

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


def refuse_parts(metrics: Iterable[Metric]) -> None:
    """Refuse metrics that need all documents: a part has judged ones only."""
    names = [str(metric) for metric in metrics if metric.needs & DOCUMENT_NEEDS]
    if names:
        complaint = "needs all documents, and parts have only judged documents"
        suggestion = "evaluate the rankings themselves, in one process"
        raise InputError(Problem(complaint, place=", ".join(names), suggestion=suggestion))


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
