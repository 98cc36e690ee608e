"""A comparison as a LaTeX table, for a paper."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.cli.comparison_marks import BETTER, WORSE, how_tested, letters, marks
from pytest_ireval.cli.comparison_notes import notes
from pytest_ireval.cli.comparison_text import View, called, title
from pytest_ireval.cli.escaping import LATEX, escaped
from pytest_ireval.cli.evaluation_text import figure
from pytest_ireval.cli.table import printable
from pytest_ireval.comparison_results import Comparison


def as_latex(comparison: Comparison, view: View) -> str:
    r"""A table in a document that has ``\usepackage{booktabs}``; the best figures are bold, marks are superscripts."""
    signs = letters(comparison)
    head = ["", "Ranking", *(escaped(title(metric), LATEX) for metric in comparison.metrics)]
    rows = [[signs[name], escaped(called(comparison, name), LATEX), *_cells(comparison, name)] for name in view.order]
    return "\n".join(
        [
            "% needs \\usepackage{booktabs}",
            *(f"% {printable(note)}" for note in notes(comparison, best="bold", every_pair=True)),
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{escaped(_caption(comparison), LATEX)}}}",
            f"\\begin{{tabular}}{{ll{'r' * len(comparison.metrics)}}}",
            "\\toprule",
            " & ".join(head) + " \\\\",
            "\\midrule",
            *(" & ".join(row) + " \\\\" for row in rows),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


def _cells(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value = figure(metric.values[name], metric.aggregate).replace("-", "$-$")
        mark = escaped(marks(comparison, metric)[name], LATEX)
        yield (f"\\textbf{{{value}}}" if name in metric.best else value) + (
            f"\\textsuperscript{{{mark}}}" if mark else ""
        )


def _caption(comparison: Comparison) -> str:
    tested = any(metric.pairs for metric in comparison.metrics)
    if not tested:
        return f"{comparison.queries} queries."
    if comparison.baseline is not None:
        signs = f"{BETTER} {WORSE} significantly better, worse than {comparison.baseline}"
    else:
        signs = "Letters: significantly better than those rankings"
    return f"{signs} ({how_tested(comparison)}); {comparison.queries} queries. Bold: best of the column."
