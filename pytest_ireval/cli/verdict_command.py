"""``ireval verdict``: the verdict of the last run, for a job that must not trust pytest's exit code alone."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_ireval.report.results_file import read_run
from pytest_ireval.report.run_summary import summarize_run
from pytest_ireval.results.run_folder import FOLDER
from pytest_ireval.text_table import escape_unprintable


@click.command(name="verdict")
@click.argument("results", required=False, default=FOLDER, type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Report the verdict of a run: exit code 0 for pass or inconclusive, 1 for fail, 2 for error.

    RESULTS is a results.json file, or its folder; the default is ireval-report. In a CI job, run this after pytest:
    pytest can exit with 0 without checking anything, for example with --collect-only in addopts.
    """
    run = read_run(results, parts=False)
    words = summarize_run(run)
    click.echo(escape_unprintable(f"{words.verdict}: {words.reason}."))
    for cause in words.causes:
        click.echo(escape_unprintable(f"{words.label.lower()}: {cause}"))
    sys.exit({"pass": 0, "inconclusive": 0, "fail": 1, "error": 2}[run.verdict])
