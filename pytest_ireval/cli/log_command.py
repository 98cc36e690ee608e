"""``ireval log``: who accepted a baseline when, and why."""

from __future__ import annotations

from collections.abc import Iterator

import click

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.past import Figures, figures_of_acceptances
from pytest_ireval.baselines.reading import read_record
from pytest_ireval.cli.baseline_places import missing, place_of
from pytest_ireval.cli.baseline_text import accepted_text, by_name, figure
from pytest_ireval.errors import BaselineError
from pytest_ireval.plurals import counted
from pytest_ireval.text_table import printable

COMMITS = 200
"""So far back figures are looked for."""


@click.command(name="log", context_settings={"show_default": True})
@click.argument("baseline")
@click.option("-n", "--last", default=20, type=click.IntRange(1), help="So many acceptances are listed.")
def command(baseline: str, last: int) -> None:
    """List the acceptances of BASELINE, the newest first: when, at which commit, why, and with which figures.

    BASELINE is the .json file of a baseline, a suite file, or REF:path. The figures of earlier acceptances come from
    git, as far as its history is here.
    """
    place = place_of(baseline)
    record = read_record(place.folder, place.name, place.ref)
    if record is None:
        raise BaselineError(missing(place))
    figures = figures_of_acceptances(place.folder, place.name, record, COMMITS)
    shown = record.baseline.acceptances[::-1][:last]
    left = len(record.baseline.acceptances) - len(shown)
    entries = [_entry(acceptance, figures.get(acceptance)) for acceptance in shown]
    more = [f"{counted(left, 'earlier acceptance')}; --last shows more"] if left else []
    click.echo("\n\n".join([*("\n".join(map(printable, entry)) for entry in entries), *more]))


def _entry(acceptance: Acceptance, figures: Figures | None) -> Iterator[str]:
    yield accepted_text(acceptance)
    yield f"  {acceptance.reason or '(no reason given)'}"
    if figures is None:
        yield "  figures are not in the git history that is here"
    elif figures:
        yield "  " + ", ".join(f"{name} {figure(value)}" for name, value in sorted(figures.items(), key=by_name))
