"""A comparison as Markdown, for a pull request or a wiki page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_ireval.cli.comparison_marks import letters, marks
from pytest_ireval.cli.comparison_notes import notes
from pytest_ireval.cli.comparison_text import View, called, extreme_rows, pair_rows, title, values_of
from pytest_ireval.cli.escaping import MARKDOWN, escaped
from pytest_ireval.cli.evaluation_text import figure
from pytest_ireval.results.comparison import Comparison


def as_markdown(comparison: Comparison, view: View) -> str:
    """The same tables as for a terminal; the best figures are bold, marks are superscripts."""
    signs = letters(comparison)
    header = ["", "ranking", *(title(metric) for metric in comparison.metrics)]
    rows = [[signs[name], _in_cell(called(comparison, name)), *_figures(comparison, name)] for name in view.order]
    tables = [
        (2, [list(map(_in_cell, header)), *rows]),
        (2, _in_cells(pair_rows(comparison, every=view.every_pair))),
        (2, _in_cells(extreme_rows(comparison))),
    ]
    if view.per_query:
        tables += [(1, _in_cells(values_of(comparison, metric, view.order))) for metric in comparison.metrics]
    told = notes(comparison, best="bold", every_pair=view.every_pair)
    listed = "\n".join(f"- {_in_cell(note)}" for note in told)
    return "\n\n".join([*(_table(rows, left) for left, rows in tables if rows[1:]), listed]) + "\n"


def _in_cell(text: str) -> str:
    return escaped(text, MARKDOWN)


def _in_cells(rows: Iterable[list[str]]) -> list[list[str]]:
    return [list(map(_in_cell, row)) for row in rows]


def _figures(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value, mark = figure(metric.values[name], metric.aggregate), marks(comparison, metric)[name]
        yield (f"**{value}**" if name in metric.best else value) + (f"<sup>{mark}</sup>" if mark else "")


def _table(rows: list[list[str]], left: int) -> str:
    """The rows, the header first; so many columns are aligned to the left."""
    rule = ["---" if i < left else "---:" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))
