"""The tables of the history, and how those of an older version become those of this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ireval.errors import HistoryError, Problem

if TYPE_CHECKING:
    from sqlite3 import Connection

APPLICATION = 0x49524556
"""``IREV``: what tells our file from a database of somebody else."""
STEPS = (
    (
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY, date TEXT NOT NULL, commit_id TEXT NOT NULL, branch TEXT NOT NULL,
            dirty INTEGER NOT NULL, verdict TEXT NOT NULL, version TEXT NOT NULL, key TEXT NOT NULL)""",
        """CREATE TABLE suites (
            id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, name TEXT NOT NULL,
            path TEXT NOT NULL, verdict TEXT NOT NULL, planned INTEGER NOT NULL, judged INTEGER NOT NULL,
            accepted INTEGER NOT NULL, reason TEXT NOT NULL)""",
        """CREATE TABLE figures (
            id INTEGER PRIMARY KEY, suite INTEGER NOT NULL REFERENCES suites ON DELETE CASCADE, metric TEXT NOT NULL,
            slice TEXT NOT NULL, now REAL, baseline REAL, change REAL, sd REAL, queries INTEGER, low REAL, high REAL,
            verdict TEXT NOT NULL)""",
        "CREATE INDEX suites_of_runs ON suites (run)",
        "CREATE INDEX figures_of_suites ON figures (suite)",
        f"PRAGMA application_id = {APPLICATION}",
    ),
    (
        "ALTER TABLE runs ADD COLUMN origin TEXT NOT NULL DEFAULT 'run'",
        "CREATE INDEX runs_by_key ON runs (key)",
        "CREATE INDEX suites_by_name ON suites (name)",
    ),
)
"""The first makes version 1 of nothing, the second version 2 of version 1, and so on. None is ever changed."""
VERSION = len(STEPS)


def version_of(connection: Connection, place: str) -> int:
    """Of the tables there are, 0 of an empty file; HistoryError where they are none that can be read."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not version and not application:
        return 0
    if application != APPLICATION or version < 1:
        raise HistoryError(Problem("is a database of something else, and no history of pytest-ireval", place))
    if version > VERSION:
        complaint = f"has version {version}, and this pytest-ireval knows histories up to version {VERSION}"
        raise HistoryError(Problem(complaint, place, suggestion="a newer pytest-ireval wrote it: install that one"))
    return int(version)


def bring_up(connection: Connection, place: str) -> None:
    """The tables are those of this version; part of the transaction that is open."""
    for version in range(version_of(connection, place), VERSION):
        for statement in STEPS[version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version + 1}")
