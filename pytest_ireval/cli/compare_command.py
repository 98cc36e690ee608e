"""``ireval compare``: one leaderboard over two or more rankings files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import inf
from typing import Any, get_args

import click

from pytest_ireval.cli.comparison_formats import FORMATS
from pytest_ireval.cli.comparison_marks import BETTER, WORSE
from pytest_ireval.cli.comparison_text import View
from pytest_ireval.cli.format_options import format_options
from pytest_ireval.cli.named_rankings import STANDARD_INPUT, named_rankings
from pytest_ireval.cli.policy_options import METRICS, metric_option, policy_options
from pytest_ireval.cli.progress_bar import LateBar
from pytest_ireval.cli.terminal import terminal_width
from pytest_ireval.comparing.comparison import Test, compare
from pytest_ireval.errors import IrevalError, Problem, did_you_mean
from pytest_ireval.evaluating.policies import MissingQueries
from pytest_ireval.plugins.manager import load_registry
from pytest_ireval.results.comparison import Comparison


@click.command(name="compare", context_settings={"show_default": True})
@click.argument("judgments")
@click.argument("rankings", nargs=-1, required=True, metavar="RANKINGS RANKINGS...")
@metric_option
@click.option("--baseline", metavar="NAME", help="Compare with this ranking only (first: the first), not every pair.")
@click.option("--test", default="t", type=click.Choice(get_args(Test)), help="Paired t, or the exact sign-flip test.")
@click.option(
    "--alpha", default=0.05, type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Level of significance."
)
@click.option("--sort", metavar="NAME", help="Best first by this metric; unless given, the order of the arguments.")
@click.option("--pairs", is_flag=True, help="Show every pair, not only the best two of each metric.")
@click.option("--extremes", default=3, type=click.IntRange(0), help="List so many of the greatest gains and drops.")
@click.option("--per-query", is_flag=True, help="Show the values of every query.")
@click.option("--format", "form", default="table", type=click.Choice(list(FORMATS)), help="How to print it.")
@format_options("judgments", "rankings")
@policy_options
def command(
    judgments: str,
    rankings: tuple[str, ...],
    metrics: tuple[str, ...],
    missing: MissingQueries,
    form: str,
    per_query: bool,
    pairs: bool,
    sort: str | None,
    **options: Any,
) -> None:
    """Compare two or more RANKINGS under JUDGMENTS, in any format that is installed.

    Each ranking is called as its file, or as you like with NAME=path. One of the files may be - for standard input.
    """
    named = named_rankings(rankings)
    if len(named) < 2:
        raise click.UsageError("two RANKINGS or more are compared")
    if judgments == STANDARD_INPUT and STANDARD_INPUT in named.values():
        raise click.UsageError("only one of JUDGMENTS and RANKINGS can be standard input")
    wanted = metrics or METRICS
    first = _sorted_by(sort, wanted)
    with LateBar() as progress:
        comparison = compare(judgments, named, wanted, missing_queries=missing, progress=progress, **options)
    view = View(_in_order(comparison, first), terminal_width(), per_query=per_query, every_pair=pairs)
    click.echo(_encodable(FORMATS[form](comparison, view)), nl=False)


def _sorted_by(sort: str | None, metrics: Sequence[str]) -> str | None:
    """The canonical name of the metric to sort by, if there is to be one."""
    if sort is None:
        return None
    registry = load_registry()
    compared = list(map(str, registry.parse_metrics(metrics)))
    (wanted, *more) = map(str, registry.parse_metrics([sort]))
    if more or wanted not in compared:
        allowed = f"compared: {', '.join(compared)}"
        complaint = f"{sort!r} is none of the metrics that are compared"
        raise IrevalError(Problem(complaint, "--sort", suggestion=did_you_mean(sort, compared), allowed=allowed))
    return wanted


def _in_order(comparison: Comparison, first: str | None) -> list[str]:
    """The rankings, best first by one metric (those without a figure last), or as they were given."""
    names = list(comparison.rankings)
    if first is None:
        return names
    values = comparison[first].values
    sign = 1 if comparison[first].direction == "lower" else -1
    return sorted(names, key=lambda name: inf if (value := values[name]) is None else sign * value)


def _encodable(text: str) -> str:
    """The text with plain marks where standard output knows no triangles."""
    try:
        (BETTER + WORSE).encode(_encoding())
    except UnicodeEncodeError:
        return text.replace(BETTER, "^").replace(WORSE, "v")
    return text


def _encoding() -> str:
    return sys.stdout.encoding or "ascii"
