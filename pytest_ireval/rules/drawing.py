"""How the queries of a suite were drawn: in clusters, from strata with known shares, from this many queries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pytest_ireval.errors import Problem, did_you_mean, shown
from pytest_ireval.plurals import counted
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.named_queries import unknown_column
from pytest_ireval.rules.side import Drawing, Strata
from pytest_ireval.statistics.weighting import FEWEST_UNITS, Counts
from pytest_ireval.suites.suite import PopulationAsked, Suite

LISTED = 5
"""This many mistakes of one kind are listed."""


def drawing_of(suite: Suite, queries: Queries) -> Drawing | None:
    """None where the suite says nothing; :func:`drawing_problems` has found no mistake."""
    population = suite.population
    if not suite.cluster and population is None:
        return None
    clusters = _clusters(queries.columns[suite.cluster]) if suite.cluster else None
    strata = _strata(population, queries) if population is not None and population.strata else None
    return Drawing(clusters, strata, population.size if population is not None else None)


def _clusters(values: tuple[str, ...]) -> Counts:
    """The number of the cluster of each query; an empty cell is a cluster of its own."""
    numbers: dict[str, int] = {}
    own = iter(range(len(values), 2 * len(values)))
    return np.array(
        [numbers.setdefault(value, len(numbers)) if value.strip() else next(own) for value in values], np.int64
    )


def _strata(population: PopulationAsked, queries: Queries) -> Strata:
    names = tuple(population.shares or population.sizes)
    known = {name: place for place, name in enumerate(names)}
    weights = population.shares or population.sizes
    shares = np.array([weights[name] for name in names], np.float64)
    return Strata(
        population.strata,
        names,
        np.array([known[value] for value in queries.columns[population.strata]], np.int64),
        shares / shares.sum(),
        np.array([population.sizes.get(name, np.nan) for name in names], np.float64),
    )


def drawing_problems(suite: Suite, queries: Queries) -> Iterator[Problem]:
    """What a suite says of the drawing of its queries and the queries contradict."""
    if suite.cluster and suite.cluster not in queries.columns:
        yield unknown_column(suite.cluster_place or suite.place, suite.cluster, queries)
        return
    population = suite.population
    if suite.cluster:
        yield from _one_cluster(suite, queries)
    if population is None:
        return
    if population.size is not None and population.size < len(queries):
        yield Problem(
            f"the population has {population.size} queries, and {queries.origin} has {len(queries)}",
            place=str(population.place),
            allowed=f"size is {len(queries)} or more; {len(queries)} says that these queries are the population",
        )
    if not population.strata:
        return
    if population.strata not in queries.columns:
        yield unknown_column(population.place, population.strata, queries)
        return
    wrong = list(_unknown_strata(population, queries))
    yield from wrong or _unfit_strata(suite, population, queries)


def _one_cluster(suite: Suite, queries: Queries) -> Iterator[Problem]:
    values = set(queries.columns[suite.cluster])
    if len(queries) > 1 and len(values) == 1 and next(iter(values)).strip():
        yield Problem(
            f"all queries have {suite.cluster}={next(iter(values))}: one cluster shows nothing of chance",
            place=str(suite.cluster_place or suite.place),
            suggestion="name a column in which variants of one intent have one value, and other intents another",
        )


def _unknown_strata(population: PopulationAsked, queries: Queries) -> Iterator[Problem]:
    """Values that have no share, and shares of values that no query has."""
    place, column = str(population.place), population.strata
    there = dict.fromkeys(queries.columns[column])
    given = {"share": population.shares} if population.shares else {"size": population.sizes}
    for what, known in given.items():
        missing = [value for value in there if value not in known]
        for value in missing[:LISTED]:
            said = f"{column}={value} has no {what}" if value.strip() else f"a query has no {column}, so no {what}"
            yield Problem(
                said, place=place, suggestion=did_you_mean(value, known), allowed=f"known: {', '.join(known)}"
            )
    for value in dict.fromkeys([*population.shares, *population.sizes]):
        if value not in there:
            yield Problem(
                f"no query has {column}={shown(value)}",
                place=place,
                suggestion=did_you_mean(value, there),
                allowed=f"{column} is one of {', '.join(sorted(there)[:20])}",
            )


def _unfit_strata(suite: Suite, population: PopulationAsked, queries: Queries) -> Iterator[Problem]:
    """Strata that are larger than the population says, or too small to show how much queries differ."""
    column = queries.columns[population.strata]
    clusters = _clusters(queries.columns[suite.cluster]).tolist() if suite.cluster else list(range(len(queries)))
    units: dict[str, set[int]] = {}
    first: dict[int, str] = {}
    torn: dict[int, str] = {}
    for row, (value, cluster) in enumerate(zip(column, clusters, strict=True)):
        units.setdefault(value, set()).add(cluster)
        if first.setdefault(cluster, value) != value and cluster not in torn:
            torn[cluster] = queries.columns[suite.cluster][row]
            if len(torn) <= LISTED:
                yield Problem(
                    f"{suite.cluster}={torn[cluster]} has queries of {population.strata}={first[cluster]} and of "
                    f"{population.strata}={value}",
                    place=str(suite.cluster_place or suite.place),
                    allowed="all queries of a cluster belong to one stratum",
                )
    for value, inside in units.items():
        count = column.count(value)
        if count > population.sizes.get(value, count):
            yield Problem(
                f"the population has {population.sizes[value]} queries with {population.strata}={value}, and "
                f"{queries.origin} has {count}",
                place=str(population.place),
                allowed=f"size of {value} is {count} or more; {count} says that these queries are all of them",
            )
        elif len(inside) < FEWEST_UNITS and population.sizes.get(value) != count:
            unit = "cluster" if suite.cluster else "query"
            yield Problem(
                f"{population.strata}={value} has {counted(len(inside), unit)}: one alone does not show how much they "
                "differ",
                place=str(population.place),
                suggestion=f"add queries with {population.strata}={value}, or give them the value of another stratum",
            )
