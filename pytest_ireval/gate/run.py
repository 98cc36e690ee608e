"""The gate: it takes a suite and returns the verdict with all evidence, which the pytest run shows."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.files import find_committed_baseline
from pytest_ireval.baseline.index_facts import describe_any_change
from pytest_ireval.baseline.reading import read_baseline
from pytest_ireval.baseline.record import Baseline, Search
from pytest_ireval.data.coerce import some
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.threads import return_freed_memory
from pytest_ireval.errors import BaselineError, InputError, IrevalError, Problem
from pytest_ireval.gate.answers import Answered, Others, asked_together, refuse_missing_queries, unsteady
from pytest_ireval.gate.changed_since import fingerprints_of_files
from pytest_ireval.gate.inputs import (
    Gathered,
    endings,
    gathered,
    judgment_ages,
    judgment_prints,
    judgments_of_suite,
    needs_columns,
    needs_columns_of_requests,
    prints_of,
    queries_of_suite,
    refuse_missing_needs,
    refuse_wrong_requests,
)
from pytest_ireval.gate.last_run import KeptRankings, pack_rankings
from pytest_ireval.gate.material import Material, today_of
from pytest_ireval.gate.reference import Compared, anchored_by, beginning_of, beside, compared, held_against, others_of
from pytest_ireval.gate.report_data import broken_result, result_of
from pytest_ireval.gate.scoring import EvaluatedSide, noise_notes, notes_on_shares, side_of, with_judged_shares
from pytest_ireval.gate.unjudged import unjudged_of
from pytest_ireval.gate.verdicts import Circumstances, broken_outcome, judged_all
from pytest_ireval.gate.waived_queries import find_losses_of_waived_queries
from pytest_ireval.plugins.manager import installed_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.repositories.tree import BaseRef
from pytest_ireval.results.outcome import Cause
from pytest_ireval.results.plain import shown_result
from pytest_ireval.results.suite_result import Counts, SuiteResult
from pytest_ireval.rules.planning import (
    LOWERING,
    Check,
    find_checks_that_cannot_fail,
    find_rules_of_few_weights,
    needs_queries,
    plan_checks,
)
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.describing import describe_source, make_options_tree
from pytest_ireval.suite.suite import Suite
from pytest_ireval.words import format_count

MANY = 1 << 17
"""Documents; reading more of them leaves memory behind that is worth returning."""


@dataclass(frozen=True, eq=False)
class Gated:
    """A suite that went through the gate: its result, and its material (None where inputs are broken)."""

    result: SuiteResult
    material: Material | None
    rankings: KeptRankings | None = None
    """Those to keep for ``ireval why``; None where the run writes no files."""


def run_gate(
    suite: Suite,
    *,
    registry: Registry | None = None,
    today: date | None = None,
    progress: Progress = SILENT,
    base: str = "",
    lowering_fails: bool = False,
) -> SuiteResult:
    """Return the verdict of a suite, with the evidence for every rule.

    ``today`` decides whether waivers have ended. Broken inputs are a verdict, too (``error``); an exception is raised
    only for a suite whose rules make no sense. With the git ref ``base``, the stored baseline is compared with the one
    at the merge base of HEAD and ``base``: a lower one is a warning, or fails with ``lowering_fails``.
    """
    registry = registry or installed_registry()
    circumstances = Circumstances(today or today_of(), BaseRef(base) if base else None, lowering_fails)
    plan = plan_of(suite, registry, lowering=bool(base))
    return gate(suite, registry, plan, circumstances, progress=progress).result


class Plan(NamedTuple):
    """The checks of a suite, and its queries, if they had to be read to know them."""

    checks: tuple[Check, ...]
    queries: Queries | None


def plan_of(suite: Suite, registry: Registry, *, lowering: bool = False) -> Plan:
    """Make the plan, with ``lowering`` where a base is given.

    Queries are read only if slices are made of them, or metrics or requests need them, judgments only if a metric needs
    their subtopics.
    """
    wanted = needs_queries(suite) or needs_columns(suite) or needs_columns_of_requests(suite)
    queries = queries_of_suite(suite, registry) if wanted else None
    subtopics = any("subtopics" in metric.needs for metric in suite.metrics)
    refuse_missing_needs(suite, judgments_of_suite(suite, registry) if subtopics else None, queries)
    refuse_wrong_requests(suite, queries)
    return Plan(plan_checks(suite, queries, lowering=lowering), queries)


def gate(
    suite: Suite,
    registry: Registry,
    plan: Plan,
    circumstances: Circumstances,
    selected: Container[str] | None = None,
    progress: Progress = SILENT,
    *,
    keep: bool = False,
) -> Gated:
    """Judge a suite, or its ``selected`` ids only, with the material for accepting the current rankings.

    With ``keep`` the result has its rankings, too.
    """
    chosen = [check for check in plan.checks if selected is None or check.id in selected]
    try:
        base = circumstances.base if any(check.id == LOWERING for check in chosen) else None
        material = material_of(suite, registry, circumstances.today, progress, plan.queries, base)
    except IrevalError as error:
        outcomes = tuple(broken_outcome(check, error) for check in chosen)
        return Gated(shown_result(broken_result(suite, registry, plan.checks, outcomes, error)), None)
    outcomes = judged_all(plan.checks, material, circumstances, selected)
    result = result_of(material, plan.checks, outcomes, circumstances.last_run)
    queries = material.population.queries
    idle = (
        *find_checks_that_cannot_fail(plan.checks, queries),
        *find_rules_of_few_weights(plan.checks, queries, material.population.weights),
    )
    rankings = pack_rankings(material) if keep else None
    return Gated(shown_result(replace(result, notes=(*result.notes, *idle))), material, rankings)


def material_of(
    suite: Suite,
    registry: Registry,
    today: date,
    progress: Progress,
    queries: Queries | None = None,
    branch: BaseRef | None = None,
) -> Material:
    """Read, ask for and score the data of the rules; ``queries`` were read already, ``branch`` gives the merge base."""
    if suite.source is None:
        raise IrevalError(f"{suite.place}: names no source of rankings")
    with ThreadPoolExecutor(1) as aside:  # while the source is asked, there is time
        reading = aside.submit(_stored, suite)
        base = gathered(suite, registry, today, progress, queries)
        printing = aside.submit(judgment_prints, base)
        beginning = None if branch is None else aside.submit(lambda: beginning_of(suite, branch, reading.result()[0]))
        answered, theirs = asked_together(suite, suite.source, registry, base, progress)
    rankings = answered.rankings
    judged_by, (stored, error) = printing.result(), reading.result()
    if len(rankings[0].documents) > MANY:
        return_freed_memory()
    missing = refuse_missing_queries(suite, suite.source, base, rankings)
    source = describe_source(suite.source, suite.path.parent)
    found = side_of(suite, base, rankings, source, curves=True)
    strange = _strangers(base, found)
    if strange is not None and stored is None and not any(rule.options.facts.reference.source for rule in suite.rules):
        raise strange
    differing = ("", "")
    if stored is None and error is None:
        differing = unsteady(suite, suite.source, registry, base, answered, progress)
    prints = prints_of(suite, base, source, judged_by)
    request = make_options_tree(suite.source, suite.path.parent)
    search = Search(source, request, fingerprints_of_files(suite.source, suite.path.parent), answered.facts)
    against = Compared(error=error)
    if stored is not None:
        against = compared(suite, base, found.side, stored, prints, judged_by, search)
    anchored = anchored_by(suite, base, found.side, prints, judged_by, search)
    counts = with_judged_shares(_counts_of(base, found, missing), suite, base.population, found.side, against.side)
    others = {**others_of(suite, base, found.side, theirs), **anchored.sides}
    references = (each for each in (against.side, *others.values()) if isinstance(each, Side))
    failed = tuple(_failed(answered.failed))
    notes = (
        *against.notes,
        *_same_rankings(against.cause, source),
        *anchored.notes,
        *_truncated(suite, found),
        *_not_asked(answered.not_asked),
        *failed,
        *answered.notes,
        *_of_references(suite, answered, theirs),
        *_gone(answered.gone),
        *([": ".join(filter(None, differing))] if differing[1] else []),
        *_unranked(base, found),
        *notes_on_shares(suite, counts),
        *found.notes,
    )
    return Material(
        suite=suite,
        registry=registry,
        inputs=base,
        population=base.population,
        setting=base.setting,
        plain=base.plain,
        now=found.side,
        counts=counts,
        losses_of_waived=find_losses_of_waived_queries(suite, base, found.side, next(references, None)),
        fingerprints=prints,
        judged_by=judged_by,
        judgment_ages=None if base.written is None else judgment_ages(base.written, today),
        source=source,
        stored=stored,
        baseline=against.side,
        baseline_error=against.error,
        redefined=against.redefined,
        deleted=None
        if stored is not None or error is not None
        else find_committed_baseline(suite.baselines, suite.name),
        cause=against.cause,
        anchor=anchored.anchor,
        others=others,
        notes=(*notes, *noise_notes(base.population, found.side, against.side), *endings(suite, today)),
        beside=beside(suite, base, found.side),
        strange=strange,
        described=answered.described,
        about=answered.about,
        recorded=answered.recorded,
        index=answered.facts,
        request=search.request,
        source_files=search.files,
        gone=answered.gone,
        unknown_fields=answered.unknown_fields,
        failed=failed,
        differing=differing if differing[0] else ("", ""),
        unjudged=unjudged_of(suite, base, found.side),
        held=None if beginning is None else held_against(suite, base, beginning.result(), stored),
    )


def _same_rankings(cause: Cause | None, source: str) -> Iterator[str]:
    """Note that all rankings are equal: a change of the search may not have reached the source."""
    if cause is not None and cause.compared and not cause.rankings:
        yield f"all {format_count(cause.compared, 'ranking')} equal those of the baseline (source: {source})"


def _stored(suite: Suite) -> tuple[Baseline | None, BaselineError | None]:
    try:
        return read_baseline(suite.baselines, suite.name), None
    except BaselineError as error:
        return None, error


def _strangers(base: Gathered, found: EvaluatedSide) -> InputError | None:
    """Return the error of rankings none of whose documents is judged, which usually have other ids."""
    judgments = base.population.judgments
    if judgments is None or not found.listed or found.unjudged < found.listed:
        return None
    ids = next((ids for query in judgments.queries if (ids := found.side.documents(query))), [])
    judged_ids = judgments.documents.texts(np.arange(min(5, len(judgments))))
    return InputError(
        Problem(
            f"none of the {found.listed} ranked documents is judged in {judgments.origin}; do the ids match?",
            place=found.side.origin,
            suggestion=f"ranked: {some(ids)}; judged: {some(judged_ids)}",
            allowed="list renamed documents in the suite: documents: {aliases: FILE}",
        )
    )


def _unranked(base: Gathered, found: EvaluatedSide) -> Iterator[str]:
    judgments = base.population.judgments
    judged = set(judgments.queries) if judgments is not None else set(base.population.queries.ids)
    lacking = [q for q in base.population.queries.ids if q not in judged and q not in found.side.position]
    if lacking:
        verb = "has" if len(lacking) == 1 else "have"
        yield f"{format_count(len(lacking), 'query')} without judgments {verb} no ranking: {some(lacking)}"


def _not_asked(queries: tuple[str, ...]) -> Iterator[str]:
    if queries:
        yield f"{format_count(len(queries), 'query')} ranked that the suite does not have, left out: {some(queries)}"


def _failed(queries: Mapping[str, str]) -> Iterator[str]:
    if queries:
        query, why = next(iter(queries.items()))
        yield (
            f"{format_count(len(queries), 'query')} without an answer of the source, counted as empty: {query} ({why})"
            + (f", and {len(queries) - 1} more" if len(queries) > 1 else "")
        )


def _of_references(suite: Suite, answered: Answered, theirs: Others) -> Iterator[str]:
    """Notes of the sources that rules compare with, and another build or mapping of an index of the same name."""
    known = {id(each): number for number, each in sorted(theirs.items(), reverse=True)}
    for number, each in theirs.items():
        if isinstance(each, Answered) and known[id(each)] == number:  # several rules may compare with one
            other = describe_any_change(each.facts, answered.facts) if each.facts.name == answered.facts.name else ""
            differs = [f"it searched another index than the source: {other}"] if other else []
            recorded = [] if each.recorded is None else [str(each.recorded)]
            notes = (*recorded, *each.notes, *differs)
            yield from (f"against, line {suite.rules[number].place.line}: {note}" for note in notes)


def _gone(documents: tuple[str, ...]) -> Iterator[str]:
    if documents:
        count = format_count(len(documents), "relevant document")
        yield f"{count} of the judgments not in the index: {some(documents)}"


def _counts_of(base: Gathered, found: EvaluatedSide, missing: tuple[str, ...]) -> Counts:
    population, evaluation, rankings = base.population, found.evaluation, found.side.rankings[0]
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
        waived=tuple(sorted(population.waived)),
    )


def _truncated(suite: Suite, found: EvaluatedSide) -> Iterator[str]:
    deeper = int(np.count_nonzero(found.side.rankings[0].retrieved >= suite.depth))
    uncut = [
        str(metric)
        for metric in suite.metrics
        if metric.unit == "query" and metric.parameter("cutoff") is not None and metric.settings.get("cutoff") is None
    ]
    if deeper and uncut:
        yield f"{', '.join(uncut)} look at whole rankings, but {deeper} rankings are cut at depth {suite.depth}"
