"""A comparison as LaTeX tables, for a paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pytest_ireval.cli.comparison_marks import BETTER, WORSE, how_tested, letters, marks
from pytest_ireval.cli.comparison_notes import notes
from pytest_ireval.cli.comparison_text import View, called, pair_rows, title, values_of
from pytest_ireval.cli.escaping import LATEX, escaped
from pytest_ireval.cli.evaluation_text import figure
from pytest_ireval.results.comparison import Comparison
from pytest_ireval.text_table import printable

MINUS = re.compile(r"(?<![\w-])-(?=\d)")


def as_latex(comparison: Comparison, view: View) -> str:
    """The leaderboard, and pairs and values if they are asked for; what it rests on stands in comments."""
    signs = letters(comparison)
    header = ["", "Ranking", *(_text(title(metric)) for metric in comparison.metrics)]
    rows = [[signs[name], _text(called(comparison, name)), *_figures(comparison, name)] for name in view.order]
    tables = [_table([header, *rows], 2, _caption(comparison))]
    if view.every_pair:
        pairs = _texts(pair_rows(comparison, every=True))
        about = f"Pairs ({how_tested(comparison)}); intervals are not corrected; +/=/-: queries better, equal, worse."
        tables.append(_table(pairs, 2, about))
    for metric in comparison.metrics if view.per_query else ():
        values = _texts(values_of(comparison, metric, view.order))
        tables.append(_table(values, 1, f"{metric.name}."))
    told = notes(comparison, best="bold", every_pair=None)
    comments = ["% needs \\usepackage{booktabs}", *(f"% {printable(note)}" for note in told)]
    return "\n".join([*comments, *tables]) + "\n"


def _text(text: str) -> str:
    """Escaped; a minus sign is one, not a hyphen."""
    return MINUS.sub("$-$", escaped(text, LATEX))


def _texts(rows: Iterable[list[str]]) -> list[list[str]]:
    return [[_text(cell) for cell in row] for row in rows]


def _figures(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value = _text(figure(metric.values[name], metric.aggregate))
        mark = _text(marks(comparison, metric)[name])
        yield (f"\\textbf{{{value}}}" if name in metric.best else value) + (
            f"\\textsuperscript{{{mark}}}" if mark else ""
        )


def _table(rows: list[list[str]], left: int, caption: str) -> str:
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
