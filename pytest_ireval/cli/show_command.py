"""``ireval show``: what a baseline says."""

from __future__ import annotations

import click

from pytest_ireval.baselines.anchors import anchor_name, anchor_words
from pytest_ireval.baselines.reading import read_record
from pytest_ireval.cli.baseline_places import baseline_at, place_of
from pytest_ireval.cli.baseline_text import baseline_text, query_text
from pytest_ireval.text_table import printable


@click.command(name="show")
@click.argument("baseline")
@click.option("-q", "--query", help="Show the ranking of this query, with the grades it was accepted under.")
def command(baseline: str, query: str | None) -> None:
    """Show what BASELINE says: figures, who accepted it when and why, and what it rests on.

    BASELINE is the .json file of a baseline, a suite file, or REF:path for the baseline as it was at a git ref.
    """
    place = place_of(baseline)
    found = baseline_at(place)
    click.echo(baseline_text(found, str(place)) if query is None else query_text(found, query, str(place)), nl=False)
    anchor = place._replace(name=anchor_name(place.name))
    if query is None and (record := read_record(anchor.folder, anchor.name, anchor.ref)) is not None:
        click.echo(printable(f"beside it: {anchor_words(record.baseline.accepted)}, {anchor}"))
