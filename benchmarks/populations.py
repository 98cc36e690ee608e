"""Which changes of a search a gate is tried on: pairs of scores in [0, 1] whose true mean change is known exactly.

A population is a large number of queries with their score before and now. A query set is drawn from it, so the mean of
the population is the truth. Where nothing changed for better or worse each pair is there both ways round, so that the
true change is 0 to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

HALF = 60_000
"""Pairs drawn; the population has each of them twice."""

FEW, FAR = 0.06, 0.4
"""How many queries a skewed change moves, and how far."""

RARE, FARTHER = 0.02, 0.7
"""The same where small query sets cannot see it."""


@dataclass(frozen=True)
class Profile:
    """What a metric and a kind of change look like: the mean, the spread of differences, the queries touched."""

    name: str
    what: str
    mean: float
    sd: float
    touched: float
    draw: Callable[[np.random.Generator, int], Floats]
    """Scores of so many queries."""
    redrawn: bool = False
    """Whether a touched query gets any score, as reciprocal ranks do, and not one near its own."""


@dataclass(frozen=True)
class Population:
    """Scores of the same queries before and now, and which of them the change touched."""

    before: Floats
    now: Floats
    touched: Mask

    @property
    def change(self) -> float:
        """The true change of the mean, as a share of what it was."""
        return float((self.now - self.before).mean() / self.before.mean())


def _beta(mean: float, strength: float) -> Callable[[np.random.Generator, int], Floats]:
    return lambda draw, size: draw.beta(mean * strength, (1 - mean) * strength, size)


def _reciprocal_ranks(draw: np.random.Generator, size: int) -> Floats:
    """The first relevant document is the first, at another of ten ranks, or nowhere: a mean of 0.36."""
    values = np.array([1.0, *(1 / rank for rank in range(2, 11)), 0.0])
    chances = np.array([0.223, *(0.25 / rank for rank in range(2, 11)), 0.0])
    chances[-1] = 1 - chances.sum()
    return draw.choice(values, size, p=chances)


PROFILES = (
    Profile("tweak", "nDCG-like: 7 of 10 queries untouched", 0.5, 0.09, 0.3, _beta(0.5, 2.4)),
    Profile("swap", "AP-like: another ranker, nearly every query moves", 0.25, 0.16, 0.95, _beta(0.233, 2.4)),
    Profile("sparse", "RR-like: one relevant document, few and large moves", 0.36, 0.28, 0.5, _reciprocal_ranks, True),
)


@cache
def unchanged(profile: Profile) -> Population:
    """Noise alone: as many queries gain as lose, by as much."""
    draw = np.random.default_rng(20190721)
    level, kick = profile.draw(draw, HALF), draw.normal(size=(2, HALF))
    touched = draw.random(HALF) < profile.touched
    if profile.redrawn:
        one, other = level, profile.draw(draw, HALF)
        share = profile.sd**2 / float(np.mean((one - other) ** 2))
        touched = draw.random(HALF) < share
    else:
        size = _solved(lambda noise: _spread(level, kick * noise, touched) - profile.sd, 0.0, 3.0)
        one, other = np.clip(level + kick * size, 0.0, 1.0)
    now = np.where(touched, other, one)
    return Population(np.concatenate((one, now)), np.concatenate((now, one)), np.tile(touched, 2))


def _spread(level: Floats, kicks: Floats, touched: Mask) -> float:
    one, other = np.clip(level + kicks, 0.0, 1.0)
    return float(np.sqrt(np.mean(np.where(touched, one - other, 0.0) ** 2)))


def diffuse(null: Population, share: float) -> Population:
    """Every touched query loses a little, so that the mean falls by ``share`` of itself."""
    return _levelled(null.before, null.now, null.touched, -share, null.touched)


def few_fixed(null: Population, share: float = FEW, by: float = FAR) -> Population:
    """Few queries, poor ones, gain so much; all others lose a little; the mean stays."""
    poor = _marked(null.before < np.median(null.before), share)
    now = np.where(poor, np.minimum(1.0, null.before + by), null.now)
    return _levelled(null.before, now, ~poor, 0.0, np.ones_like(null.touched))


def rare_fixed(null: Population) -> Population:
    """Very few queries gain very much, all others lose a little and nothing else; the mean stays."""
    return few_fixed(Population(null.before, null.before, null.touched), RARE, FARTHER)


def few_break(null: Population) -> Population:
    """Few queries, good ones, lose much; all others gain a little; the mean stays."""
    good = _marked(null.before > np.median(null.before), FEW)
    now = np.where(good, np.maximum(0.0, null.before - FAR), null.now)
    return _levelled(null.before, now, ~good, 0.0, np.ones_like(null.touched))


def broken(null: Population, share: float) -> Population:
    """Some good queries lose everything, so that the mean falls by ``share`` of itself."""
    good = np.flatnonzero(null.before > np.median(null.before))
    order = np.random.default_rng(7).permutation(good)
    lost = np.cumsum(null.now[order]) / null.now.size
    many = int(np.searchsorted(lost, share * null.before.mean()))
    now = null.now.copy()
    now[order[:many]] = 0.0
    return _levelled(null.before, now, np.isin(np.arange(now.size), order[many]), -share, null.touched)


def _marked(those: Mask, share: float) -> Mask:
    """So large a share of all queries, drawn from some of them."""
    chosen = np.random.default_rng(6).permutation(np.flatnonzero(those))[: round(share * those.size)]
    return np.isin(np.arange(those.size), chosen)


def _levelled(before: Floats, now: Floats, movable: Mask, share: float, touched: Mask) -> Population:
    """Movable queries shifted, all by the same within [0, 1], until the mean changed by exactly ``share`` of itself."""

    def moved(by: float) -> Floats:
        return np.where(movable, np.clip(now + by, 0.0, 1.0), now)

    by = _solved(lambda by: float((moved(by) - before).mean()) - share * float(before.mean()), -1.0, 1.0)
    return Population(before, moved(by), touched)


def _solved(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a growing function is 0."""
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2
