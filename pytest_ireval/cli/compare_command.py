"""``ireval compare``: one leaderboard over two or more rankings files, as text, Markdown, HTML, JSON or CSV."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields, replace
from itertools import zip_longest
from math import inf
from pathlib import Path
from typing import Any, get_args

import click

from pytest_ireval.cli.comparison_views import (
    BETTER,
    WORSE,
    View,
    assign_letters,
    collect_comparison_notes,
    format_comparison,
    format_ranking_name,
    format_title,
    make_extreme_rows,
    make_pair_rows,
    make_value_rows,
    mark_beaten,
    render_page,
)
from pytest_ireval.cli.contingency import CONTINGENCY_METRICS, count_contingency, make_contingency_rows
from pytest_ireval.cli.evaluate_command import format_figure
from pytest_ireval.cli.options import (
    METRICS,
    STANDARD_INPUT,
    ProgressBar,
    format_options,
    get_terminal_width,
    load_command_registry,
    metric_option,
    name_files,
    policy_options,
    suites_option,
    svg_option,
    timings_of_each_option,
)
from pytest_ireval.comparing import Test, compare
from pytest_ireval.data.formats.writers import replace_files
from pytest_ireval.data.side_data import SideData
from pytest_ireval.errors import IrevalError, Problem, did_you_mean
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.report.charts.comparison import CURVE_METRICS, make_comparison_chart
from pytest_ireval.results.comparison import Comparison, Pair
from pytest_ireval.results.policies import Policies
from pytest_ireval.statistics.mean_evidence import Alternative
from pytest_ireval.text_table import escape_unprintable


def _format_markdown(comparison: Comparison, view: View) -> str:
    """The same tables as for a terminal; the best figures are bold, marks are superscripts."""
    signs = assign_letters(comparison)
    header = ["", "ranking", *(format_title(metric) for metric in comparison.metrics)]
    rows = [
        [signs[name], _escape_cell(format_ranking_name(comparison, name)), *_format_figures(comparison, name)]
        for name in view.order
    ]
    tables = [
        (2, [list(map(_escape_cell, header)), *rows]),
        (3, _escape_cells(make_contingency_rows(view.contingency, signs))),
        (2, _escape_cells(make_pair_rows(comparison, every=view.every_pair))),
        (2, _escape_cells(make_extreme_rows(comparison))),
    ]
    if view.per_query:
        tables += [(1, _escape_cells(make_value_rows(comparison, metric, view.order))) for metric in comparison.metrics]
    notes = collect_comparison_notes(comparison, best="bold", every_pair=view.every_pair)
    listed = "\n".join(f"- {_escape_cell(note)}" for note in notes)
    return "\n\n".join([*(_format_markdown_table(rows, left) for left, rows in tables if rows[1:]), listed]) + "\n"


def _escape_cell(text: str) -> str:
    return escape_unprintable(text).translate(_MARKDOWN)


def _escape_cells(rows: Iterable[list[str]]) -> list[list[str]]:
    return [list(map(_escape_cell, row)) for row in rows]


def _format_figures(comparison: Comparison, name: str) -> Iterator[str]:
    for metric in comparison.metrics:
        value, mark = format_figure(metric.values[name], metric.aggregate), mark_beaten(comparison, metric)[name]
        yield (f"**{value}**" if name in metric.best else value) + (f"<sup>{mark}</sup>" if mark else "")


def _format_markdown_table(rows: list[list[str]], left: int) -> str:
    """The rows, the header first; the ``left`` first columns are aligned to the left."""
    rule = ["---" if i < left else "---:" for i in range(len(rows[0]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], rule, *rows[1:]))


def _format_json(comparison: Comparison, view: View) -> str:
    content = comparison.to_dict(per_query=view.per_query)
    if view.contingency:
        content["contingency"] = {name: asdict(table) for name, table in view.contingency.items()}
    return json.dumps(content) + "\n"


PAIR_COLUMNS = tuple(field.name for field in fields(Pair) if field.name not in ("ranking", "other", "gains", "drops"))
"""Columns of CSV for a pair, after its names."""


def _format_csv(comparison: Comparison, view: View) -> str:
    """One row a figure, one a pair, and one a query if wanted; cells that do not apply are empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _CSV_COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(_make_csv_rows(comparison, view))
    return text.getvalue()


