"""``ireval anchor``: what is accepted now becomes the release that rules with ``against: anchor`` compare with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pytest_ireval.baselines.anchors import anchor_name, write_anchor
from pytest_ireval.baselines.baseline import Acceptance, Baseline
from pytest_ireval.baselines.files import RECORD, near, path_of
from pytest_ireval.baselines.reading import read_baseline
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.text_table import printable

if TYPE_CHECKING:
    from pytest_ireval.suites.suite import Suite


@click.command(name="anchor")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--reason", required=True, help="Which release this is: kept, and shown wherever something is compared.")
@click.option("--named", help="One suite of a matrix; unless given, all of the suites at PATHS.")
def command(paths: tuple[Path, ...], reason: str, named: str | None) -> None:
    """Pin the accepted baseline of each suite at PATHS, files or folders, as its anchor.

    Rules that say `against: anchor` compare with it. No acceptance moves it: this command alone does. If one of the
    suites has no baseline, none is pinned.
    """
    from pytest_ireval.cli.suites_named import suites_named
    from pytest_ireval.gate.circumstances import moment_of, written

    reason = reason.strip()
    if not reason:
        raise click.UsageError('--reason says nothing: name the release, as --reason "release 4.2"')
    pinned = _baselines(suites_named(paths, named))
    date = written(moment_of())
    for suite, baseline in pinned:
        write_anchor(suite.baselines, baseline, _anchoring(suite, date, reason))
        record = near(path_of(suite.baselines, anchor_name(suite.name), RECORD))
        click.echo(printable(f"{suite.name}: pinned what was accepted {baseline.accepted.date}: {record}"))


def _baselines(suites: list[Suite]) -> list[tuple[Suite, Baseline]]:
    """That of each suite; an error that names all which have none, or one that cannot be read."""
    found: list[tuple[Suite, Baseline]] = []
    problems: list[Problem] = []
    for suite in suites:
        try:
            baseline = read_baseline(suite.baselines, suite.name)
        except IrevalError as error:
            problems += error.problems
            continue
        if baseline is None:
            remedy = f"accept one first: pytest --ireval {suite.shown} --ireval-update-new"
            problems.append(Problem(f"{suite.name} has no baseline, so nothing to pin", suite.shown, (), remedy))
        else:
            found.append((suite, baseline))
    if problems:
        raise BaselineError(*problems)
    return found


def _anchoring(suite: Suite, date: str, reason: str) -> Acceptance:
    from pytest_ireval.gate.named_files import files_of
    from pytest_ireval.repositories.git import commit_state

    commit, branch, dirty = commit_state(suite.path.parent, files_of(suite))
    return Acceptance(date, commit, branch, dirty, reason)
