"""The gate: a suite in, its verdict with all evidence out. Everything the pytest run shows comes from here."""

from __future__ import annotations

from collections.abc import Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.errors import BaselineError, InputError, IrevalError, Problem
from pytest_ireval.gate.against import Compared, beside, compared, others_of
from pytest_ireval.gate.circumstances import today_of
from pytest_ireval.gate.fingerprinting import judgment_prints, prints_of
from pytest_ireval.gate.gathering import Gathered, gathered, queries_of, rankings_of, refuse_missing
from pytest_ireval.gate.judging import Circumstances, broken_outcome, judged
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.scoring import Evaluated, side_of
from pytest_ireval.gate.telling import broken_result, result_of
from pytest_ireval.plugins.manager import installed
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.plurals import counted
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import Counts, SuiteResult
from pytest_ireval.retrieval.doors import some
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.planning import Check, needs_queries, planned
from pytest_ireval.sources.describing import described
from pytest_ireval.suites.suite import Suite


@dataclass(frozen=True, eq=False)
class Gated:
    """A suite that went through the gate: its result, and what it was made of (None where inputs are broken)."""

    result: SuiteResult
    material: Material | None


def run_gate(
    suite: Suite, *, registry: Registry | None = None, today: date | None = None, progress: Progress = SILENT
) -> SuiteResult:
    """The verdict of a suite, with the evidence for every rule.

    ``today`` decides whether waivers have ended. What is wrong with the inputs is a verdict, too (``error``); an
    exception is raised only for a suite whose rules make no sense.
    """
    registry = registry or installed()
    circumstances = Circumstances(today or today_of())
    return gate(suite, registry, plan_of(suite, registry), circumstances, progress=progress).result


class Plan(NamedTuple):
    """What a suite will have verdicts on, and its queries, if they had to be read to know."""

    checks: tuple[Check, ...]
    queries: Queries | None


def plan_of(suite: Suite, registry: Registry) -> Plan:
    """The plan; the queries are read only if slices are made of them."""
    queries = queries_of(suite, registry) if needs_queries(suite) else None
    return Plan(planned(suite, queries), queries)


def gate(
    suite: Suite,
    registry: Registry,
    plan: Plan,
    circumstances: Circumstances,
    selected: Container[str] | None = None,
    progress: Progress = SILENT,
) -> Gated:
    """The same, for the ``selected`` ids only, with what it takes to accept what was measured."""
    chosen = [check for check in plan.checks if selected is None or check.id in selected]
    try:
        material = material_of(suite, registry, circumstances.today, progress, plan.queries)
    except IrevalError as error:
        outcomes = tuple(broken_outcome(check, error) for check in chosen)
        return Gated(broken_result(suite, registry, plan.checks, outcomes, error), None)
    outcomes = tuple(judged(check, material, circumstances) for check in chosen)
    return Gated(result_of(material, plan.checks, outcomes), material)


def material_of(
    suite: Suite, registry: Registry, today: date, progress: Progress, queries: Queries | None = None
) -> Material:
    """Everything that the rules look at: read, asked for and scored; ``queries`` are those that were read already."""
    if suite.source is None:
        raise IrevalError(f"{suite.place}: names no source of rankings")
    base = gathered(suite, registry, today, progress, queries)
    with ThreadPoolExecutor(1) as aside:  # while the source is asked, there is time
        reading = aside.submit(_stored, suite)
        printing = aside.submit(judgment_prints, base)
        rankings, not_asked = rankings_of(suite.source, suite, registry, base, progress)
    judged_by, (stored, error) = printing.result(), reading.result()
    missing = refuse_missing(suite, base, rankings)
    source = described(suite.source, suite.path.parent)
    found = side_of(suite, base, rankings, source)
    _refuse_strangers(base, found)
    prints = prints_of(suite, base, source, judged_by)
    against = Compared(error=error)
    if stored is not None:
        against = compared(suite, base, found.side, stored, prints, judged_by)
    return Material(
        suite=suite,
        registry=registry,
        population=base.population,
        setting=base.setting,
        now=found.side,
        counts=_counts(base, found, missing),
        fingerprints=prints,
        judged_by=judged_by,
        source=source,
        stored=stored,
        baseline=against.side,
        baseline_error=against.error,
        cause=against.cause,
        others=others_of(suite, registry, base, found.side, progress),
        notes=(*against.notes, *_truncated(suite, found), *_not_asked(not_asked), *_unranked(base, found)),
        beside=beside(suite, base, found.side),
    )


