"""``ireval diff``: two baselines side by side."""

from __future__ import annotations

import click

from pytest_ireval.cli.baseline_diff_text import diff_text
from pytest_ireval.cli.baseline_places import baseline_at, pair_of


@click.command(name="diff", context_settings={"show_default": True})
@click.argument("a")
@click.argument("b")
@click.option("--lines", default=10, type=click.IntRange(0), help="So many queries are listed.")
def command(a: str, b: str, lines: int) -> None:
    """Compare baseline A with baseline B: figures, what else is different, and the queries that differ most.

    A and B are .json files of baselines, suite files, or REF:path for a baseline as it was at a git ref; one of them
    may be a REF alone, which stands for the path of the other.
    """
    first, second = pair_of(a, b)
    click.echo(diff_text(baseline_at(first), baseline_at(second), (str(first), str(second)), lines), nl=False)
