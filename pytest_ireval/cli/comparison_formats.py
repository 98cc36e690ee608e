"""The formats of a comparison: those for people by name, and JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

from pytest_ireval.cli.comparison_latex import as_latex
from pytest_ireval.cli.comparison_markdown import as_markdown
from pytest_ireval.cli.comparison_text import View, as_table
from pytest_ireval.results.comparison import Comparison, Pair


def as_json(comparison: Comparison, view: View) -> str:
    """The format with a version that other programs can rely on."""
    import json

    return json.dumps(comparison.to_dict(per_query=view.per_query), ensure_ascii=False) + "\n"


PAIR_COLUMNS = tuple(each.name for each in fields(Pair) if each.name not in ("ranking", "other", "gains", "drops"))
"""What CSV says of a pair behind who it is."""


def as_csv(comparison: Comparison, view: View) -> str:
    """One row a figure, one a pair, and one a query if wanted; what does not apply is empty."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_csv_rows(comparison, view))
    return text.getvalue()


_CSV_COLUMNS = ["metric", "ranking", "other", "query", "value", "paired", *PAIR_COLUMNS]


def _csv_rows(comparison: Comparison, view: View) -> Iterator[dict[str, Any]]:
    for metric in comparison.metrics:
        for name in view.order:
            if view.per_query:
                values = comparison.rankings[name][metric.name].values
                yield from (
                    {"metric": metric.name, "ranking": name, "query": unit, "value": value}
                    for unit, value in values.items()
                )
            yield {"metric": metric.name, "ranking": name, "value": metric.values[name]}
        yield from (
            {"metric": metric.name, "ranking": pair.ranking, "other": pair.other, "paired": metric.units, **_row(pair)}
            for pair in metric.pairs
        )


def _row(pair: Pair) -> dict[str, Any]:
    return {column: getattr(pair, column) for column in PAIR_COLUMNS}


FORMATS: dict[str, Callable[[Comparison, View], str]] = {
    "table": as_table,
    "markdown": as_markdown,
    "latex": as_latex,
    "json": as_json,
    "csv": as_csv,
}
