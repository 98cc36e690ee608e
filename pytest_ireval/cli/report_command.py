"""``ireval report``: the report of a run, drawn again from its results."""

from __future__ import annotations

from pathlib import Path

import click

from pytest_ireval.cli.options import load_command_registry, suites_option
from pytest_ireval.data.formats.writers import replace_files
from pytest_ireval.errors import IrevalError, Problem
from pytest_ireval.pytest_plugin.report_files import NOT_OURS, TO_JUDGE, ReportFiles, find_foreign_file, keep_grades
from pytest_ireval.pytest_plugin.sections import make_section_templates
from pytest_ireval.report.results_file import RESULTS, read_run
from pytest_ireval.report.templates import check_sections
from pytest_ireval.report.terminal_summary import list_section_warnings
from pytest_ireval.results.run_folder import FOLDER
from pytest_ireval.text_table import escape_unprintable


@click.command(name="report")
@click.argument("results", type=click.Path(path_type=Path), default=Path(FOLDER) / RESULTS)
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The folder to write to; the default is the folder of RESULTS.",
)
@suites_option
def command(results: Path, to: Path | None, suites: Path | None) -> None:
    """Draw the report of a run again: all its files but results.json.

    RESULTS is the results.json of a run, or its folder; the default is ireval-report/results.json.
    Nothing is evaluated. Sections of plugins are drawn with the templates of those that are installed, with --suites
    also of the conftest.py files that serve that folder.
    """
    path = (results / RESULTS if results.is_dir() else results).absolute()
    templates = make_section_templates(load_command_registry(suites).sections.values())
    run = check_sections(read_run(results), templates)
    files = ReportFiles(path.parent, Path.cwd(), templates=templates)
    target = path.parent if to is None else to
    derived = files.format_derived_files(run)
    if foreign := find_foreign_file(target, derived):
        raise IrevalError(Problem(NOT_OURS, _display(foreign), (), "--to DIR writes to another folder"))
    for name, text in derived.items():
        _write(target / name, text)
    for warning in list_section_warnings(run):
        click.echo(escape_unprintable(warning), err=True)


def _write(path: Path, text: str) -> None:
    """Write the file as the run would have written it; an empty one is removed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.name == TO_JUDGE and (moved := keep_grades(path)):
            click.echo(f"kept: {_display(moved)}, the grades from {TO_JUDGE}")
        if not text:
            path.unlink(missing_ok=True)
            return
        replace_files({path: [text.encode("utf-8", "backslashreplace").decode()]})
    except OSError as error:
        raise IrevalError(Problem(f"cannot be written: {error.strerror or error}", str(path))) from error
    click.echo(f"written: {_display(path)}")


def _display(path: Path) -> str:
    """The path from the current folder, if it is below it."""
    return escape_unprintable(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
