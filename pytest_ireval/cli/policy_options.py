"""Options that several commands share: which metrics, and what to do where the data leave it open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_args

import click

from pytest_ireval.evaluating.policies import MissingQueries, NoRelevant, Ties, Unjudged
from pytest_ireval.retrieval.formats.reader import Grades

METRICS = ("nDCG@10", "AP", "RR", "P@10", "R@100", "Judged@10")
"""What is shown when no metric is asked for."""

Command = TypeVar("Command", bound=Callable[..., Any])

metric_option = click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help=f"A metric, as nDCG@10, AP or map; repeat it for more. Unless given: {', '.join(METRICS)}.",
)

_TIES = click.option(
    "--ties",
    default="trec",
    type=click.Choice(get_args(Ties)),
    help="The order of equal scores: by document id descending, as in the file, worst, best, or an error.",
)
_MISSING = click.option(
    "--missing",
    default="zero",
    type=click.Choice(get_args(MissingQueries)),
    help="A judged query that the rankings lack scores the worst value and is listed, is an error, or is left out.",
)
_NO_RELEVANT = click.option(
    "--no-relevant",
    default="zero",
    type=click.Choice(get_args(NoRelevant)),
    help="What becomes of a query without relevant documents.",
)
_VIEWS = (
    click.option(
        "--unjudged",
        default="irrelevant",
        type=click.Choice(get_args(Unjudged)),
        help="Unjudged documents are not relevant, or are removed first (condensed lists).",
    ),
    click.option("--depth", type=click.IntRange(1), help="Only the first so many documents of each ranking count."),
    click.option("--scale", type=float, help="The top grade; unless given, the highest of the judgments."),
    click.option(
        "--collection",
        type=click.IntRange(1),
        metavar="N",
        help="How many documents there are to find; FallOut and some others need it.",
    ),
    click.option("--grades", default="integer", type=click.Choice(get_args(Grades)), help="What grades are."),
)


def view_options(command: Command) -> Command:
    """The command with options for how rankings and grades are seen: what is left when there is one query."""
    return _with((_TIES, *_VIEWS), command)


def policy_options(command: Command) -> Command:
    """The command with every policy of an evaluation as an option, named as in Python but for ``missing``."""
    return _with((_MISSING, _TIES, _NO_RELEVANT, *_VIEWS), command)


def _with(options: Sequence[Callable[[Any], Any]], command: Command) -> Command:
    for option in reversed(options):  # click shows the last one first
        command = option(command)
    return command
