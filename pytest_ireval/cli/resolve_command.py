"""``ireval resolve``: settles merge conflicts in baselines."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from pytest_ireval.baselines.anchors import is_anchor, suite_of
from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.merging import Conflict, Settled, Side, Sides, conflicts_at, only, settle, sides_at
from pytest_ireval.baselines.writing import finish_interrupted
from pytest_ireval.cli.baseline_folders import baseline_folders, interrupted_in
from pytest_ireval.cli.baseline_text import accepted_text
from pytest_ireval.cli.suite_names import baselines_of_suites, suite_of_baseline
from pytest_ireval.errors import BaselineError, Problem
from pytest_ireval.plurals import counted
from pytest_ireval.text_table import printable


@click.command(name="resolve", context_settings={"show_default": True})
@click.argument("files", nargs=-1)
@click.option(
    "--take",
    default="ours",
    type=click.Choice(["ours", "theirs"]),
    help="Which side to keep; ours is HEAD, in a merge as in a rebase.",
)
def command(files: tuple[str, ...], take: Side) -> None:
    """Settle merge conflicts in baselines: those that FILES belong to, or all of this repository.

    All files of a baseline are taken from one side, because a mixture of two was never measured: from HEAD, which is
    the branch that is merged into, or that commits are rebased onto. The result is staged. The acceptances of the other
    side are listed, with the commands that repeat them. An update that was interrupted is finished, too.
    """
    finished = 0
    for line in _finished():
        click.echo(printable(line))
        finished += 1
    conflicts = conflicts_at(Path())
    if files:
        named = only(conflicts, [Path(file) for file in files], _same)
        _refuse_others(files, named)
        conflicts = named
    sides = sides_at(Path())
    for conflict in conflicts:
        for line in _said(conflict, settle(conflict, sides, take), sides, take):
            click.echo(printable(line))
    if not conflicts and not finished:
        click.echo("no baseline is in conflict")


def _finished() -> Iterator[str]:
    for folder in baseline_folders((".",)):
        for name in interrupted_in(folder):
            if finish_interrupted(folder, name):
                yield f"{folder / name}.json: an update that was interrupted is in place now"


def _refuse_others(files: tuple[str, ...], named: list[Conflict]) -> None:
    for file in files:
        if not only(named, [Path(file)], _same):
            raise BaselineError(Problem("belongs to no baseline that is in conflict", place=file))


def _said(conflict: Conflict, settled: Settled, sides: Sides, take: Side) -> Iterator[str]:
    kept, other = (sides.ours, sides.theirs) if take == "ours" else (sides.theirs, sides.ours)
    yield f"{_near(conflict.record)}: kept the side of {kept}"
    if settled.kept is None:
        yield "  which has no such baseline: its files are gone"
    else:
        yield f"  accepted {accepted_text(settled.kept)}{_reason(settled.kept)}"
    if not settled.lost:
        yield f"  {other} has no acceptance that is not part of it"
        return
    lost = settled.lost[-1:] if is_anchor(conflict.name) else settled.lost  # the others are those of the baseline
    yield f"  not part of it: {counted(len(lost), 'acceptance')} of {other}; look at the figures, and repeat:"
    for acceptance in lost:
        yield f"    accepted {accepted_text(acceptance)}{_reason(acceptance)}"
        yield f"    {_command(conflict, acceptance)}"


def _reason(acceptance: Acceptance) -> str:
    return f": {acceptance.reason}" if acceptance.reason else ""


def _command(conflict: Conflict, acceptance: Acceptance) -> str:
    suite = suite_of_baseline(conflict.folder, conflict.name)
    if is_anchor(conflict.name):
        words = ["ireval", "anchor", _near(suite or conflict.folder.parent)]
        words += ["--named", suite_of(conflict.name)] if suite is None or len(baselines_of_suites(suite)) > 1 else []
        return shlex.join([*words, "--reason", acceptance.reason])
    words = ["pytest", "--ireval", _near(suite or conflict.folder.parent), "--ireval-update"]
    words += ["--ireval-force"] if acceptance.forced else []
    return shlex.join(words + (["--ireval-reason", acceptance.reason] if acceptance.reason else []))


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _near(path: Path) -> str:
    """As people write it from here."""
    return os.path.relpath(path)
