"""``ireval history``: the figures of earlier runs, from the results.json files of reports that were kept."""

from __future__ import annotations

import csv
import glob
import io
import json
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from pytest_ireval import InputError, SuiteResult
from pytest_ireval.cli.options import metric_names
from pytest_ireval.plugin_api import (
    Problem,
    did_you_mean,
    escape_unprintable,
    format_count,
    format_table,
    inert,
    markdown_table,
    recorded_run,
    truncate,
)

RESULTS = "results.json"
ALL = "all"
"""The slice of all queries."""
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Only such texts are in the order of time."""
REASON = 40
"""Columns of a reason in a table."""


class Figure(NamedTuple):
    """One metric on one slice."""

    metric: str = ""
    slice: str = ""
    value: float | None = None
    baseline: float | None = None
    change: float | None = None


class SuiteRun(NamedTuple):
    """One suite in one run. Two that are equal are one run, whose report was kept twice."""

    date: str
    commit: str
    branch: str
    dirty: bool
    suite: str
    verdict: str
    checks: int
    planned: int
    """The number of checks that a whole run of the suite has."""
    accepted: bool
    reason: str
    figures: tuple[Figure, ...]


def find_results(place: str) -> list[str]:
    """The file of that name, those in the folder and below, or those that the pattern fits."""
    paths = [place] if os.path.exists(place) else sorted(glob.glob(place, recursive=True))
    if not paths:
        raise InputError(Problem("not found", place, allowed=f"a {RESULTS} file, a folder that has some, or a pattern"))
    found = [file for path in paths for file in ([path] if os.path.isfile(path) else find_below(path))]
    if not found:
        raise InputError(Problem(f"has no {RESULTS} in it or below", place))
    return found


def find_below(folder: str) -> Iterator[str]:
    """The results in a folder and below."""

    def refuse(error: OSError) -> None:  # os.walk would leave out a folder that it may not read
        raise error

    for home, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        if RESULTS in names:
            yield os.path.join(home, RESULTS)


def read_runs(file: str) -> list[SuiteRun]:
    """A run for each suite in a results.json file."""
    run = recorded_run(Path(file), parts=False)
    if not DATE.fullmatch(run.date):
        raise InputError(Problem(f"{run.date!r} is not a date", file, ("date",), allowed="2026-11-20T19:20:00Z is one"))
    if not run.suites:
        why = " ".join("; ".join(run.problems).split()) or run.verdict
        click.echo(escape_unprintable(f"{file}: the run of {run.date} has no suite: {why}"), err=True)
    about = (run.date, run.commit, run.branch, run.dirty)
    return [
        SuiteRun(
            *about,
            suite.name,
            suite.verdict,
            len(suite.outcomes),
            len(suite.planned),
            suite.name in run.accepted,
            run.reason if suite.name in run.accepted else "",
            list_figures(suite),
        )
        for suite in run.suites
    ]


def list_figures(suite: SuiteResult) -> tuple[Figure, ...]:
    """All queries first, then slices. Every query counts the same, so weighted figures of rules are left out."""
    found: dict[tuple[str, str], Any] = {(each.name, ALL): each for each in suite.metrics}
    for outcome in suite.outcomes:
        for each in outcome.figures if outcome.metric and not outcome.against else ():
            if not each.weighted:
                found.setdefault((outcome.metric, each.slice), each)
    found |= {(row.metric, row.figures.slice): row.figures for row in suite.slices}
    return tuple(
        Figure(*names, each.now, each.baseline, each.change) for names, each in found.items() if each.now is not None
    )


def refuse_unknown(what: str, asked: Collection[str], known: Collection[str]) -> None:
    """Refuse a name that no run has, which may be a typing mistake."""
    for name in asked:
        if name not in known:
            allowed = f"the runs have {', '.join(dict.fromkeys(known))}"
            raise InputError(Problem(f"no run has the {what} {name!r}", "", (), did_you_mean(name, known), allowed))


def as_rows(runs: Sequence[SuiteRun]) -> Iterator[dict[str, Any]]:
    """A row for each figure of each run, and one for a run without any."""
    for run in runs:
        about = run._asdict()
        del about["figures"]
        for each in run.figures or (Figure(),):
            yield {**about, **each._asdict()}


def as_csv(runs: Sequence[SuiteRun]) -> str:
    """One line for each figure of each run."""
    text = io.StringIO()
    names = [*SuiteRun._fields[:-1], *Figure._fields]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(as_rows(runs))
    return text.getvalue()


def as_json(runs: Sequence[SuiteRun]) -> str:
    """The same rows."""
    return json.dumps({"format": 1, "rows": [*as_rows(runs)]}, ensure_ascii=False) + "\n"


def as_tables(runs: Sequence[SuiteRun]) -> Iterator[tuple[str, list[str], list[list[str]], range]]:
    """By suite: its name, with the slice unless that is all; the header, a row for each run, the columns of numbers."""
    for name in dict.fromkeys(run.suite for run in runs):
        of_suite = [run for run in runs if run.suite == name]
        metrics = list(dict.fromkeys(each.metric for run in of_suite for each in run.figures))
        header = ["date", "commit", "branch", *metrics, "verdict", "notes"]
        slices = {each.slice for run in of_suite for each in run.figures} - {ALL}
        yield ", ".join([name, *slices]), header, [_cells(run, metrics) for run in of_suite], range(3, 3 + len(metrics))


def _cells(run: SuiteRun, metrics: Sequence[str]) -> list[str]:
    values = {each.metric: each.value for each in run.figures}
    notes = [
        f"accepted: {truncate(run.reason, REASON)}" if run.reason else "accepted" if run.accepted else "",
        f"{run.checks} of {format_count(run.planned, 'check')}" if run.checks < run.planned else "",
        "uncommitted changes" if run.dirty else "",
    ]
    about = [run.date[:16].replace("T", " "), run.commit[:7], run.branch]
    return [*about, *(_format_value(values.get(name)) for name in metrics), run.verdict, ", ".join(filter(None, notes))]


def _format_value(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def as_text(runs: Sequence[SuiteRun]) -> str:
    """A table for each suite."""
    texts = (
        f"{escape_unprintable(name)}\n{format_table(header, rows, right)}\n"
        for name, header, rows, right in as_tables(runs)
    )
    return "\n".join(texts)


def as_markdown(runs: Sequence[SuiteRun]) -> str:
    """The same tables, for the summary of a job."""
    texts = []
    for name, header, rows, right in as_tables(runs):
        cells = [[date, *map(inert, others)] for date, *others in rows]
        texts.append(f"### {inert(name)}\n\n{markdown_table([*map(inert, header)], cells, right)}\n")
    return "\n".join(texts)


FORMATS: dict[str, Callable[[Sequence[SuiteRun]], str]] = {
    "table": as_text,
    "json": as_json,
    "csv": as_csv,
    "markdown": as_markdown,
}
FOR_PEOPLE = ("table", "markdown")


@click.command(name="history")
@click.argument("places", nargs=-1, required=True, metavar="FOLDER_OR_FILE...")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; repeatable.")
@click.option(
    *("-m", "--metric", "metrics"),
    multiple=True,
    metavar="NAME",
    shell_complete=metric_names,
    help="Only this metric, such as nDCG@10; repeatable.",
)
@click.option(
    "--slice",
    "within",
    metavar="SLICE",
    help="Figures of this slice, such as segment=tail. The default of tables is all; JSON and CSV have every slice.",
)
@click.option(
    "--format", "form", default="table", show_default=True, type=click.Choice(list(FORMATS)), help="The output format."
)
def command(
    places: tuple[str, ...], suites: tuple[str, ...], metrics: tuple[str, ...], within: str | None, form: str
) -> None:
    """Show the figures of earlier runs, suite by suite, the oldest first.

    They come from the results.json files of reports that were kept. FOLDER_OR_FILE is such a file, a folder that has
    some in it or below, or a pattern such as 'artifacts/**/results.json'. A run that is found twice counts once.
    """
    read = [run for place in places for file in find_results(place) for run in read_runs(file)]
    runs = sorted(dict.fromkeys(read), key=lambda run: run.date)
    if not runs:
        raise InputError("none of these runs has a suite")
    refuse_unknown("suite", suites, [run.suite for run in runs])
    runs = [run for run in runs if run.suite in (suites or (run.suite,))]
    refuse_unknown("metric", metrics, [each.metric for run in runs for each in run.figures])
    within = unicodedata.normalize("NFC", within) if within else ALL if form in FOR_PEOPLE else None
    if within not in (None, ALL):
        refuse_unknown("slice", [within], [each.slice for run in runs for each in run.figures])

    def is_wanted(each: Figure) -> bool:
        return each.metric in (metrics or (each.metric,)) and each.slice == (within or each.slice)

    runs = [run._replace(figures=tuple(filter(is_wanted, run.figures))) for run in runs]
    click.echo(FORMATS[form](runs), nl=False)
