"""A suite is tested itself: its false alarms, the damage that it notices, and harmless changes.

For false alarms, baseline and candidate change places by chance, and rules that are red are counted: if a change makes
queries better or worse only by chance, each query might as well have had its two values the other way round. So they
are swapped at random, for all metrics of a query together, and every rule is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.data.rankings import Rankings, rank_lists
from pytest_ireval.errors import InputError, IrevalError, Problem
from pytest_ireval.gate.answers import rankings_of_suite
from pytest_ireval.gate.inputs import gathered
from pytest_ireval.gate.material import Material, today_of
from pytest_ireval.gate.replay import (
    RED,
    Stage,
    as_now,
    changed_places,
    drawn_queries,
    mixed_sides,
    outcomes,
    scored,
    stage_of,
    urn_of,
)
from pytest_ireval.gate.run import material_of, plan_of
from pytest_ireval.gate.scoring import metrics_asked_again, noise_of, spread_between, weighted_noise
from pytest_ireval.gate.verdicts import Circumstances, family_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Scored, Side
from pytest_ireval.rules.unjudged_effect import UnjudgedEffect
from pytest_ireval.sources.describing import describe_source
from pytest_ireval.statistics.binomial import share_limits
from pytest_ireval.statistics.differences import TIE, Floats, Mask
from pytest_ireval.statistics.noise import askings_needed, noise_floor, noise_share
from pytest_ireval.statistics.resolution import LEVEL
from pytest_ireval.suite.suite import Place, SourceAsked, Suite
from pytest_ireval_lab.self_test.damage import harmless_changes, noticed
from pytest_ireval_lab.self_test.results import (
    AskedAgain,
    FalseAlarms,
    MetricNoise,
    SameAgain,
    SelfTest,
    ToleranceNoise,
)

WHOLE_SUITE = ""


def differing(stage: Stage, material: Material) -> int:
    """The number of queries with different values of some metric on the two sides of some comparison."""
    queries = np.zeros(len(material.population.queries), bool)
    for reference in _references(stage, material):
        now = material.now_beside(reference)
        for name, before in reference.scored.items():
            after = now.scored.get(name)
            if after is not None and after.metric.unit == "query":
                queries |= np.abs(after.values - before.values) > TIE
    return int(np.count_nonzero(queries & material.population.counting))


def _references(stage: Stage, material: Material) -> Iterator[Side]:
    """The sides that the rules that can be rehearsed compare with, each once."""
    rules = material.suite.rules
    numbers = (next(i for i, asked in enumerate(rules) if asked is check.asked) for check in swappable(stage))
    found = dict.fromkeys(material.others.get(number, material.baseline) for number in numbers)
    yield from (reference for reference in found if isinstance(reference, Side))


def swappable(stage: Stage) -> tuple[Check, ...]:
    """Rules that compare values; swapping the sides of lists does not change the result of a comparison of lists."""
    kinds = ((check, check.asked.kind) for check in stage.checks if check.asked)
    return tuple(check for check, kind in kinds if kind.compares and not kind.compares_lists)


def false_alarms(stage: Stage, material: Material, trials: int, progress: Progress = SILENT) -> tuple[FalseAlarms, ...]:
    """The alarms of the whole suite, then of each rule; both sides of the comparisons in ``material`` change places."""
    checks = swappable(stage)
    if not checks:
        return ()
    theirs = [
        check for check in checks if check.asked and not check.asked.kind.check.__module__.startswith("pytest_ireval.")
    ]
    evidence = [check for check in checks if _decided_by(check) == "evidence"]
    red: Counter[str] = Counter()
    by_evidence: Counter[str] = Counter()
    progress.expect(trials, "false alarms")
    for trial in range(trials):
        played = swapped(material, _toss(stage, trial), lists=bool(theirs))
        found = outcomes(stage, played, checks)
        failed = {outcome.id for outcome in found if outcome.verdict in RED}
        proven = _proven(evidence, played, failed)
        warned = {outcome.id for outcome in found if outcome.verdict == "pass" and outcome.warning}
        red.update(failed | warned | ({WHOLE_SUITE} if failed else set()))
        by_evidence.update(proven | ({WHOLE_SUITE} if proven else set()))
        progress.advance(1)
    each = [_alarms(check.id, (check,), trials, red[check.id], by_evidence[check.id]) for check in checks]
    whole = _alarms(WHOLE_SUITE, checks, trials, red[WHOLE_SUITE], by_evidence[WHOLE_SUITE])
    return (whole, *each)


def _toss(stage: Stage, trial: int) -> _Toss:
    """Heads for half of the names."""

    @cache
    def toss(names: tuple[str, ...]) -> Mask:
        urn = stage.urn if names == stage.urn.names else urn_of(names, stage.urn.seed)
        heads: Mask = drawn_queries(urn, "swap", trial) < 0.5
        population = stage.material.population
        if population.clusters is None or names != population.queries.ids:
            return heads
        _, first, codes = np.unique(population.clusters, return_index=True, return_inverse=True)
        return heads[first[codes]]  # variants of one intent change places together

    return toss


def _alarms(rule: str, checks: Sequence[Check], trials: int, red: int, by_evidence: int) -> FalseAlarms:
    limits = share_limits(red, trials)
    promised = LEVEL if any(_decided_by(check) == "evidence" for check in checks) else None
    low = share_limits(by_evidence, trials).low
    return FalseAlarms(
        rule=rule,
        decided_by=_decided_by(checks[0]) if rule else "",
        runs=trials,
        alarms=red,
        share=red / trials,
        low=limits.low,
        high=limits.high,
        by_evidence=by_evidence,
        promised=promised,
        broken=promised is not None and low > promised,
    )


def _proven(checks: Sequence[Check], material: Material, failed: Container[str]) -> set[str]:
    """Rules that failed by evidence; without those that failed by the observed value alone."""
    if not checks:
        return set()
    adjusted = family_of(checks, material).adjusted
    return {check.id for check in checks if check.id in failed and adjusted.get(check.id, 1.0) < LEVEL}


def _decided_by(check: Check) -> str:
    return "evidence" if check.asked and check.asked.options.facts.by_evidence else "observed"


NOTHING = rank_lists({}, "nothing")
"""In the place of lists that no rule looks at."""

_Toss = Callable[[tuple[str, ...]], Mask]
"""Returns for each name whether it changes places; the same for all metrics."""


def swapped(material: Material, toss: _Toss, *, lists: bool) -> Material:
    """The material in which each reference has changed places with the current side for the units that ``toss`` marks.

    Without ``lists`` the sides have values only: rules that do not look at documents are judged faster.
    """
    nows: dict[int, tuple[Side, Side]] = {}

    def pair(reference: Side) -> Side:
        now, before = _pair(material.now_beside(reference), reference, toss, material, lists=lists)
        nows[id(before)] = (now, reference)
        return before

    def open_(reference: Side, metric: Metric) -> UnjudgedEffect | None:
        found = material.unjudged(nows[id(reference)][1], metric)
        return None if found is None else changed_places(found, toss(material.population.queries.ids))

    return replace(
        material,
        baseline=None if material.baseline is None else pair(material.baseline),
        others={i: pair(other) if isinstance(other, Side) else other for i, other in material.others.items()},
        beside=lambda reference: nows[id(reference)][0],
        unjudged=open_,
    )


def _pair(now: Side, before: Side, toss: _Toss, material: Material, *, lists: bool) -> tuple[Side, Side]:
    after, former, counterpart = dict(now.scored), dict(before.scored), dict(before.counterpart)
    for name, theirs in before.scored.items():
        ours = before.counterpart.get(name) or now.scored.get(name)
        if ours is None:
            continue
        mine, yours = _exchanged(ours, theirs, toss)
        former[name] = yours
        (counterpart if name in counterpart else after)[name] = mine
    one = replace(now, scored=after)
    other = replace(before, scored=former, counterpart=counterpart)
    if not lists:
        return replace(one, rankings=(NOTHING,)), replace(other, rankings=(NOTHING,))
    names = material.population.queries.ids
    heads = dict(zip(names, toss(names).tolist(), strict=True))
    return replace(one, rankings=_turned(now, before, heads)), replace(other, rankings=_turned(before, now, heads))


def _turned(one: Side, other: Side, heads: Mapping[str, bool]) -> tuple[Rankings, ...]:
    """The lists of one side, for heads those of the other; of several answers each with one of theirs."""
    marked = (np.array([heads.get(query, False) for query in each.queries], bool) for each in one.rankings)
    pairs = zip(one.rankings, cycle(other.rankings), marked, strict=False)
    return tuple(mixed_sides(each, theirs, turned) for each, theirs, turned in pairs)


def _exchanged(ours: Scored, theirs: Scored, toss: _Toss) -> tuple[Scored, Scored]:
    """Values of units that both have."""
    before = theirs.values if ours.names == theirs.names else _by_name(theirs, ours.names)
    turned = toss(ours.names) & ~np.isnan(ours.values) & ~np.isnan(before)
    return (
        replace(ours, values=np.where(turned, before, ours.values)),
        replace(theirs, names=ours.names, values=np.where(turned, ours.values, before)),
    )


def _by_name(found: Scored, names: tuple[str, ...]) -> Floats:
    known = dict(zip(found.names, found.values.tolist(), strict=True))
    return np.array([known.get(name, np.nan) for name in names], np.float64)


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
    suite: Suite, registry: Registry, *, trials: int = 200, against: Path | None = None, bars: _Bars = _no_bars
) -> SelfTest:
    """Test a suite; ``against`` is a file of other rankings that change places with the accepted ones."""
    plan, circumstances = plan_of(suite, registry), Circumstances(today_of())
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
    lists = [check.id for check in stage.checks if check.asked and check.asked.kind.compares_lists]
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


def asked_again(suite: Suite, registry: Registry, *, times: int = 2, bars: _Bars = _no_bars) -> AskedAgain:
    """Ask the source ``times`` as often as the suite asks it, and compare the first answer with the second."""
    if suite.source is None:
        raise IrevalError(f"{suite.place}: the suite has no source of rankings")
    repeat = suite.source.repeat
    plan, circumstances = plan_of(suite, registry), Circumstances(today_of())
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
        source=describe_source(suite.source, suite.path.parent),
        answers=len(gathered.now.rankings),
        repeat=repeat,
        queries=len(material.population.queries),
        lists=len({query for other in others for query in find_changed_queries((each,), (other,), suite.depth)}),
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