_CSV_COLUMNS = ["metric", "ranking", "other", "query", "value", "paired", *PAIR_COLUMNS]


def _make_csv_rows(comparison: Comparison, view: View) -> Iterator[dict[str, Any]]:
    for metric in comparison.metrics:
        for name in view.order:
            if view.per_query:
                for unit, value in comparison.rankings[name][metric.name].values.items():
                    yield {"metric": metric.name, "ranking": name, "query": unit, "value": value}
            yield {"metric": metric.name, "ranking": name, "value": metric.values[name]}
        for pair in metric.pairs:
            figures = {column: getattr(pair, column) for column in PAIR_COLUMNS}
            names = {"metric": metric.name, "ranking": pair.ranking, "other": pair.other}
            yield {**names, "paired": metric.units, **figures}
    for name, table in view.contingency.items():
        for count, value in asdict(table).items():
            yield {"metric": count, "ranking": name, "value": value}


def _format_html(comparison: Comparison, view: View) -> str:
    return render_page(comparison, view)


_FORMATS: dict[str, Callable[[Comparison, View], str]] = {
    "table": format_comparison,
    "markdown": _format_markdown,
    "json": _format_json,
    "csv": _format_csv,
    "html": _format_html,
}


_MARKDOWN = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#~&$"})


@click.command(name="compare", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1, required=True, metavar="RANKINGS RANKINGS...")
@metric_option
@click.option(
    "--baseline", metavar="NAME", help="Compare only with this ranking (first: the first one), not all pairs."
)
@click.option("--test", default="t", type=click.Choice(get_args(Test)), help="Paired t, or the sign-flip test.")
@click.option(
    "--alternative",
    default="two-sided",
    type=click.Choice(get_args(Alternative)),
    help="Test both directions, or only whether the values of the first in a pair are greater, or less.",
)
@click.option(
    "--alpha", default=0.05, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Level of significance."
)
@click.option(
    "--sort", metavar="NAME", help="Sort by this metric, best first; the default is the order of the arguments."
)
@click.option("--pairs", is_flag=True, help="Show every pair, not only the best two of each metric.")
@click.option("--extremes", default=3, type=click.IntRange(0), help="Number of the greatest gains and drops to list.")
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@click.option("--format", "form", default="table", type=click.Choice(list(_FORMATS)), help="The output format.")
@click.option(
    "--contingency",
    is_flag=True,
    help="Count the documents that are relevant or not, and retrieved or not; --collection gives the last of the four.",
)
@svg_option("Draw two RANKINGS: recall-precision curves, and the change of each query.")
@format_options("judgments", "rankings")
@timings_of_each_option
@suites_option
@policy_options
def command(
    judgments: str,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    form: str,
    svg: str | None,
    contingency: bool,
    per_query: bool,
    pairs: bool,
    sort: str | None,
    baseline: str | None,
    test: Test,
    alternative: Alternative,
    alpha: float,
    extremes: int,
    judgments_format: str | None,
    rankings_format: str | None,
    timings_of_each: tuple[str, ...],
    suites: Path | None,
    policies: Policies,
    side_data: SideData,
) -> None:
    """Compare two or more RANKINGS under JUDGMENTS, in any format that is installed.

    A ranking has the name of its file, or that of NAME=path. One of the files may be - for standard input.
    """
    files = name_files(rankings)
    if len(files) < 2:
        raise click.UsageError("give at least two RANKINGS")
    if judgments == STANDARD_INPUT and STANDARD_INPUT in files.values():
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    if timings_of_each and len(timings_of_each) != len(files):
        times = len(timings_of_each)
        raise click.UsageError(f"--timings is given {times} times for {len(files)} RANKINGS: give one for each")
    if svg is not None and len(files) != 2:
        raise click.UsageError("--svg draws two RANKINGS")
    requested_metrics = metrics or METRICS
    registry = load_command_registry(suites)
    in_dialect = registry.in_dialect(policies.dialect)
    shown_metrics = list(map(str, in_dialect.parse_metrics(requested_metrics)))
    sort_metric = _find_sort_metric(sort, shown_metrics, in_dialect)
    needed_names = [*(CURVE_METRICS if svg is not None else ()), *(CONTINGENCY_METRICS if contingency else ())]
    needed_metrics = [metric for name in needed_names for metric in registry.parse_metrics([name])]
    hidden_metrics = [metric for metric in needed_metrics if str(metric) not in shown_metrics]
    with ProgressBar() as progress:
        comparison = compare(
            judgments,
            files,
            [*requested_metrics, *hidden_metrics],
            baseline=baseline,
            test=test,
            alternative=alternative,
            alpha=alpha,
            extremes=extremes,
            judgments_format=judgments_format,
            rankings_format=rankings_format,
            policies=policies,
            side_data={
                name: replace(side_data, timings=timings) for name, timings in zip_longest(files, timings_of_each)
            },
            registry=registry,
            progress=progress,
        )
    if svg is not None:
        from pytest_ireval.report.charts.drawing import draw_file  # imports Jinja, which most runs do not need

        replace_files({svg: [draw_file(make_comparison_chart(comparison, shown_metrics))]})
    order = _order_rankings(comparison, sort_metric)
    counts = {name: count_contingency(comparison.rankings[name]) for name in order if contingency}
    comparison = _keep_metrics(comparison, shown_metrics)
    view = View(order, get_terminal_width(), per_query=per_query, every_pair=pairs, contingency=counts)
    click.echo(_replace_triangles(_FORMATS[form](comparison, view)), nl=False)
    if svg is not None:
        click.echo(f"wrote {svg}", err=True)


