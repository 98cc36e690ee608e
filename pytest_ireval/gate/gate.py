"""The gate: a suite in, its verdict with all evidence out. Everything the pytest run shows comes from here."""

from __future__ import annotations

from collections.abc import Container, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from pytest_ireval.baselines.at_base import Base
from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.past import files_of_last_commit
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.errors import BaselineError, IrevalError
from pytest_ireval.gate.against import Compared, beside, compared, others_of
from pytest_ireval.gate.anchor import anchored_by
from pytest_ireval.gate.circumstances import today_of
from pytest_ireval.gate.counting import counts_of, notes_on, refuse_strangers
from pytest_ireval.gate.fingerprinting import judgment_prints, prints_of
from pytest_ireval.gate.gathering import gathered, queries_of, rankings_of, refuse_missing
from pytest_ireval.gate.held import beginning_of, held_against
from pytest_ireval.gate.judged_shares import notes_on_shares, with_judged_shares
from pytest_ireval.gate.judging import Circumstances, broken_outcome, judged_all
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.run_noise import noise_notes
from pytest_ireval.gate.scoring import side_of
from pytest_ireval.gate.telling import broken_result, result_of
from pytest_ireval.gate.tied_orders import tie_orders
from pytest_ireval.gate.unjudged import unjudged
from pytest_ireval.gate.waivers import endings
from pytest_ireval.plugins.manager import installed
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.plurals import counted
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.cause import Cause
from pytest_ireval.results.shown import shown_result
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.planning import LOWERING, Check, needs_queries, never_failing, planned
from pytest_ireval.sources.describing import described
from pytest_ireval.suites.suite import Suite


@dataclass(frozen=True, eq=False)
class Gated:
    """A suite that went through the gate: its result, and what it was made of (None where inputs are broken)."""

    result: SuiteResult
    material: Material | None


def run_gate(
    suite: Suite,
    *,
    registry: Registry | None = None,
    today: date | None = None,
    progress: Progress = SILENT,
    base: str = "",
    lowering_fails: bool = False,
) -> SuiteResult:
    """The verdict of a suite, with the evidence for every rule.

    ``today`` decides whether waivers have ended. What is wrong with the inputs is a verdict, too (``error``); an
    exception is raised only for a suite whose rules make no sense. The stored baseline is held against the one at the
    merge base of HEAD with the git ref ``base``, if one is given: a lower one is a warning, or ``lowering_fails``.
    """
    registry = registry or installed()
    circumstances = Circumstances(today or today_of(), Base(base) if base else None, lowering_fails)
    plan = plan_of(suite, registry, lowering=bool(base))
    return gate(suite, registry, plan, circumstances, progress=progress).result


class Plan(NamedTuple):
    """What a suite will have verdicts on, and its queries, if they had to be read to know."""

    checks: tuple[Check, ...]
    queries: Queries | None


def plan_of(suite: Suite, registry: Registry, *, lowering: bool = False) -> Plan:
    """The plan, with ``lowering`` where a base is given; the queries are read only if slices are made of them."""
    queries = queries_of(suite, registry) if needs_queries(suite) else None
    return Plan(planned(suite, queries, lowering=lowering), queries)


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
        base = circumstances.base if any(check.id == LOWERING for check in chosen) else None
        material = material_of(suite, registry, circumstances.today, progress, plan.queries, base)
    except IrevalError as error:
        outcomes = tuple(broken_outcome(check, error) for check in chosen)
        return Gated(shown_result(broken_result(suite, registry, plan.checks, outcomes, error)), None)
    outcomes = judged_all(plan.checks, material, circumstances, selected)
    result = result_of(material, plan.checks, outcomes)
    idle = tuple(never_failing(plan.checks, material.population.queries))
    return Gated(shown_result(replace(result, notes=(*result.notes, *idle))), material)


def material_of(
    suite: Suite,
    registry: Registry,
    today: date,
    progress: Progress,
    queries: Queries | None = None,
    branch: Base | None = None,
) -> Material:
    """Everything that the rules look at: read, asked for and scored; ``queries`` are those that were read already.

    With the base of a ``branch`` the stored baseline is held against the one there.
    """
    if suite.source is None:
        raise IrevalError(f"{suite.place}: names no source of rankings")
    base = gathered(suite, registry, today, progress, queries)
    with ThreadPoolExecutor(1) as aside:  # while the source is asked, there is time
        reading = aside.submit(_stored, suite)
        printing = aside.submit(judgment_prints, base)
        beginning = None if branch is None else aside.submit(lambda: beginning_of(suite, branch, reading.result()[0]))
        rankings, not_asked = rankings_of(suite.source, suite, registry, base, progress)
    judged_by, (stored, error) = printing.result(), reading.result()
    missing = refuse_missing(suite, suite.source, base, rankings)
    source = described(suite.source, suite.path.parent)
    found = side_of(suite, base, rankings, source, curves=True)
    refuse_strangers(base, found)
    prints = prints_of(suite, base, source, judged_by)
    against = Compared(error=error)
    if stored is not None:
        against = compared(suite, base, found.side, stored, prints, judged_by)
    anchored = anchored_by(suite, base, found.side, prints, judged_by)
    counts = with_judged_shares(counts_of(base, found, missing), suite, base.population, found.side, against.side)
    notes = (
        *against.notes,
        *_same_rankings(against.cause, source),
        *anchored.notes,
        *notes_on(suite, base, found, not_asked),
        *notes_on_shares(counts),
    )
    return Material(
        suite=suite,
        registry=registry,
        population=base.population,
        setting=base.setting,
        now=found.side,
        counts=counts,
        fingerprints=prints,
        judged_by=judged_by,
        source=source,
        stored=stored,
        baseline=against.side,
        baseline_error=against.error,
        deleted=() if stored is not None or error is not None else files_of_last_commit(suite.baselines, suite.name),
        cause=against.cause,
        anchor=anchored.anchor,
        others={**others_of(suite, registry, base, found.side, progress), **anchored.sides},
        notes=(*notes, *noise_notes(base.population, found.side, against.side), *endings(suite, today)),
        beside=beside(suite, base, found.side),
        unjudged=unjudged(suite, base, found.side),
        tie_orders=tie_orders(suite, base, found),
        held=None if beginning is None else held_against(suite, base, beginning.result(), stored),
    )


def _same_rankings(cause: Cause | None, source: str) -> Iterator[str]:
    """A change of the search that moves nothing may be one that never reached what was asked."""
    if cause is not None and cause.compared and not cause.rankings:
        yield f"all {counted(cause.compared, 'ranking')} equal those of the baseline (source: {source})"


def _stored(suite: Suite) -> tuple[Baseline | None, BaselineError | None]:
    try:
        return read_baseline(suite.baselines, suite.name), None
    except BaselineError as error:
        return None, error
