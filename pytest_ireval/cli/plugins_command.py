"""``ireval plugins``: who takes part."""

from __future__ import annotations

import click

from pytest_ireval.cli.table import table
from pytest_ireval.plugins.manager import ENTRY_POINT_GROUP, load_registry


@click.command(name="plugins")
def command() -> None:
    """List the plugins that are installed, with version and what they bring.

    A conftest.py serves the suites of its folder and is not listed: no suite is looked at here.
    """
    registry = load_registry()
    rows = [
        [
            plugin.name,
            str(plugin),
            ", ".join(metric.name for metric in registry.metrics.values() if metric.origin == str(plugin)),
        ]
        for plugin in registry.plugins
    ]
    click.echo(table(["plugin", "from", "metrics"], rows))
    click.echo(f"\nFound through the entry-point group {ENTRY_POINT_GROUP}.")
