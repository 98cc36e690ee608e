"""``ireval evaluate``: score a rankings file, as a table for people, as JSON or CSV, or as trec_eval prints it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.cli.options import (
    METRICS,
    ProgressBar,
    format_options,
    load_command_registry,
    metric_option,
    policy_options,
    suites_option,
    timings_option,
)
from pytest_ireval.data.side_data import SideData
from pytest_ireval.errors import IrevalError, Problem, describe_exception
from pytest_ireval.evaluating.evaluation import evaluate
from pytest_ireval.masking import public_address
from pytest_ireval.results.evaluation import UNITS, Evaluation, MetricResult, describe_contradicted, describe_ties
from pytest_ireval.results.policies import Policies
from pytest_ireval.text_table import escape_unprintable, format_table
from pytest_ireval.words import format_count

if TYPE_CHECKING:
    from concurrent.futures import Executor

PATIENCE = 10
"""Seconds to wait for the scheduler of a cluster."""
LISTED = 5
"""Query ids that are listed in a note of the table."""


def _format_table(evaluation: Evaluation, per_query: bool) -> str:
    parts = [_format_figures(evaluation)]
    if per_query:
        parts += [_format_unit_table(evaluation, unit) for unit in UNITS if _select_metrics(evaluation, unit)]
    parts.append("\n".join(map(escape_unprintable, collect_notes(evaluation))))
    return "\n\n".join(parts) + "\n"


def _format_figures(evaluation: Evaluation) -> str:
    return format_table(*tabulate_figures(evaluation))


def tabulate_figures(evaluation: Evaluation) -> tuple[list[str], list[list[str]], list[int]]:
    """The header, a row for each metric, and the columns with numbers."""
    rows = []
    for metric in evaluation.metrics:
        name = metric.name if metric.aggregate == "mean" else f"{metric.name} ({metric.aggregate})"
        rows.append([name, format_figure(metric.value, metric.aggregate), str(len(metric.values))])
    return ["metric", "value", "queries"], rows, [1, 2]


def format_figure(value: float | None, aggregate: str = "mean") -> str:
    """Four decimals; sums that are whole numbers without."""
    if value is None:
        return "-"
    return f"{value:.0f}" if aggregate == "sum" and value.is_integer() else f"{value:.4f}"


def collect_notes(evaluation: Evaluation) -> Iterator[str]:
    """The inputs of the figures, and facts that might mislead a reader."""
    judged = format_count(evaluation.queries, "query")
    yield f"judgments: {evaluation.judgments} ({judged}); rankings: {evaluation.rankings}"
    yield describe_policies(evaluation)
    yield from describe_queries(evaluation)
    yield from describe_relevance(evaluation)
    yield from (note for metric in evaluation.metrics for note in metric.notes)
    yield from filter(None, (describe_ties(evaluation.tied, evaluation.policies), describe_contradicted(evaluation)))


def describe_policies(evaluation: Evaluation) -> str:
    """The policies of the evaluation: its choices where the data leave one."""
    policies = evaluation.policies
    scale = f" on a scale to {policies.scale:g}" if policies.scale else ""
    return (
        f"ties: {policies.ties}; missing queries: {policies.missing_queries}; no relevant documents: "
        f"{policies.no_relevant}; unjudged: {policies.unjudged}; depth: {policies.depth or 'all'}; "
        f"highest grade: {evaluation.highest_grade:g}{scale}; grades: {policies.grades}"
        + (f"; collection: {evaluation.collection:,} documents" if evaluation.collection else "")
        + (f"; dialect: {policies.dialect}" if policies.dialect else "")
    )


def describe_queries(evaluation: Evaluation) -> Iterator[str]:
    """Queries that one of the two files lacks."""
    if evaluation.missing:
        fate = "left out" if evaluation.policies.missing_queries == "ignore" else "scored as empty rankings"
        worst = _describe_worst_scores(evaluation) if fate != "left out" else ""
        yield f"missing: {_format_queries(evaluation.missing)} without a ranking; {fate}{worst}"
    if evaluation.empty:
        yield f"empty: {_format_queries(evaluation.empty)} with an empty ranking"
    if evaluation.without_judgments:
        yield f"not judged: {_format_queries(evaluation.without_judgments)} ranked but without judgments; not counted"


def _describe_worst_scores(evaluation: Evaluation) -> str:
    """Metrics that score a missing ranking worse than an empty one, with that score."""
    by_value: dict[float, list[str]] = {}
    for metric in evaluation.metrics:
        scored = next((metric.values[query] for query in evaluation.missing if query in metric.values), 0.0)
        if metric.unit == "query" and metric.direction != "neither" and (scored or metric.direction == "lower"):
            by_value.setdefault(scored, []).append(metric.name)
    return "".join(
        f", but {', '.join(names)}: {format_figure(value)}, the worst value" for value, names in by_value.items()
    )


def describe_relevance(evaluation: Evaluation) -> Iterator[str]:
    """The number of queries without relevant documents, for each definition of relevant that a metric has."""
    by_count: dict[int, list[str]] = {}
    for metric in evaluation.metrics:
        by_count.setdefault(metric.no_relevant, []).append(metric.name)
    for count, names in sorted(by_count.items()):
        if count:
            yield f"no relevant documents: {format_count(count, 'query')} (for {', '.join(names)})"


def _format_queries(queries: tuple[str, ...]) -> str:
    more = f" and {len(queries) - LISTED} more" if len(queries) > LISTED else ""
    return f"{format_count(len(queries), 'query')} ({', '.join(queries[:LISTED])}{more})"


def _select_metrics(evaluation: Evaluation, unit: str) -> list[MetricResult]:
    return [metric for metric in evaluation.metrics if metric.unit == unit]


def _format_unit_table(evaluation: Evaluation, unit: str) -> str:
    metrics = _select_metrics(evaluation, unit)
    names = dict.fromkeys(name for metric in metrics for name in metric.values)
    rows = [[name, *(format_figure(metric.values.get(name)) for metric in metrics)] for name in names]
    return format_table([unit, *(metric.name for metric in metrics)], rows, right=range(1, len(metrics) + 1))


def _format_json(evaluation: Evaluation, per_query: bool) -> str:
    return json.dumps(evaluation.to_dict(per_query=per_query)) + "\n"


def _format_csv(evaluation: Evaluation, per_query: bool) -> str:
    """``metric,query,value``; the figure for all queries has an empty query."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["metric", "query", "value"])
    for metric in evaluation.metrics:
        if per_query:
            writer.writerows([metric.name, unit, value] for unit, value in metric.values.items())
        writer.writerow([metric.name, "", "" if metric.value is None else metric.value])
    return text.getvalue()


