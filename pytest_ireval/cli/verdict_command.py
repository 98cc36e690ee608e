"""``ireval verdict``: what the run before came to, for a job that must not trust an exit code alone."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pytest_ireval.cli.recorded_run import recorded_run
from pytest_ireval.reports.results_json import FOLDER
from pytest_ireval.text_table import printable

EXITS = {"pass": 0, "inconclusive": 0, "fail": 1, "error": 2}


@click.command(name="verdict")
@click.argument("results", required=False, default=FOLDER, type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Say what a run came to: exit code 0 if it may land, 1 if not, 2 if nobody knows.

    RESULTS is a results.json or the folder that it lies in; unless given, ireval-report. A CI job asks after pytest
    has ended: pytest may end with 0 without having judged anything, for example with --collect-only in addopts.
    """
    from pytest_ireval.reports.verdict_words import words_of

    run = recorded_run(results)
    words = words_of(run)
    click.echo(printable(f"{words.verdict}: {words.reason}."))
    sys.exit(EXITS[run.verdict])
