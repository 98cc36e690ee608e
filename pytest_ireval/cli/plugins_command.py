"""``ireval plugins``: who takes part."""

from __future__ import annotations

from collections.abc import Iterator

import click

from pytest_ireval.plugins.manager import ENTRY_POINT_GROUP, load_registry
from pytest_ireval.plugins.registry import Registry
from pytest_ireval.retrieval.formats.reader import CONTENTS


@click.command(name="plugins")
def command() -> None:
    """List the plugins that are installed, with version and what they bring.

    A conftest.py serves the suites of its folder and is not listed: no suite is looked at here.
    """
    registry = load_registry()
    for distribution in registry.distributions:
        click.echo(f"{distribution} ({', '.join(p.name for p in registry.plugins if str(p) == distribution)})")
        for title, names in _brought(registry, distribution):
            click.echo(f"  {title}: {', '.join(names)}")
    click.echo(f"\nFound through the entry-point group {ENTRY_POINT_GROUP}.")


def _brought(registry: Registry, origin: str) -> Iterator[tuple[str, list[str]]]:
    """What a distribution adds, by kind; nothing for a kind it does not add."""
    metrics = [metric.name for metric in registry.metrics.values() if metric.origin == origin]
    formats = [
        (f"formats of {content}", [r.name for r in registry.readers if r.holds == content and r.origin == origin])
        for content in CONTENTS
    ]
    kinds = [
        (title, [kind.name for kind in brought.values() if kind.origin == origin])
        for title, brought in (("sources", registry.sources), ("rules", registry.rules))
    ]
    yield from ((title, names) for title, names in [("metrics", metrics), *formats, *kinds] if names)
