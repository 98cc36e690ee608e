"""``ireval metrics``: what can be measured, and how exactly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from pytest_ireval.cli.metric_text import explained, signature
from pytest_ireval.cli.names_elsewhere import ALSO, all_names, these_names
from pytest_ireval.cli.suites_option import registry_at, suites_option
from pytest_ireval.cli.terminal import terminal_width
from pytest_ireval.errors import MetricNameError, Problem
from pytest_ireval.metrics.elsewhere import PACKAGES
from pytest_ireval.metrics.metric import Metric
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
@suites_option
def command(names: tuple[str, ...], package: str | None, suites: Path | None) -> None:
    """List the metrics that are installed, or explain those with the given NAMES.

    With --suites also those that conftest.py files bring. With --for it lists the names of another package, ours, and
    whether the values are equal. NAMES are then names of that package, as ndcg_cut_10, or ours.
    """
    registry = registry_at(suites)
    package = ALSO.get(package, package) if package else None
    problems: list[Problem] = []
    if package and names:
        blocks, problems = these_names(package, names, registry.vocabulary)
    elif package:
        blocks = list(all_names(package, registry.metrics.values()))
    elif names:
        blocks, problems = _explained(names, registry)
        problems = problems if suites else [_or_of_a_conftest(problem) for problem in problems]
    else:
        blocks = [*_listed(registry), "ireval metrics NAME explains one."]
    if blocks:
        click.echo("\n\n".join(blocks))
    if problems:
        raise MetricNameError(*problems)


def _or_of_a_conftest(problem: Problem) -> Problem:
    """The same; it may be a metric that is not installed."""
    more = "metrics of conftest.py files are known with --suites DIR"
    return replace(problem, allowed="\n  ".join(filter(None, (problem.allowed, more))))


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
