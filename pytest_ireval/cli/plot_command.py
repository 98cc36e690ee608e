"""``ireval plot``: every chart of a run as a file, and its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from pytest_ireval.cli.recorded_run import recorded_run
from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.plurals import counted
from pytest_ireval.reports.charts.chart import Chart, Kind
from pytest_ireval.reports.charts.drawing import csv_of, svg_file
from pytest_ireval.reports.charts.gallery import charts_of
from pytest_ireval.reports.charts.names import told_apart
from pytest_ireval.reports.results_json import FOLDER, RESULTS
from pytest_ireval.reports.templates import environment
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.writers import put

MARK = "\ufeff"
"""By this a spreadsheet knows that a file with more than plain letters is UTF-8."""


@click.command(name="plot")
@click.argument("results", type=click.Path(path_type=Path), default=Path(FOLDER) / RESULTS)
@click.option(
    "--to", metavar="DIR", type=click.Path(path_type=Path), help="Where to write; unless given, charts/ beside RESULTS."
)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this suite; may be given several times.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(get_args(Kind)), help="Only this kind; so may this.")
def command(results: Path, to: Path | None, suites: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    """Write every chart of a run as NAME.svg, and its numbers as NAME.csv.

    RESULTS is the results.json of a run, or the folder that it lies in; unless given, ireval-report/results.json.
    Nothing is evaluated.
    """
    run = recorded_run(results)
    chosen = _chosen(run, suites, results)
    charts = [chart for suite in chosen for chart in charts_of(suite) if not kinds or chart.kind in kinds]
    if not charts:
        raise InputError(_nothing(chosen, kinds, results))
    folder = (results if results.is_dir() else results.parent) / "charts" if to is None else to
    templates = environment()
    for name, chart in zip(told_apart(chart.name for chart in charts), charts, strict=True):
        _write({folder / f"{name}.svg": [svg_file(chart, templates)], folder / f"{name}.csv": _table(chart)})
        click.echo(f"{name}: {chart.title}")
    click.echo(f"written: {counted(len(charts), 'chart')} into {folder.as_posix()}, each as .svg and .csv")


def _chosen(run: RunResult, names: Sequence[str], results: Path) -> list[SuiteResult]:
    """The suites of these names; all, if none is named."""
    there = [suite.name for suite in run.suites]
    unknown = [
        Problem(
            f"has no suite {name!r}",
            str(results),
            suggestion=did_you_mean(name, there),
            allowed=f"there are: {', '.join(there)}" if there else "no suite took part in that run",
        )
        for name in dict.fromkeys(names)
        if name not in there
    ]
    if unknown:
        raise InputError(*unknown)
    return [suite for suite in run.suites if not names or suite.name in names]


def _nothing(chosen: Sequence[SuiteResult], kinds: Sequence[str], results: Path) -> Problem:
    """Why there is no chart."""
    if not chosen:
        return Problem("there is nothing to draw: no suite took part in that run", str(results))
    found = dict.fromkeys(chart.kind for suite in chosen for chart in charts_of(suite))
    if kinds and found:
        return Problem(
            f"there is nothing to draw of {' and '.join(dict.fromkeys(kinds))}",
            str(results),
            allowed=f"there are: {', '.join(found)}",
        )
    suggestion = "it needs figures: a suite that could not be judged has none, and most charts compare with a baseline"
    return Problem("there is nothing to draw", str(results), suggestion=suggestion)


def _write(files: Mapping[FilePath, Iterable[str]]) -> None:
    """Both are there, or neither."""
    folder = Path(next(iter(files))).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        put(files)
    except OSError as error:
        raise IrevalError(Problem(f"cannot be written: {error.strerror or error}", str(folder))) from error


def _table(chart: Chart) -> Iterator[str]:
    text = csv_of(chart)
    yield ("" if text.isascii() else MARK) + text.encode("utf-8", "backslashreplace").decode()
