"""Accepting what was measured: which suites may be, and the baseline that it makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.fingerprints import fingerprint_rankings
from pytest_ireval.baseline.index_facts import describe_index_change
from pytest_ireval.baseline.reading import read_acceptances
from pytest_ireval.baseline.record import NO_JUDGMENTS, Acceptance, Baseline, StoredMetric
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.views import concatenate_rankings, keep_first_documents, split_queries
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.fetching import find_used_fields, needs_fields
from pytest_ireval.gate.movement import NO_MOVEMENT, Movement, measure_movement
from pytest_ireval.gate.noise import UNSTABLE
from pytest_ireval.gate.notes import note_failures
from pytest_ireval.gate.planning import INPUTS, LOWERING
from pytest_ireval.gate.references import describe_restoring, find_missing_data, needs_scores
from pytest_ireval.gate.score import Scores
from pytest_ireval.gate.stored_metrics import describe_definition, list_definitions
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.sides.side import Scored
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_some


class Obstacle(NamedTuple):
    """What stands against accepting what was measured."""

    headline: str
    details: str


class Proposal(NamedTuple):
    """The data to accept a suite; plain, so that another process can do it."""

    baseline: Baseline | None
    """The baseline to accept, without its acceptance; None if it equals the stored one."""
    exists: bool
    """True if a baseline is stored, readable or not."""
    obstacle: Obstacle | None = None
    """The reason why only --ireval-force accepts it."""
    history_lost: bool = False
    """True if earlier acceptances cannot be read, and so cannot be kept."""
    error: str = ""
    """The reason why the measured values make no baseline."""
    moved: Movement = NO_MOVEMENT
    """The spread of the changes of queries, by metric and slice."""

    def make_baseline(self, acceptance: Acceptance) -> Baseline | None:
        """The baseline to be written; None if there is nothing to accept."""
        if self.baseline is None:
            return None
        values = ((name, metric.value) for name, metric in self.baseline.metrics.items())
        figures = {name: value for name, value in values if value is not None}
        accepted = acceptance._replace(figures=figures, **self.moved._asdict())
        return replace(self.baseline, acceptances=(*self.baseline.acceptances, accepted))


def propose_baseline(inputs: Inputs, scores: Scores) -> Proposal:
    """Make the proposal to accept what was measured."""
    error, baseline = "", None
    try:
        baseline = _make_baseline(inputs, scores)
    except IrevalError as raised:
        error = str(raised)
    return Proposal(
        baseline=baseline,
        exists=inputs.stored.baseline is not None or scores.baseline.problem is not None,
        obstacle=_find_obstacle(inputs, scores),
        history_lost=_has_lost_history(inputs),
        error=error,
        moved=measure_movement(scores) if baseline is not None else NO_MOVEMENT,
    )


def _find_obstacle(inputs: Inputs, scores: Scores) -> Obstacle | None:
    if inputs.stored.problem is not None:
        return Obstacle("its baseline cannot be read", str(inputs.stored.problem))
    if inputs.stored.deleted is not None:
        headline = "the last commit has a baseline of this suite, but this folder does not"
        return Obstacle(headline, describe_restoring(inputs.stored.deleted))
    for failure in note_failures(inputs):
        return Obstacle("empty rankings would be stored for queries that were not answered", failure)
    if scores.instability:
        return Obstacle(UNSTABLE, scores.instability)
    return None


def _has_lost_history(inputs: Inputs) -> bool:
    if inputs.stored.problem is None:
        return inputs.stored.deleted is not None
    return not read_acceptances(inputs.suite.baselines, inputs.suite.name)


def list_blockers(result: SuiteResult) -> Iterator[str]:
    """List every red outcome that accepting does not settle.

    A lowered baseline does not block: accepting a better one ends that, and the next run compares it with the base.
    A missing anchor does not block either: pinning one takes a baseline.
    """
    for outcome in result.outcomes:
        allowed = outcome.id == LOWERING or (outcome.missing_baseline and outcome.against) or outcome.acceptable
        if outcome.verdict not in ("pass", "inconclusive") and not allowed:
            yield f"{outcome.id}: {outcome.headline}"


def needs_reason(result: SuiteResult) -> str:
    """Say why the user must give a reason; empty if no reason is needed. A red comparison that only warns needs one."""
    if any(outcome.acceptable and not outcome.missing_baseline for outcome in result.outcomes):
        return "a regression was found"
    if result.cause is not None and result.cause.removed:
        return "queries of the baseline are gone"
    if any(outcome.compares and outcome.verdict == "inconclusive" for outcome in result.outcomes):
        return "a comparison was inconclusive"
    if any(outcome.id == INPUTS and outcome.verdict == "inconclusive" for outcome in result.outcomes):
        return "a new document is at the top of many queries"
    return ""


def _make_baseline(inputs: Inputs, scores: Scores) -> Baseline | None:
    """The measured baseline; None if it equals the stored one."""
    suite, stored, prints = inputs.suite, inputs.stored.baseline, inputs.judgment_prints
    rankings = keep_used_data(suite, _choose_rankings(inputs, scores))
    made = Baseline(
        suite=suite.name,
        depth=suite.depth,
        rankings=rankings,
        scored=needs_scores(suite),
        metrics=_store_metrics(scores, stored),
        judgments=NO_JUDGMENTS if prints is None else prints,
        fingerprints=inputs.fingerprints,
        search=inputs.search,
        waived=tuple(sorted(scores.population.waived)),
        plugins=inputs.collection.registry.distributions,
        acceptances=stored.acceptances if stored is not None else (),
    )
    return None if stored is not None and _is_unchanged(made, stored) else made


def _collect_fields(suite: Suite, rankings: Sequence[Rankings]) -> dict[str, dict[str, Any]]:
    """The fields that metrics and rules use, of the documents that are kept."""
    if not needs_fields(suite):
        return {}
    known, uses = rankings[0].fields or {}, find_used_fields(suite)
    ranked = {document for each in rankings for document in keep_first_documents(each, suite.depth).documents.texts()}
    found = ((each, known[each].items()) for each in ranked & known.keys())
    used = {document: {name: value for name, value in fields if uses(name)} for document, fields in found}
    return {document: fields for document, fields in used.items() if fields}


def keep_used_data(suite: Suite, rankings: Sequence[Rankings]) -> tuple[Rankings, ...]:
    """The rankings with the timings and fields that metrics use, and no others."""
    fields, timed = _collect_fields(suite, rankings), any("timings" in metric.needs for metric in suite.metrics)
    return tuple(replace(each, fields=fields, timings=each.timings if timed else None) for each in rankings)


def _store_metrics(scores: Scores, stored: Baseline | None) -> dict[str, StoredMetric]:
    defined = list_definitions(scores.current)
    made = {name: _store_values(scored, *defined[name]) for name, scored in scores.current.scored.items()}
    if stored is None:
        return made
    waived, known = scores.population.waived, stored.metrics
    kept = {name: {q: v for q, v in known[name].values.items() if q in waived} for name in made if name in known}
    return {name: each._replace(values={**kept.get(name, {}), **each.values}) for name, each in made.items()}


def _choose_rankings(inputs: Inputs, scores: Scores) -> tuple[Rankings, ...]:
    """The current rankings; for waived queries the accepted ones, because the current ones were not judged.

    So are their timings, and the fields of documents that no other query ranks.
    """
    waived, stored, now = scores.population.waived, inputs.stored.baseline, scores.current.rankings
    if not waived:
        return now
    before = scores.baseline_side.rankings if scores.baseline_side is not None else ()  # under the current names
    kept = [query for query in before[0].queries if query in waived] if before else []
    if (
        stored is not None
        and kept
        and (problem := next(find_missing_data(inputs.suite, stored, inputs.fingerprints), None))
    ):
        complaint = f"waived queries keep what is stored ({format_some(kept)}), but {problem.complaint}"
        raise BaselineError(Problem(complaint, suggestion="accept without their waivers, then waive them again"))
    made = []
    for number, rankings in enumerate(now):
        part, known = split_queries(rankings, lambda query: query not in waived)[0], rankings.fields
        if known is not None:
            part = replace(part, fields={each: known[each] for each in part.documents.texts() if each in known})
        parts = [part]
        if before:
            parts.append(split_queries(before[number % len(before)], waived.__contains__)[0])
        if not any(map(len, parts)):
            raise BaselineError("all queries are waived: no ranking can be accepted")
        made.append(concatenate_rankings([part for part in parts if len(part)], rankings.origin))
    return tuple(made)


def _store_values(scored: Scored, version: int, origin: str) -> StoredMetric:
    counts = ~np.isnan(scored.values)
    values = dict(zip(np.array(scored.names, object)[counts].tolist(), scored.values[counts].tolist(), strict=True))
    value = aggregate_values(scored.values[counts], scored.metric.aggregate)
    return StoredMetric(version, origin, value, values, describe_definition(scored.metric))


def _is_unchanged(made: Baseline, stored: Baseline) -> bool:
    """Tell whether only the acceptance is new."""
    names = ("depth", "scored", "fingerprints", "metrics", "fields", "timings")
    if any(getattr(made, name) != getattr(stored, name) for name in names):
        return False
    now, then = made.search, stored.search
    if now.request != then.request or now.files != then.files or now.index.stored != then.index.stored:
        return False
    new = any(getattr(now.index, name) and not getattr(then.index, name) for name in ("known", "details"))
    if new or describe_index_change(then.index, now.index):
        return False
    if [each.stages for each in made.rankings] != [each.stages for each in stored.rankings]:
        return False
    judges, judges_then = made.judgments.judges, stored.judgments.judges
    if (judges and judges != judges_then) or made.judgments.grades_of != stored.judgments.grades_of:
        return False
    ours, theirs = ([fingerprint_rankings(each, made.depth) for each in side.rankings] for side in (made, stored))
    return ours == theirs