def _refuse_strangers(base: Gathered, found: Evaluated) -> None:
    """Documents none of which is judged are called by other ids than those of the judgments."""
    judgments = base.population.judgments
    if judgments is None or not found.listed or found.unjudged < found.listed:
        return
    ids = next((ids for query in judgments.queries if (ids := found.side.documents(query))), [])
    judged_ids = judgments.documents.texts(np.arange(min(5, len(judgments))))
    raise InputError(
        Problem(
            f"none of the {found.listed} documents that it ranks is judged in {judgments.origin}: are these other ids?",
            place=found.side.origin,
            suggestion=f"it ranks {some(ids)}; judged are {some(judged_ids)}",
            allowed="documents: {aliases: FILE} in the suite names what is called otherwise now",
        )
    )


def _unranked(base: Gathered, found: Evaluated) -> tuple[str, ...]:
    """Queries that nobody judged, and that have no ranking either."""
    judgments = base.population.judgments
    judged = set(judgments.queries) if judgments is not None else set(base.population.queries.ids)
    lacking = [q for q in base.population.queries.ids if q not in judged and q not in found.side.position]
    if not lacking:
        return ()
    verb = "has" if len(lacking) == 1 else "have"
    return (f"{counted(len(lacking), 'query')} without judgments {verb} no ranking: {some(lacking)}",)


def _not_asked(queries: tuple[str, ...]) -> tuple[str, ...]:
    """Queries that the source ranked besides."""
    if not queries:
        return ()
    return (f"{counted(len(queries), 'query')} ranked that the suite does not have, left out: {some(queries)}",)


def _stored(suite: Suite) -> tuple[Baseline | None, BaselineError | None]:
    try:
        return read_baseline(suite.baselines, suite.name), None
    except BaselineError as error:
        return None, error


def _counts(base: Gathered, found: Evaluated, missing: tuple[str, ...]) -> Counts:
    population, evaluation = base.population, found.evaluation
    rankings = found.side.rankings[0]
    without = np.flatnonzero(rankings.retrieved == 0).tolist()
    known = set(population.queries.ids)
    return Counts(
        queries=len(population.queries),
        judged=len(population.judgments.queries) if population.judgments is not None else 0,
        missing=missing,
        empty=tuple(rankings.queries[i] for i in without if rankings.queries[i] in known),
        without_judgments=evaluation.without_judgments if evaluation is not None else (),
        no_relevant=max((m.no_relevant for m in evaluation.metrics), default=0) if evaluation is not None else 0,
        unjudged=found.unjudged,
        tied=max((m.ties.queries for m in evaluation.metrics if m.ties), default=0) if evaluation is not None else 0,
        waived=tuple(sorted(population.waived)),
    )


def _truncated(suite: Suite, found: Evaluated) -> tuple[str, ...]:
    """Metrics without a cutoff over rankings that were cut."""
    deeper = int(np.count_nonzero(found.side.rankings[0].retrieved >= suite.depth))
    uncut = [
        str(metric)
        for metric in suite.metrics
        if metric.unit == "query" and metric.parameter("cutoff") is not None and metric.settings.get("cutoff") is None
    ]
    if not deeper or not uncut:
        return ()
    return (f"{', '.join(uncut)} look at whole rankings, and {deeper} rankings are cut at depth {suite.depth}",)
