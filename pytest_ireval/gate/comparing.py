"""What is compared with: the stored baseline, if it fits what is evaluated now, and whatever single rules name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pytest_ireval.baselines.baseline import Baseline, Fingerprints
from pytest_ireval.baselines.changes import cause_of
from pytest_ireval.baselines.fingerprints import JudgmentPrints
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.gate.gathering import Gathered, rankings_of
from pytest_ireval.gate.scoring import side_of, with_overlaps
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.plurals import counted
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.cause import Cause, Restated
from pytest_ireval.retrieval.doors import some
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.describing import described
from pytest_ireval.suites.suite import Suite

MOST_REMOVED = 0.05
MOST_ADDED = 0.10
SAME = 1e-9
"""A figure that was stored and is computed again may differ by rounding."""


@dataclass(frozen=True, eq=False)
class Compared:
    """A baseline that was scored: its side, what changed since, or why nothing can be said."""

    side: Side | None = None
    cause: Cause | None = None
    error: IrevalError | None = None
    notes: tuple[str, ...] = ()


def compared(
    suite: Suite,
    gathered: Gathered,
    now: Side,
    stored: Baseline,
    prints: Fingerprints,
    judged_by: JudgmentPrints | None,
) -> Compared:
    """The stored baseline under the judgments and metrics of now."""
    rankings = [gathered.names.in_rankings(each) for each in stored.rankings]
    known = {query for metric in stored.metrics.values() for query in metric.values}.union(
        *(r.queries for r in rankings)
    )
    unknown = frozenset(query for query in gathered.population.queries.ids if query not in known)
    side = side_of(suite, gathered, rankings, f"the baseline of {stored.accepted.date}", unknown).side
    cause = cause_of(
        replace(stored, rankings=tuple(rankings)),
        rankings=now.rankings,
        judgments=judged_by,
        queries=gathered.population.queries,
        metrics=definitions(now),
        fingerprints=prints,
    )
    cause = replace(cause, restated=_restated(stored, side))
    side = replace(side, errors={**side.errors, **_redefined(stored, now)})
    problems = list(_unfit(suite, stored, cause))
    error = BaselineError(*problems) if problems else None
    return Compared(side, cause, error, tuple(_notes(cause, len(gathered.population.queries))))


def definitions(side: Side) -> dict[str, tuple[int, str]]:
    """Version and origin of each metric; an origin without the version of its distribution."""
    return {name: (scored.metric.version, origin_of(scored.metric.origin)) for name, scored in side.scored.items()}


def origin_of(text: str) -> str:
    """``acme-metrics 1.2`` is ``acme-metrics``; a file is named without its folder, which differs by machine."""
    return text.replace("\\", "/").rpartition("/")[2].partition(" ")[0]


def _restated(stored: Baseline, side: Side) -> Mapping[str, Restated]:
    """Metrics that say something else of the baseline than when it was accepted."""
    restated = {}
    for name, scored in side.scored.items():
        if name not in stored.metrics:
            continue
        known = stored.metrics[name].values
        before = np.array([known.get(unit, np.nan) for unit in scored.names], np.float64)
        both = ~np.isnan(before) & ~np.isnan(scored.values)
        then, now = (aggregated(values[both], scored.metric.aggregate) for values in (before, scored.values))
        if (then is None) != (now is None) or (then is not None and now is not None and abs(then - now) > SAME):
            restated[name] = Restated(then, now)
    return restated


def _redefined(stored: Baseline, now: Side) -> dict[str, IrevalError]:
    """Metrics that are not what they were when the baseline was accepted."""
    errors: dict[str, IrevalError] = {}
    for name, (version, origin) in definitions(now).items():
        then = stored.metrics.get(name)
        if then is not None and (then.version, then.origin) != (version, origin):
            errors[name] = BaselineError(
                Problem(
                    f"its definition is version {version} of {origin}; the baseline was accepted with version "
                    f"{then.version} of {then.origin}",
                    place=name,
                    suggestion="accept the baseline anew: pytest --ireval … --ireval-update --ireval-reason …",
                )
            )
    return errors


def _unfit(suite: Suite, stored: Baseline, cause: Cause) -> Iterator[Problem]:
    """What keeps the baseline from being compared with."""
    count = len(stored.rankings[0].queries)
    if len(cause.removed) > MOST_REMOVED * count:
        yield Problem(
            f"{len(cause.removed)} of {counted(count, 'query')} of the baseline are gone: {some(cause.removed)}",
            place=str(suite.place),
            suggestion=f"more than {MOST_REMOVED:.0%} of it cannot be compared; accept the baseline anew",
        )
    if suite.judgments is not None and suite.judgments.lock and cause.judgments:
        edits = "; ".join(f"{e.query} {e.document}: {_grade(e.before)} -> {_grade(e.now)}" for e in cause.edits[:5])
        yield Problem(
            f"judgments are locked, and those of {counted(cause.judgments, 'query')} are not what they were when the "
            f"baseline was accepted{': ' + edits if edits else ''}",
            place=str(suite.judgments.file.place),
            suggestion="bring the judgments back, or take lock: true out of the suite",
        )


def _grade(grade: float | None) -> str:
    return "none" if grade is None else f"{grade:g}"


def _notes(cause: Cause, queries: int) -> Iterator[str]:
    if cause.added:
        much = ": more than a tenth, so accept the baseline anew" if len(cause.added) > MOST_ADDED * queries else ""
        new = counted(len(cause.added), "query")
        yield f"{new} not yet in the baseline, and not compared{much}: {some(cause.added)}"
    if cause.removed:
        yield f"{counted(len(cause.removed), 'query')} of the baseline gone: {some(cause.removed)}"


def others_of(
    suite: Suite, registry: Registry, gathered: Gathered, progress: Progress = SILENT
) -> dict[int, Side | IrevalError]:
    """What single rules compare with instead of the stored baseline; a source that several name is asked once."""
    found: dict[int, Side | IrevalError] = {}
    asked: dict[str, Side | IrevalError] = {}
    for number, rule in enumerate(suite.rules):
        reference = getattr(rule.options, "against", None)
        if reference is None or reference.source is None:
            continue
        words = described(reference.source, suite.path.parent)
        if words not in asked:
            try:
                rankings = rankings_of(reference.source, suite, registry, gathered, progress).rankings
                asked[words] = side_of(suite, gathered, rankings, words).side
            except IrevalError as error:
                asked[words] = error
        found[number] = asked[words]
    return found


def beside(suite: Suite, gathered: Gathered, now: Side) -> Callable[[Side], Side]:
    """Gives the side of now with the metrics that compare its lists with those of a reference; made once for each."""
    made: dict[int, Side] = {}

    def with_reference(reference: Side) -> Side:
        if id(reference) not in made:
            made[id(reference)] = with_overlaps(suite, gathered, now, reference)
        return made[id(reference)]

    return with_reference
