"""``ireval evaluate``: score a rankings file."""

from __future__ import annotations

from typing import Any

import click

from pytest_ireval.cli.evaluation_text import FORMATS
from pytest_ireval.cli.options import (
    METRICS,
    LateBar,
    format_options,
    metric_option,
    policy_options,
    registry_at,
    timings_option,
)
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.results.evaluation import MissingQueries


@click.command(name="evaluate", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings")
@metric_option
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="The output format.")
@format_options("judgments", "rankings")
@timings_option(several=False)
@policy_options
def command(
    judgments: str,
    rankings: str,
    metrics: tuple[str, ...],
    missing: MissingQueries,
    form: str,
    per_query: bool,
    **policies: Any,
) -> None:
    """Score RANKINGS under JUDGMENTS.

    Both may be in any format that is installed (TREC, CSV, TSV, JSON, Parquet, …), compressed with gzip or Zstandard,
    come through a pipe, or be - for standard input.
    """
    if judgments == rankings == "-":
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    with LateBar() as progress:
        policies |= {"missing_queries": missing, "progress": progress, "registry": registry_at(None)}
        evaluation = evaluate(judgments, rankings, metrics or METRICS, **policies)
    click.echo(FORMATS[form](evaluation, per_query), nl=False)
