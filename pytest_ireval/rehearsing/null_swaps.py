"""How often a suite is red although nothing became worse: baseline and candidate change places by chance.

If a change makes no query better or worse but by chance, each query might as well have had its two values the other
way round. So they are swapped at random, for all metrics of a query together, and every rule is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.material import Material
from pytest_ireval.gate.verdicts import family_of
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.rehearsing.stage import RED, Stage, changed_places, drawn_queries, mixed_sides, outcomes, urn_of
from pytest_ireval.results.rehearsal import FalseAlarms
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.rules.context import Unjudged
from pytest_ireval.rules.planning import Check
from pytest_ireval.rules.side import Floats, Mask, Scored, Side
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.statistics.student import share_limits
from pytest_ireval.suites.options import RuleFacts

OURS = "pytest_ireval."
WHOLE_SUITE = ""


def differing(stage: Stage, material: Material) -> int:
    """How many queries have another value of some metric on both sides of some comparison."""
    queries = np.zeros(len(material.population.queries), bool)
    for reference in _references(stage, material):
        now = material.now_beside(reference)
        for name, before in reference.scored.items():
            after = now.scored.get(name)
            if after is not None and after.metric.unit == "query":
                queries |= np.abs(after.values - before.values) > TIE
    return int(np.count_nonzero(queries & material.population.counting))


def _references(stage: Stage, material: Material) -> Iterator[Side]:
    """What the rules that can be rehearsed compare with, each once."""
    rules = material.suite.rules
    found: dict[int, Side] = {}
    for check in swappable(stage):
        number = next(i for i, asked in enumerate(rules) if asked is check.asked)
        reference = material.others.get(number, material.baseline)
        if isinstance(reference, Side):
            found[id(reference)] = reference
    yield from found.values()


def swappable(stage: Stage) -> tuple[Check, ...]:
    """Rules that compare values; those that compare lists say the same whichever side a list is on."""
    return tuple(check for check in stage.checks if check.asked and check.asked.kind.compares and not _lists(check))


def _lists(check: Check) -> bool:
    return check.asked is not None and check.asked.kind.lists


def false_alarms(stage: Stage, material: Material, trials: int, progress: Progress = SILENT) -> tuple[FalseAlarms, ...]:
    """Of the whole suite, then of each rule; ``material`` has what changes places with what it is compared with."""
    checks = swappable(stage)
    if not checks:
        return ()
    theirs = [check for check in checks if check.asked and not check.asked.kind.judge.__module__.startswith(OURS)]
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
        if population.drawing is None or population.drawing.clusters is None or names != population.queries.ids:
            return heads
        _, first, codes = np.unique(population.drawing.clusters, return_index=True, return_inverse=True)
        return heads[first[codes]]  # variants of one intent change places together

    return toss


def _alarms(rule: str, checks: Sequence[Check], trials: int, red: int, by_evidence: int) -> FalseAlarms:
    limits = share_limits(red, trials)
    evidence = [check for check in checks if _decided_by(check) == "evidence"]
    promised = max((_alpha(check) for check in evidence), default=None)
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
    """Those that evidence made fail, and not what was observed where evidence could not tell."""
    if not checks:
        return set()
    adjusted = family_of(checks, material).adjusted
    return {check.id for check in checks if check.id in failed and adjusted.get(check.id, 1.0) < _alpha(check)}


def _decided_by(check: Check) -> str:
    return "evidence" if check.asked and check.asked.options.facts.by_evidence else "observed"


def _alpha(check: Check) -> float:
    facts: RuleFacts = check.asked.options.facts if check.asked else RuleFacts()
    return facts.alpha


NOTHING = rankings_of([], "nothing")
"""In the place of lists that nobody looks at."""

_Toss = Callable[[tuple[str, ...]], Mask]
"""For units of these names, whether each changes places; the same for all metrics."""


def swapped(material: Material, toss: _Toss, *, lists: bool) -> Material:
    """The material in which each side that is compared with has changed places with now where ``toss`` says so.

    Without ``lists`` the sides have values only: rules that do not look at documents are judged faster.
    """
    nows: dict[int, tuple[Side, Side]] = {}

    def pair(reference: Side) -> Side:
        now, before = _pair(material.now_beside(reference), reference, toss, material, lists=lists)
        nows[id(before)] = (now, reference)
        return before

    def turned(other: Side | IrevalError) -> Side | IrevalError:
        return pair(other) if isinstance(other, Side) else other

    def open_(reference: Side, metric: Metric) -> Unjudged | None:
        found = material.unjudged(nows[id(reference)][1], metric)
        return None if found is None else changed_places(found, toss(material.population.queries.ids))

    return replace(
        material,
        baseline=None if material.baseline is None else pair(material.baseline),
        others={number: turned(other) for number, other in material.others.items()},
        beside=lambda reference: nows[id(reference)][0],
        unjudged=open_,
        tie_orders=lambda _: None,
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
    """The lists of one side, those of the other where the coin says so; of several answers each with one of theirs."""
    return tuple(
        mixed_sides(
            each, other.rankings[i % len(other.rankings)], np.array([heads.get(q, False) for q in each.queries], bool)
        )
        for i, each in enumerate(one.rankings)
    )


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
