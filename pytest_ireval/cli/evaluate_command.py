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
@click.option("--on", metavar="CLUSTER", help="Read the files on dask://host:port, or with dask on all cores.")
@timings_option(several=False)
@policy_options
def command(
    judgments: str,
    rankings: str,
    metrics: tuple[str, ...],
    missing: MissingQueries,
    form: str,
    per_query: bool,
    on: str | None,
    **policies: Any,
) -> None:
    """Score RANKINGS under JUDGMENTS.

    Both may be in any format that is installed (TREC, CSV, TSV, JSON, Parquet, …), compressed with gzip or Zstandard,
    come through a pipe, or be - for standard input. RANKINGS may be a folder, a pattern such as 'runs/*.parquet', or an
    address such as s3://bucket/runs/: then each query is in one of the files.
    """
    if judgments == rankings == "-":
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    with LateBar() as progress:
        policies |= {"missing_queries": missing, "progress": progress, "registry": registry_at(None)}
        metrics = metrics or METRICS
        given: tuple[Any, Any] = (
            (judgments, rankings) if on is None else _read_on(on, judgments, rankings, metrics, policies)
        )
        evaluation = evaluate(given[0], given[1], metrics, **policies)
    click.echo(FORMATS[form](evaluation, per_query), nl=False)


def _read_on(
    on: str, judgments: str, rankings: str, metrics: tuple[str, ...], policies: dict[str, Any]
) -> tuple[Any, Any]:
    """Judgments, and the parts of the rankings that the workers of a cluster have read."""
    from pytest_ireval.evaluating.parts import parts_on
    from pytest_ireval.evaluating.setting import refuse_parts
    from pytest_ireval.intake.reading import read_judgments
    from pytest_ireval.retrieval.parts import ranking_files

    if rankings == "-":
        raise click.UsageError("the workers of a cluster cannot read standard input")
    registry = policies["registry"].in_dialect(policies["dialect"])
    refuse_parts(registry.parse_metrics(metrics))
    shared = {"grades": policies["grades"], "registry": registry}
    read = read_judgments(judgments, format=policies.pop("judgments_format"), **shared)
    how = {name: policies[name] for name in ("ties", "grades")}
    how["rankings_format"] = policies.pop("rankings_format")
    return read, parts_on(on, ranking_files(rankings) or [rankings], read, progress=policies["progress"], **how)
