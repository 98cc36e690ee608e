"""``ireval why``: the arithmetic of one metric on one query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pytest_ireval.cli.format_options import format_options
from pytest_ireval.cli.policy_options import view_options
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.cli.why_text import FORMATS
from pytest_ireval.errors import MetricNameError, Problem
from pytest_ireval.explaining.why import why


@click.command(name="why", context_settings={"show_default": True})
@click.argument("metric")
@click.argument("judgments")
@click.argument("rankings")
@click.argument("other", required=False)
@click.option(
    "-q", "--query", help="The query. Unless given, the one on which two RANKINGS differ most; of one, it is required."
)
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="How to print it.")
@click.option(
    "--lines",
    type=click.IntRange(1),
    help="So many lines of each table. Unless given: down to the cutoff, or to the last judged document.",
)
@format_options("judgments", "rankings")
@view_options
def command(
    metric: str,
    judgments: str,
    rankings: str,
    other: str | None,
    query: str | None,
    form: str,
    lines: int | None,
    **policies: Any,
) -> None:
    """Show how METRIC comes to its value on one query, line by line.

    With OTHER rankings, show what moved from RANKINGS to OTHER, what each document contributes in both, and the
    arithmetic of both. Files as in `ireval evaluate`; one of them may be - for standard input.
    """
    if [judgments, rankings, other].count("-") > 1:
        raise click.UsageError("only one of the files can be standard input")
    try:
        with LateBar() as progress:
            explanation = why(metric, judgments, rankings, query, other, progress=progress, **policies)
    except MetricNameError:
        if Path(metric).exists():
            raise MetricNameError(_metric_comes_first(metric)) from None
        raise
    click.echo(FORMATS[form](explanation, lines), nl=False)


def _metric_comes_first(path: str) -> Problem:
    return Problem(
        "is a file, where a metric is expected", path, suggestion="write: ireval why METRIC JUDGMENTS RANKINGS"
    )
