"""Options of commands that make one grade of several judges' grades."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args

import click

from pytest_ireval_judgments.panel import MissingPolicy, TiePolicy

Command = TypeVar("Command", bound=Callable[..., Any])


def _read_weights(
    _ctx: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[tuple[str, float], ...]:
    """``NAME=NUMBER``, several times, each name once."""
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            found[name] = float(number) if name not in found else 0.0
        except ValueError:
            found[name] = 0.0
        if not name or not 0 < found[name] < float("inf"):
            raise click.BadParameter(
                f"{text!r} is not JUDGE=NUMBER with a number above 0, once for each judge", param=parameter
            )
    return tuple(found.items())


def merging_options(command: Command) -> Command:
    """The command with the policies for several judges."""
    options = (
        click.option(
            "--judge-ties",
            default="lower",
            type=click.Choice(get_args(TiePolicy)),
            help="A median or majority between two grades: the lower one, the higher one, or drop the document.",
        ),
        click.option(
            "--missing-judges",
            default="ignore",
            type=click.Choice(get_args(MissingPolicy)),
            help="A judge who did not judge a document: no vote, a vote for 0, or drop the document.",
        ),
        click.option(
            "--weight",
            "weights",
            multiple=True,
            metavar="JUDGE=NUMBER",
            callback=_read_weights,
            help="The weight of a judge in median, majority and mean; 1 unless given; repeatable.",
        ),
    )
    for option in reversed(options):  # click shows the last one first
        command = option(command)
    return command
