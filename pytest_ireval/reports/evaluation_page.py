"""One evaluation as a page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_ireval.reports.templates import environment
from pytest_ireval.results.evaluation import UNITS, Evaluation


def evaluation_page(evaluation: Evaluation, notes: Sequence[str], per_query: bool) -> str:
    """The HTML text; ``notes`` are shown below the figures."""
    units = [unit for unit in UNITS if any(metric.unit == unit for metric in evaluation.metrics)]
    tables = [
        {
            "unit": unit,
            "metrics": (metrics := [metric for metric in evaluation.metrics if metric.unit == unit]),
            "names": list(dict.fromkeys(name for metric in metrics for name in metric.values)),
        }
        for unit in units
        if per_query
    ]
    page = environment().get_template("evaluation.html.jinja")
    return page.render(evaluation=evaluation, notes=notes, tables=tables)