def _keep_metrics(comparison: Comparison, names: Sequence[str]) -> Comparison:
    """Without the metrics that only the picture or the counts need."""
    rankings = {
        name: replace(evaluation, metrics=tuple(metric for metric in evaluation.metrics if metric.name in names))
        for name, evaluation in comparison.rankings.items()
    }
    kept = tuple(metric for metric in comparison.metrics if metric.name in names)
    return replace(comparison, rankings=rankings, metrics=kept)


def _find_sort_metric(sort: str | None, shown_metrics: Sequence[str], registry: Registry) -> str | None:
    """The canonical name of the metric to sort by, if there is to be one."""
    if sort is None:
        return None
    names = list(map(str, registry.parse_metrics([sort])))
    if len(names) != 1 or names[0] not in shown_metrics:
        allowed = f"compared: {', '.join(shown_metrics)}"
        complaint = f"{sort!r} is not one of the compared metrics"
        raise IrevalError(Problem(complaint, "--sort", suggestion=did_you_mean(sort, shown_metrics), allowed=allowed))
    return names[0]


def _order_rankings(comparison: Comparison, sort_metric: str | None) -> list[str]:
    """The rankings, best first by one metric (those without a figure last), or as they were given."""
    names = list(comparison.rankings)
    if sort_metric is None:
        return names
    values = comparison[sort_metric].values
    sign = 1 if comparison[sort_metric].direction == "lower" else -1
    return sorted(names, key=lambda name: inf if (value := values[name]) is None else sign * value)


def _replace_triangles(text: str) -> str:
    """The text with plain marks where standard output knows no triangles."""
    try:
        (BETTER + WORSE).encode(_find_encoding())
    except UnicodeEncodeError:
        return text.replace(BETTER, "^").replace(WORSE, "v")
    return text


def _find_encoding() -> str:
    return sys.stdout.encoding or "ascii"
