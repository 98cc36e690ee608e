"""Every metric on every slice that a suite's rules know, for a reader who looks for what a change did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from pytest_ireval.gate.material import Material
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.results.outcome import SliceFigures
from pytest_ireval.results.suite_result import SliceRow
from pytest_ireval.rules.figures import figures_compared
from pytest_ireval.rules.planning import MOST_VALUES
from pytest_ireval.rules.seen import Seen
from pytest_ireval.rules.side import Side
from pytest_ireval.rules.slices import WHOLE, Slice, one_value
from pytest_ireval.statistics.multiplicity import benjamini_hochberg

FEWEST = 20
"""Slices of fewer queries are shown, and nothing is tested on them."""


def slices_of(material: Material) -> tuple[SliceRow, ...]:
    """A row for each; so many of them that some look bad by chance, so their p are corrected (false discovery rate)."""
    baseline = material.baseline
    if baseline is None or material.baseline_error is not None:
        return ()
    there = [metric for metric in material.suite.metrics if _on_both_sides(metric, material.now, baseline)]
    rows = [SliceRow(str(metric), figures) for metric in there for figures in _figures(material, metric)]
    p = [each.figures.p if each.figures.queries >= FEWEST else None for each in rows]
    corrected = benjamini_hochberg(np.array([np.nan if each is None else each for each in p], np.float64))
    return tuple(
        replace(row, corrected=None if np.isnan(each) else each)
        for row, each in zip(rows, corrected.tolist(), strict=True)
    )


def _on_both_sides(metric: Metric, now: Side, baseline: Side) -> bool:
    """Whether a metric of queries has values that can be compared."""
    name = str(metric)
    return metric.unit == "query" and all(name in side.scored and name not in side.errors for side in (now, baseline))


def _figures(material: Material, metric: Metric) -> Iterator[SliceFigures]:
    seen = Seen(material.population, material.now, material.baseline, Part(metric=metric))
    for within in _slices(material):
        figures = figures_compared(seen.of(within))
        if figures.queries:
            yield figures


def _slices(material: Material) -> Iterator[Slice]:
    """One for each value of each column that a rule names."""
    queries = material.population.queries
    named = dict.fromkeys(
        column for asked in material.suite.rules for column in (*asked.options.where, asked.options.per)
    )
    for column in named:
        values = dict.fromkeys(queries.columns.get(column, ()))
        if 1 < len(values) <= MOST_VALUES:
            yield from (one_value(WHOLE, column, value) for value in values)
