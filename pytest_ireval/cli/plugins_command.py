"""``ireval plugins``: the installed plugins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from pytest_ireval.cli.options import registry_at, suites_option
from pytest_ireval.plugins.registry import ENTRY_POINT_GROUP, OF_SUITES, Registry
from pytest_ireval.retrieval.formats.reader import CONTENTS


@click.command(name="plugins")
@suites_option
def command(suites: Path | None) -> None:
    """List the installed plugins, with version and everything that they add.

    A conftest.py serves the suites of its folder; with --suites those of that folder are listed, too.
    """
    registry = registry_at(suites, kinds=True)
    for distribution in registry.distributions:
        plugins = ", ".join(dict.fromkeys(p.name for p in registry.plugins if str(p) == distribution))
        click.echo(f"{distribution} ({plugins})" if plugins != distribution else distribution)
        for title, names in _brought(registry, distribution):
            click.echo(f"  {title}: {', '.join(names)}")
    for origin in registry.without:
        click.echo(f"{origin}: left out by name")
    click.echo(f"\nFound through the entry-point groups {ENTRY_POINT_GROUP} and {OF_SUITES}.")


def _brought(registry: Registry, origin: str) -> Iterator[tuple[str, list[str]]]:
    metrics = [metric.name for metric in registry.metrics.values() if metric.origin == origin]
    resolved = [f"{each.prefix}:…" for each in registry.vocabulary.prefixes if each.origin == origin]
    formats = [
        (f"formats of {content}", [r.name for r in registry.readers if r.holds == content and r.origin == origin])
        for content in CONTENTS
    ]
    kinds = [
        (title, [kind.name for kind in brought.values() if kind.origin == origin])
        for title, brought in (
            ("sources", registry.sources),
            ("rules", registry.rules),
            ("sections of the report", registry.sections),
        )
    ]
    yield from ((title, names) for title, names in [("metrics", [*metrics, *resolved]), *formats, *kinds] if names)
