"""What rankings that are evaluated together share, and how each of them is brought in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry, installed
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.evaluation import Grades, MissingQueries, NoRelevant, Policies, Ties, Unjudged
from pytest_ireval.retrieval.companions import with_companions
from pytest_ireval.retrieval.doors import Brought, JudgmentsLike, RankingsLike, as_judgments, brought, some
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.reader import Reading
from pytest_ireval.retrieval.formats.recognised import Format
from pytest_ireval.retrieval.judged import JudgedRankings
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.rankings import Rankings

DOCUMENT_NEEDS = {"documents", "unjudged", "attributes", "preferences"}


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
    rankings_format: Format = None
    asked: Mapping[str, str] = field(default_factory=dict)
    """How single metrics were asked for, with their canonical names."""

    def brought(
        self, rankings: FilePath | Rankings | RankingsLike, companions: Companions, *, documents: bool | None = None
    ) -> Brought:
        """Rankings joined with the judgments, with all their ``documents`` or those that the metrics need."""
        policies = self.policies
        if documents is None:
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
            collection=policies.collection,
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


def set_up(
    judgments: FilePath | Judgments | JudgmentsLike,
    metrics: str | Metric | Iterable[str | Metric],
    policies: Policies,
    registry: Registry | None,
    progress: Progress = SILENT,
    judgments_format: Format = None,
    rankings_format: Format = None,
) -> Setting:
    """Judgments read and metrics understood, if the policies can be followed."""
    _checked_policies(policies)
    registry = registry or installed()
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
        raise InputError(
            Problem(f"its grades go up to {judgments.highest_grade:g}, above scale={scale:g}", place=judgments.origin)
        )


def _check_collection(judgments: Judgments, size: int | None) -> None:
    """No fewer documents than are judged, over all queries."""
    if size is None:
        return
    judged = np.unique(judgments.documents.keys()).size
    if judged > size:
        complaint = f"{judged:,} documents are judged, but the collection has only {size:,}"
        raise InputError(Problem(complaint, place=judgments.origin))


def refuse_missing(rankings: Iterable[Brought], policies: Policies) -> None:
    """An error with everything that is missing, if missing queries are to be one."""
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
"""No ranking is longer."""

ALLOWED = {
    "ties": get_args(Ties),
    "missing_queries": get_args(MissingQueries),
    "no_relevant": get_args(NoRelevant),
    "unjudged": get_args(Unjudged),
    "grades": get_args(Grades),
}


def _checked_policies(policies: Policies) -> Policies:
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
        raise IrevalError(f"collection={size!r} is not a whole number of documents")
    if scale is not None and not (_is(scale, Real) and 0 < scale < np.inf):
        raise IrevalError(f"scale={scale!r} is not a number above 0")
    return policies


def _is(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
