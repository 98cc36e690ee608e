"""A suite is tested itself: its false alarms, the damage that it notices, and harmless changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.baselines.changes import changed_queries
from pytest_ireval.errors import InputError, IrevalError, Problem
from pytest_ireval.gate.inputs import gathered, rankings_of_suite
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.run import material_of, plan_of
from pytest_ireval.gate.scoring import metrics_asked_again, noise_of, spread_between, weighted_noise
from pytest_ireval.gate.verdicts import Circumstances
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.rehearsing.damage import harmless_changes, noticed
from pytest_ireval.rehearsing.null_swaps import differing, false_alarms, swappable
from pytest_ireval.rehearsing.stage import Stage, as_now, outcomes, scored, stage_of
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.rehearsal import AskedAgain, MetricNoise, SameAgain, SelfTest, ToleranceNoise
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Side
from pytest_ireval.sources.asking import described_source
from pytest_ireval.statistics.noise import askings_needed, noise_floor, noise_share
from pytest_ireval.suites.suite import Place, SourceAsked, Suite

_Bars = Callable[[], AbstractContextManager[Progress]]
"""Makes the progress of one piece of work."""


def _no_bars() -> AbstractContextManager[Progress]:
    return nullcontext(SILENT)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """The candidate that changes places with the baseline, or the reason why there is nothing."""

    words: str
    material: Material | None
    nothing: str = ""


def self_test(
    suite: Suite,
    registry: Registry,
    circumstances: Circumstances,
    *,
    trials: int = 200,
    against: Path | None = None,
    bars: _Bars = _no_bars,
) -> SelfTest:
    """Test a suite; ``against`` is a file of other rankings that change places with the accepted ones."""
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
    """The material in which a file holds the current rankings."""
    material = stage.material
    kind = material.registry.sources["run"]
    options = kind.options.model_construct(run=(path.absolute(),))
    source = SourceAsked(kind, options, Place("", 0, 0))
    base = gathered(material.suite, material.registry, stage.circumstances.today, progress, material.population.queries)
    answered = rankings_of_suite(source, material.suite, material.registry, base, progress)
    shared = set(answered.rankings[0].queries) & set(stage.accepted.position)
    if not shared:
        raise InputError(Problem(f"ranks no query that {stage.accepted.origin} ranks", place=str(path)))
    return as_now(stage, scored(stage, answered.rankings))


def _notes(stage: Stage) -> Iterator[str]:
    lists = [check.id for check in stage.checks if check.asked and check.asked.kind.lists]
    if lists:
        yield f"{', '.join(lists)}: these rules compare lists; swapping the sides does not test their false alarms"
    lenient = [check.id for check in stage.checks if check.only_warns]
    if lenient:
        yield f"{', '.join(lenient)}: only a warning, never red: the suite sets on_fail: warn, or it measures time"
    if stage.no_baseline:
        yield "no baseline has been accepted yet: the current rankings are damaged and compared with themselves"


class _Askings(NamedTuple):
    """The number of askings of each side of a comparison, as the suite sets it."""

    before: int
    now: int


def asked_again(
    suite: Suite, registry: Registry, circumstances: Circumstances, *, times: int = 2, bars: _Bars = _no_bars
) -> AskedAgain:
    """Ask the source ``times`` as often as the suite asks it, and compare the first answer with the second."""
    if suite.source is None:
        raise IrevalError(f"{suite.place}: the suite has no source of rankings")
    repeat = suite.source.repeat
    plan = plan_of(suite, registry)
    options = suite.source.options.model_copy(update={"repeat": repeat * times})  # asked in one go: it may count
    often = replace(suite, source=replace(suite.source, options=options))
    with bars() as progress:
        gathered = material_of(often, registry, circumstances.today, progress, plan.queries)
    stored = gathered.baseline
    material = replace(gathered, suite=suite, baseline=None, baseline_error=None)
    stage = stage_of(material, plan.checks, circumstances)
    first, second = (scored(stage, gathered.now.rankings[at : at + repeat]) for at in (0, repeat))
    stage = replace(stage, material=replace(material, baseline=replace(first, origin="the first answer")))
    said = outcomes(stage, as_now(stage, second))
    askings = _Askings(len(stored.rankings) if stored is not None else repeat, repeat)
    each, *others = gathered.now.rankings
    return AskedAgain(
        suite=suite.name,
        file=suite.shown,
        source=described_source(suite.source, suite.path.parent),
        answers=len(gathered.now.rankings),
        repeat=repeat,
        queries=len(material.population.queries),
        lists=len({query for other in others for query in changed_queries((each,), (other,), suite.depth)}),
        metrics=tuple(_metrics(gathered, stored, askings)),
        tolerances=tuple(_tolerances(stage, gathered, said, askings)),
        rules=tuple(SameAgain(o.id, o.verdict, o.headline) for o in said if o.compares),
    )


def _metrics(gathered: Material, stored: Side | None, askings: _Askings) -> Iterator[MetricNoise]:
    for name in metrics_asked_again(gathered.now):
        noise = noise_of(gathered.now, name, gathered.population.counting)
        spread = None if stored is None else spread_between(stored, gathered.now, name, askings.now)
        yield MetricNoise(
            metric=name,
            queries=noise.queries,
            moved=noise.moved,
            sd=float(np.sqrt(noise.within)) if noise.queries else 0.0,
            floor=noise_floor(noise.within, noise.queries, *askings) if noise.queries else 0.0,
            share=None if spread is None else noise_share(spread, noise.within, *askings),
            repeat=None if spread is None else askings_needed(spread, noise.within, *askings),
        )


def _tolerances(
    stage: Stage, gathered: Material, said: Sequence[Outcome], askings: _Askings
) -> Iterator[ToleranceNoise]:
    """The noise of rules with a tolerance for a mean."""
    means = metrics_asked_again(gathered.now)
    for check, outcome in zip(stage.checks, said, strict=True):
        tolerance = outcome.figures[0].tolerance if outcome.figures else None
        if tolerance is None or str(check.part.metric) not in means:
            continue
        if (floor := _floor(gathered, check, askings)) is not None:
            yield ToleranceNoise(check.id, tolerance, floor, below=tolerance < floor, red=_makes_red(check))


def _floor(gathered: Material, check: Check, askings: _Askings) -> float | None:
    """The noise floor of a rule; of a weighted rule that of the weighted mean."""
    inside = gathered.population.mask(check.slice)
    noise = noise_of(gathered.now, str(check.part.metric), inside)
    if not noise.queries:
        return None
    weights = gathered.population.weights
    if weights is None or check.asked is None or not check.asked.options.facts.weighted:
        return noise_floor(noise.within, noise.queries, *askings)
    within, queries = weighted_noise(gathered.now, str(check.part.metric), inside, weights)
    return noise_floor(within, queries, *askings)


def _makes_red(check: Check) -> bool:
    """Tell whether a rule whose tolerance noise breaks is red then; others warn."""
    if check.asked is None:
        return True
    facts = check.asked.options.facts
    return not (facts.by_evidence and facts.on_inconclusive == "warn") and not check.only_warns
