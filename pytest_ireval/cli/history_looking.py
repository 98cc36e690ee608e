"""``ireval history list`` and ``ireval history export``: the history as a table, JSON, CSV or a file."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from pytest_ireval.cli.history_options import DATES, history_option, moment
from pytest_ireval.errors import HistoryError, Problem, did_you_mean
from pytest_ireval.history.place import history_near
from pytest_ireval.history.rows import COLUMNS, Row, Wanted, known, rows
from pytest_ireval.plurals import counted
from pytest_ireval.reports.figures import change, figure
from pytest_ireval.retrieval.formats.writers import put
from pytest_ireval.text_table import cut, table

FORMAT = 1
"""The version of the JSON."""
LEFT_OUT = ("run", "path")
"""What the columns of a file do without: a number that rebuilding changes, and where a run was started."""
HEADER = ("date", "commit", "suite", "metric", "slice", "value", "change", "sd", "verdict", "")
NUMBERS = (5, 6, 7)
REASON = 40


@click.command(name="list", context_settings={"show_default": True})
@history_option
@click.option("--suite", default="", help="Only this suite.", show_default=False)
@click.option("--metric", default="", help="Only this metric.", show_default=False)
@click.option("--slice", "part", default="", help="Only this slice: all, or as in segment=tail.", show_default=False)
@click.option("--branch", default="", help="Only runs on this branch.", show_default=False)
@click.option("--since", type=DATES, metavar="DATE", help="Only runs of this day or later.")
@click.option("--limit", default=20, type=click.IntRange(1), help="So many runs are shown.")
@click.option("--format", "form", default="table", type=click.Choice(["table", "json", "csv"]), help="What to print.")
def list_command(
    history: Path | None, suite: str, metric: str, part: str, branch: str, since: Any, limit: int, form: str
) -> None:
    """Show the figures of earlier runs, the newest first: each suite, metric and slice with its verdict."""
    path = history or history_near(Path.cwd())
    wanted = Wanted(suite, metric, part, branch, moment(since))
    found = rows(path, wanted)
    if not found:
        raise HistoryError(_nothing(path, wanted))
    numbers = list(dict.fromkeys(row.run for row in found))
    shown = [row for row in found if row.run in set(numbers[:limit])]
    left = len(numbers) - len(numbers[:limit])
    if form == "json":
        click.echo(json.dumps({"format": FORMAT, "left": left, "rows": [_plain(row) for row in shown]}, indent=1))
    elif form == "csv":
        click.echo("".join(_csv(shown)), nl=False)
    else:
        click.echo(table(HEADER, list(_cells(shown)), NUMBERS))
        if left:
            click.echo(f"\n{counted(left, 'earlier run')}; --limit shows more")


@click.command(name="export", context_settings={"show_default": True})
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@history_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv"]),
    show_default=False,
    help="Unless given, CSV into a file called so, and JSON lines into any other.",
)
def export_command(file: Path, history: Path | None, form: str | None) -> None:
    """Write all of the history into FILE, or print it for -: a line for each suite, metric and slice of each run."""
    found = rows(history or history_near(Path.cwd()))
    lines = _csv(found) if (form or file.suffix.lower()[1:]) == "csv" else _json_lines(found)
    if str(file) == "-":
        sys.stdout.writelines(lines)
        return
    put({file: lines})
    click.echo(f"written: {file} ({counted(len(found), 'line')})")


def _nothing(path: Path, wanted: Wanted) -> Problem:
    """Why no row fits: a name that there is not, or names that no run has together."""
    for name in COLUMNS:
        value, there = getattr(wanted, name), known(path, name)
        if value and value not in there:
            allowed = f"there are: {', '.join(there)}" if there else ""
            return Problem(
                f"has no {name} {value!r}", str(path), suggestion=did_you_mean(value, there), allowed=allowed
            )
    return Problem("has no such run" if any(wanted) else "has no run yet", str(path))


def _plain(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row._asdict().items() if name not in LEFT_OUT}


def _json_lines(found: Iterable[Row]) -> Iterator[str]:
    return (json.dumps(_plain(row)) + "\n" for row in found)


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
    """What concerns a suite as a whole stands in its first line."""
    last = None
    for row in shown:
        suite = (row.run, row.suite, row.path)
        yield [
            row.date[:16].replace("T", " "),
            row.commit[:7],
            row.suite,
            row.metric,
            row.slice,
            "" if row.value is None else figure(row.value),
            "" if row.change is None else change(row.change),
            "" if row.sd is None else figure(row.sd, 3),
            row.verdict if row.metric else row.suite_verdict,
            ", ".join(_notes(row)) if suite != last else "",
        ]
        last = suite


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
