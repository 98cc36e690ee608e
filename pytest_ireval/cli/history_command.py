"""``ireval history``: earlier runs and their figures."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pytest_ireval.baselines.files import near
from pytest_ireval.cli.options import LateBar
from pytest_ireval.errors import HistoryError, IrevalError, Problem, did_you_mean
from pytest_ireval.history.database import history_for, history_near
from pytest_ireval.history.kept import KeptRun, Merged, Old, acceptances_in_git, kept_run, merge, old_runs, prune
from pytest_ireval.history.shared import NAME, Shared, history_place, pull, push
from pytest_ireval.history.trends import COLUMNS, Row, Wanted, known, rows
from pytest_ireval.reports.data_files import RESULTS, recorded_run
from pytest_ireval.reports.wording import change, figure
from pytest_ireval.retrieval.formats.writers import put
from pytest_ireval.retrieval.queries import composed
from pytest_ireval.text_table import counted, cut, table

if TYPE_CHECKING:
    from pytest_ireval.pytest_adapter.history import NamedHere


@click.group(name="history")
def command() -> None:
    """Look at earlier runs.

    Each ``pytest --ireval`` adds to the history. The commands take the one that a run in this folder would add to:
    that of ireval_history in pytest's ini file, or .ireval/history.sqlite in rootdir; else the nearest
    .ireval/history.sqlite above this folder in the repository. --history names another one.
    """


_DATES = click.DateTime(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])

_new_history_option = click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The history to add to, created if it is missing; the default is ireval_history of the ini file.",
)
_history_option = click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The history; the default is ireval_history of the ini file, or .ireval/history.sqlite in a folder above.",
)


def _existing(history: Path | None) -> Path:
    """The history of the option; else the one that a run here would add to; else the nearest one."""
    if history is not None:
        return history
    named = _named_here()
    if named.path is not None and named.path.is_file():
        return near(named.path)
    if named.path is None or named.usual:
        found = history_near(Path.cwd())
        if named.path is None:
            click.echo(f"{named.by} is none, so runs are not stored; {found} has those of before", err=True)
        return found
    complaint = f"does not exist yet; {named.by} names it as the history"
    if named.path.is_dir():
        complaint = f"is a folder; {named.by} names it as the history"
    raise HistoryError(Problem(complaint, str(near(named.path)), suggestion="--history FILE names another one"))


def _created(history: Path | None) -> Path:
    """The same; where there is none, the one that a run here would create."""
    if history is not None:
        return history
    named, nearest = _named_here(), history_for(Path.cwd())
    if named.path is None or (named.usual and not named.path.is_file() and nearest.is_file()):
        return nearest
    return near(named.path)


def _named_here() -> NamedHere:
    from pytest_ireval.pytest_adapter.history import named_here  # pytest takes 0.2 seconds

    return named_here()


def _moment(date: datetime | None) -> str:
    """The date as the history writes it; empty if none is given."""
    return "" if date is None else date.strftime("%Y-%m-%dT%H:%M:%SZ")


@command.command(name="prune")
@_history_option
@click.option("--before", type=_DATES, metavar="DATE", help="Delete runs before this day.")
@click.option("--keep", type=click.IntRange(0, 1_000_000_000), metavar="N", help="Delete all runs except the newest N.")
@click.option("--yes", is_flag=True, help="Delete them without asking.")
def _prune(history: Path | None, before: Any, keep: int | None, yes: bool) -> None:
    """Delete old runs, after listing them and asking."""
    if (before is None) == (keep is None):
        raise click.UsageError("choose the runs to delete: --before DATE or --keep N")
    path = _existing(history)
    old = old_runs(path, _moment(before), keep)
    if not old.runs:
        click.echo(f"nothing to delete; {counted(old.kept, 'run')} in {path}")
        return
    click.echo(_told(old, path))
    if yes or click.confirm("Delete them?"):
        gone = prune(path, _moment(before), keep)
        click.echo(f"deleted {counted(gone.runs, 'run')}; {counted(gone.kept, 'run')} left")
    else:
        sys.exit(1)


def _told(old: Old, path: Path) -> str:
    accepted = f", {counted(old.acceptances, 'acceptance')} among them" if old.acceptances else ""
    days = old.first[:10] if old.first[:10] == old.last[:10] else f"{old.first[:10]} to {old.last[:10]}"
    return f"{counted(old.runs, 'run')} of {path} would be deleted, of {days}{accepted}; {old.kept} would be kept"


@command.command(name="rebuild")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--from-git", is_flag=True, help="Add the baselines of this folder and below, from all commits.")
@_new_history_option
def _rebuild(paths: tuple[Path, ...], from_git: bool, history: Path | None) -> None:
    """Add runs to the history: of results.json files, of such files in folders and below (PATHS), and of git.

    Runs that are there already are left as they are, so it can be repeated. The exit code is 1 if something could not
    be read; the rest is added all the same.
    """
    if not paths and not from_git:
        raise click.UsageError("nothing to add: name results.json files, folders that contain them, or --from-git")
    path = _created(history)
    files = list(dict.fromkeys(file for each in paths for file in _files(each)))
    runs, unread = _runs(files)
    merged = merge(path, runs)
    if paths:
        _tell(merged, counted(len(files), "file"), "run")
    if from_git:
        found = acceptances_in_git(Path.cwd())
        _tell(merge(path, found.runs), f"{counted(found.versions, 'version')} of baselines in git", "acceptance")
        unread += [f"{each}" for each in found.unread]
        if found.shallow:
            click.echo("this clone is shallow: git fetch --unshallow gets the earlier commits")
    for each in unread:
        click.echo(f"not read: {each}", err=True)
    if unread:
        sys.exit(1)


def _files(path: Path) -> Iterator[Path]:
    """A file that is given, whatever its name; in folders, the files that the gate writes."""
    if path.is_file():
        yield path
        return
    for home, folders, names in os.walk(path):
        folders.sort()
        if RESULTS in names:
            yield Path(home, RESULTS)


def _runs(files: list[Path]) -> tuple[list[KeptRun], list[str]]:
    """The runs in the files, each once; and the errors of files that cannot be read."""
    found: dict[str, KeptRun] = {}
    unread = []
    for file in files:
        try:
            run = recorded_run(file)
            kept = kept_run(run, "results", str(file))
        except IrevalError as error:
            unread.append(str(error))
            continue
        if not run.suites:
            click.echo(f"{file}: skipped: a run without a suite ({'; '.join(run.problems) or run.verdict})")
            continue
        found.setdefault(kept.key, kept)
    return list(found.values()), unread


def _tell(merged: Merged, of_what: str, noun: str) -> None:
    known = f", {merged.known} already known" if merged.known else ""
    click.echo(f"{of_what}: {counted(merged.added, noun)} added{known}")


_url_argument = click.argument("url", envvar=NAME, required=False)


@command.command(name="push")
@_url_argument
@_history_option
def _push(url: str | None, history: Path | None) -> None:
    """Send the runs that a shared database lacks.

    URL is an address of SQLAlchemy, such as postgresql://user@host/name, or a file of SQLite. The default is the
    variable IREVAL_HISTORY, or the address in ireval_history of pytest's ini file.

    Runs that are there already are not sent again, so it can be repeated.
    """
    with LateBar() as progress:
        done = push(_existing(history), shared := _shared(url), progress)
    click.echo(f"{counted(done.added, 'run')} sent to {shared.shown}, {done.known} already known")


@command.command(name="pull")
@_url_argument
@_new_history_option
@click.option("--repository", default="", metavar="NAME", help="Only the runs of this repository, as acme/search.")
def _pull(url: str | None, history: Path | None, repository: str) -> None:
    """Fetch the runs of a shared database that this history lacks.

    URL is an address of SQLAlchemy, such as postgresql://user@host/name, or a file of SQLite. The default is the
    variable IREVAL_HISTORY, or the address in ireval_history of pytest's ini file.

    Runs that are here already are left as they are, so it can be repeated.
    """
    path = _created(history)
    with LateBar() as progress:
        done = pull(path, shared := _shared(url), repository, progress)
    if repository and not done.added + done.known:
        raise HistoryError(Problem(f"has no run of the repository {repository!r}", shared.shown))
    click.echo(f"{counted(done.added, 'run')} fetched from {shared.shown} into {path}, {done.known} already known")


def _shared(url: str | None) -> Shared:
    place = history_place(url, Path()) if url else _named_here().place
    if place is not None and place.unset:
        raise HistoryError(Problem(f"{place.unset} is not set", url or "ireval_history"))
    if place is None or not (url or place.address):
        raise click.UsageError(
            f"name the shared history: URL, or {NAME}, or an address in ireval_history of the ini file"
        )
    return Shared(place.address or str(place.path))


LEFT_OUT = ("run", "path")
"""Fields that are not columns of a file: a number that rebuilding changes, and the place where a run was started."""
HEADER = ("date", "commit", "suite", "metric", "slice", "value", "change", "sd", "verdict", "")
NUMBERS = (5, 6, 7)
BRIEF = ("date", "commit", "suite", "verdict", "metric", "value", "change", "red", "")
NAMED = 2
"""The most red figures of a suite that are named in its line."""
REASON = 40


@command.command(name="list", context_settings={"show_default": True})
@_history_option
@click.option("--suite", default="", help="Only this suite.", show_default=False)
@click.option("--metric", default="", help="Only this metric.", show_default=False)
@click.option(
    "--slice", "part", default="", help="Only this slice: all, or for example segment=tail.", show_default=False
)
@click.option("--branch", default="", help="Only runs on this branch.", show_default=False)
@click.option("--repository", default="", help="Only runs of this repository.", show_default=False)
@click.option("--since", type=_DATES, metavar="DATE", help="Only runs of this day or later.")
@click.option("--rows", "each", is_flag=True, help="A line for each metric and slice.")
@click.option("--limit", default=20, type=click.IntRange(1), help="Number of runs to show.")
@click.option(
    "--format", "form", default="table", type=click.Choice(["table", "json", "csv"]), help="The output format."
)
def _list(
    history: Path | None,
    suite: str,
    metric: str,
    part: str,
    branch: str,
    repository: str,
    since: Any,
    each: bool,
    limit: int,
    form: str,
) -> None:
    """Show earlier runs, the newest first: a line for each suite, with its first metric and its red figures.

    With --metric, --slice or --rows it is a line for each metric and slice.
    """
    path = _existing(history)
    wanted = Wanted(suite, metric, composed(part), branch, _moment(since), repository)
    found = rows(path, wanted)
    if not found:
        raise HistoryError(_nothing(path, wanted))
    numbers = list(dict.fromkeys(row.run for row in found))
    shown = [row for row in found if row.run in set(numbers[:limit])]
    left = len(numbers) - len(numbers[:limit])
    if form == "json":
        click.echo(json.dumps({"format": 1, "left": left, "rows": [_plain(row) for row in shown]}, indent=1))
    elif form == "csv":
        click.echo("".join(_csv(shown)), nl=False)
    else:
        whole = each or metric or part
        click.echo(table(HEADER, list(_cells(shown)), NUMBERS) if whole else table(BRIEF, list(_brief(shown)), (5, 6)))
        if left:
            click.echo(f"\n{counted(left, 'earlier run')}; --limit shows more")


@command.command(name="export", context_settings={"show_default": True})
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@_history_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    show_default=False,
    help="The default is CSV for a file named .csv, and JSON lines for any other.",
)
def _export(file: Path, history: Path | None, form: str | None) -> None:
    """Write all of the history into FILE, or print it for -: a line for each suite, metric and slice of each run."""
    found = rows(_existing(history))
    as_json = (json.dumps(_plain(row)) + "\n" for row in found)
    lines = _csv(found) if (form or file.suffix.lower()[1:]) == "csv" else as_json
    if str(file) == "-":
        sys.stdout.writelines(lines)
        return
    put({file: lines})
    click.echo(f"written: {file} ({counted(len(found), 'line')})")


def _nothing(path: Path, wanted: Wanted) -> Problem:
    """The problem if no row fits: an unknown name, or names that no run has together."""
    for name in COLUMNS:
        value, there = getattr(wanted, name), known(path, name)
        if value and value not in there:
            allowed = f"available: {', '.join(there)}" if there else ""
            return Problem(f"has no {name} {value!r}", str(path), (), did_you_mean(value, there), allowed)
    return Problem("has no such run" if any(wanted) else "has no runs yet", str(path))


def _plain(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in LEFT_OUT}


def _csv(found: Iterable[Row]) -> Iterator[str]:
    names = [name for name in Row._fields if name not in LEFT_OUT]
    yield _csv_line(names)
    for row in found:
        yield _csv_line([int(value) if isinstance(value, bool) else value for value in _plain(row).values()])


def _csv_line(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _cells(shown: Iterable[Row]) -> Iterator[list[str]]:
    """A line for each row; notes on a suite as a whole are in its first line."""
    last = None
    for row in shown:
        suite = (row.run, row.suite, row.path)
        yield [
            *_run_cells(row),
            row.metric,
            row.slice,
            "" if row.value is None else figure(row.value),
            "" if row.change is None else change(row.change),
            "" if row.sd is None else figure(row.sd, 3),
            row.verdict if row.metric else row.suite_verdict,
            ", ".join(_notes(row)) if suite != last else "",
        ]
        last = suite


def _run_cells(row: Row) -> list[str]:
    return [row.date[:16].replace("T", " "), row.commit[:7], row.suite]


def _brief(shown: Iterable[Row]) -> Iterator[list[str]]:
    for _, group in groupby(shown, lambda row: (row.run, row.suite, row.path)):
        rows = list(group)
        first = next((row for row in rows if row.slice == "all"), rows[0])
        red = [f"{row.metric} {row.slice}" for row in rows if row.metric and row.verdict in ("fail", "error")]
        more = f" and {len(red) - NAMED} more" if len(red) > NAMED else ""
        yield [
            *_run_cells(first),
            first.suite_verdict,
            first.metric,
            "" if first.value is None else figure(first.value),
            "" if first.change is None else change(first.change),
            ", ".join(red[:NAMED]) + more,
            ", ".join(_notes(first)),
        ]


def _notes(row: Row) -> Iterator[str]:
    if row.accepted:
        yield f"accepted: {cut(row.reason, REASON)}" if row.reason else "accepted"
    if row.attempt is not None and row.attempt > 1:
        yield f"attempt {row.attempt}"
    if row.partly:
        yield f"{row.judged} of {counted(row.planned, 'verdict')}"
    if row.dirty:
        yield "uncommitted changes"
    if row.origin == "git":
        yield "from git"
