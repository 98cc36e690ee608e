"""What is compared with: the stored baseline, if it fits what is evaluated now, and whatever single rules name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from pytest_ireval.baselines.baseline import Baseline, Fingerprints
from pytest_ireval.baselines.changes import cause_of
from pytest_ireval.baselines.fingerprints import JudgmentPrints
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.gathering import Gathered, rankings_of, refuse_missing
from pytest_ireval.gate.misfit import Kept, misfit, notes_of, redefined, the_baseline
from pytest_ireval.gate.scoring import side_of, with_overlaps
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.cause import Cause, Restated
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.describing import described
from pytest_ireval.suites.suite import SourceAsked, Suite

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
    kept: Kept | None = None,
) -> Compared:
    """A stored baseline under the judgments and metrics of now; that which was accepted last, unless ``kept`` says."""
    kept = kept or the_baseline(suite)
    stored = replace(stored, rankings=tuple(map(gathered.names.in_rankings, stored.rankings)))
    unknown = unknown_to(gathered, stored)
    origin = f"the {kept.noun} of {stored.accepted.date}"
    side = side_of(suite, gathered, stored.rankings, origin, unknown=unknown, curves=True).side
    side = over_the_same(suite, gathered, now, side, unknown)
    cause = cause_of(
        stored,
        rankings=now.rankings,
        judgments=judged_by,
        queries=gathered.population.queries,
        metrics=definitions(now),
        fingerprints=prints,
    )
    ranked = set(now.position)
    waived, known = gathered.population.waived, set(side.position)
    moved = [q for q in gathered.population.queries.ids if (q in known) != (q in ranked) and q not in unknown | waived]
    cause = replace(
        cause,
        rankings=cause.rankings + len(moved),
        restated=_restated(stored, side),
        added=tuple(query for query in cause.added if query in ranked and query not in waived),
    )
    side = replace(side, errors={**side.errors, **redefined(stored, definitions(now), kept)})
    error = misfit(suite, gathered, stored, now, cause, prints, kept)
    return Compared(side, cause, error, tuple(notes_of(cause, len(gathered.population.queries), kept)))


def unknown_to(gathered: Gathered, stored: Baseline) -> frozenset[str]:
    """Queries that the baseline does not know."""
    known = {query for metric in stored.metrics.values() for query in metric.values}
    known = known.union(*(rankings.queries for rankings in stored.rankings))
    return frozenset(query for query in gathered.population.queries.ids if query not in known)


def over_the_same(suite: Suite, gathered: Gathered, now: Side, side: Side, unknown: frozenset[str]) -> Side:
    """A side whose metrics of sessions and of the whole are over queries that both have; and those of now, too."""
    metrics = [metric for metric in suite.metrics if metric.unit != "query"]
    if not metrics:
        return side
    ignored = suite.policies.missing_queries == "ignore"
    lost = frozenset(query for query in side.position if query not in now.position) if ignored else frozenset()
    ours, theirs = (
        side_of(suite, gathered, each.rankings, each.origin, unknown=unknown, excluded=unknown | lost, metrics=metrics)
        for each in (now, side)
    )
    errors = {**side.errors, **ours.side.errors, **theirs.side.errors}
    return replace(side, scored={**side.scored, **theirs.side.scored}, errors=errors, counterpart=ours.side.scored)


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


def others_of(
    suite: Suite, registry: Registry, gathered: Gathered, now: Side, progress: Progress = SILENT
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
                asked[words] = _other(reference.source, suite, registry, gathered, now, progress)
            except IrevalError as error:
                asked[words] = error
        found[number] = asked[words]
    return found


def _other(
    source: SourceAsked, suite: Suite, registry: Registry, gathered: Gathered, now: Side, progress: Progress
) -> Side:
    """Another source, scored; what it lacks is an error, or is not compared: it must not lose by it."""
    rankings = rankings_of(source, suite, registry, gathered, progress).rankings
    refuse_missing(suite, source, gathered, rankings)
    there = set(rankings[0].queries).intersection(*(each.queries for each in rankings))
    unknown = frozenset(query for query in gathered.population.queries.ids if query not in there)
    words = described(source, suite.path.parent)
    side = side_of(suite, gathered, rankings, words, unknown=unknown).side
    return over_the_same(suite, gathered, now, side, unknown)


def beside(suite: Suite, gathered: Gathered, now: Side) -> Callable[[Side], Side]:
    """Gives the side of now with the metrics that compare its lists with those of a reference; made once for each."""
    made: dict[int, Side] = {}

    def with_reference(reference: Side) -> Side:
        if id(reference) not in made:
            made[id(reference)] = with_overlaps(suite, gathered, now, reference)
        return made[id(reference)]

    return with_reference
