"""Old runs are deleted: those before a date, or all but the newest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_ireval.history.database import reading, shrink, writing

if TYPE_CHECKING:
    from sqlite3 import Connection


class Old(NamedTuple):
    """What would go, or what went."""

    runs: int
    acceptances: int
    """Suites that those runs accepted."""
    first: str
    """The date of the oldest; empty where there is none."""
    last: str
    kept: int
    """How many runs stay."""


def old_runs(path: Path, before: str = "", keep: int | None = None) -> Old:
    """What :func:`prune` would delete."""
    with reading(path) as connection:
        return Old(0, 0, "", "", 0) if connection is None else _old(connection, before, keep)


def prune(path: Path, before: str = "", keep: int | None = None) -> Old:
    """Runs before a date are gone, or all but the newest ``keep``; the file is as small as it can be."""
    with writing(path) as connection:
        old = _old(connection, before, keep)
        condition, value = _condition(before, keep)
        connection.execute(f"DELETE FROM runs WHERE {condition}", (value,))  # noqa: S608 - the condition is ours
    if old.runs:
        shrink(path)
    return old


def _condition(before: str, keep: int | None) -> tuple[str, object]:
    if keep is None:
        return "date < ?", before
    return "id NOT IN (SELECT id FROM runs ORDER BY date DESC, id DESC LIMIT ?)", keep


def _old(connection: Connection, before: str, keep: int | None) -> Old:
    condition, value = _condition(before, keep)
    runs, first, last = connection.execute(
        f"SELECT count(*), coalesce(min(date), ''), coalesce(max(date), '') FROM runs WHERE {condition}",  # noqa: S608 - as above
        (value,),
    ).fetchone()
    (acceptances,) = connection.execute(
        f"SELECT count(*) FROM suites WHERE accepted AND run IN (SELECT id FROM runs WHERE {condition})",  # noqa: S608 - as above
        (value,),
    ).fetchone()
    (total,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return Old(runs, acceptances, first, last, total - runs)
