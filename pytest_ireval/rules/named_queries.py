"""Whether the queries have what a suite names of them: columns, and single queries of expectations and waivers."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.errors import Problem, did_you_mean, shown
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.rules.expect import Expectation
from pytest_ireval.suites.suite import Place, Suite

LOOKED_UP = 5
"""So many unknown queries are compared with all that there are; to compare thousands takes long."""


def unknown_names(suite: Suite, queries: Queries) -> Iterator[Problem]:
    """What the suite names and the queries lack."""
    if suite.weight and suite.weight not in queries.columns:
        yield unknown_column(suite.weight_place or suite.place, suite.weight, queries)
    unknown = [(query, place, what) for query, place, what in _named(suite) if query not in queries.position]
    for number, (query, place, what) in enumerate(unknown):
        yield Problem(
            f"query {shown(query)} is not in {queries.origin}",
            place=str(place),
            suggestion=did_you_mean(query, queries.ids) if number < LOOKED_UP else "",
            allowed=f"add it there, or take the {what} out",
        )


def unknown_column(place: Place, column: str, queries: Queries) -> Problem:
    """The mistake that the queries have no such column."""
    return Problem(
        f"{queries.origin} has no column {shown(column)}",
        place=str(place),
        suggestion=did_you_mean(column, queries.columns),
        allowed=f"columns: {', '.join(queries.columns) or 'none besides id and text'}",
    )


def _named(suite: Suite) -> Iterator[tuple[str, Place, str]]:
    """Single queries, where they are named, and by what."""
    for asked in suite.rules:
        for part, place in zip(asked.parts, asked.places, strict=True):
            if isinstance(part.asked, Expectation):
                yield part.asked.query, place, "expectation"
    for waiver in suite.waivers:
        yield waiver.query, waiver.place, "waiver"
