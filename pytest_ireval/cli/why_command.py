"""``ireval why``: the arithmetic of one metric on one query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from pytest_ireval.cli.format_options import format_options
from pytest_ireval.cli.policy_options import view_options
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.cli.why_text import FORMATS
from pytest_ireval.errors import MetricNameError, Problem
from pytest_ireval.explaining.why import why


@click.command(name="why", context_settings={"show_default": True})
@click.argument("metric")
@click.argument("judgments", required=False)
@click.argument("rankings", required=False)
@click.argument("other", required=False)
@click.option(
    "-q", "--query", help="The query. Unless given, the one on which two RANKINGS differ most; of one, it is required."
)
@click.option(
    "--suite",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A suite instead of files: its baseline, and the rankings of the last run.",
)
@click.option("--ask", is_flag=True, help="With --suite: ask the source again, instead of reading the last run.")
@click.option(
    "--report",
    type=click.Path(file_okay=False, path_type=Path),
    help="With --suite: the folder with the report of the last run. Unless given: ireval-report.",
)
@click.option("--named", metavar="SUITE", help="Which suite of a file that has several.")
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
    judgments: str | None,
    rankings: str | None,
    other: str | None,
    query: str | None,
    suite: Path | None,
    ask: bool,
    report: Path | None,
    named: str | None,
    form: str,
    lines: int | None,
    **policies: Any,
) -> None:
    """Show how METRIC comes to its value on one query, line by line.

    With OTHER rankings, show what moved from RANKINGS to OTHER, what each document contributes in both, and the
    arithmetic of both. Files as in `ireval evaluate`; one of them may be - for standard input. With --suite, no files
    are named: judgments and policies are those of the suite, and rankings those of the last run.
    """
    if suite is not None:
        _refuse_files((judgments, rankings, other), policies)
        from pytest_ireval.cli.why_suite import why_in_suite

        with LateBar() as progress:
            explanation = why_in_suite(suite, named, metric, query, progress, ask=ask, report=report)
        click.echo(FORMATS[form](explanation, lines), nl=False)
        return
    if ask or report is not None:
        raise click.UsageError("--ask and --report belong to --suite")
    if judgments is None or rankings is None:
        raise click.UsageError("name the files: ireval why METRIC JUDGMENTS RANKINGS, or a suite: --suite FILE")
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


def _refuse_files(files: tuple[str | None, ...], policies: dict[str, Any]) -> None:
    """A suite says itself what is read, and how."""
    context = click.get_current_context()
    given = [name for name in policies if context.get_parameter_source(name) == ParameterSource.COMMANDLINE]
    if any(files) or given:
        raise click.UsageError("--suite brings its own files and policies: name neither beside it")


def _metric_comes_first(path: str) -> Problem:
    return Problem(
        "is a file, where a metric is expected", path, suggestion="write: ireval why METRIC JUDGMENTS RANKINGS"
    )
