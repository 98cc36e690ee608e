"""``ireval history``: what earlier runs came to."""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS = {
    "list": ("looking", "Show the figures of earlier runs."),
    "export": ("looking", "Write all of it into a file."),
    "prune": ("changing", "Delete old runs."),
    "rebuild": ("changing", "Add runs from their results.json files, and acceptances from git."),
}
"""By name: the module that has it, and what it does."""


class HistoryCommands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - what click calls it with
        """The names, in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"pytest_ireval.cli.history_{COMMANDS[cmd_name][0]}")
        found: click.Command = getattr(module, f"{cmd_name}_command")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        """The list that help shows, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


@click.group(name="history", cls=HistoryCommands)
def command() -> None:
    """Look at what earlier runs came to.

    Each ``pytest --ireval`` adds to .ireval/history.sqlite below pytest's rootdir. The commands take the one of this
    folder, or the nearest above it in the repository; --history names another one.
    """
