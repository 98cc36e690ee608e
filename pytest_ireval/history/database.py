"""The file of the history, opened: to write, one process after the other, or to read, which never changes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ireval.baselines.files import near
from pytest_ireval.errors import HistoryError, Problem
from pytest_ireval.repositories.git import root_of

if TYPE_CHECKING:
    from sqlite3 import Connection


Value = str | float | None
WAIT = 30.0
"""Seconds to wait for others who write; one of them takes milliseconds."""


@contextmanager
def writing(path: Path, *, wait: float = WAIT) -> Iterator[Connection]:
    """Write alone; the changes count when the block ends, and not at all if it raises."""
    with _told(path, wait):
        _with_folder(path)
        with closing(_opened(path, "rwc", wait)) as connection:  # what was not committed is undone
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            _bring_up(connection, _shown_path(path))
            yield connection
            connection.execute("COMMIT")


@contextmanager
def reading(path: Path, *, wait: float = WAIT) -> Iterator[Connection | None]:
    """The history as this version has it, whatever version the file is of; None where there is none."""
    with _told(path, wait):
        if not path.exists():
            yield None
            return
        connection = _opened(path, "rw", wait)  # to undo what a writer that died left behind; if it may not, it reads
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            if _version_of(connection, _shown_path(path)) < VERSION:
                connection = _brought_up(connection, path)
            connection.execute("BEGIN")  # all that is asked is of one moment
            yield connection
        finally:
            connection.close()


def bound(*values: Value) -> tuple[Value, ...]:
    """The values as SQLite takes them: bytes that are not UTF-8, as in the name of a folder, are spelled out."""
    return tuple([_spelled_out(value) if isinstance(value, str) and not value.isascii() else value for value in values])


def _spelled_out(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def shrink(path: Path, *, wait: float = WAIT) -> None:
    """Give back the room of what was deleted."""
    with _told(path, wait), closing(_opened(path, "rw", wait)) as connection:
        connection.execute("VACUUM")


def _brought_up(connection: Connection, path: Path) -> Connection:
    """A copy in memory: the file keeps its version until a run writes to it."""
    import sqlite3

    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        _bring_up(copy, _shown_path(path))
    except sqlite3.Error:
        copy.close()
        raise
    connection.close()
    return copy


def _opened(path: Path, mode: str, wait: float) -> Connection:
    import sqlite3

    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=wait, isolation_level=None)


@contextmanager
def _told(path: Path, wait: float) -> Iterator[None]:
    try:
        import sqlite3
    except ImportError as error:
        raise HistoryError(Problem(f"this Python comes without SQLite: {error}", _shown_path(path))) from error
    try:
        yield
    except sqlite3.OperationalError as error:
        raise HistoryError(_refused(str(error), path, wait)) from error
    except (sqlite3.DatabaseError, ValueError, OverflowError) as error:
        suggestion = "move it away; ireval history rebuild makes a new one from results.json files and git"
        raise HistoryError(Problem(f"is damaged: {error}", _shown_path(path), suggestion=suggestion)) from error
    except OSError as error:
        raise HistoryError(_refused(error.strerror or str(error), path, wait)) from error


def _refused(reason: str, path: Path, wait: float) -> Problem:
    if "locked" in reason:
        return Problem(f"another process has not finished writing it within {wait:g} s", _shown_path(path))
    return Problem(f"cannot be used: {reason}", _shown_path(path))


APPLICATION = 0x49524556
"""``IREV``: it tells our file from the database of another program."""
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


def _version_of(connection: Connection, place: str) -> int:
    """The version of the tables, 0 of an empty file; HistoryError where they cannot be read."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables and not version and not application:
        return 0
    if application != APPLICATION or version < 1:
        raise HistoryError(Problem("is a database of another program, not a history of pytest-ireval", place))
    if version > VERSION:
        complaint = f"has version {version}, but this pytest-ireval reads only versions up to {VERSION}"
        raise HistoryError(Problem(complaint, place, suggestion="a newer pytest-ireval wrote it; install that version"))
    return int(version)


def _bring_up(connection: Connection, place: str) -> None:
    """Bring the tables to this version, as a part of the open transaction."""
    for version in range(_version_of(connection, place), VERSION):
        for statement in STEPS[version]:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version + 1}")


FOLDER = ".ireval"
USUAL = f"{FOLDER}/history.sqlite"
IGNORED = """\
# The history of pytest-ireval grows with every run. Keep it out of the repository.
/{name}*
/.gitignore
"""


def _with_folder(path: Path) -> None:
    """Make the folder; if only we fill it, tell git to leave the history alone."""
    made = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    told = path.parent / ".gitignore"
    if (made or path.parent.name == FOLDER) and not told.exists():
        told.write_text(IGNORED.format(name=path.name), encoding="utf-8")


def history_near(folder: Path) -> Path:
    """The history of a folder, or of one above it in its repository; HistoryError where there is none."""
    home = next((each for each in _homes(folder) if (each / USUAL).is_file()), None)
    if home is not None:
        return near(home / USUAL)
    below = sorted(near(path).as_posix() for path in folder.glob(f"*/{USUAL}"))
    raise HistoryError(
        Problem(
            f"no {USUAL} in this folder or above it",
            suggestion=f"--history {below[0]} uses the one below" if below else "",
            allowed="each run of pytest --ireval adds to the history in pytest's rootdir; ireval history rebuild "
            "makes one",
        )
    )


def history_for(folder: Path) -> Path:
    """The same; where there is none, the one that would be made in ``folder``."""
    home = next((each for each in _homes(folder) if (each / USUAL).is_file()), folder)
    return near(home / USUAL)


def _homes(folder: Path) -> tuple[Path, ...]:
    """The folder and those above it up to the top of its repository; folders beyond belong to others."""
    root = root_of(folder)
    here = Path(os.path.realpath(folder))
    if root is None:
        return (here,)
    return tuple(each for each in (here, *here.parents) if each.is_relative_to(root))


def _shown_path(path: Path) -> str:
    return near(path).as_posix()
