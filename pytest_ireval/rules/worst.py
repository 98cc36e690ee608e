"""The queries that a verdict rests on, the worst first, with documents where somebody will look at them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pytest_ireval.results.outcome import QueryChange
from pytest_ireval.rules.seen import Seen, Values

SHOWN_WITHOUT_FAILURE = 5
"""So many queries stand behind a rule that holds; behind one that does not, all."""
WITH_DOCUMENTS = 200
"""The documents of so many queries are looked up."""


def worst_changes(seen: Seen, values: Values, *, failed: bool, least: float = 0.0) -> tuple[QueryChange, ...]:
    """Queries whose value got worse by more than ``least``, the worst first."""
    change = seen.sign * values.gain
    order = np.argsort(change, kind="stable")
    rows = order[change[order] < -max(least, 1e-12)]
    return _listed(seen, values, rows.tolist(), failed)


def lowest_values(seen: Seen, values: Values, *, failed: bool) -> tuple[QueryChange, ...]:
    """Queries by value, the worst first."""
    rows = np.argsort(seen.sign * values.now, kind="stable")
    return _listed(seen, values, rows.tolist(), failed)


def _listed(seen: Seen, values: Values, rows: list[int], failed: bool) -> tuple[QueryChange, ...]:
    if not failed:
        return seen.changes(values, rows[:SHOWN_WITHOUT_FAILURE])
    first = seen.changes(values, rows[:WITH_DOCUMENTS])
    return first + tuple(_plain(seen, values, row) for row in rows[WITH_DOCUMENTS:])


def _plain(seen: Seen, values: Values, row: int) -> QueryChange:
    """One without its documents."""
    texts = seen.population.queries.text
    text = texts[int(values.place[row])] if seen.metric.unit == "query" else ""
    change = QueryChange(values.all_names[values.place[row]], text, now=float(values.now[row]))
    return change if seen.baseline is None else replace(change, baseline=float(values.before[row]))
