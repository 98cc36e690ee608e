"""``ireval report``: the report of a run, drawn again from its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from pytest_ireval.cli.options import registry_at, suites_option
from pytest_ireval.errors import InputError, IrevalError, Problem, did_you_mean
from pytest_ireval.pytest_adapter.files import TO_JUDGE, RunFiles, kept, templates_of
from pytest_ireval.reports.charts.chart import Chart, Kind, told_apart
from pytest_ireval.reports.charts.gallery import charts_of, csv_of, svg_file
from pytest_ireval.reports.data_files import FOLDER, RESULTS, recorded_run
from pytest_ireval.reports.summary_table import section_warnings
from pytest_ireval.reports.templates import environment, settled_sections, templates
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.retrieval.formats.input_file import FilePath
from pytest_ireval.retrieval.formats.writers import put
from pytest_ireval.text_table import counted, printable


@click.command(name="report")
@click.argument("results", type=click.Path(path_type=Path), default=Path(FOLDER) / RESULTS)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder to write to; the default is the folder of RESULTS.",
)
@click.option(
    "--templates",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Templates that replace the built-in ones, like the ini file's ireval_templates.",
)
@suites_option
@click.option("--charts", is_flag=True, help="Write only the charts: each as NAME.svg, its numbers as NAME.csv.")
@click.option("--suite", "names", multiple=True, metavar="NAME", help="With --charts: only this suite; repeatable.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(get_args(Kind)),
    help="With --charts: only this kind; repeatable.",
)
def command(
    results: Path,
    to: Path | None,
    folder: Path | None,
    suites: Path | None,
    charts: bool,
    names: tuple[str, ...],
    kinds: tuple[str, ...],
) -> None:
    """Draw the report of a run again: index.html, summary.md, metrics.txt and to_judge.tsv.

    RESULTS is the results.json of a run, or its folder; the default is ireval-report/results.json.
    Nothing is evaluated. Sections of plugins are drawn with the templates of those that are installed, with --suites
    also of the conftest.py files that serve that folder. With --charts only the charts are written, into charts/.
    """
    if charts:
        _draw_charts(results, to, names, kinds)
        return
    if names or kinds:
        raise click.UsageError("--suite and --kind need --charts")
    path = (results / RESULTS if results.is_dir() else results).absolute()
    of_plugins = templates_of(registry_at(suites).sections.values())
    using = templates(None if folder is None else folder.absolute(), of_plugins)
    run = settled_sections(recorded_run(results), using)
    files = RunFiles(path.parent, Path.cwd(), using=using)
    target = path.parent if to is None else to
    for name, text in files.redrawn(run).items():
        _write(target / name, text)
    for warning in section_warnings(run):
        click.echo(printable(warning), err=True)


def _write(path: Path, text: str) -> None:
    """Write the file as the run would have written it; an empty one is removed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == TO_JUDGE and (moved := kept(path)):
            click.echo(f"kept: {_shown(moved)}, the grades from {TO_JUDGE}")
        if not text:
            path.unlink(missing_ok=True)
            return
        put({path: [text.encode("utf-8", "backslashreplace").decode()]})
    except OSError as error:
        raise IrevalError(Problem(f"cannot be written: {error.strerror or error}", str(path))) from error
    click.echo(f"written: {_shown(path)}")


def _shown(path: Path) -> str:
    """The path from the current folder, if it is below it."""
    return printable(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def _draw_charts(results: Path, to: Path | None, suites: tuple[str, ...], kinds: tuple[str, ...]) -> None:
    run = recorded_run(results)
    chosen = _chosen(run, suites, results)
    charts = [chart for suite in chosen for chart in charts_of(suite) if not kinds or chart.kind in kinds]
    if not charts:
        raise InputError(_nothing(chosen, kinds, results))
    folder = (results if results.is_dir() else results.parent) / "charts" if to is None else to
    templates = environment()
    for name, chart in zip(told_apart(chart.name for chart in charts), charts, strict=True):
        _write_charts({folder / f"{name}.svg": [svg_file(chart, templates)], folder / f"{name}.csv": _table(chart)})
        click.echo(f"{name}: {chart.title}")
    click.echo(f"written: {counted(len(charts), 'chart')} into {folder.as_posix()}, each as .svg and .csv")


def _chosen(run: RunResult, names: Sequence[str], results: Path) -> list[SuiteResult]:
    there = [suite.name for suite in run.suites]
    allowed = f"available: {', '.join(there)}" if there else "that run has no suites"
    unknown = [
        Problem(f"has no suite {name!r}", str(results), (), did_you_mean(name, there), allowed)
        for name in dict.fromkeys(names)
        if name not in there
    ]
    if unknown:
        raise InputError(*unknown)
    return [suite for suite in run.suites if not names or suite.name in names]


def _nothing(chosen: Sequence[SuiteResult], kinds: Sequence[str], results: Path) -> Problem:
    if not chosen:
        return Problem("nothing to draw: that run has no suites", str(results))
    found = dict.fromkeys(chart.kind for suite in chosen for chart in charts_of(suite))
    if kinds and found:
        complaint = f"nothing to draw of {' and '.join(dict.fromkeys(kinds))}"
        return Problem(complaint, str(results), allowed=f"available: {', '.join(found)}")
    suggestion = "it needs figures: a suite that could not be judged has none, and most charts compare with a baseline"
    return Problem("nothing to draw", str(results), suggestion=suggestion)


def _write_charts(files: Mapping[FilePath, Iterable[str]]) -> None:
    """Write both files, or neither."""
    folder = Path(next(iter(files))).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        put(files)
    except OSError as error:
        raise IrevalError(Problem(f"cannot be written: {error.strerror or error}", str(folder))) from error


def _table(chart: Chart) -> Iterator[str]:
    text = csv_of(chart)
    mark = "" if text.isascii() else "\ufeff"  # it tells spreadsheets that the file is UTF-8
    yield mark + text.encode("utf-8", "backslashreplace").decode()
