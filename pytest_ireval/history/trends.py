"""What one figure was from run to run, and how far its differences spread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_ireval.history.database import bound, reading
from pytest_ireval.history.rows import JOINED, Row, Wanted, rows

Point = Row
"""A run, as a point of a trend: its moment, value, change, spread, verdict, and whether it was accepted, and why."""
SPREADS = f"""SELECT figures.metric, figures.slice, figures.sd {JOINED}
    WHERE suites.name = ? AND (suites.accepted OR runs.branch = ?) AND figures.sd > 0
    ORDER BY runs.date, runs.id, figures.id"""


def spreads(path: Path, suite: str, branch: str) -> Mapping[tuple[str, str], list[float]]:
    """By metric and slice, the standard deviation of the differences of each run that had some, the newest last.

    Runs count that were accepted, and those of one branch.
    A run in which nothing changed says nothing of how far changes spread, so a spread of 0 is left out.
    """
    found: dict[tuple[str, str], list[float]] = {}
    with reading(path) as connection:
        for metric, part, sd in () if connection is None else connection.execute(SPREADS, bound(suite, branch)):
            found.setdefault((str(metric), str(part)), []).append(float(sd))
    return found


def trend(path: Path, suite: str, metric: str, slice: str = "all") -> list[Point]:  # noqa: A002 - the word of this project
    """Every run that measured it, the newest last; acceptances that only git tells of among them."""
    return rows(path, Wanted(suite=suite, metric=metric, slice=slice))[::-1]
