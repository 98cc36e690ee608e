"""``ireval demo``: a small shop whose search change is red, to look at and to start from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import webbrowser
from importlib.resources import as_file, files
from pathlib import Path

import click

from pytest_ireval.errors import IrevalError, Problem

CHANGE = "rankings/synonyms.trec"
OF_THE_CALLER = ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "TF_BUILD", "RANKINGS")
"""Variables that would make a gate of the demo act for the caller's own job: pytest's are left out as well."""


@click.command(name="demo")
@click.argument("directory", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--keep", is_flag=True, help="Keep files of an earlier demo that you have changed, and use them.")
@click.option("--open", "open_page", is_flag=True, help="Open the report of the red run in a browser.")
def command(directory: Path | None, keep: bool, open_page: bool) -> None:
    """Show a gate at work: green for today's rankings, red for a change that breaks the tail.

    The demo writes a small shop into DIRECTORY, or into a temporary folder. The files stay there: they are a
    suite to start from.
    """
    folder = directory or Path(tempfile.mkdtemp(prefix="ireval-demo-"))
    _write_shop(folder, keep)
    click.echo(f"A small kitchen shop is now in {folder}: 36 queries, graded documents, two rankings.\n")
    click.echo("1. Today's rankings become the baseline, and the gate is green:\n")
    _run_gate(folder, ["-q", "--ireval-update-new"], expected=0)
    click.echo("\n2. Somebody adds synonyms. The average gets better. The gate is red:\n")
    _run_gate(folder, [], rankings=CHANGE, expected=1)
    page = folder / "ireval-report" / "index.html"
    click.echo("\n3. Look at these files:\n")
    click.echo(f"  {page}\n      the report: what broke, and both rankings of each query")
    click.echo(f"  {folder / 'suites' / 'shop.ireval.yaml'}\n      the suite: what is measured, and what must hold")
    click.echo(f"  {folder / 'suites' / CHANGE}\n      the rankings after the change: mend them, and run step 2 again")
    if open_page:
        webbrowser.open(page.absolute().as_uri())


def _write_shop(folder: Path, keep: bool) -> None:
    """Write the files that are not there yet; a file with other content is only left alone if asked to."""
    with as_file(files("pytest_ireval") / "demo_shop") as shop:
        sources = sorted(file for file in shop.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
        copies = {source: folder / source.relative_to(shop) for source in sources}
        changed = [
            copy for source, copy in copies.items() if copy.exists() and copy.read_bytes() != source.read_bytes()
        ]
        if changed and not keep:
            raise IrevalError(
                Problem(
                    "this file differs from the demo's, and is not overwritten",
                    str(changed[0]),
                    (),
                    "use it as it is with --keep, or choose another folder",
                )
            )
        for source, copy in copies.items():
            if not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)


def _run_gate(folder: Path, options: list[str], expected: int, rankings: str | None = None) -> None:
    given = f"RANKINGS={rankings} " if rankings else ""
    click.echo(f"$ cd {folder} && {given}{' '.join(['pytest', '--ireval', 'suites', *options])}\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in OF_THE_CALLER and not name.startswith("PYTEST_")
    }
    if rankings:
        environment["RANKINGS"] = rankings
    sys.stdout.flush()
    line = [sys.executable, "-m", "pytest", "--ireval", "suites", *options]
    code = subprocess.run(line, cwd=folder, env=environment, check=False).returncode  # noqa: S603
    if code != expected and code not in (0, 1):
        raise IrevalError(Problem(f"pytest ended with {code}: its output above says why"))
    if code != expected:
        click.echo(f"\nnote: the demo as shipped ends with {expected} here, this run with {code}: files were changed")
