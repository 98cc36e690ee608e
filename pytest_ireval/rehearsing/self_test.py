"""A suite put to the test itself: does it cry wolf, does it notice damage, does it mind what is harmless."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.gate.gate import material_of, plan_of
from pytest_ireval.gate.gathering import gathered, rankings_of
from pytest_ireval.gate.judging import Circumstances
from pytest_ireval.gate.material import Material
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import Progress
from pytest_ireval.rehearsing.bars import NO_BARS, Bars
from pytest_ireval.rehearsing.equivalents import harmless_changes
from pytest_ireval.rehearsing.null_swaps import differing, false_alarms, swappable
from pytest_ireval.rehearsing.power import noticed
from pytest_ireval.rehearsing.stage import Stage, as_now, scored, stage_of
from pytest_ireval.results.rehearsal import SelfTest
from pytest_ireval.suites.suite import Place, SourceAsked, Suite

TRIALS = 200


@dataclass(frozen=True, eq=False)
class _Candidate:
    """What changes places with what a suite compares with, or why there is nothing."""

    words: str
    material: Material | None
    nothing: str = ""


def self_test(
    suite: Suite,
    registry: Registry,
    circumstances: Circumstances,
    *,
    trials: int = TRIALS,
    against: Path | None = None,
    bars: Bars = NO_BARS,
) -> SelfTest:
    """What came of it; ``against`` is a file of other rankings that change places with those that were accepted."""
    plan = plan_of(suite, registry)
    with bars() as progress:
        material = material_of(suite, registry, circumstances.today, progress, plan.queries)
        stage = stage_of(material, plan.checks, circumstances)
        candidate = _candidate(stage, against, progress)
    differ = differing(stage, candidate.material) if candidate.material is not None else 0
    nothing = candidate.nothing or _nothing_differs(stage, differ)
    harmless = harmless_changes(stage)
    with bars() as progress:
        alarms = false_alarms(stage, candidate.material, trials, progress) if candidate.material and not nothing else ()
        mutants = noticed(stage, frozenset(harmless[0].red), progress)
    return SelfTest(
        suite=suite.name,
        file=suite.shown,
        queries=len(material.population.queries),
        trials=trials,
        compared=candidate.words,
        differing=differ,
        nothing_to_swap=nothing,
        alarms=alarms,
        mutants=mutants,
        harmless=harmless,
        notes=tuple(_notes(stage)),
    )


def _candidate(stage: Stage, against: Path | None, progress: Progress) -> _Candidate:
    accepted = stage.accepted.origin
    if against is not None:
        return _Candidate(f"{against} and {accepted}", _with_file(stage, against, progress))
    if stage.no_baseline:
        return _Candidate("", None, "no baseline has been accepted yet")
    return _Candidate(f"{stage.material.source} and {accepted}", stage.material)


def _nothing_differs(stage: Stage, differ: int) -> str:
    if not swappable(stage):
        return "no rule of this suite compares values"
    return "" if differ else "both sides have the same values for every query"


def _with_file(stage: Stage, path: Path, progress: Progress) -> Material:
    """The material in which a file holds the rankings of now."""
    material = stage.material
    kind = material.registry.sources["run"]
    options = kind.options.model_construct(run=(path.absolute(),))
    source = SourceAsked(kind, options, Place("", 0, 0))
    base = gathered(material.suite, material.registry, stage.circumstances.today, progress, material.population.queries)
    answered = rankings_of(source, material.suite, material.registry, base, progress)
    shared = set(answered.rankings[0].queries) & set(stage.accepted.position)
    if not shared:
        raise InputError(Problem(f"ranks no query that {stage.accepted.origin} ranks, too", place=str(path)))
    return as_now(stage, scored(stage, answered.rankings))


def _notes(stage: Stage) -> Iterator[str]:
    lists = [check.id for check in stage.checks if check.asked and check.asked.kind.lists]
    if lists:
        yield (
            f"{', '.join(lists)}: a list that changed has changed whichever side it is on, so swapping says nothing "
            "of its false alarms"
        )
    lenient = [check.id for check in stage.checks if check.asked and check.asked.options.on_fail == "warn"]
    if lenient:
        yield f"{', '.join(lenient)}: a warning, never red, as the suite says on_fail: warn"
    if stage.no_baseline:
        yield "no baseline has been accepted yet: damage is done to the rankings of now, and compared with them"
