"""Whose documents a result keeps: of every query where there are few, else of those that somebody will ask about."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pytest_ireval.gate.material import Material
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.rules.side import Scored, Side

FEW = 300
"""Of suites with no more queries, the documents of each are kept."""
OF_A_RULE = 200
"""The documents of so many queries are kept for one failing rule."""
WORST_OF_A_METRIC, BEST_OF_A_METRIC = 50, 20


def queries_to_show(material: Material, side: Side, outcomes: Iterable[Outcome]) -> list[str]:
    """Those behind failing rules, then those that each metric lost and gained most on, then all if they are few."""
    queries = material.population.queries
    shown: dict[str, None] = {}
    for outcome in outcomes:
        if outcome.verdict != "pass" or outcome.warning or outcome.accepted:
            shown |= dict.fromkeys(change.query for change in outcome.queries[:OF_A_RULE])
    for scored in side.scored.values():
        if scored.metric.unit == "query":
            shown |= dict.fromkeys(_extremes(material, scored))
    if len(queries) <= FEW:
        there = set(material.now.position) | set(material.baseline.position if material.baseline else ())
        shown |= dict.fromkeys(query for query in queries.ids if query in there)
    return [query for query in shown if query in queries.position]


def _extremes(material: Material, scored: Scored) -> list[str]:
    """The queries that got worse by most, then better by most; without a baseline, those with the worst values."""
    sign = -1 if scored.metric.direction == "lower" else 1
    name = str(scored.metric)
    before = material.baseline.scored.get(name) if material.baseline is not None else None
    values = sign * (scored.values if before is None else scored.values - before.values)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    worst = [i for i in order[:WORST_OF_A_METRIC].tolist() if before is None or values[i] < 0]
    best = [i for i in order[::-1][:BEST_OF_A_METRIC].tolist() if before is not None and values[i] > 0]
    return [scored.names[i] for i in (*worst, *best)]
