"""``ireval schema``: what editors need to know of suites."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(name="schema")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write it to FILE instead of standard output: .ireval/suite.schema.json, for example.",
)
@click.option(
    "--suites",
    default=".",
    type=click.Path(exists=True, path_type=Path),
    help="The folder of the suites: its conftest.py files may bring metrics, rules and sources.",
)
def command(output: str | None, suites: Path) -> None:
    """Print the JSON Schema of suites, with all metrics, rules and sources at hand.

    Editors complete and check suites by it; the first line of a suite names it:

    # yaml-language-server: $schema=../.ireval/suite.schema.json
    """
    from pytest_ireval.plugins.conftests import Conftests
    from pytest_ireval.suites.editor_schema import suite_schema

    text = json.dumps(suite_schema(Conftests().registry_for(suites.absolute())), indent=2, ensure_ascii=False) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    click.echo(f"wrote {output}")
