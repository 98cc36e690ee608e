"""How the values of each metric are spread, now and in the baseline: counted in twenty bins between round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from pytest_ireval.gate.material import Material
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.results.curves import Distribution
from pytest_ireval.rules.side import Floats, Side

BINS = 20
STEPS = (1.0, 2.0, 2.5, 4.0, 5.0, 10.0)
"""A bin is as wide as one of these, times a power of ten."""
DIGITS = 12
SAME = 1e-9
"""What is this close to an edge, as a part of the width of a bin, stands on it."""
HUGE = 1e300
"""Beyond, there are no bins."""


def distributions_of(material: Material) -> tuple[Distribution, ...]:
    """Of every metric that scores queries, in the order of the suite."""
    side = material.now_beside(material.comparable)
    return tuple(_distributions(material, side))


def _distributions(material: Material, side: Side) -> Iterator[Distribution]:
    before = {} if material.comparable is None else material.comparable.scored
    for metric in material.suite.metrics:
        name = str(metric)
        if metric.unit != "query" or name not in side.scored or name in side.errors:
            continue
        now = side.scored[name].values
        there = material.population.counting & ~np.isnan(now)
        if np.abs(now[there]).max(initial=0.0) > HUGE:
            continue
        if name not in before:
            yield _distribution(metric, now[there])
            continue
        there &= ~np.isnan(before[name].values)
        yield _distribution(metric, now[there], before[name].values[there])


def _distribution(metric: Metric, now: Floats, before: Floats | None = None) -> Distribution:
    edges = edges_of(metric, now if before is None else np.concatenate((now, before)))
    return Distribution(
        str(metric), tuple(edges), counts_between(edges, now), () if before is None else counts_between(edges, before)
    )


def edges_of(metric: Metric, values: Floats) -> list[float]:
    """Twentieths for a metric between 0 and 1; else the narrowest round bins that hold all of its values."""
    if not values.size or metric.bounds == (0.0, 1.0):
        return [number / BINS for number in range(BINS + 1)]
    low, high = float(values.min()), float(values.max())
    width = _width(_span(low, high) / BINS)
    first = math.floor(low / width)
    if (first + BINS) * width < high:  # rounding down to an edge left no room at the other end
        width = _width(width * 1.01)
        first = math.floor(low / width)
    return [float(f"{(first + number) * width:.{DIGITS}g}") for number in range(BINS + 1)]


def _span(low: float, high: float) -> float:
    """What the bins have to hold; of values that are all the same, something of their size."""
    size = max(abs(low), abs(high))
    return high - low if high - low > SAME * max(size, SAME) else max(size, 1.0)


def _width(least: float) -> float:
    """The round width that is not less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * (1 - SAME))


def counts_between(edges: list[float], values: Floats) -> tuple[int, ...]:
    """How many values there are between each two edges; on an edge to its right, on the last one to its left."""
    rounding = SAME * (edges[1] - edges[0])
    place = np.searchsorted(np.array(edges), values + rounding, side="right") - 1
    return tuple(np.bincount(np.clip(place, 0, BINS - 1), minlength=BINS).tolist())
