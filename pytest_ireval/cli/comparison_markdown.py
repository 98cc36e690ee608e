"""A comparison as Markdown, for a pull request or a wiki page."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.cli.comparison_marks import letters, marks, shown_pairs
from pytest_ireval.cli.comparison_notes import notes
from pytest_ireval.cli.comparison_text import View, called, pair_cells, pair_header, title, values_of
from pytest_ireval.cli.escaping import MARKDOWN, escaped
from pytest_ireval.cli.evaluation_text import figure
from pytest_ireval.comparison_results import Comparison


def as_markdown(comparison: Comparison, view: View) -> str:
    """The leaderboard and the pairs as tables; the best figures are bold, marks are superscripts."""
    signs = letters(comparison)
    header = ["", "ranking", *(_in_cell(title(metric)) for metric in comparison.metrics)]
    rows = [
        [signs[name], _in_cell(called(comparison, name)), *_markdown_cells(comparison, name)] for name in view.order
    ]
    parts = [_markdown_table(header, rows, left=2)]
    pairs = [
        [
            _in_cell(title(metric)),
            f"{signs[pair.ranking]}-{signs[pair.other]}",
            *map(_in_cell, pair_cells(pair)),
        ]
        for metric in comparison.metrics
        for pair in shown_pairs(comparison, metric, every=view.every_pair)
    ]
    if pairs:
        parts.append(_markdown_table(["metric", "pair", *pair_header(comparison)], pairs, left=2))
    for metric in comparison.metrics if view.per_query else ():
        head, *shown = ([_in_cell(cell) for cell in row] for row in values_of(comparison, metric, view.order))
        parts.append(_markdown_table(head, shown, left=1))
    told = notes(comparison, best="bold", every_pair=view.every_pair)
    parts.append("\n".join(f"- {escaped(note, MARKDOWN)}" for note in told))
    return "\n\n".join(parts) + "\n"


def _in_cell(text: str) -> str:
    return escaped(text, MARKDOWN)


def _markdown_cells(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value, mark = figure(metric.values[name], metric.aggregate), marks(comparison, metric)[name]
        yield (f"**{value}**" if name in metric.best else value) + (f"<sup>{mark}</sup>" if mark else "")


def _markdown_table(header: list[str], rows: list[list[str]], left: int) -> str:
    rule = ["---" if i < left else "---:" for i in range(len(header))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (header, rule, *rows))
