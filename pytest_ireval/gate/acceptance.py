"""Accepting what was measured: which suites may be, and the baseline that it makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pytest_ireval.baselines.files import fingerprint_of_rankings
from pytest_ireval.baselines.reading import read_record
from pytest_ireval.baselines.record import Acceptance, Baseline, StoredMetric
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.inputs import ORDERS_BY_JUDGMENTS
from pytest_ireval.gate.material import NOTHING_MOVED, Material, Moved, moved_by
from pytest_ireval.gate.reference import definitions, needs_scores
from pytest_ireval.gate.verdicts import bring_back
from pytest_ireval.metrics.score import aggregated
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.retrieval.rankings import Rankings
from pytest_ireval.retrieval.views import of_queries, side_by_side
from pytest_ireval.rules.planning import INPUTS, LOWERING
from pytest_ireval.rules.side import Scored


@dataclass(frozen=True, eq=False)
class Proposal:
    """What it takes to accept a suite; plain data, so that another process can do it."""

    baseline: Baseline | None
    """What would be accepted, without an acceptance of it; None if that is what the stored one says."""
    exists: bool
    """Whether there is a baseline, be it one that can be read or not."""
    only_by_force: tuple[str, str] = ("", "")
    """What is wrong with the stored baseline, and more of it."""
    history_lost: bool = False
    """Whether earlier acceptances cannot be kept: nobody can read them."""
    error: str = ""
    """Why no baseline can be made of what was measured."""
    moved: Moved = NOTHING_MOVED
    """How far queries moved, by metric and slice."""
    finished: bool = False
    """Whether an update that was interrupted had to be finished first."""

    def accepted(self, acceptance: Acceptance) -> Baseline | None:
        """The baseline to be written; None if there is nothing to accept."""
        if self.baseline is None:
            return None
        told = acceptance._replace(**self.moved._asdict())
        return replace(self.baseline, acceptances=(*self.baseline.acceptances, told))


def proposal_of(material: Material, *, finished: bool = False) -> Proposal:
    """What accepting this material would mean; ``finished``: an update that was interrupted is in place now."""
    error, baseline = "", None
    try:
        baseline = _measured(material)
    except IrevalError as raised:
        error = str(raised)
    return Proposal(
        baseline=baseline,
        exists=material.stored is not None or material.baseline_error is not None,
        only_by_force=_only_by_force(material),
        history_lost=_history_lost(material),
        error=error,
        moved=moved_by(material) if baseline is not None else NOTHING_MOVED,
        finished=finished,
    )


def _only_by_force(material: Material) -> tuple[str, str]:
    if material.stored is None and material.baseline_error is not None:
        return "its baseline cannot be read", str(material.baseline_error)
    if material.deleted:
        return "the last commit has a baseline of this suite, but this folder does not", bring_back(material)
    return "", ""


def _history_lost(material: Material) -> bool:
    if material.stored is not None or material.baseline_error is None:
        return bool(material.deleted)
    try:
        return read_record(material.suite.baselines, material.suite.name) is None
    except BaselineError:
        return True


def blockers(result: SuiteResult) -> Iterator[str]:
    """What stands in the way of accepting: everything red that accepting does not settle.

    That the stored baseline is lower than it was is no obstacle: to accept a better one is how that ends, and the next
    run holds the new one against the base. Nor is an anchor that nobody has pinned yet: it takes a baseline to do so.
    """
    for outcome in result.outcomes:
        if outcome.id == LOWERING or (outcome.missing_baseline and outcome.against):
            continue
        if outcome.verdict not in ("pass", "inconclusive") and not outcome.acceptable:
            yield f"{outcome.id}: {outcome.headline}"


def needs_reason(result: SuiteResult) -> str:
    """Because of what somebody has to say why the change is fine; nothing if nobody has to.

    A comparison that only warns was red all the same.
    """
    if any(outcome.acceptable and not outcome.missing_baseline for outcome in result.outcomes):
        return "a regression was found"
    if result.cause is not None and result.cause.removed:
        return "queries of the baseline are gone"
    if any(outcome.compares and outcome.verdict == "inconclusive" for outcome in result.outcomes):
        return "a comparison was inconclusive"
    if any(outcome.id == INPUTS and outcome.verdict == "inconclusive" for outcome in result.outcomes):
        return "a new document is at the top of many queries"
    return ""


def _measured(material: Material) -> Baseline | None:
    """The baseline that was measured; None if it would say what the stored one says."""
    suite, stored = material.suite, material.stored
    prints = material.judged_by
    made = Baseline(
        suite=suite.name,
        depth=_kept_depth(material),
        rankings=_rankings(material),
        scored=needs_scores(suite),
        metrics=_metrics(material),
        grades=None if prints is None else prints.grades,
        grades_of={} if prints is None else prints.grades_of,
        fingerprints=material.fingerprints,
        plugins=material.registry.distributions,
        acceptances=stored.acceptances if stored is not None else (),
    )
    return None if stored is not None and _says_the_same(made, stored) else made


def _kept_depth(material: Material) -> int:
    """How many documents are kept: down to the depth, and all that share their score with one above it."""
    depth = material.suite.depth
    if material.suite.policies.ties not in ORDERS_BY_JUDGMENTS:
        return depth
    last = [_last_tied(rankings, depth) for rankings in material.now.rankings]
    return max(depth, *last)


def _last_tied(rankings: Rankings, depth: int) -> int:
    """The last rank that shares its score with rank ``depth`` of some query."""
    first, end = rankings.first[:-1], rankings.first[1:]
    rows = first[end - first >= depth] + depth - 1
    return int(rankings.tied_to[rows].max()) if rows.size else depth


def _metrics(material: Material) -> dict[str, StoredMetric]:
    defined = definitions(material.now)
    made = {name: _stored(scored, *defined[name]) for name, scored in material.now.scored.items()}
    if material.stored is None:
        return made
    waived, known = material.population.waived, material.stored.metrics
    kept = {name: {q: v for q, v in known[name].values.items() if q in waived} for name in made if name in known}
    return {name: each._replace(values={**kept.get(name, {}), **each.values}) for name, each in made.items()}


def _rankings(material: Material) -> tuple[Rankings, ...]:
    """The rankings of now; of waived queries those that were accepted before, for nobody looked at them."""
    waived, stored, now = material.population.waived, material.stored, material.now.rankings
    if not waived:
        return now
    before = stored.rankings if stored is not None else ()
    made = []
    for number, rankings in enumerate(now):
        parts = [of_queries(rankings, lambda query: query not in waived)[0]]
        if before:
            parts.append(of_queries(before[number % len(before)], waived.__contains__)[0])
        if not any(map(len, parts)):
            raise BaselineError("all queries are waived: no ranking can be accepted")
        made.append(side_by_side([part for part in parts if len(part)], rankings.origin))
    return tuple(made)


def _stored(scored: Scored, version: int, origin: str) -> StoredMetric:
    counts = ~np.isnan(scored.values)
    values = dict(zip(np.array(scored.names, object)[counts].tolist(), scored.values[counts].tolist(), strict=True))
    return StoredMetric(version, origin, aggregated(scored.values[counts], scored.metric.aggregate), values)


def _says_the_same(made: Baseline, stored: Baseline) -> bool:
    """Tell whether only the acceptance is new."""
    return (
        (made.depth, made.scored, made.fingerprints, dict(made.grades_of))
        == (stored.depth, stored.scored, stored.fingerprints, dict(stored.grades_of))
        and made.metrics == stored.metrics
        and _prints(made.rankings, made.depth) == _prints(stored.rankings, made.depth)
    )


def _prints(rankings: tuple[Rankings, ...], depth: int) -> list[str]:
    return [fingerprint_of_rankings(each, depth) for each in rankings]
