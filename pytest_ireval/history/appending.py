"""A run is appended, always; one that is told of again, by a file or by git, is merged with what is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytest_ireval.history.database import WAIT, bound, writing
from pytest_ireval.history.kept import KeptFigures, KeptRun, KeptSuite

if TYPE_CHECKING:
    from sqlite3 import Connection

FIGURES = tuple(each.name for each in fields(KeptFigures))
"""The columns are called as the fields."""
_VALUES = attrgetter(*FIGURES)


class Merged(NamedTuple):
    """What came of merging."""

    added: int = 0
    known: int = 0
    """Runs that the history had already."""


def append(path: Path, run: KeptRun, *, wait: float = WAIT) -> None:
    """The run is in the history, even if it is like an earlier one: whoever tries again until it is green is seen."""
    with writing(path, wait=wait) as connection:
        _add(connection, run)


def merge(path: Path, runs: Iterable[KeptRun], *, wait: float = WAIT) -> Merged:
    """All of them are in the history, each once; those that files tell of come before those of git, who knows less."""
    ordered = sorted(runs, key=lambda run: (run.origin == "git", run.date))
    if not ordered:
        return Merged()
    with writing(path, wait=wait) as connection:
        added = sum(_merge(connection, run) for run in ordered)
    return Merged(added, len(ordered) - added)


def _merge(connection: Connection, run: KeptRun) -> bool:
    """Whether the run was new."""
    if connection.execute("SELECT 1 FROM runs WHERE key = ? LIMIT 1", (run.key,)).fetchone():
        return False
    if run.origin == "git":
        return _merge_acceptance(connection, run)
    _add(connection, run)
    return True


def _merge_acceptance(connection: Connection, run: KeptRun) -> bool:
    """What git tells of an acceptance counts where no run tells of it, and its reason where none is known."""
    (suite,) = run.suites
    known = _acceptances(connection, run, suite)
    if any(origin != "git" or figures for _, _, origin, figures in known):
        for row, _, _, _ in known:
            connection.execute("UPDATE suites SET reason = ? WHERE id = ? AND reason = ''", bound(suite.reason, row))
        return False
    if known and not suite.figures:
        return False
    _add(connection, run)
    return not known


def _add(connection: Connection, run: KeptRun) -> None:
    """What git told of the acceptances in it gives way: the run itself knows more."""
    for suite in run.suites:
        if suite.accepted:
            told = _acceptances(connection, run, suite)
            _drop(connection, [number for _, number, origin, _ in told if origin == "git"])
    about = bound(run.date, run.commit, run.branch, run.dirty, run.verdict, run.version, run.key, run.origin)
    names = "date, commit_id, branch, dirty, verdict, version, key, origin"
    number = connection.execute(f"INSERT INTO runs ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", about).lastrowid  # noqa: S608 - the names are ours
    for suite in run.suites:
        _add_suite(connection, number, suite)


def _add_suite(connection: Connection, run: int | None, suite: KeptSuite) -> None:
    about = bound(run, suite.name, suite.path, suite.verdict, suite.planned, suite.judged, suite.accepted, suite.reason)
    names = "run, name, path, verdict, planned, judged, accepted, reason"
    number = connection.execute(f"INSERT INTO suites ({names}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", about).lastrowid  # noqa: S608 - the names are ours
    connection.executemany(
        f"INSERT INTO figures (suite, {', '.join(FIGURES)}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - the names are ours
        [bound(number, *_VALUES(each)) for each in suite.figures],
    )


def _acceptances(connection: Connection, run: KeptRun, suite: KeptSuite) -> list[tuple[int, int, str, int]]:
    """Those of the suite at that moment: row of the suite, run, who told of it, and how many figures there are.

    A run that was started outside of the repository knows no commit, and its baseline does.
    """
    return connection.execute(
        """SELECT suites.id, runs.id, runs.origin, (SELECT count(*) FROM figures WHERE figures.suite = suites.id)
        FROM suites JOIN runs ON runs.id = suites.run
        WHERE suites.name = ? AND suites.accepted AND runs.date = ?
            AND (runs.commit_id = ? OR runs.commit_id = '' OR ? = '')""",
        bound(suite.name, run.date, run.commit, run.commit),
    ).fetchall()


def _drop(connection: Connection, runs: Sequence[int]) -> None:
    connection.executemany("DELETE FROM runs WHERE id = ?", [(number,) for number in runs])
