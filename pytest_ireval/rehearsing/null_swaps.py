"""False alarms of a suite: baseline and candidate change places by chance, and rules that are red are counted.

If a change makes queries better or worse only by chance, each query might as well have had its two values the other
way round. So they are swapped at random, for all metrics of a query together, and every rule is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle

import numpy as np

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
    return tuple(check for check, kind in kinds if kind.compares and not kind.lists)


def false_alarms(stage: Stage, material: Material, trials: int, progress: Progress = SILENT) -> tuple[FalseAlarms, ...]:
    """The alarms of the whole suite, then of each rule; both sides of the comparisons in ``material`` change places."""
    checks = swappable(stage)
    if not checks:
        return ()
    theirs = [
        check for check in checks if check.asked and not check.asked.kind.judge.__module__.startswith("pytest_ireval.")
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
        if population.drawing is None or population.drawing.clusters is None or names != population.queries.ids:
            return heads
        _, first, codes = np.unique(population.drawing.clusters, return_index=True, return_inverse=True)
        return heads[first[codes]]  # variants of one intent change places together

    return toss


def _alarms(rule: str, checks: Sequence[Check], trials: int, red: int, by_evidence: int) -> FalseAlarms:
    limits = share_limits(red, trials)
    promised = max((_alpha(check) for check in checks if _decided_by(check) == "evidence"), default=None)
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
    return {check.id for check in checks if check.id in failed and adjusted.get(check.id, 1.0) < _alpha(check)}


def _decided_by(check: Check) -> str:
    return "evidence" if check.asked and check.asked.options.facts.by_evidence else "observed"


def _alpha(check: Check) -> float:
    facts: RuleFacts = check.asked.options.facts if check.asked else RuleFacts()
    return facts.alpha


NOTHING = rankings_of([], "nothing")
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

    def open_(reference: Side, metric: Metric) -> Unjudged | None:
        found = material.unjudged(nows[id(reference)][1], metric)
        return None if found is None else changed_places(found, toss(material.population.queries.ids))

    return replace(
        material,
        baseline=None if material.baseline is None else pair(material.baseline),
        others={i: pair(other) if isinstance(other, Side) else other for i, other in material.others.items()},
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
