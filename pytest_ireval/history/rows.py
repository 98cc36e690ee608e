"""The history as rows, one for each suite, metric and slice of a run, the newest run first."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

from pytest_ireval.history.database import bound, reading


class Row(NamedTuple):
    """One line; without a metric where a suite came to no figure."""

    run: int
    date: str
    commit: str
    branch: str
    dirty: bool
    origin: str
    run_verdict: str
    attempt: int | None
    """The how-manieth run of this suite at this commit; None where files were not as the commit has them."""
    suite: str
    path: str
    suite_verdict: str
    planned: int
    judged: int
    accepted: bool
    reason: str
    metric: str
    slice: str
    value: float | None
    baseline: float | None
    change: float | None
    sd: float | None
    queries: int | None
    low: float | None
    high: float | None
    verdict: str

    @property
    def partly(self) -> bool:
        """Whether the run was asked for a part of the suite only."""
        return self.judged < self.planned


class Wanted(NamedTuple):
    """Which rows; what is empty is not asked for."""

    suite: str = ""
    metric: str = ""
    slice: str = ""
    branch: str = ""
    since: str = ""
    """A date, or the beginning of one."""


EVERYTHING = Wanted()
COLUMNS = {"suite": "suites.name", "metric": "figures.metric", "slice": "figures.slice", "branch": "runs.branch"}
JOINED = "FROM runs JOIN suites ON suites.run = runs.id LEFT JOIN figures ON figures.suite = suites.id"
ROWS = f"""
WITH attempts AS (
    SELECT suites.id AS id, ROW_NUMBER() OVER (
        PARTITION BY runs.commit_id, suites.name, suites.path ORDER BY runs.date, runs.id, suites.id) AS attempt
    FROM runs JOIN suites ON suites.run = runs.id
    WHERE runs.commit_id <> '' AND NOT runs.dirty AND runs.origin <> 'git')
SELECT runs.id, runs.date, runs.commit_id, runs.branch, runs.dirty, runs.origin, runs.verdict,
    attempts.attempt,
    suites.name, suites.path, suites.verdict, suites.planned, suites.judged, suites.accepted, suites.reason,
    coalesce(figures.metric, ''), coalesce(figures.slice, ''), figures.now, figures.baseline, figures.change,
    figures.sd, figures.queries, figures.low, figures.high, coalesce(figures.verdict, '')
{JOINED} LEFT JOIN attempts ON attempts.id = suites.id
"""  # noqa: S608 - all of it is ours
ORDER = "ORDER BY runs.date DESC, runs.id DESC, suites.id, figures.id"


def rows(path: Path, wanted: Wanted = EVERYTHING) -> list[Row]:
    """Those that are wanted; none where there is no history. Nobody who writes has to wait for what is done to them."""
    asked = [(f"{column} = ?", value) for name, column in COLUMNS.items() if (value := getattr(wanted, name))]
    asked += [("runs.date >= ?", wanted.since)] if wanted.since else []
    where = f"WHERE {' AND '.join(condition for condition, _ in asked)}" if asked else ""
    with reading(path) as connection:
        if connection is None:
            return []
        return [
            _row(found)
            for found in connection.execute(f"{ROWS} {where} {ORDER}", bound(*(value for _, value in asked)))
        ]


def known(path: Path, name: str) -> tuple[str, ...]:
    """What there is of suites, metrics, slices or branches, sorted."""
    column = COLUMNS[name]
    with reading(path) as connection:
        if connection is None:
            return ()
        asked = f"SELECT DISTINCT {column} {JOINED} WHERE {column} IS NOT NULL AND {column} <> '' ORDER BY 1"
        return tuple(value for (value,) in connection.execute(asked))


def _row(found: tuple[object, ...]) -> Row:
    """A line of the database, if it holds what it should: bytes that went wrong may be values of another kind."""
    import sqlite3

    row = Row._make((*found[:4], bool(found[4]), *found[5:13], bool(found[13]), *found[14:]))
    if not all(map(isinstance, row, _kinds())):
        raise sqlite3.DatabaseError("a figure or a name is none")
    return row


@cache
def _kinds() -> tuple[tuple[type, ...], ...]:
    """The types that each field may have."""
    return tuple(get_args(hint) or (hint,) for hint in get_type_hints(Row).values())
