"""The file of the history, opened: to write, one process after the other, or to read, which never changes it.

A database that a team shares has the same tables and views, so the same SQL asks both.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ireval.baselines.files import near
from pytest_ireval.errors import HistoryError, Problem
from pytest_ireval.repositories.git import root_of
from pytest_ireval.retrieval.queries import composed

if TYPE_CHECKING:
    from sqlite3 import Connection


Value = str | float | None


class Cursor(Protocol):
    """The rows that a statement returns."""

    def fetchone(self) -> Any:
        """The next one, or None."""
        ...

    def fetchall(self) -> Sequence[Any]:
        """All of them."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """An open database: a connection of SQLite, or one that takes the same SQL, with ``?`` for each value."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Cursor:
        """Execute a statement once."""
        ...

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> object:
        """Execute it for each row of values."""
        ...


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
            connection.create_function("composed", 1, composed)  # slices were kept as files spelled them
            connection.execute("BEGIN")  # all that is asked is of one moment
            yield connection
        finally:
            connection.close()


def storable(*values: Value) -> tuple[Value, ...]:
    """The values as databases take them.

    Bytes that are not UTF-8, as in the name of a folder, and zero bytes are spelled out. Infinite figures are left out.
    """
    return tuple(map(_bound, values))


def _bound(value: Value) -> Value:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str) and (not value.isascii() or "\0" in value):
        return value.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
    return value


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
        copy.execute("PRAGMA foreign_keys = ON")
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


_RUN = "date repository branch pull_request commit_id dirty origin"
_FIGURES = 'metric slice value baseline "change" sd queries low high verdict'
_TREND = f"{_RUN} suite path {_FIGURES} suite_verdict accepted reason link run run_key".split()
_ACCEPTANCES = f"{_RUN} suite path reason link run run_key".split()
_OTHERS = {"value": "figures.now", "run": "runs.id", "suite": "suites.name", "suite_verdict": "suites.verdict"}
_OTHERS |= {name: f"figures.{name}" for name in _FIGURES.split() if name not in _OTHERS}
_OTHERS |= {name: f"suites.{name}" for name in ("path", "accepted", "reason")}
_JOINED = "FROM runs JOIN suites ON suites.run = runs.id"


def _columns(names: list[str]) -> str:
    return ", ".join(f"{_OTHERS.get(name, f'runs.{name}')} AS {name}" for name in names)


VIEWS = {
    "trend": f"SELECT {_columns(_TREND)} {_JOINED} JOIN figures ON figures.suite = suites.id",
    "latest": f"""SELECT {", ".join(_TREND)} FROM (SELECT trend.*, ROW_NUMBER() OVER (
        PARTITION BY repository, branch, suite, path, metric, slice ORDER BY date DESC, run DESC) AS place
        FROM trend) AS numbered WHERE place = 1""",  # noqa: S608 - all of it is ours
    "acceptances": f"SELECT {_columns(_ACCEPTANCES)} {_JOINED} WHERE suites.accepted = 1",
}
"""For programs that draw tables and charts: every figure, the newest of each branch, and what was accepted."""
ADDED = ("repository", "pull_request", "link", "run_key", "sent")
"""The columns of a run since version 3; ``sent`` is the mark of the shared database that has it."""
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
    (
        *(f"ALTER TABLE runs ADD COLUMN {name} TEXT NOT NULL DEFAULT ''" for name in ADDED),
        # equal runs are numbered, so that they have the same keys in each copy of a file
        """UPDATE runs SET run_key = key || coalesce('-' || (
            SELECT nullif(count(*), 0) FROM runs AS earlier
            WHERE earlier.key = runs.key AND earlier.id < runs.id), '')""",
        "CREATE UNIQUE INDEX runs_by_run_key ON runs (run_key)",
        # other programs cannot follow a reference that names no column
        "PRAGMA legacy_alter_table = ON",  # views that people added do not stop a renaming
        """CREATE TABLE new_suites (
            id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, name TEXT NOT NULL,
            path TEXT NOT NULL, verdict TEXT NOT NULL, planned INTEGER NOT NULL, judged INTEGER NOT NULL,
            accepted INTEGER NOT NULL, reason TEXT NOT NULL)""",
        """CREATE TABLE new_figures (
            id INTEGER PRIMARY KEY, suite INTEGER NOT NULL REFERENCES new_suites (id) ON DELETE CASCADE,
            metric TEXT NOT NULL, slice TEXT NOT NULL, now REAL, baseline REAL, change REAL, sd REAL, queries INTEGER,
            low REAL, high REAL, verdict TEXT NOT NULL)""",
        "INSERT INTO new_suites SELECT * FROM suites",
        "INSERT INTO new_figures SELECT * FROM figures",
        "DROP TABLE figures",
        "DROP TABLE suites",
        "ALTER TABLE new_suites RENAME TO suites",
        "ALTER TABLE new_figures RENAME TO figures",
        "PRAGMA legacy_alter_table = OFF",
        "CREATE INDEX suites_of_runs ON suites (run)",
        "CREATE INDEX suites_by_name ON suites (name)",
        "CREATE INDEX figures_of_suites ON figures (suite)",
        *(f"CREATE VIEW {name} AS {sql}" for name, sql in VIEWS.items()),
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
    named = f"{below[0]} names the one below" if below else "FILE names another one"
    raise HistoryError(
        Problem(
            f"no {USUAL} in this folder or above it",
            suggestion=f"--history {named}, or ireval_history in pytest's ini file",
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
