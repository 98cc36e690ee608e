"""Both sides of a comparison, some queries of one having changed places with those of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.material import Material
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.rehearsing.left_open import changed_places
from pytest_ireval.rehearsing.rows import mixed
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.rules.side import Floats, Scored, Side
from pytest_ireval.rules.slices import Mask
from pytest_ireval.rules.unjudged import Unjudged

NOTHING = rankings_of([], "nothing")
"""In the place of lists that nobody looks at."""

Toss = Callable[[tuple[str, ...]], Mask]
"""For units of these names, whether each changes places; the same for all metrics."""


def swapped(material: Material, toss: Toss, *, lists: bool) -> Material:
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


def _pair(now: Side, before: Side, toss: Toss, material: Material, *, lists: bool) -> tuple[Side, Side]:
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
        mixed(
            each, other.rankings[i % len(other.rankings)], np.array([heads.get(q, False) for q in each.queries], bool)
        )
        for i, each in enumerate(one.rankings)
    )


def _exchanged(ours: Scored, theirs: Scored, toss: Toss) -> tuple[Scored, Scored]:
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
