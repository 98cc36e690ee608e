"""How much of what differs is only that a source answers otherwise each time; the query stays the unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_ireval.rules.side import Floats, Population, Side
from pytest_ireval.rules.slices import Mask
from pytest_ireval.statistics.differences import TIE
from pytest_ireval.statistics.noise import RunNoise, noise_share, run_noise


def noise_of(side: Side, metric: str, inside: Mask) -> RunNoise:
    """What the askings of one side show of a metric, on queries that have a value each time."""
    values = side.askings[metric]
    return run_noise(values[:, inside & ~np.isnan(values).any(axis=0)])


def weighted_noise(side: Side, metric: str, inside: Mask, weights: Floats) -> tuple[float, float]:
    """The variance of an answer, and how many queries of equal weight would move a mean as much as the weighted."""
    values = side.askings[metric]
    inside = inside & ~np.isnan(values).any(axis=0)
    squares = weights[inside] ** 2
    total = float(squares.sum())
    if not total:
        return 0.0, 1.0
    within = float(squares @ values[:, inside].var(axis=0, ddof=1)) / total
    return within, float(weights[inside].sum()) ** 2 / total


def metrics_asked_again(side: Side) -> tuple[str, ...]:
    """Metrics summed up by their mean over queries, of a source that was asked several times."""
    return tuple(
        name
        for name, values in side.askings.items()
        if len(values) > 1 and side.scored[name].metric.aggregate == "mean"
    )


def spread_between(before: Side, now: Side, metric: str, askings: int | None = None) -> float | None:
    """The standard deviation of the differences of queries; of now the first ``askings``. None: nothing differs."""
    if metric not in before.scored or metric not in now.askings:
        return None
    change = now.askings[metric][:askings].mean(axis=0) - before.scored[metric].values
    change = change[~np.isnan(change)]
    return float(change.std(ddof=1)) if change.size > 1 and np.abs(change).max() > TIE else None


def noise_notes(population: Population, now: Side, before: Side | None) -> Iterator[str]:
    """Of a source that was asked several times: how much of the differences' variance comes from that alone."""
    names = metrics_asked_again(now)
    if not names:
        return
    times = len(now.rankings)
    found = {name: noise_of(now, name, population.counting) for name in names}
    if not any(noise.moved for noise in found.values()):
        yield f"the source was asked {times} times, and every metric was the same each time"
        return
    said = [text for name, noise in found.items() if (text := _said(name, noise, now, before))]
    yield f"the source was asked {times} times; a query's value is the mean. Run noise: {', '.join(said)}"


def _said(name: str, noise: RunNoise, now: Side, before: Side | None) -> str:
    spread = None if before is None else spread_between(before, now, name)
    if before is None or spread is None:
        return f"{name} standard deviation {np.sqrt(noise.within):.3g} an answer" if noise.moved else ""
    share = noise_share(spread, noise.within, len(before.rankings), len(now.rankings))
    return f"{100 * share:.0f}% of the variance of {name}'s changes"
