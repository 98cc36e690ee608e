"""``ireval metrics``: what can be measured, and how exactly."""

from __future__ import annotations

import click

from pytest_ireval.cli.metric_text import explained, signature
from pytest_ireval.cli.names_elsewhere import ALSO, all_names, these_names
from pytest_ireval.cli.terminal import terminal_width
from pytest_ireval.errors import MetricNameError, Problem
from pytest_ireval.metrics.elsewhere import PACKAGES
from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.manager import load_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.text_table import table


@click.command(name="metrics")
@click.argument("names", nargs=-1)
@click.option(
    "--for",
    "package",
    type=click.Choice([*PACKAGES, *ALSO], case_sensitive=False),
    metavar="PACKAGE",
    help=f"What another package calls them: {', '.join(PACKAGES)}.",
)
def command(names: tuple[str, ...], package: str | None) -> None:
    """List the metrics that are installed, or explain those with the given NAMES.

    With --for it lists the names of another package, ours, and whether the values are equal. NAMES are then names of
    that package, as ndcg_cut_10, or ours.
    """
    registry = load_registry()
    package = ALSO.get(package, package) if package else None
    problems: list[Problem] = []
    if package and names:
        blocks, problems = these_names(package, names, registry.vocabulary)
    elif package:
        blocks = list(all_names(package, registry.metrics.values()))
    elif names:
        blocks, problems = _explained(names, registry)
    else:
        blocks = [*_listed(registry), "ireval metrics NAME explains one."]
    if blocks:
        click.echo("\n\n".join(blocks))
    if problems:
        raise MetricNameError(*problems)


def _listed(registry: Registry) -> list[str]:
    """A table for each plugin that brings metrics or could."""
    tables = []
    for plugin in registry.plugins:
        found = sorted((m for m in registry.metrics.values() if m.origin == str(plugin)), key=_by_name)
        tables.append(table([str(plugin), ""], [[signature(metric), metric.summary] for metric in found]))
    return tables


def _by_name(metric: Metric) -> str:
    return metric.name.lower()


def _explained(names: tuple[str, ...], registry: Registry) -> tuple[list[str], list[Problem]]:
    """Blocks of text about the metrics that are known, and what is wrong with the other names."""
    blocks: list[str] = []
    problems: list[Problem] = []
    width = terminal_width()
    for name in names:
        try:
            blocks.append("\n".join(explained(registry.vocabulary.family(name), width)))
        except MetricNameError as error:
            problems += error.problems
    return blocks, problems
