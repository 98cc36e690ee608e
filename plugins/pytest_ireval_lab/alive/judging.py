"""Judges today's rankings against those without a component, as if the component were lost in a change.

Every rule compares with the rankings with everything on, whatever its baseline is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval import (
    IrevalError,
    Metric,
    Rankings,
    Scores,
    SourceError,
    Suite,
    SuiteError,
    apply_rules,
    collect_inputs,
    score_inputs,
)
from pytest_ireval.gate_api import (
    WHOLE,
    ComparedSides,
    Component,
    Mask,
    RuleCheck,
    ScoredReference,
    Side,
    Slice,
    describe_source,
    find_changed_queries,
    find_idle_components,
    make_plan,
    measure_noise,
    noise_floor,
    score_rankings,
    select_rule_checks,
)
from pytest_ireval.plugin_api import Problem, Registry, format_count, heads_at_most
from pytest_ireval_lab.alive.asking import ask
from pytest_ireval_lab.alive.proposing import propose_rule
from pytest_ireval_lab.alive.results import ComponentResult, Guard, Move, ProofOfLife, Verdict
from pytest_ireval_lab.self_test.rehearsal import RED, Bars, list_columns_of_slices, no_bars

SMALL = 0.01
"""A figure that moves by a smaller share got neither better nor worse."""
CHANCE = 0.05
FEWEST = 5
"""The mean of fewer queries moves far by chance: such a slice is named if no larger one moved."""
NOT_QUALITY = ("Judged",)
"""Metrics that say how much is known of rankings, and not how good they are."""


class Today(NamedTuple):
    """The rankings with everything on, and what is known of them before a component is looked at."""

    registry: Registry
    scores: Scores
    """Compared with themselves."""
    green: tuple[Scores, ...]
    """A second asking in their place, and a comparison with the stored baseline: no new rule may be red on them."""
    noise: Side
    """Both askings."""
    unstable: frozenset[str]
    checks: tuple[RuleCheck, ...]
    red: frozenset[str]
    """Rules that are red with everything on, or when it is asked again: they guard nothing."""
    warned: frozenset[str]


def prove_life(suite: Suite, registry: Registry, bars: Bars = no_bars) -> ProofOfLife:
    """Ask the source with everything on, without each component, and with everything on again."""
    if not suite.components:
        hint = "write components: {NAME: {set: {PATH: VALUE}}}, or {env: {NAME: VALUE}}"
        raise SuiteError(Problem("names no components", str(suite.place), suggestion=hint))
    if idle := list(find_idle_components(suite, registry)):
        raise SuiteError(*idle)
    plan = make_plan(suite, registry)
    with bars() as progress:
        inputs = collect_inputs(suite, registry, progress=progress, queries=plan.queries)
    if inputs.current.failures:
        query, reason = next(iter(inputs.current.failures.items()))
        lost = format_count(len(inputs.current.failures), "query")
        raise SourceError(Problem(f"{lost} without an answer, such as {query!r} ({reason})", str(suite.place)))
    answers: dict[str, tuple[Rankings, ...]] = {}
    errors: dict[str, str] = {}
    for component in suite.components:
        try:
            answers[component.name] = ask(suite, inputs.today, component)
        except IrevalError as error:
            errors[component.name] = str(error)
    # last of all, so that what changes in the meantime is seen as noise
    today = _begin(score_inputs(inputs), ask(suite, inputs.today), registry, select_rule_checks(plan.checks))
    return ProofOfLife(
        suite=suite.name,
        file=suite.shown,
        source=describe_source(suite.source, suite.path.parent) if suite.source else "",
        queries=len(today.scores.population.queries),
        unstable=len(today.unstable),
        red=tuple(sorted(today.red)),
        components=tuple(
            judge_component(today, component, answers[component.name])
            if component.name in answers
            else ComponentResult(component.name, _format_place(component), "error", note=errors[component.name])
            for component in suite.components
        ),
    )


def _begin(accepted: Scores, again: tuple[Rankings, ...], registry: Registry, checks: Sequence[RuleCheck]) -> Today:
    collection = accepted.collection
    reference = replace(accepted.current, origin="the rankings with everything on")
    scores = replace(accepted, baseline=ScoredReference(ComparedSides(reference, reference)))
    scores = scores.replace_current(accepted.current)
    first = accepted.current.rankings
    second = scores.replace_current(score_rankings(collection, again, "a second asking").side)
    outcomes = [outcome for each in (scores, second) for outcome in apply_rules(each, checks, lists_queries=False)]
    return Today(
        registry=registry,
        scores=scores,
        green=(second,) if accepted.baseline.trusted is None else (second, accepted),
        noise=score_rankings(collection, (*first, *again), "both askings").side,
        unstable=_find_changed(first, again, collection.suite.depth),
        checks=tuple(checks),
        red=frozenset(outcome.id for outcome in outcomes if outcome.verdict in RED),
        warned=frozenset(outcome.id for outcome in outcomes if outcome.warning),
    )


def judge_component(today: Today, component: Component, rankings: tuple[Rankings, ...]) -> ComponentResult:
    """Say what the rankings without a component say of it."""
    suite = today.scores.collection.suite
    side = score_rankings(today.scores.collection, rankings, f"the rankings without {component.name}").side
    changed = _find_changed(today.scores.current.rankings, side.rankings, suite.depth)
    without = today.scores.replace_current(side)
    metrics = _list_quality_metrics(suite)
    moves = sorted(_list_moves(today, side, metrics), key=lambda move: (move.queries < FEWEST, move.gain))
    worse = [move for move in moves if move.gain < -SMALL]
    better = [move for move in moves if move.gain > SMALL]
    checks = {check.id: check for check in today.checks}
    outcomes = [each for each in apply_rules(without, today.checks, lists_queries=False) if each.id not in today.red]
    red = [outcome for outcome in outcomes if outcome.verdict in RED]
    result = ComponentResult(
        name=component.name,
        place=_format_place(component),
        verdict=_decide(
            _is_alive(changed, today.unstable, (*worse, *better)),
            worse,
            better,
            [checks[outcome.id] for outcome in red],
        ),
        changed=len(changed),
        main=next((move for move in moves if not move.where and move.metric == str(metrics[0])), None),
        largest=worse[0] if worse else max(better, key=lambda move: (move.queries >= FEWEST, move.gain), default=None),
        guards=tuple(Guard(outcome.id, str(checks[outcome.id].slice), outcome.headline) for outcome in red),
        warnings=tuple(outcome.id for outcome in outcomes if outcome.warning and outcome.id not in today.warned),
    )
    if result.verdict == "dead":
        return replace(result, largest=None, guards=(), note=_doubt_death(component))
    if result.verdict == "unguarded":
        rule = propose_rule(component.name, worse, without, today.green, today.registry)
        return replace(result, rule=rule, note=_doubt_loss(without, worse[0]))
    return result


def _find_changed(before: Sequence[Rankings], now: Sequence[Rankings], depth: int) -> frozenset[str]:
    """The queries with another ranking, or with one on one side only."""
    ranked = [{query for rankings in askings for query in rankings.queries} for askings in (before, now)]
    return frozenset(find_changed_queries(before, now, depth)) | (ranked[0] ^ ranked[1])


def _format_place(component: Component) -> str:
    return f"{component.place.file}:{component.place.line}"


def _decide(is_alive: bool, worse: Sequence[Move], better: Sequence[Move], guards: Sequence[RuleCheck]) -> Verdict:
    if not is_alive:
        return "dead"
    if better and not worse and all(check.rule.compares_lists for check in guards):
        return "harmful"  # rules about lists mind every change, also one for the better
    if guards:
        return "guarded"
    return "unguarded" if worse else "neutral"


def _is_alive(changed: frozenset[str], unstable: frozenset[str], moves: Sequence[Move]) -> bool:
    """Tell whether rankings differ by more than between two askings with everything on, or a mean over all queries did.

    Of the queries, those that differ only once are compared by a sign test; ``moves`` are beyond noise already.
    """
    if not unstable:
        return bool(changed)
    by_patch, by_noise = len(changed - unstable), len(unstable - changed)
    exceeds = heads_at_most(by_noise, by_patch + by_noise) <= CHANCE
    return exceeds or any(not move.where for move in moves)


def _doubt_death(component: Component) -> str:
    """Engines and programs may ignore what they do not know, so that a misspelt name changes nothing."""
    doubts = [f"Does the search read the variable {name} under this name?" for name in component.environment]
    if component.new_keys:
        doubts.append(f"The source has no {', '.join(component.new_keys)} without the patch: is the name right?")
    return " ".join(doubts)


def _doubt_loss(without: Scores, move: Move) -> str:
    """Say so if judged documents alone show no such loss."""
    comparison = without.baseline.trusted
    metric = next(each for each in without.collection.suite.metrics if str(each) == move.metric)
    effect = None if comparison is None else comparison.effects.measure(metric)
    if effect is None:
        return ""
    inside = without.population.mask(Slice(tuple(move.where.items())))
    gain = np.nanmean((effect.condensed_current - effect.condensed_baseline)[inside])
    sign = -1 if metric.direction == "lower" else 1
    if sign * gain < 0:
        return ""
    return "The loss is among documents without judgments; with judged documents alone there is none."


def _list_moves(today: Today, side: Side, metrics: Sequence[Metric]) -> Iterator[Move]:
    for metric in metrics:
        name = str(metric)
        if not (today.scores.current.has_values(name) and side.has_values(name)):
            continue
        with_it, without_it = today.scores.current.scored[name].values, side.scored[name].values
        for within, mask in _list_slices(today.scores):
            inside = mask & ~np.isnan(with_it) & ~np.isnan(without_it)
            if inside.any():
                before, now = float(with_it[inside].mean()), float(without_it[inside].mean())
                gain = (now - before) * (-1 if metric.direction == "lower" else 1) / (abs(before) or 1.0)
                gain = gain if abs(now - before) > _measure_floor(today, name, inside) else 0.0
                yield Move(name, str(within), dict(within.conditions), int(inside.sum()), before, now, gain)


def _measure_floor(today: Today, metric: str, inside: Mask) -> float:
    if not today.unstable:
        return 0.0
    noise = measure_noise(today.noise, metric, inside)
    half = len(today.noise.rankings) // 2
    return noise_floor(noise.within, noise.queries, half, half) if noise.queries else 0.0


def _list_quality_metrics(suite: Suite) -> list[Metric]:
    """Metrics whose mean over queries says how good rankings are; times vary by themselves."""
    return [
        metric
        for metric in suite.metrics
        if (metric.unit, metric.aggregate) == ("query", "mean")
        and metric.direction != "neither"
        and not metric.compares_lists
        and "timings" not in metric.needs
        and metric.name not in NOT_QUALITY
    ]


def _list_slices(scores: Scores) -> list[tuple[Slice, Mask]]:
    """All queries, and the slices of each column with few values."""
    population = scores.population
    columns = list_columns_of_slices(scores)
    slices = [WHOLE, *(part for name in columns for part in WHOLE.split(population.queries, name))]
    return [(each, population.mask(each)) for each in slices]
