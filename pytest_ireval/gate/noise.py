"""The noise of a source that is asked several times: how far its answers differ without any change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_ireval.baseline.changes import find_changed_queries
from pytest_ireval.data.views import split_queries
from pytest_ireval.gate.collect import Inputs
from pytest_ireval.gate.score_rankings import score_rankings
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.metrics.score import aggregate_values
from pytest_ireval.sides.population import Population
from pytest_ireval.sides.side import Side
from pytest_ireval.statistics.differences import TIE, Floats, Mask
from pytest_ireval.statistics.noise import RunNoise, noise_floor, noise_share, run_noise
from pytest_ireval.words import format_count, format_some

UNSTABLE = "the source does not answer the same twice"


def describe_instability(inputs: Inputs) -> str:
    """How far the second answer differs from the first; empty if they are the same, or there is none."""
    first, second = inputs.current, inputs.second_answer
    if second is None:
        return ""
    collection = inputs.collection
    population, queries = collection.population, collection.population.queries
    answered = set(second.rankings[0].queries) - first.failures.keys() - second.failures.keys()
    both = [split_queries(each.rankings[0], answered.__contains__)[0] for each in (first, second)]
    changed = find_changed_queries(both[:1], both[1:], inputs.suite.depth)
    if not changed:
        return ""
    unknown = frozenset(query for query in queries.ids if query not in answered)
    side = score_rankings(collection, both, first.rankings[0].origin, unknown=unknown).side
    floors = []
    for name in list_repeated_metrics(side):
        noise = measure_noise(side, name, population.counted_queries)
        if noise.moved:
            floors.append(f"{name} {noise_floor(noise.within, int(population.counted_queries.sum())):.2g}")
    floor = "; no metric moved"
    if floors:
        floor = f"; two runs of this system may differ by {', '.join(floors)} (noise floor, 95%)"
    return (
        f"{len(changed)} of {format_count(len(answered), 'query')} asked twice got another answer: "
        f"{format_some(list(changed))}{floor}; "
        "set repeat: 3 in the source, or make its answers stable: exact search, one replica"
    )


def measure_noise(side: Side, metric: str, inside: Mask) -> RunNoise:
    """The noise between the askings of one side, on queries that have a value each time."""
    values = side.askings[metric]
    return run_noise(values[:, inside & ~np.isnan(values).any(axis=0)])


def measure_weighted_noise(side: Side, metric: str, inside: Mask, weights: Floats) -> tuple[float, float]:
    """The variance of an answer, and the number of equally weighted queries with the same variance of the mean."""
    values = side.askings[metric]
    inside = inside & ~np.isnan(values).any(axis=0)
    squares = weights[inside] ** 2
    total = float(squares.sum())
    if not total:
        return 0.0, 1.0
    within = float(squares @ values[:, inside].var(axis=0, ddof=1)) / total
    return within, float(weights[inside].sum()) ** 2 / total


def list_repeated_metrics(side: Side) -> tuple[str, ...]:
    """Metrics summed up by their mean over queries, of a source that was asked several times."""
    return tuple(
        name
        for name, values in side.askings.items()
        if len(values) > 1 and (side.scored[name].metric.unit, side.scored[name].metric.aggregate) == ("query", "mean")
    )


def measure_spread(before: Side, now: Side, metric: str, askings: int | None = None) -> float | None:
    """The standard deviation of the differences of queries, with the first ``askings`` now; None if none differs."""
    if metric not in before.scored or metric not in now.askings:
        return None
    change = now.askings[metric][:askings].mean(axis=0) - before.scored[metric].values
    change = change[~np.isnan(change)]
    return float(change.std(ddof=1)) if change.size > 1 and np.abs(change).max() > TIE else None


def note_noise(population: Population, now: Side, before: Side | None) -> Iterator[str]:
    """Report of a source that was asked several times the share of the differences' variance that its noise makes."""
    names = list_repeated_metrics(now)
    if not names:
        return
    times = len(now.rankings)
    noises = {name: measure_noise(now, name, population.counted_queries) for name in names}
    if not any(noise.moved for noise in noises.values()):
        yield f"the source was asked {times} times, and every metric was the same each time"
        return
    shares = [text for name, noise in noises.items() if (text := _describe_share(name, noise, now, before))]
    noise = ", ".join(shares)
    yield f"each query was asked {times} times and counts with its mean; noise between the answers: {noise}"


def describe_time_noise(now: Side, metric: Metric, inside: Mask) -> str:
    """The figures of a metric in each asking of the same system: how far they vary without any change."""
    values = now.askings.get(str(metric), np.zeros((1, 0)))
    kept = inside & ~np.isnan(values).any(axis=0) if metric.unit == "query" else np.ones(values.shape[1], bool)
    figures = [figure for row in values if (figure := aggregate_values(row[kept], metric.aggregate)) is not None]
    if len(figures) < 2:
        return "the noise of these times is unknown without repeats (repeat: 3 in the source)"
    low, high = min(figures), max(figures)
    if low == high:
        return f"the noise of these times is unknown, as all {len(figures)} repeats are equal"
    gave = f"{len(figures)} repeats of the same system gave {metric} from {low:.4g} to {high:.4g}"
    return f"{gave}, {100 * (high - low) / abs(low):.0f}% apart" if low else gave


def _describe_share(name: str, noise: RunNoise, now: Side, before: Side | None) -> str:
    spread = None if before is None else measure_spread(before, now, name)
    if before is None or spread is None:
        return f"{np.sqrt(noise.within):.3g} in {name} (standard deviation)" if noise.moved else ""
    share = noise_share(spread, noise.within, len(before.rankings), len(now.rankings))
    return f"{100 * share:.0f}% of the changes in {name} (share of variance)"
