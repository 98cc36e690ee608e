"""The command ``ireval``: looking at rankings, metrics and plugins without running tests."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module

import click

from pytest_ireval.errors import IrevalError

COMMANDS = {
    "evaluate": "Score rankings under judgments.",
    "compare": "Compare two or more rankings: a leaderboard, with significance.",
    "why": "Show the arithmetic of one metric on one query.",
    "metrics": "List the metrics that are installed, or explain one.",
    "import": "Turn the files of other tools into queries and judgments.",
    "lint": "Look for what is doubtful in judgments and queries.",
    "init": "Write a first suite for the data at hand.",
    "check": "Read suites, and say all that is wrong with them.",
    "plan": "Say what the queries of suites can show, before any run.",
    "self-test": "Show how often a suite is red by chance, and which damage it notices.",
    "report": "Draw the report of a run anew, or its charts as files.",
    "verdict": "Report the verdict of a run, with an exit code.",
    "baseline": "Show, compare, pin, clean up and merge baselines.",
    "history": "Look at what earlier runs came to.",
    "plugins": "List the plugins that are installed.",
}
"""Each command lives in the module of its name, which is imported when the command runs."""


COMPUTING = {"compare", "plan", "self-test"}
"""Commands that multiply large matrices: the others load NumPy without its threads, which takes half the time."""
THREADS = "OPENBLAS_NUM_THREADS"
"""NumPy reads this variable once, when it is loaded."""


@contextmanager
def _one_thread_for_numpy() -> Iterator[None]:
    if THREADS in os.environ:
        yield
        return
    os.environ[THREADS] = "1"
    try:
        yield
    finally:
        del os.environ[THREADS]


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - what click calls it with
        """The names, in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        with _one_thread_for_numpy() if cmd_name not in COMPUTING else nullcontext():
            module = import_module(f"pytest_ireval.cli.{cmd_name.replace('-', '_')}_command")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """The list that help shows, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="pytest-ireval")
def commands() -> None:
    """Evaluate search rankings, and look at what decides about them."""


def main() -> None:
    """Run the command line; an error of ours is its text and exit code 2, never a traceback."""
    gc.set_threshold(100_000)  # a command is over before cycles fill the memory; looking for them takes milliseconds
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # ids may hold what the terminal cannot show
    try:
        commands(prog_name="ireval")
    except IrevalError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
