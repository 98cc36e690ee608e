"""``ireval prune``: baselines whose suite is gone."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_ireval.baselines.anchors import suite_of
from pytest_ireval.baselines.files import RECORD, baseline_files, names_in, path_of
from pytest_ireval.baselines.record import is_record
from pytest_ireval.baselines.writing import delete_baseline
from pytest_ireval.cli.baseline_folders import baseline_folders
from pytest_ireval.cli.suite_names import baselines_of_suites, suite_files
from pytest_ireval.errors import BaselineError, IrevalError, Problem
from pytest_ireval.plurals import counted


@click.command(name="prune")
@click.argument("folders", nargs=-1)
@click.option("--yes", is_flag=True, help="Delete them.")
def command(folders: tuple[str, ...], yes: bool) -> None:
    """List baselines that belong to no suite any more, in FOLDERS and below; unless given, in this folder.

    Nothing is deleted without --yes. The exit code is 1 if there are some and they were not deleted. A suite file that
    cannot be read is an error: its baselines might be taken for orphans.
    """
    orphans = [(folder, name) for folder in baseline_folders(folders or (".",)) for name in _orphans(folder)]
    for folder, name in orphans:
        files = delete_baseline(folder, name) if yes else baseline_files(folder, name)
        verb = "deleted" if yes else "no suite has"
        click.echo(f"{verb} {path_of(folder, name, RECORD)} ({counted(len(files), 'file')})")
    if not orphans:
        click.echo("every baseline has its suite")
    elif not yes:
        click.echo(f"{counted(len(orphans), 'baseline')} without a suite; --yes deletes them")
        sys.exit(1)


def _orphans(folder: Path) -> list[str]:
    """Names of the baselines and anchors in a folder that no suite beside it has."""
    try:
        known = {each.name for path in suite_files(folder.parent) for each in baselines_of_suites(path)}
    except IrevalError as error:
        complaint = "nothing is pruned: which suites there are is not known while one of them cannot be read"
        raise BaselineError(Problem(complaint, place=str(folder)), *error.problems) from error
    unknown = (name for name in names_in(folder) if suite_of(name) not in known)
    return [name for name in unknown if is_record(path_of(folder, name, RECORD))]
