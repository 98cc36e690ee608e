"""``ireval evaluate``: score a rankings file."""

from __future__ import annotations

from typing import Any, get_args

import click

from pytest_ireval.cli.evaluation_text import FORMATS
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.evaluation import MissingQueries, NoRelevant, Ties, Unjudged, evaluate
from pytest_ireval.retrieval.formats.trec_judgments import Grades

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
@click.option(
    "--missing",
    default="zero",
    type=click.Choice(get_args(MissingQueries)),
    help="A judged query that the rankings lack scores 0 and is listed, is an error, or is left out.",
)
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="How to print it.")
@click.option(
    "--ties",
    default="trec",
    type=click.Choice(get_args(Ties)),
    help="The order of equal scores: by document id descending, as in the file, worst, best, or an error.",
)
@click.option(
    "--no-relevant",
    default="zero",
    type=click.Choice(get_args(NoRelevant)),
    help="What becomes of a query without relevant documents.",
)
@click.option(
    "--unjudged",
    default="irrelevant",
    type=click.Choice(get_args(Unjudged)),
    help="Unjudged documents are not relevant, or are removed first (condensed lists).",
)
@click.option("--depth", type=click.IntRange(1), help="Only the first so many documents of each ranking count.")
@click.option("--scale", type=float, help="The top grade; unless given, the highest of the judgments.")
@click.option(
    "--collection",
    type=click.IntRange(1),
    metavar="N",
    help="How many documents there are to find; FallOut and some others need it.",
)
@click.option("--grades", default="integer", type=click.Choice(get_args(Grades)), help="What grades are.")
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
