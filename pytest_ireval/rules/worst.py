"""The queries that a verdict rests on, the worst first, with documents where somebody will look at them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.results.outcome import QueryChange
from pytest_ireval.rules.seen import Seen, Values

SHOWN_WITHOUT_FAILURE = 5
"""So many queries stand behind a rule that holds; behind one that does not, all."""
WITH_DOCUMENTS = 200
"""The documents of so many queries are looked up."""
MOST_LISTED = 10_000
"""A list ends here: an object for each of a million queries takes a minute, and no reader looks at them."""


class Worst(NamedTuple):
    """A list of queries, and what holds for all the queries that it stands for."""

    queries: tuple[QueryChange, ...] = ()
    more: int = 0
    """How many queries the list leaves out because it would be too long."""
    whole: bool = True
    """Whether the list has all of them, with their documents."""
    in_all: int = 0
    """How many there are, listed or not."""
    share: float | None = None
    """Which share of all searches they carry; None where queries have no weight, or a rule that holds hides some."""


def worst_changes(seen: Seen, values: Values, *, failed: bool, least: float = 0.0) -> Worst:
    """Queries whose value got worse by more than ``least``, the worst first."""
    change = seen.sign * values.gain
    order = np.argsort(change, kind="stable")
    return _listed(seen, values, order[change[order] < -max(least, 1e-12)], failed)


def lowest_values(seen: Seen, values: Values, *, failed: bool, first: int | None = None) -> Worst:
    """Queries by value, the worst first; all of them, or the ``first`` ones."""
    rows = np.argsort(seen.sign * values.now, kind="stable")
    return _listed(seen, values, rows[:first], failed)


def _listed(seen: Seen, values: Values, rows: NDArray[np.int64], failed: bool) -> Worst:
    looked_up = rows[: WITH_DOCUMENTS if failed else SHOWN_WITHOUT_FAILURE]
    plain = rows[looked_up.size : MOST_LISTED] if failed else rows[:0]
    return Worst(
        seen.changes(values, looked_up.tolist()) + tuple(_plain(seen, values, row) for row in plain.tolist()),
        max(0, rows.size - MOST_LISTED) if failed else 0,
        looked_up.size == rows.size,
        int(rows.size),
        _share(seen, values, rows) if failed or looked_up.size == rows.size else None,
    )


def _plain(seen: Seen, values: Values, row: int) -> QueryChange:
    """One without its documents."""
    queries, weights, place = seen.population.queries, seen.population.weights, int(values.place[row])
    of_queries = seen.metric.unit == "query"
    return QueryChange(
        values.all_names[place],
        queries.text[place] if of_queries else "",
        now=float(values.now[row]),
        baseline=None if seen.baseline is None else float(values.before[row]),
        weight=float(weights[place]) if of_queries and weights is not None else None,
    )


def _share(seen: Seen, values: Values, rows: NDArray[np.int64]) -> float | None:
    weights = seen.population.weights
    if weights is None or seen.metric.unit != "query":
        return None
    total = float(weights.sum())
    return float(weights[values.place[rows]].sum()) / total if total else None
