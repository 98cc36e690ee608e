"""The options that the commands of ``ireval history`` share, and what their dates mean."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

DATES = click.DateTime(formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ"])

history_option = click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The history, if it is not the .ireval/history.sqlite of this folder or one above.",
)


def moment(date: datetime | None) -> str:
    """As the history writes it; empty where none is given."""
    return "" if date is None else date.strftime("%Y-%m-%dT%H:%M:%SZ")
