"""``ireval rank``: ask the sources of suites, and write their rankings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from pytest_ireval.baseline.rank_folder import RankFolder
from pytest_ireval.baseline.record import Acceptance
from pytest_ireval.cli.options import ProgressBar, load_chosen_suites
from pytest_ireval.clock import format_moment, read_clock
from pytest_ireval.errors import IrevalError
from pytest_ireval.gate.rank import rank_suite
from pytest_ireval.gate.versus import BASE_SIDE, SIDE
from pytest_ireval.plugins.conftests import Conftests
from pytest_ireval.repositories.git import read_commit_state
from pytest_ireval.words import format_count


@click.command(name="rank")
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FOLDER",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the rankings are written; of an earlier call they are replaced.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=None,
    help="Ask for at least this many documents of each query. The default is the depth of each suite.",
)
@click.option("--named", help="One suite of a matrix; the default is all suites at PATHS.")
def command(paths: tuple[Path, ...], output: Path, depth: int | None, named: str | None) -> None:
    """Ask the sources of the suites at PATHS, files or folders, and write their rankings to a folder.

    With pytest --ireval-versus FOLDER, another commit is compared with them. Sources see IREVAL_SIDE=base, unless the
    variable is set. The exit code is 1 if a suite could not be asked; a comparison with it is then an error.
    """
    os.environ.setdefault(SIDE, BASE_SIDE)
    conftests, moment = Conftests(), read_clock()
    suites = load_chosen_suites(paths, named, conftests)
    files = list(dict.fromkeys(file for suite in suites for file in (suite.files or (suite.path,))))
    commit, branch, dirty = read_commit_state(Path.cwd(), files)
    folder = RankFolder(output, format_moment(moment), commit, branch, dirty)
    folder.begin()
    asked = Acceptance(folder.date, commit, branch, dirty)
    failed = 0
    for suite in suites:
        registry = conftests.registry_for(suite.path)
        try:
            with ProgressBar() as bar:
                ranked = rank_suite(suite, registry, moment.date(), asked, bar, depth=depth or 0)
            folder.add(suite.shown, ranked)
        except IrevalError as error:
            failed += 1
            folder.add_error(suite.shown, suite.name, error)
            click.echo(f"{suite.shown}: {suite.name}: error: {error}", err=True)
        else:
            queries = format_count(len(ranked.rankings[0].queries), "query")
            click.echo(f"{suite.shown}: {suite.name}: {queries}, {ranked.search.source}")
    folder.end()
    click.echo(f"wrote the rankings of {format_count(len(suites) - failed, 'suite')} to {output}")
    sys.exit(1 if failed else 0)
