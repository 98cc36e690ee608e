"""The options that say what to do where the data leave it open, each declared once for all commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, get_args

import click

from pytest_ireval.evaluation import MissingQueries, NoRelevant, Ties, Unjudged
from pytest_ireval.retrieval.formats.trec_judgments import Grades

F = TypeVar("F", bound=Callable[..., object])

missing_queries = click.option(
    "--missing",
    default="zero",
    type=click.Choice(get_args(MissingQueries)),
    help="A judged query that the rankings lack scores 0 and is listed, is an error, or is left out.",
)
ties = click.option(
    "--ties",
    default="trec",
    type=click.Choice(get_args(Ties)),
    help="The order of equal scores: by document id descending, as in the file, worst, best, or an error.",
)
no_relevant = click.option(
    "--no-relevant",
    default="zero",
    type=click.Choice(get_args(NoRelevant)),
    help="What becomes of a query without relevant documents.",
)
unjudged = click.option(
    "--unjudged",
    default="irrelevant",
    type=click.Choice(get_args(Unjudged)),
    help="Unjudged documents are not relevant, or are removed first (condensed lists).",
)
depth = click.option("--depth", type=click.IntRange(1), help="Only the first so many documents of each ranking count.")
scale = click.option("--scale", type=float, help="The top grade; unless given, the highest of the judgments.")
collection = click.option(
    "--collection",
    type=click.IntRange(1),
    metavar="N",
    help="How many documents there are to find; FallOut and some others need it.",
)
grades = click.option("--grades", default="integer", type=click.Choice(get_args(Grades)), help="What grades are.")


def views(command: F) -> F:
    """``--unjudged``, ``--depth``, ``--scale``, ``--collection``, ``--grades``: how rankings and grades are seen."""
    for option in (grades, collection, scale, depth, unjudged):  # click shows the last one first
        command = option(command)
    return command
