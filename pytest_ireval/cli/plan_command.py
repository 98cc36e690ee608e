"""``ireval plan``: what the queries of suites can show, and how many it would take, before any run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pytest_ireval.suites.quantities import Tolerance


def _drop(_context: click.Context, _option: click.Parameter, text: str | None) -> Tolerance | None:
    """A share of the baseline, or an amount."""
    from pytest_ireval.suites.quantities import tolerance
    from pytest_ireval.suites.scalars import UnfitError

    if text is None:
        return None
    try:
        drop = tolerance(text if text.strip().endswith("%") else {"absolute": text})
    except UnfitError:
        drop = None
    if drop is None or not (drop.relative or drop.absolute):
        raise click.BadParameter(f"{text!r} is no drop: write 1% (of the baseline) or 0.01 (an amount)")
    return drop


@click.command(name="plan")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--drop", callback=_drop, help="Ask about this drop, 1% or 0.01, instead of the tolerances of the rules.")
@click.option("--queries", type=click.IntRange(2), help="What if a suite had so many, its slices in proportion.")
@click.option("--named", help="One suite of a matrix; unless given, all of the suites at PATHS.")
@click.option("--format", "form", default="table", type=click.Choice(["table", "json"]), help="How it is printed.")
def command(paths: tuple[Path, ...], drop: Tolerance | None, queries: int | None, named: str | None, form: str) -> None:
    """Say what the suites at PATHS, files or folders, can show with their queries.

    For each mean that a rule compares with the baseline: the smallest drop that its queries show in 80% of cases, how
    many queries its tolerance takes, and how often a harmless change breaks it. No source is asked and nothing is
    evaluated: it rests on the figures of the accepted baseline and on how far queries moved with earlier acceptances.
    """
    from pytest_ireval.cli.plan_text import as_plain, plan_text
    from pytest_ireval.cli.suites_named import suites_named
    from pytest_ireval.gate.circumstances import today_of
    from pytest_ireval.gate.foreseeing import known_of
    from pytest_ireval.gate.outlook import outlooks
    from pytest_ireval.plugins.conftests import Conftests

    conftests, today = Conftests(), today_of()
    planned = []
    for suite in suites_named(paths, named, conftests):
        known = known_of(suite, conftests.registry_for(suite.path), today)
        planned.append((known, outlooks(known, drop, queries)))
    if form == "json":
        said = {"format": 1, "suites": [as_plain(known, found) for known, found in planned]}
        click.echo(json.dumps(said, indent=1, ensure_ascii=False))
        return
    click.echo("\n\n".join(plan_text(known, found, drop, queries) for known, found in planned))
