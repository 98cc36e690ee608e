"""``ireval plugins``: the installed plugins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

import pytest_ireval
from pytest_ireval.cli.options import load_command_registry, suites_option
from pytest_ireval.data.formats.reader import CONTENTS
from pytest_ireval.entry_points import COMMANDS_GROUP, ENTRY_POINT_GROUP, SUITES_GROUP
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.plugins.commands import PackageCommand, find_commands
from pytest_ireval.plugins.registry import Registry


@click.command(name="plugins")
@suites_option
@click.option("--new", metavar="NAME", help="Write a plugin into a new folder NAME: metrics, a rule, their tests.")
def command(suites: Path | None, new: str | None) -> None:
    """List the installed plugins, with version and everything that they add.

    A conftest.py serves the suites of its folder; with --suites those of that folder are listed, too. --new writes the
    files of a plugin to begin with, which pass its tests.
    """
    if new is not None:
        click.echo("\n".join(_write_plugin(new)))
        return
    registry = load_command_registry(suites, kinds=True)
    commands = find_commands().by_name
    for distribution in registry.distributions:
        plugins = ", ".join(dict.fromkeys(p.name for p in registry.plugins if str(p) == distribution))
        click.echo(f"{distribution} ({plugins})" if plugins != distribution else distribution)
        for title, names in _list_contributions(registry, distribution, commands):
            click.echo(f"  {title}: {', '.join(names)}")
    for origin in registry.without:
        click.echo(f"{origin}: left out by name")
    click.echo(f"\nFound through the entry-point groups {ENTRY_POINT_GROUP}, {SUITES_GROUP} and {COMMANDS_GROUP}.")


def _write_plugin(name: str) -> Iterator[str]:
    """Write the example of a plugin under another name, and say what to do next."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise click.UsageError(f"--new {name}: a name has lower-case letters, digits and hyphens, as search-metrics")
    package, folder = Path(pytest_ireval.__file__).parent, Path(name)
    source = package / "plugin_template"
    source = source if source.is_dir() else package.parent / "examples" / "third_party_metrics"  # in a checkout
    if folder.exists():
        raise IrevalError(Problem("already exists, and is not overwritten", name))
    module = name.replace("-", "_")
    words = {"acme-ireval-metrics": name, "acme_ireval_metrics": module, "the Acme search team": "our search team"}
    words |= {'acme = "': f'{module} = "', 'version = "2.1.0"': 'version = "0.1.0"'}
    words |= {"Acme's": "our", "acme_": f"{module}_", "acme-": f"{name}-"}  # what is left
    for path in sorted(source.rglob("*")):
        if path.is_dir() or "__pycache__" in path.parts:
            continue
        texts = [path.relative_to(source).as_posix(), path.read_text(encoding="utf-8")]
        for old, new in words.items():
            texts = [text.replace(old, new) for text in texts]
        made = folder / texts[0]
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(texts[1], encoding="utf-8")
        yield f"wrote {made.as_posix()}"
    yield f"\nnext:\n  pip install -e {name} && pytest {name}"


def _list_contributions(
    registry: Registry, origin: str, commands: Mapping[str, PackageCommand]
) -> Iterator[tuple[str, list[str]]]:
    metrics = registry.metrics.list_names(origin)
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
    names_of_commands = [name for name, command in commands.items() if command.source == origin]
    every = [("metrics", [*metrics, *resolved]), *formats, *kinds, ("commands", names_of_commands)]
    yield from ((title, names) for title, names in every if names)
