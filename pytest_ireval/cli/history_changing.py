"""``ireval history prune`` and ``ireval history rebuild``: old runs go, and lost ones come back."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pytest_ireval.cli.history_options import DATES, history_option, moment
from pytest_ireval.errors import IrevalError
from pytest_ireval.history.appending import Merged, merge
from pytest_ireval.history.from_git import FromGit, acceptances_in_git
from pytest_ireval.history.kept import KeptRun, kept_run
from pytest_ireval.history.place import history_for, history_near
from pytest_ireval.history.pruning import Old, old_runs, prune
from pytest_ireval.plurals import counted
from pytest_ireval.reports.results_json import RESULTS, refuse_contradictions, run_of


@click.command(name="prune")
@history_option
@click.option("--before", type=DATES, metavar="DATE", help="Runs before this day go.")
@click.option("--keep", type=click.IntRange(0, 1_000_000_000), metavar="N", help="All runs but the newest N go.")
@click.option("--yes", is_flag=True, help="Delete them without asking.")
def prune_command(history: Path | None, before: Any, keep: int | None, yes: bool) -> None:
    """Delete old runs, after saying which and asking."""
    if (before is None) == (keep is None):
        raise click.UsageError("say which runs go: --before DATE or --keep N")
    path = history or history_near(Path.cwd())
    old = old_runs(path, moment(before), keep)
    if not old.runs:
        click.echo(f"nothing to delete; {counted(old.kept, 'run')} in {path}")
        return
    click.echo(_told(old, path))
    if yes or click.confirm("Delete them?"):
        gone = prune(path, moment(before), keep)
        click.echo(f"deleted {counted(gone.runs, 'run')}; {counted(gone.kept, 'run')} left")
    else:
        sys.exit(1)


def _told(old: Old, path: Path) -> str:
    accepted = f", {counted(old.acceptances, 'acceptance')} among them" if old.acceptances else ""
    days = old.first[:10] if old.first[:10] == old.last[:10] else f"{old.first[:10]} to {old.last[:10]}"
    return f"{counted(old.runs, 'run')} of {path} would go, of {days}{accepted}; {old.kept} would stay"


@click.command(name="rebuild")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--from-git", is_flag=True, help="Add what baselines of this folder and below say in all commits.")
@click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The history to add to; it is made if it is not there.",
)
def rebuild_command(paths: tuple[Path, ...], from_git: bool, history: Path | None) -> None:
    """Add runs to the history: of results.json files, of such files in folders and below (PATHS), and of git.

    What is there already is left as it is, so it may be done again and again. The exit code is 1 if something could not
    be read; the rest is added all the same.
    """
    if not paths and not from_git:
        raise click.UsageError("say what to add: results.json files, folders that hold some, or --from-git")
    path = history or history_for(Path.cwd())
    files = list(dict.fromkeys(file for each in paths for file in _files(each)))
    runs, unread = _runs(files)
    merged = merge(path, runs)
    if files or paths:
        _tell(merged, f"{counted(len(files), 'file')}", "run")
    if from_git:
        found = acceptances_in_git(Path.cwd())
        _tell(merge(path, found.runs), f"{counted(found.versions, 'version')} of baselines in git", "acceptance")
        unread += [f"{each}" for each in found.unread]
        _tell_shallow(found)
    for each in unread:
        click.echo(f"not read: {each}", err=True)
    if unread:
        sys.exit(1)


def _files(path: Path) -> Iterator[Path]:
    """A file that is named, whatever it is called; in folders, those that the gate writes."""
    if path.is_file():
        yield path
        return
    for home, folders, names in os.walk(path):
        folders.sort()
        if RESULTS in names:
            yield Path(home, RESULTS)


def _runs(files: list[Path]) -> tuple[list[KeptRun], list[str]]:
    """What they hold, each run once; and why others cannot be read."""
    found: dict[str, KeptRun] = {}
    unread = []
    for file in files:
        try:
            run = refuse_contradictions(run_of(file.read_text(encoding="utf-8"), str(file)), str(file))
            kept = kept_run(run, "results", str(file))
        except IrevalError as error:
            unread.append(str(error))
            continue
        except (OSError, UnicodeDecodeError) as error:
            unread.append(f"{file}: {error}")
            continue
        if not run.suites:
            click.echo(f"{file}: a run without a suite ({'; '.join(run.problems) or run.verdict}), passed over")
            continue
        found.setdefault(kept.key, kept)
    return list(found.values()), unread


def _tell(merged: Merged, of_what: str, noun: str) -> None:
    known = f", {merged.known} known already" if merged.known else ""
    click.echo(f"{of_what}: {counted(merged.added, noun)} added{known}")


def _tell_shallow(found: FromGit) -> None:
    if found.shallow:
        click.echo("this clone is shallow: git fetch --unshallow brings what was before")