def _format_trec(evaluation: Evaluation, per_query: bool) -> str:
    """``metric<TAB>query<TAB>value`` with ten decimals, ``all`` last, as trec_eval prints it."""
    lines = []
    for metric in evaluation.metrics:
        if per_query:
            lines += [f"{metric.name}\t{unit}\t{value:.10f}\n" for unit, value in metric.values.items()]
        if metric.value is not None:
            lines.append(f"{metric.name}\tall\t{metric.value:.10f}\n")
    return "".join(lines)


def _format_html(evaluation: Evaluation, per_query: bool) -> str:
    from pytest_ireval.report.templates import get_environment  # imports Jinja

    tables = [
        {
            "unit": unit,
            "metrics": (metrics := _select_metrics(evaluation, unit)),
            "names": list(dict.fromkeys(name for metric in metrics for name in metric.values)),
        }
        for unit in UNITS
        if per_query and _select_metrics(evaluation, unit)
    ]
    page = get_environment().get_template("evaluation.html.jinja")
    return page.render(evaluation=evaluation, notes=list(collect_notes(evaluation)), tables=tables)


FORMATS: dict[str, Callable[[Evaluation, bool], str]] = {
    "table": _format_table,
    "json": _format_json,
    "csv": _format_csv,
    "trec": _format_trec,
    "html": _format_html,
}


@click.command(name="evaluate", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings")
@metric_option
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="The output format.")
@format_options("judgments", "rankings")
@click.option("--on", metavar="dask://HOST:PORT", help="Let the workers of that cluster of Dask read the files.")
@timings_option
@suites_option
@policy_options
def command(
    judgments: str,
    rankings: str,
    metrics: tuple[str, ...],
    form: str,
    per_query: bool,
    judgments_format: str | None,
    rankings_format: str | None,
    on: str | None,
    suites: Path | None,
    policies: Policies,
    side_data: SideData,
) -> None:
    """Score RANKINGS under JUDGMENTS.

    Both may be in any format that is installed (TREC, CSV, TSV, JSON, Parquet, …), compressed with gzip or Zstandard,
    come through a pipe, or be - for standard input. RANKINGS may be a folder, a pattern such as 'runs/*.parquet', or an
    address such as s3://bucket/runs/: then each query is in one of the files.
    """
    if judgments == rankings == "-":
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    if on is not None and rankings == "-":
        raise click.UsageError("the workers of a cluster cannot read standard input")
    with ProgressBar() as progress, _connect_executor(on) as executor:
        evaluation = evaluate(
            judgments,
            rankings,
            metrics or METRICS,
            policies=policies,
            side_data=side_data,
            judgments_format=judgments_format,
            rankings_format=rankings_format,
            registry=load_command_registry(suites),
            progress=progress,
            executor=executor,
        )
    click.echo(FORMATS[form](evaluation, per_query), nl=False)


@contextmanager
def _connect_executor(address: str | None) -> Iterator[Executor | None]:
    """The executor of a cluster of Dask; None without an address."""
    if address is None:
        yield None
        return
    if not re.fullmatch(r"dask://[^/@\s]+:\d+", address):
        complaint = f"{public_address(address)!r} is not a cluster"
        raise IrevalError(Problem(complaint, "--on", allowed="allowed: dask://HOST:PORT, a scheduler of Dask"))
    try:
        from dask import config
        from distributed import Client
    except ImportError:
        remedy = "pip install 'pytest-ireval[dask]'"
        raise IrevalError(Problem("Dask is not installed", "--on", suggestion=remedy)) from None
    try:
        client = Client(address.replace("dask", "tcp", 1), timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise IrevalError(Problem(f"no scheduler answers at {address}: {describe_exception(error)}", "--on")) from error
    with config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}), client:  # tasks carry the judgments
        yield client.get_executor(pure=False)  # a file may have changed since Dask read it for someone else
