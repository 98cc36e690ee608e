"""A comparison as a page: the leaderboard, to be sorted, with the values of a ranking when it is chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from pytest_ireval.cli.comparison_text import (
    View,
    comparison_notes,
    extreme_rows,
    letters,
    marks,
    name_of_ranking,
    pair_rows,
    risk_rows,
    title,
)
from pytest_ireval.cli.evaluation_text import evaluated_figure
from pytest_ireval.results.comparison import Comparison
from pytest_ireval.results.evaluation import UNITS

LETTERS = 52
"""More rankings have numbers. The page then counts those that a ranking is better than, and has no table of pairs."""


def as_page(comparison: Comparison, view: View) -> str:
    """One file that needs nothing else; values of queries are in it with ``view.per_query``."""
    from pytest_ireval.reports.page import asset
    from pytest_ireval.reports.templates import templates

    using = templates()
    style, script = (asset(name, using.text_of(name)) for name in ("comparison.css", "comparison.js"))
    only = "base-uri 'none'; form-action 'none'"
    tables = {"Risk": [*risk_rows(comparison, view.order)]}
    notes = [*comparison_notes(comparison, best="bold", every_pair=view.every_pair)]
    if len(comparison.rankings) <= LETTERS:
        pairs, queries = [*pair_rows(comparison, every=view.every_pair)], [*extreme_rows(comparison)]
        tables = {"Differences": pairs, **tables, "Queries that changed most": queries}
    else:
        notes.append("the page shows pairs of up to 52 rankings only; --format csv has all pairs")
    return using.filled(
        "comparison.html.jinja",
        policy=f"default-src 'none'; style-src {style.fingerprint}; script-src {script.fingerprint}; {only}",
        style=style,
        script=script,
        judgments=next(iter(comparison.rankings.values())).judgments,
        metrics=[{"title": title(each), "direction": each.direction} for each in comparison.metrics],
        rows=[*_rows(comparison, view)],
        values=_values(comparison) if view.per_query else "",
        tables={heading: table for heading, table in tables.items() if table[1:]},
        notes=notes,
    )


def _rows(comparison: Comparison, view: View) -> Iterator[dict[str, Any]]:
    signs, number = letters(comparison), {name: at for at, name in enumerate(comparison.rankings)}
    marked = [_marks(comparison, each) for each in range(len(comparison.metrics))]
    for name in view.order:
        cells = [
            {
                "value": "" if (value := metric.values[name]) is None else repr(value),
                "text": evaluated_figure(value, metric.aggregate),
                "best": name in metric.best,
                "mark": marked[at][name],
            }
            for at, metric in enumerate(comparison.metrics)
        ]
        yield {"number": number[name], "sign": signs[name], "name": name_of_ranking(comparison, name), "cells": cells}


def _marks(comparison: Comparison, at: int) -> dict[str, str]:
    metric = comparison.metrics[at]
    if comparison.baseline is not None or len(comparison.rankings) <= LETTERS:
        return marks(comparison, metric)
    beaten = dict.fromkeys(comparison.rankings, 0)
    for pair in metric.pairs:
        if pair.better:
            beaten[pair.better] += 1
    return {name: f"> {count}" if count else "" for name, count in beaten.items()}


def _values(comparison: Comparison) -> str:
    """By unit, the names of queries, and for each metric a row a ranking; four decimals."""
    found = []
    for unit in UNITS:
        names = [metric.name for metric in comparison.metrics if metric.unit == unit]
        results = {name: [each[name].values for each in comparison.rankings.values()] for name in names}
        units = list(dict.fromkeys(key for rows in results.values() for row in rows for key in row))
        metrics = {
            name: [[None if key not in row else round(row[key], 4) for key in units] for row in rows]
            for name, rows in results.items()
        }
        if units:
            found.append({"unit": unit, "names": units, "metrics": metrics})
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")
