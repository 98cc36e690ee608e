"""A source that is asked again: how far its own answers differ, and whether a rule would mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_ireval import IrevalError, Outcome, Scores, Suite, collect_inputs, score_inputs
from pytest_ireval.gate_api import (
    ComparedSides,
    RuleCheck,
    ScoredReference,
    Side,
    askings_needed,
    describe_source,
    find_changed_queries,
    list_repeated_metrics,
    make_plan,
    measure_noise,
    measure_spread,
    measure_weighted_noise,
    noise_floor,
    noise_share,
)
from pytest_ireval.plugin_api import Registry
from pytest_ireval_lab.self_test.rehearsal import Bars, begin_rehearsal, no_bars
from pytest_ireval_lab.self_test.results import MetricNoise, RepeatedAnswers, RepeatVerdict, ToleranceNoise


class _Askings(NamedTuple):
    """The number of askings of each side of a comparison, as the suite sets it."""

    before: int
    now: int


def ask_again(suite: Suite, registry: Registry, *, times: int = 2, bars: Bars = no_bars) -> RepeatedAnswers:
    """Ask the source ``times`` as often as the suite asks it, and compare the first answer with the second."""
    if suite.source is None:
        raise IrevalError(f"{suite.place}: the suite has no source of rankings")
    repeat = suite.source.repeat
    plan = make_plan(suite, registry)
    options = suite.source.options.model_copy(update={"repeat": repeat * times})  # asked in one go: it may count
    often = replace(suite, source=replace(suite.source, options=options))
    with bars() as progress:
        inputs = collect_inputs(often, registry, progress=progress, queries=plan.queries)
        scores = score_inputs(inputs)
    stored = scores.baseline_side
    once = replace(scores, collection=replace(scores.collection, suite=suite), baseline=ScoredReference())
    rehearsal = begin_rehearsal(inputs, once, plan.checks)
    answers = scores.current.rankings
    first, second = (rehearsal.score(answers[at : at + repeat]) for at in (0, repeat))
    before = replace(first, origin="the first answer")
    compared = replace(rehearsal.scores, baseline=ScoredReference(ComparedSides(before, before))).replace_current(
        second
    )
    outcomes = rehearsal.check(compared)
    askings = _Askings(len(stored.rankings) if stored is not None else repeat, repeat)
    return RepeatedAnswers(
        suite=suite.name,
        file=suite.shown,
        source=describe_source(suite.source, suite.path.parent),
        answers=len(answers),
        repeat=repeat,
        queries=len(scores.population.queries),
        lists=len({q for other in answers[1:] for q in find_changed_queries(answers[:1], (other,), suite.depth)}),
        metrics=tuple(_measure_metrics(scores, stored, askings)),
        tolerances=tuple(_measure_tolerances(rehearsal.checks, scores, outcomes, askings)),
        rules=tuple(RepeatVerdict(o.id, o.verdict, o.headline) for o in outcomes if o.compares),
    )


def _measure_metrics(scores: Scores, stored: Side | None, askings: _Askings) -> Iterator[MetricNoise]:
    for name in list_repeated_metrics(scores.current):
        noise = measure_noise(scores.current, name, scores.population.counted_queries)
        spread = None if stored is None else measure_spread(stored, scores.current, name, askings.now)
        yield MetricNoise(
            metric=name,
            queries=noise.queries,
            moved=noise.moved,
            sd=float(np.sqrt(noise.within)) if noise.queries else 0.0,
            floor=noise_floor(noise.within, noise.queries, *askings) if noise.queries else 0.0,
            share=None if spread is None else noise_share(spread, noise.within, *askings),
            repeat=None if spread is None else askings_needed(spread, noise.within, *askings),
        )


def _measure_tolerances(
    checks: Sequence[RuleCheck], scores: Scores, outcomes: Sequence[Outcome], askings: _Askings
) -> Iterator[ToleranceNoise]:
    """The noise of rules with a tolerance for a mean."""
    means = list_repeated_metrics(scores.current)
    for check, outcome in zip(checks, outcomes, strict=True):
        tolerance = outcome.figures[0].tolerance if outcome.figures else None
        if tolerance is None or str(check.part.metric) not in means:
            continue
        if (floor := _measure_floor(scores, check, askings)) is not None:
            yield ToleranceNoise(check.id, tolerance, floor, below=tolerance < floor, red=_turns_red(check))


def _measure_floor(scores: Scores, check: RuleCheck, askings: _Askings) -> float | None:
    """The noise floor of a rule; of a weighted rule that of the weighted mean."""
    inside = scores.population.mask(check.slice)
    noise = measure_noise(scores.current, str(check.part.metric), inside)
    if not noise.queries:
        return None
    weights = scores.population.weights
    if weights is None or not check.rule.traits.weighted:
        return noise_floor(noise.within, noise.queries, *askings)
    within, queries = measure_weighted_noise(scores.current, str(check.part.metric), inside, weights)
    return noise_floor(within, queries, *askings)


def _turns_red(check: RuleCheck) -> bool:
    """Tell whether a rule whose tolerance noise breaks is red then; others warn."""
    traits = check.rule.traits
    return not (traits.by_evidence and traits.on_inconclusive == "warn") and not check.only_warns
