"""The file of the history, opened: to write, one process after the other, or to read, which never changes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ireval.errors import HistoryError, Problem
from pytest_ireval.history.place import shown_path, with_folder
from pytest_ireval.history.schema import VERSION, bring_up, version_of

if TYPE_CHECKING:
    from sqlite3 import Connection

Value = str | float | None
WAIT = 30.0
"""Seconds to wait for others who write; one of them takes milliseconds."""


@contextmanager
def writing(path: Path, *, wait: float = WAIT) -> Iterator[Connection]:
    """Nobody else writes meanwhile; what is done counts when the block ends, and not at all if it raises."""
    with _told(path, wait):
        with_folder(path)
        connection = _opened(path, "rwc", wait)
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            bring_up(connection, shown_path(path))
            yield connection
            connection.execute("COMMIT")
        finally:
            connection.close()  # what was not committed is undone


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
            if version_of(connection, shown_path(path)) < VERSION:
                connection = _brought_up(connection, path)
            connection.execute("BEGIN")  # all that is asked is of one moment
            yield connection
        finally:
            connection.close()


def bound(*values: Value) -> tuple[Value, ...]:
    """As SQLite takes them: what is no UTF-8 in a text, such as the name of a folder, is spelled out."""
    return tuple([_spelled_out(value) if isinstance(value, str) and not value.isascii() else value for value in values])


def _spelled_out(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def shrink(path: Path, *, wait: float = WAIT) -> None:
    """The room of what was deleted is given back."""
    with _told(path, wait):
        connection = _opened(path, "rw", wait)
        try:
            connection.execute("VACUUM")
        finally:
            connection.close()


def _brought_up(connection: Connection, path: Path) -> Connection:
    """A copy in memory: the file stays of its version until somebody writes."""
    import sqlite3

    copy = sqlite3.connect(":memory:", isolation_level=None)
    try:
        connection.backup(copy)
        bring_up(copy, shown_path(path))
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
    """What the system or SQLite refuses becomes an error of ours."""
    try:
        import sqlite3
    except ImportError as error:
        raise HistoryError(Problem(f"this Python comes without SQLite: {error}", shown_path(path))) from error
    try:
        yield
    except sqlite3.OperationalError as error:
        raise HistoryError(_refused(str(error), path, wait)) from error
    except (sqlite3.DatabaseError, ValueError, OverflowError) as error:
        suggestion = "move it away; ireval history rebuild makes a new one of results.json files and of git"
        raise HistoryError(Problem(f"is damaged: {error}", shown_path(path), suggestion=suggestion)) from error
    except OSError as error:
        raise HistoryError(_refused(error.strerror or str(error), path, wait)) from error


def _refused(reason: str, path: Path, wait: float) -> Problem:
    if "locked" in reason:
        return Problem(f"another process has not finished writing it within {wait:g} s", shown_path(path))
    return Problem(f"cannot be used: {reason}", shown_path(path))
