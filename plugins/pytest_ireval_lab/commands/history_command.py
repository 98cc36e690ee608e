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
from pytest_ireval.cli.options import complete_metric_names
from pytest_ireval.plugin_api import (
    Problem,
    did_you_mean,
    escape_markdown,
    escape_unprintable,
    format_count,
    format_markdown_table,
    format_table,
    read_run,
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


def _find_results(place: str) -> list[str]:
    """The file of that name, those in the folder and below, or those that the pattern fits."""
    paths = [place] if os.path.exists(place) else sorted(glob.glob(place, recursive=True))
    if not paths:
        raise InputError(Problem("not found", place, allowed=f"a {RESULTS} file, a folder that has some, or a pattern"))
    files = [file for path in paths for file in ([path] if os.path.isfile(path) else _walk(path))]
    if not files:
        raise InputError(Problem(f"has no {RESULTS} in it or below", place))
    return files


def _walk(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:  # os.walk would leave out a folder that it may not read
        raise error

    for home, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        if RESULTS in names:
            yield os.path.join(home, RESULTS)


def _read_runs(file: str) -> list[SuiteRun]:
    """A run for each suite in a results.json file."""
    run = read_run(Path(file), parts=False)
    if not DATE.fullmatch(run.date):
        raise InputError(Problem(f"{run.date!r} is not a date", file, ("date",), allowed="2026-11-20T19:20:00Z is one"))
    if not run.suites:
        why = " ".join("; ".join(run.problems).split()) or run.verdict
        click.echo(escape_unprintable(f"{file}: the run of {run.date} has no suite: {why}"), err=True)
    return [
        SuiteRun(
            run.date,
            run.commit,
            run.branch,
            run.dirty,
            suite.name,
            suite.verdict,
            checks=len(suite.outcomes),
            planned=len(suite.planned),
            accepted=suite.name in run.accepted,
            reason=run.reason if suite.name in run.accepted else "",
            figures=_list_figures(suite),
        )
        for suite in run.suites
    ]


def _list_figures(suite: SuiteResult) -> tuple[Figure, ...]:
    """All queries first, then slices. Every query counts the same, so weighted figures of rules are left out."""
    figures: dict[tuple[str, str], Any] = {(metric.name, ALL): metric for metric in suite.metrics}
    for outcome in suite.outcomes:
        if not outcome.metric or outcome.against:
            continue
        for each in outcome.figures:
            if not each.weighted:
                figures.setdefault((outcome.metric, each.slice), each)
    figures |= {(row.metric, row.figures.slice): row.figures for row in suite.slices}
    return tuple(
        Figure(metric, within, each.now, each.baseline, each.change)
        for (metric, within), each in figures.items()
        if each.now is not None
    )


def _refuse_unknown(what: str, names: Collection[str], known: Collection[str]) -> None:
    """Refuse a name that no run has, which may be a typing mistake."""
    for name in names:
        if name not in known:
            allowed = f"the runs have {', '.join(dict.fromkeys(known))}"
            raise InputError(Problem(f"no run has the {what} {name!r}", "", (), did_you_mean(name, known), allowed))


def _list_rows(runs: Sequence[SuiteRun]) -> Iterator[dict[str, Any]]:
    """A row for each figure of each run, and one for a run without any."""
    for run in runs:
        about = run._asdict()
        del about["figures"]
        for each in run.figures or (Figure(),):
            yield {**about, **each._asdict()}


def _format_csv(runs: Sequence[SuiteRun]) -> str:
    text = io.StringIO()
    names = [*SuiteRun._fields[:-1], *Figure._fields]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_list_rows(runs))
    return text.getvalue()


def _format_json(runs: Sequence[SuiteRun]) -> str:
    return json.dumps({"format": 1, "rows": [*_list_rows(runs)]}) + "\n"


class _SuiteTable(NamedTuple):
    """The runs of a suite, a row each."""

    title: str
    header: list[str]
    rows: list[list[str]]
    numbers: range
    """The columns of numbers."""


def _make_tables(runs: Sequence[SuiteRun]) -> Iterator[_SuiteTable]:
    for name in dict.fromkeys(run.suite for run in runs):
        of_suite = [run for run in runs if run.suite == name]
        metrics = list(dict.fromkeys(each.metric for run in of_suite for each in run.figures))
        header = ["date", "commit", "branch", *metrics, "verdict", "notes"]
        slices = {each.slice for run in of_suite for each in run.figures} - {ALL}
        rows = [_format_cells(run, metrics) for run in of_suite]
        yield _SuiteTable(", ".join([name, *slices]), header, rows, range(3, 3 + len(metrics)))


def _format_cells(run: SuiteRun, metrics: Sequence[str]) -> list[str]:
    values = {each.metric: each.value for each in run.figures}
    notes = [
        f"accepted: {truncate(run.reason, REASON)}" if run.reason else "accepted" if run.accepted else "",
        f"{run.checks} of {format_count(run.planned, 'check')}" if run.checks < run.planned else "",
        "uncommitted changes" if run.dirty else "",
    ]
    figures = ["-" if (value := values.get(name)) is None else f"{value:.4f}" for name in metrics]
    date = run.date[:16].replace("T", " ")
    return [date, run.commit[:7], run.branch, *figures, run.verdict, ", ".join(filter(None, notes))]


def _format_text(runs: Sequence[SuiteRun]) -> str:
    return "\n".join(
        f"{escape_unprintable(each.title)}\n{format_table(each.header, each.rows, each.numbers)}\n"
        for each in _make_tables(runs)
    )


def _format_markdown(runs: Sequence[SuiteRun]) -> str:
    """The same tables, for the summary of a job."""
    texts = []
    for each in _make_tables(runs):
        cells = [[date, *map(escape_markdown, others)] for date, *others in each.rows]
        table = format_markdown_table([*map(escape_markdown, each.header)], cells, each.numbers)
        texts.append(f"### {escape_markdown(each.title)}\n\n{table}\n")
    return "\n".join(texts)


FORMATS: dict[str, Callable[[Sequence[SuiteRun]], str]] = {
    "table": _format_text,
    "json": _format_json,
    "csv": _format_csv,
    "markdown": _format_markdown,
}
FOR_PEOPLE = ("table", "markdown")


@click.command(name="history")
@click.argument("places", nargs=-1, required=True, metavar="FOLDER_OR_FILE...")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; repeatable.")
@click.option(
    *("-m", "--metric", "metrics"),
    multiple=True,
    metavar="NAME",
    shell_complete=complete_metric_names,
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
    every_run = [run for place in places for file in _find_results(place) for run in _read_runs(file)]
    runs = sorted(dict.fromkeys(every_run), key=lambda run: run.date)
    if not runs:
        raise InputError("none of these runs has a suite")
    _refuse_unknown("suite", suites, [run.suite for run in runs])
    runs = [run for run in runs if run.suite in (suites or (run.suite,))]
    _refuse_unknown("metric", metrics, [each.metric for run in runs for each in run.figures])
    within = unicodedata.normalize("NFC", within) if within else ALL if form in FOR_PEOPLE else None
    if within not in (None, ALL):
        _refuse_unknown("slice", [within], [each.slice for run in runs for each in run.figures])

    def is_wanted(figure: Figure) -> bool:
        return figure.metric in (metrics or (figure.metric,)) and figure.slice == (within or figure.slice)

    runs = [run._replace(figures=tuple(filter(is_wanted, run.figures))) for run in runs]
    click.echo(FORMATS[form](runs), nl=False)
