"""The formats of a comparison: Markdown and LaTeX for people, JSON and CSV for programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from pytest_ireval.cli.comparison_text import (
    BETTER,
    WORSE,
    View,
    as_table,
    comparison_notes,
    extreme_rows,
    how_tested,
    letters,
    marks,
    name_of_ranking,
    pair_rows,
    title,
    values_of_ranking,
)
from pytest_ireval.cli.evaluation_text import evaluated_figure
from pytest_ireval.results.comparison import Comparison, Pair
from pytest_ireval.text_table import printable

MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def _as_latex(comparison: Comparison, view: View) -> str:
    """The leaderboard, and pairs and values if they are asked for; what it rests on stands in comments."""
    signs = letters(comparison)
    header = ["", "Ranking", *(_text(title(metric)) for metric in comparison.metrics)]
    rows = [
        [signs[name], _text(name_of_ranking(comparison, name)), *_latex_figures(comparison, name)]
        for name in view.order
    ]
    tables = [_latex_table([header, *rows], 2, _caption(comparison))]
    if view.every_pair:
        pairs = _texts(pair_rows(comparison, every=True))
        about = f"Pairs ({how_tested(comparison)}); intervals are not corrected; +/=/-: queries better, equal, worse."
        tables.append(_latex_table(pairs, 2, about))
    for metric in comparison.metrics if view.per_query else ():
        values = _texts(values_of_ranking(comparison, metric, view.order))
        tables.append(_latex_table(values, 1, f"{metric.name}."))
    told = comparison_notes(comparison, best="bold", every_pair=None)
    comments = ["% needs \\usepackage{booktabs}", *(f"% {printable(note)}" for note in told)]
    return "\n".join([*comments, *tables]) + "\n"


def _text(text: str) -> str:
    """Escaped; a minus sign is one, not a hyphen."""
    return MINUS.sub("$-$", _escaped(text, _LATEX))


def _texts(rows: Iterable[list[str]]) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in rows]


def _latex_figures(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value = _text(evaluated_figure(metric.values[name], metric.aggregate))
        mark = _text(marks(comparison, metric)[name])
        yield (f"\\textbf{{{value}}}" if name in metric.best else value) + (
            f"\\textsuperscript{{{mark}}}" if mark else ""
        )


def _latex_table(rows: list[list[str]], left: int, caption: str) -> str:
    """A table with rules of booktabs, the header first; so many columns are aligned to the left."""
    header, *body = (" & ".join(row) + " \\\\" for row in rows)
    return "\n".join(
        [
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{_text(caption)}}}",
            f"\\begin{{tabular}}{{{'l' * left}{'r' * (len(rows[0]) - left)}}}",
            "\\toprule",
            header,
            "\\midrule",
            *body,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
        ]
    )


def _caption(comparison: Comparison) -> str:
    """What the marks mean, and over how many queries."""
    queries = f"{comparison.queries} queries."
    if not any(metric.pairs for metric in comparison.metrics):
        return queries
    signs = "Letters: significantly better than those rankings"
    if comparison.baseline is not None:
        signs = f"{BETTER} {WORSE} significantly better, worse than {comparison.baseline}"
    return f"{signs} ({how_tested(comparison)}); {queries} Bold: best of the column."


def _as_markdown(comparison: Comparison, view: View) -> str:
    """The same tables as for a terminal; the best figures are bold, marks are superscripts."""
    signs = letters(comparison)
    header = ["", "ranking", *(title(metric) for metric in comparison.metrics)]
    rows = [
        [signs[name], _in_cell(name_of_ranking(comparison, name)), *_markdown_figures(comparison, name)]
        for name in view.order
    ]
    tables = [
        (2, [list(map(_in_cell, header)), *rows]),
        (2, _in_cells(pair_rows(comparison, every=view.every_pair))),
        (2, _in_cells(extreme_rows(comparison))),
    ]
    if view.per_query:
        tables += [(1, _in_cells(values_of_ranking(comparison, metric, view.order))) for metric in comparison.metrics]
    told = comparison_notes(comparison, best="bold", every_pair=view.every_pair)
    listed = "\n".join(f"- {_in_cell(note)}" for note in told)
    return "\n\n".join([*(_markdown_table(rows, left) for left, rows in tables if rows[1:]), listed]) + "\n"


def _in_cell(text: str) -> str:
    return _escaped(text, _MARKDOWN)


def _in_cells(rows: Iterable[list[str]]) -> list[list[str]]:
    return [list(map(_in_cell, row)) for row in rows]


def _markdown_figures(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value, mark = evaluated_figure(metric.values[name], metric.aggregate), marks(comparison, metric)[name]
        yield (f"**{value}**" if name in metric.best else value) + (f"<sup>{mark}</sup>" if mark else "")


def _markdown_table(rows: list[list[str]], left: int) -> str:
    """The rows, the header first; so many columns are aligned to the left."""
    rule = ["---" if i < left else "---:" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def _as_json(comparison: Comparison, view: View) -> str:
    """The format with a version that other programs can rely on."""
    import json

    return json.dumps(comparison.to_dict(per_query=view.per_query), ensure_ascii=False) + "\n"


PAIR_COLUMNS = tuple(each.name for each in fields(Pair) if each.name not in ("ranking", "other", "gains", "drops"))
"""What CSV says of a pair behind who it is."""


def _as_csv(comparison: Comparison, view: View) -> str:
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
    "markdown": _as_markdown,
    "latex": _as_latex,
    "json": _as_json,
    "csv": _as_csv,
}


_MARKDOWN = {character: f"\\{character}" for character in "\\`*_[]<>|#~&$"}
_LATEX = {character: f"\\{character}" for character in "_&%#${}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "\\textless{}",
    ">": "\\textgreater{}",
    "|": "\\textbar{}",
    '"': "\\texttt{\\char34}",  # in other fonts of LaTeX's old encoding this place holds a closing quote
    "▲": "$\\uparrow$",
    "▼": "$\\downarrow$",
}
"""What LaTeX would obey, or show as something else."""


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    """``text`` with each character as ``escapes`` has it."""
    return "".join(escapes.get(character, character) for character in printable(text))
