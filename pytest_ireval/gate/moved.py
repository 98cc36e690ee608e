"""How far the values of queries moved: from the stored baseline, to plan with, and from an anchor, to see a drift."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.baselines.anchors import accepted_since
from pytest_ireval.baselines.spreads import NO_SPREADS, NO_STEPS, Spreads, Step, Steps, spread_key, spreads_of, steps_of
from pytest_ireval.gate.material import Material
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.rules.drift import AcceptedChange, Walk
from pytest_ireval.rules.planning import (
    Check,
    Held,
    anchored_figures,
    by_anchor,
    held_figures,
    needs_queries,
    planned,
)
from pytest_ireval.rules.question import Question
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Floats, Side
from pytest_ireval.statistics.differences import differences


class Moved(NamedTuple):
    """What an acceptance keeps of how far queries moved."""

    spreads: Spreads = NO_SPREADS
    steps: Steps = NO_STEPS


NOTHING_MOVED = Moved()


def moved_by(material: Material) -> Moved:
    """Of every mean that a rule compares with the stored baseline or the anchor; none where there is no baseline.

    A baseline that does not fit what is evaluated now says nothing: its differences are not those of a change of
    ranking.
    """
    if material.comparable is None:
        return NOTHING_MOVED
    queries = material.population.queries if needs_queries(material.suite) else None
    checks = planned(material.suite, queries)
    return Moved(spreads_of(_spreads(material, checks)), steps_of(_steps(material, checks)))


def _spreads(material: Material, checks: Sequence[Check]) -> Iterator[tuple[str, float]]:
    for held in held_figures(checks):
        gain = _gain(material, held, material.comparable)
        if gain.size > 1:
            yield _key(held), _clustered(material, held) or _sd(gain)


def _steps(material: Material, checks: Sequence[Check]) -> Iterator[tuple[str, Step]]:
    anchor = _anchor_of(material)
    for held in anchored_figures(checks) if anchor is not None else ():
        step = _step(material, held, anchor)
        if step is not None:
            yield _key(held), step


def _step(material: Material, held: Held, anchor: Side | None) -> Step | None:
    """From the stored baseline to the current rankings; None where one of them cannot be compared."""
    step, gone = _gain(material, held, material.comparable), _gain(material, held, anchor)
    return Step(float(step.mean()), _sd(step), _sd(gone)) if min(step.size, gone.size) > 1 else None


def walk_of(material: Material, held: Held) -> Walk:
    """How a mean got from the anchor to the current rankings: by committed acceptances, and by this change."""
    stored, anchor = material.stored, material.anchor
    since = () if stored is None or anchor is None else accepted_since(anchor, stored)
    changes = [AcceptedChange(each.date, each.reason, each.steps.get(_key(held))) for each in since]
    step = _step(material, held, _anchor_of(material))
    accepted = tuple(each for each in changes if each.moved)
    return Walk(accepted, step is None or step.spread > 0 or step.change != 0, step)


def _anchor_of(material: Material) -> Side | None:
    """The anchor, scored; None where no rule compares with one, or where that cannot be done."""
    asking = (number for number, asked in enumerate(material.suite.rules) if by_anchor(asked))
    return next((side for side in map(material.others.get, asking) if isinstance(side, Side)), None)


def _gain(material: Material, held: Held, reference: Side | None) -> Floats:
    """What each query gained on a reference; nothing where the metric has no values on one of the sides."""
    name = str(held.metric)
    known = (name in side.scored and name not in side.errors for side in (material.now, reference) if side is not None)
    if reference is None or held.metric.aggregate != "mean" or not all(known):
        return np.zeros(0)
    values = Seen(material.population, material.now, reference, Part(metric=held.metric), held.slice).paired()
    return differences(values.now, values.before)


def _clustered(material: Material, held: Held) -> float | None:
    """The spread of single queries with the same error of the mean; None where queries lie in no clusters."""
    drawing = material.population.drawing
    if drawing is None or drawing.clusters is None:
        return None
    seen = Seen(material.population, material.now, material.comparable, Part(metric=held.metric), held.slice)
    return Question(seen, seen.paired()).evidence.sd


def _key(held: Held) -> str:
    return spread_key(str(held.metric), str(held.slice))


def _sd(gain: Floats) -> float:
    return float(gain.std(ddof=1))
