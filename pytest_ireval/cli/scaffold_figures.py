"""What a first suite can be told from data at hand: floors, tolerances, and where they come from."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pytest_ireval.results.evaluation import MetricResult
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.statistics.resolution import likely_spread, queries_needed, resolution

BELOW = 0.95
"""A floor is so much of what is reached now."""
LOW_MEAN = 0.1
"""A share of so small a mean says little; the tolerance is an amount then."""
TRAFFIC = {"searches", "traffic", "volume", "count", "clicks", "frequency", "popularity", "weight"}
"""Words in the names of columns that say how often a query is asked."""
FEW = 50
MANY = 100
"""From this many queries on, a mean is judged by evidence."""
MOST_VALUES = 12
FEWEST_QUERIES = 2


class Proposal(NamedTuple):
    """A tolerance as a suite writes it, and how many queries it rests on."""

    tolerance: str
    queries: int
    spread: float
    """The standard deviation of the values; 0 where all are alike."""


def proposal(values: Iterable[float]) -> Proposal:
    """The tolerance that these queries can show the breaking of.

    It is their resolution: the smallest drop that a test at 5% shows in 80% of cases. The spread of the differences is
    not known before there is a second ranking; it is taken from the spread of the values (:func:`likely_spread`).
    """
    known = list(values)
    spread = statistics.stdev(known) if len(known) > 1 else 0.0
    mean = statistics.fmean(known) if known else 0.0
    likely = likely_spread(known)
    drop = None if likely is None else resolution(likely, len(known))
    if drop is None:
        return Proposal(f"{{absolute: {_up(0.5 / max(1, len(known)), 3):g}}}", len(known), 0.0)
    if mean < LOW_MEAN:
        return Proposal(f"{{absolute: {_up(drop, 3):g}}}", len(known), spread)
    share = drop / mean * 100
    return Proposal(f"{_up(share, 1 if share < 10 else 0):g}%", len(known), spread)


def needed_for(share: float, values: Sequence[float]) -> int:
    """About how many queries of this spread show a drop of that share of the mean."""
    likely = likely_spread(values)
    return (queries_needed(likely, share * statistics.fmean(values)) if likely else None) or 0


def floor(value: float) -> float:
    """A little below what is reached now."""
    return math.floor(value * BELOW * 100 + 1e-9) / 100


def slices(result: MetricResult, queries: Queries) -> Iterator[tuple[str, Mapping[str, list[float]]]]:
    """Columns that make slices of the queries, with the metric's values in each."""
    for column, entries in queries.columns.items():
        if column == weight_column(queries):
            continue
        found: dict[str, list[float]] = {}
        for query, value in zip(queries.ids, entries, strict=True):
            if query in result.values:
                found.setdefault(value, []).append(result.values[query])
        few = any(len(values) < FEWEST_QUERIES for values in found.values())
        if 1 < len(found) <= MOST_VALUES and not few and "" not in found:
            yield column, found


def weight_column(queries: Queries) -> str:
    """The column that looks like how much traffic a query stands for; nothing if none does."""
    named = (column for column in queries.columns if TRAFFIC & set(re.split(r"[^a-z]+", column.lower())))
    return next((column for column in named if _are_weights(queries.columns[column])), "")


def _are_weights(entries: Sequence[str]) -> bool:
    try:
        weights = [float(entry) for entry in entries]
    except ValueError:
        return False
    return any(weights) and all(0 <= weight < math.inf for weight in weights)


def _up(number: float, digits: int) -> float:
    """Rounded up."""
    scale = float(10**digits)
    return math.ceil(number * scale - 1e-9) / scale
