"""The command ``ireval``: look at rankings, metrics and plugins without running tests.

The module of a command is imported when that command is called, and imports at its top whatever the command needs.
Inside a function it imports what few runs need: Jinja for a page, Dask for a cluster. ``options.py`` serves all
commands, so it imports there what only those about suites need.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING

import click

from pytest_ireval.errors import IrevalError, Problem, did_you_mean

if TYPE_CHECKING:
    from pytest_ireval.plugins.commands import PackageCommands

GROUPS = {
    "Suites": {
        "demo": "Show a gate at work on a small shop: green, then red.",
        "init": "Write a first suite for your data.",
        "check": "Read suites and their files, and report all mistakes.",
        "plan": "Show how small a change the queries of suites can detect.",
    },
    "Baselines and runs": {
        "baseline": "Show, compare, pin and clean up baselines.",
        "verdict": "Print the verdict of the last run; the exit code tells it too.",
        "report": "Write the report of a run again.",
    },
    "Rankings": {
        "rank": "Ask the sources of suites, to compare another commit with.",
        "evaluate": "Score rankings with judgments.",
        "compare": "Compare two or more rankings: a leaderboard with significance.",
        "why": "Show the arithmetic of one metric on one query.",
    },
    "Installed": {"metrics": "List the installed metrics, or explain one.", "plugins": "List the installed plugins."},
}
COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
"""The commands of the core: each is in the module of its name, which is imported when the command runs."""
EXAMPLES = """\b
Run the gate with pytest:
  pytest --ireval suites/
Before that:
  ireval init --judgments judgments.txt --rankings rankings.txt
  ireval check suites/
Without a suite:
  ireval evaluate judgments.txt rankings.txt -m nDCG@10
  ireval compare judgments.txt before.trec after.trec
"""
NEED_THREADS = {"compare", "discriminate", "interleave", "plan", "reliability", "self-test", "stress"}
"""Commands that multiply large matrices. The others load NumPy without its threads, which saves a third of the CPU time
of ``ireval evaluate`` with a small file.
"""
THREADS = "OPENBLAS_NUM_THREADS"
"""NumPy reads this variable once, when it is loaded."""


@contextmanager
def _load_numpy_without_threads() -> Iterator[None]:
    if THREADS in os.environ:
        yield
        return
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]


class Commands(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of help."""
        return [*COMMANDS, *_find_packages(ctx).by_name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name in COMMANDS:
            with nullcontext() if cmd_name in NEED_THREADS else _load_numpy_without_threads():
                command: click.Command = import_module(f"pytest_ireval.cli.{cmd_name}_command").command
            return command
        package_command = _find_packages(ctx).by_name.get(cmd_name)
        if package_command is None:
            return None
        # A third party's command may need the threads of NumPy, so they are left alone.
        needs_threads = cmd_name in NEED_THREADS or not package_command.is_built_in
        with nullcontext() if needs_threads else _load_numpy_without_threads():
            return package_command.load()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown name gets a suggestion."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            packages = _find_packages(ctx)
            if name not in packages.by_name:
                from pytest_ireval.entry_points import find_package

                if (package := find_package(name)) is not None:
                    complaint = f"the command {name!r} belongs to the package {package}, which is not installed"
                    raise IrevalError(
                        Problem(complaint, suggestion="install pytest-ireval again: it brings this package")
                    )
                meant = did_you_mean(name, [*COMMANDS, *packages.by_name])
                raise click.UsageError(
                    "\n".join([f"there is no command {name!r}{f': {meant}' if meant else ''}", *packages.broken]), ctx
                )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The lists that help shows, without importing the commands: ours, then those of each package."""
        packages = _find_packages(ctx)
        groups = {title: dict(group) for title, group in GROUPS.items()}
        for name, command in packages.by_name.items():
            groups.setdefault(command.heading, {})[name] = command.spec.summary
        for title, group in groups.items():
            with formatter.section(title):
                formatter.write_dl(list(group.items()), col_max=12)
        for reason in packages.broken:
            click.echo(f"warning: no command of this plugin is shown: {reason}", err=True)


def _find_packages(ctx: click.Context) -> PackageCommands:
    """The commands of packages, looked for once."""
    if __name__ not in ctx.meta:
        from pytest_ireval.plugins.commands import find_commands  # a command of the core does without it

        ctx.meta[__name__] = find_commands(COMMANDS)
    packages: PackageCommands = ctx.meta[__name__]
    return packages


@click.group(cls=Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pytest-ireval")
def commands() -> None:
    """Evaluate search rankings, and prepare and inspect the gate that pytest runs."""


def main() -> None:
    """Run the command line; an error of ours is its text and exit code 2, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # ids may hold what the terminal cannot show
    try:
        commands(prog_name="ireval")
    except IrevalError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {error.filename}: {error.strerror}" if error.filename else f"error: {error}", err=True)
        sys.exit(2)
