"""``ireval evaluate``: score a rankings file."""

from __future__ import annotations

from typing import Any

import click

from pytest_ireval.cli.evaluation_text import FORMATS
from pytest_ireval.cli.policy_options import missing_queries, no_relevant, ties, views
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.evaluation import MissingQueries, evaluate

METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""What is shown when no metric is asked for."""


@click.command(name="evaluate", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help=f"A metric, as nDCG@10, AP or map; repeat it for more. Unless given: {', '.join(METRICS)}.",
)
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@missing_queries
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="How to print it.")
@ties
@no_relevant
@views
def command(
    judgments: str,
    rankings: str,
    metrics: tuple[str, ...],
    missing: MissingQueries,
    form: str,
    per_query: bool,
    **policies: Any,
) -> None:
    """Score RANKINGS (TREC run format) under JUDGMENTS (TREC qrels format).

    Both may be compressed with gzip or Zstandard, come through a pipe, or be - for standard input.
    """
    if judgments == rankings == "-":
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    with LateBar() as progress:
        evaluation = evaluate(
            judgments, rankings, metrics or METRICS, missing_queries=missing, progress=progress, **policies
        )
    click.echo(FORMATS[form](evaluation, per_query), nl=False)
