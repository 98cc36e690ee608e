"""A database that a team shares: runs are kept in a file first, then sent to it once, and fetched from it."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import unquote
from uuid import uuid4

from pytest_ireval.errors import HistoryError, Problem, tidy
from pytest_ireval.history.database import USUAL, VERSION, VIEWS, Cursor, Database, reading, storable, writing
from pytest_ireval.history.kept import AT_ONCE, FIGURES, RUN, SUITE, KeptRun, Merged, job_at, merged, stored
from pytest_ireval.history.trends import keys_of_earlier
from pytest_ireval.progress import SILENT, Progress
from pytest_ireval.results.suite_result import RunResult
from pytest_ireval.secrets import SHORTEST, VARIABLE, keep, parted, shown_address

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, TextClause

T = TypeVar("T")
ADDRESS = re.compile("[a-z][a-z0-9+.-]*://")
SQLITE = re.compile(r"sqlite(?:\+\w+)?://")
_PASSWORD = re.compile(r"(://[^:/]*):[^@]*@")
NAME = "IREVAL_HISTORY"
"""The variable that commands read; an ini file may name any."""
SECRET = re.compile("pass|secret|token|key|pwd", re.IGNORECASE)
"""Parameters of an address with such names have secret values."""

TIMED = dict.fromkeys(("psycopg", "psycopg2", "pymysql", "mysqldb"), "connect_timeout") | {"pg8000": "timeout"}
"""By driver, its argument that limits the seconds of connecting."""
LIMITS = {"lock_timeout": "25s", "statement_timeout": "30s"}
ALONE = {"idle_in_transaction_session_timeout": "60s"}
"""Others do not wait long for a process that froze while it wrote."""
TOO_LONG = ("55P03", "57014")
"""The codes of PostgreSQL for a lock that was not had, and a statement that was not done, within the limits."""


class HistoryPlace(NamedTuple):
    """The places of a run's history."""

    path: Path
    address: str = ""
    """Of the shared database; empty where there is none."""
    unset: str = ""
    """The variable that should name it, and has no value."""


def history_place(told: str, root: Path) -> HistoryPlace:
    """The places that a setting names, with variables of the environment; HistoryError if it cannot name one."""
    unset: list[str] = []

    def value(found: re.Match[str]) -> str:
        if found["escaped"]:
            return "$"
        if found["other"]:
            raise HistoryError(Problem(f"{told!r} contains a ${{ that begins no variable", allowed="${NAME:-default}"))
        text = os.environ.get(found["name"]) or found["default"] or ""
        unset.extend([] if text else [found["name"]])
        return text

    text = VARIABLE.sub(value, told).strip()
    if unset:  # as the secrets of CI are, in pull requests of forks
        return HistoryPlace(root / USUAL, unset=unset[0])
    return HistoryPlace(root / USUAL, text) if ADDRESS.match(text) else HistoryPlace(root / text)


class Shared:
    """The database at an address of SQLAlchemy, or the file at a path or at ``sqlite:///PATH``."""

    def __init__(self, address: str, patience: float = 10.0) -> None:
        self.shown, self.mark = shown_address(address), mark_of(address)
        file = SQLITE.match(address)
        path = address.partition("?")[0].partition(":///")[2] if file else address
        if not path:
            raise HistoryError(Problem("names no file", self.shown, allowed="allowed: sqlite:///folder/history.sqlite"))
        self._path, self._made = Path(path), False
        self._engine = None if file or not ADDRESS.match(address) else self._engine_of(address, patience)

    def _engine_of(self, address: str, patience: float) -> Engine:
        if not _hides_secrets(address, self.shown):
            complaint = f"the password in the address has fewer than {SHORTEST} characters, so it cannot be hidden"
            raise HistoryError(Problem(complaint, self.shown))
        try:
            import sqlalchemy
        except ImportError as error:
            suggestion = "pip install 'pytest-ireval[sql]', and the database's driver, such as 'psycopg[binary]'"
            raise HistoryError(Problem("needs sqlalchemy", self.shown, suggestion=suggestion)) from error
        try:
            url = sqlalchemy.make_url(re.sub("^postgres://", "postgresql://", address))
            if url.drivername == "postgresql" and find_spec("psycopg"):
                url = url.set(drivername="postgresql+psycopg")
            limit = TIMED.get(url.get_driver_name(), "")
            arguments = {limit: max(2, int(patience / 2))} if limit and limit not in url.query else {}
            engine = sqlalchemy.create_engine(url, connect_args=arguments, hide_parameters=True)
        except (sqlalchemy.exc.ArgumentError, sqlalchemy.exc.NoSuchModuleError, ImportError, ValueError) as error:
            suggestion = "write dialect+driver://user@host/name, and install that driver: pip install 'psycopg[binary]'"
            problem = Problem(f"cannot be opened: {_said(error)}", self.shown, suggestion=suggestion)
            raise HistoryError(problem) from None  # its text may repeat the address
        if url.get_backend_name() in ("mysql", "mariadb"):

            @sqlalchemy.event.listens_for(engine, "connect")
            def quote_as_others(connection: Any, _: object) -> None:
                connection.cursor().execute("SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES')")

        return engine

    @contextmanager
    def reading(self) -> Iterator[Database | None]:
        """The database; None where it has no history yet."""
        if self._engine is None:
            with reading(self._path) as file:
                yield file
            return
        with self._told():
            with self._limited() as connection:
                version = self._version(connection)
            if 0 < version < VERSION:
                self._bring_up()
            with self._limited() as connection:
                yield _Asked(connection) if version else None

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """Write alone; the changes count when the block ends, and not at all if it raises."""
        if self._engine is None:
            with writing(self._path) as file:
                yield file
            return
        with self._told():
            with self._limited(**ALONE) as connection:
                version = self._version(connection, lock=True)
                if version == VERSION:
                    yield _Asked(connection)
                    return
            self._bring_up()
            with self._limited(**ALONE) as connection:
                self._version(connection, lock=True)
                yield _Asked(connection)

    def close(self) -> None:
        """Close all connections."""
        if self._engine is not None:
            self._engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        import sqlalchemy

        try:
            yield
        except (sqlalchemy.exc.SQLAlchemyError, OSError, ValueError, TypeError) as error:
            waited = getattr(getattr(error, "orig", None), "sqlstate", "") in TOO_LONG
            suggestion = (
                "another session may hold a lock on its tables: look into pg_locks, or try again" if waited else ""
            )
            problem = Problem(f"cannot be used: {_said(error)}", self.shown, suggestion=suggestion)
            raise HistoryError(problem) from None

    @contextmanager
    def _limited(self, **more: str) -> Iterator[Connection]:
        """A transaction that does not wait long for others; ``more`` are other settings of PostgreSQL for it."""
        import sqlalchemy

        assert self._engine is not None  # noqa: S101 - as above
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                settings = {**LIMITS, **more}
                calls = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in settings.items())
                connection.execute(sqlalchemy.text(f"SELECT {calls}"))
            yield connection

    def _version(self, connection: Connection, *, lock: bool = False) -> int:
        """The version of the tables, 0 where there are none; ``lock`` keeps others from writing and updating them."""
        import sqlalchemy

        if not self._made:
            tables = {*sqlalchemy.inspect(connection).get_table_names()}  # all of one moment
            self._made = VERSIONS in tables
            if not self._made and (taken := sorted(tables & {*TABLES})):
                complaint = f"has the table {taken[0]} of another program"
                raise HistoryError(Problem(complaint, self.shown, suggestion="give the history a database of its own"))
        if not self._made:
            return 0
        asked = sqlalchemy.select(sqlalchemy.table(VERSIONS, sqlalchemy.column("version", sqlalchemy.Integer)))
        found = int(connection.execute(asked.with_for_update() if lock else asked).scalar_one())
        if found > VERSION:
            complaint = f"has version {found}, but this pytest-ireval reads only versions up to {VERSION}"
            suggestion = "a newer pytest-ireval wrote it; install that version"
            raise HistoryError(Problem(complaint, self.shown, suggestion=suggestion))
        return found

    def _bring_up(self) -> None:
        """Make the tables, or bring them to this version. If another process makes them meanwhile, use those."""
        import sqlalchemy

        try:
            self._brought_up()
        except sqlalchemy.exc.SQLAlchemyError:
            self._brought_up()

    def _brought_up(self) -> None:
        import sqlalchemy

        with self._limited(**ALONE) as connection:
            version = self._version(connection, lock=True)
            if not version:
                _tables().create_all(connection, checkfirst=False)
                made = [f"CREATE VIEW {name} AS {sql}" for name, sql in VIEWS.items()]
                made.append(f"INSERT INTO {VERSIONS} (version) VALUES ({VERSION})")  # noqa: S608 - all of it is ours
            else:
                made = [statement for step in STEPS[version - FIRST :] for statement in step]
                made.append(f"UPDATE {VERSIONS} SET version = {VERSION}")  # noqa: S608 - all of it is ours
            for statement in made:
                connection.execute(sqlalchemy.text(statement))


VERSIONS = "ireval_history"
"""The table that holds the version of the others."""
TABLES = ("runs", "suites", "figures")
FIRST = 3
"""The first version that a shared database may have."""
STEPS: tuple[tuple[str, ...], ...] = ()
"""The first makes version 4 of version 3, and so on; each has the same result as that of a file."""


def _tables() -> Any:
    """The tables of a file, as any database has them; the same SQL asks them."""
    import sqlalchemy as sql

    indexed = sql.Text().with_variant(sql.String(255), "mysql", "mariadb")
    number = sql.BigInteger()
    tables = sql.MetaData()

    def parent(name: str) -> sql.Column[Any]:
        target = sql.ForeignKey(f"{name}s.id", ondelete="CASCADE")
        return sql.Column(name, number, target, nullable=False, index=True)

    def text(name: str, **more: Any) -> sql.Column[Any]:
        whole = sql.Text() if name in ("path", "reason", "link") else indexed
        return sql.Column(name, whole, nullable=False, **more)

    def numbers(*names: str) -> list[sql.Column[Any]]:
        return [sql.Column(name, sql.Integer, nullable=False) for name in names]

    counts = ("dirty", "planned", "judged", "accepted")
    sql.Table(VERSIONS, tables, *numbers("version"))
    sql.Table(
        "runs",
        tables,
        sql.Column("id", number, primary_key=True),
        *(text(name, unique=name == "run_key", index=name in ("key", "date")) for name in RUN if name not in counts),
        *numbers("dirty"),
    )
    sql.Table(
        "suites",
        tables,
        sql.Column("id", number, primary_key=True),
        parent("run"),
        *(text(name, index=name == "name") for name in SUITE if name not in counts),
        *numbers(*counts[1:]),
    )
    sql.Table(
        "figures",
        tables,
        sql.Column("id", number, primary_key=True),
        parent("suite"),
        *(text(name) for name in ("metric", "slice", "verdict")),
        *(sql.Column(name, sql.Double) for name in FIGURES if name not in ("metric", "slice", "verdict", "queries")),
        sql.Column("queries", sql.Integer),
    )
    return tables


class _Asked:
    """A connection of SQLAlchemy that takes the SQL of files."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Cursor:
        return self._connection.execute(_text(sql), _by_name(values))

    def executemany(self, sql: str, values: Iterable[Sequence[Any]], /) -> object:
        return self._connection.execute(_text(sql), [*map(_by_name, values)])


@lru_cache(256)
def _text(sql: str) -> TextClause:
    """The same with a name for each value, for there is one spelling of names and many of marks."""
    import sqlalchemy

    first, *others = sql.split("?")
    return sqlalchemy.text(first + "".join(f":v{number}{rest}" for number, rest in enumerate(others)))


def _by_name(values: Sequence[Any]) -> dict[str, Any]:
    return {f"v{number}": int(value) if isinstance(value, bool) else value for number, value in enumerate(values)}


def _said(error: Exception) -> str:
    """The message of the database, without the SQL that SQLAlchemy and PostgreSQL add."""
    return re.split(r"\s+LINE \d+:", " ".join(tidy(str(getattr(error, "orig", None) or error))[:3]))[0]


def _hides_secrets(address: str, shown: str) -> bool:
    """Hide the password of an address and its secret parameters from now on; False if one is too short for that."""
    _, login, parameters = parted(address)
    password = login.partition(":")[2]
    read = password.partition("@")[0]  # by SQLAlchemy; what follows may be parameters, or more of it by mistake
    secrets = [read, *(value for name, _, value in (each.partition("=") for each in parameters) if SECRET.search(name))]
    for secret in (address if password != read else "", password, *secrets):
        if secret not in shown:  # as "postgres" is
            keep(NAME, secret)
            keep(NAME, unquote(secret))
    return all(not secret or len(unquote(secret)) >= SHORTEST for secret in secrets)


def mark_of(address: str) -> str:
    """The name of a shared database in the file: it holds no secret, and another database has another one.

    It is the address as it is shown, with a part of a digest if there are a user or parameters: any of them may select
    another database. Passwords may change, and are left out.
    """
    shown = shown_address(address)
    if SQLITE.match(address) or not ADDRESS.match(address):
        return shown
    before, *after = _PASSWORD.sub(r"\1@", address, count=1).split("?", 1)
    kept = [each for each in "".join(after).split("&") if each and not SECRET.search(each.partition("=")[0])]
    rest = "?".join([before, *filter(None, ["&".join(kept)])])
    return shown if rest == shown else f"{shown} {hashlib.sha256(rest.encode('utf-8', 'replace')).hexdigest()[:8]}"


def push(path: Path, shared: Shared, progress: Progress = SILENT) -> Merged:
    """The shared database has all runs of the file, each once; if this is interrupted, the next call goes on."""
    with reading(path) as own:
        keys = [] if own is None else [key for (key,) in own.execute("SELECT run_key FROM runs ORDER BY date, id")]
    with shared.reading() as other:
        lacking = _lacking(keys, other)
    progress.expect(len(lacking), "runs")
    there = {*keys} - {*lacking}
    _mark(path, there, shared.mark)
    added = _send(path, lacking, shared, progress)
    return Merged(added, len(keys) - added)


def pull(path: Path, shared: Shared, repository: str = "", progress: Progress = SILENT) -> Merged:
    """The file has all runs of the shared database, each once; or those of one repository."""
    where, values = ("WHERE repository = ? ", (repository,)) if repository else ("", ())
    added = known = 0
    with shared.reading() as other:
        if other is None:
            raise HistoryError(Problem("has no history", shared.shown, suggestion="ireval history push makes one"))
        asked = f"SELECT run_key FROM runs {where}ORDER BY date, id"  # noqa: S608 - all of it is ours
        keys = [key for (key,) in other.execute(asked, storable(*values))]
        with reading(path) as own:
            lacking = _lacking(keys, own)
        progress.expect(len(lacking), "runs")
        for some in _pieces(lacking):
            added += _take(path, [*stored(other, some)], shared)
            progress.advance(len(some))
    known = len(keys) - added
    return Merged(added, known)


def send_waiting(path: Path, shared: Shared, stop: threading.Event) -> int:
    """Send the runs that the shared database may lack; the number of those that it lacked."""
    return _send(path, waiting(path, shared.mark), shared, SILENT, stop)


def send_one(run: KeptRun, shared: Shared) -> bool:
    """Send a run that no file keeps."""
    return _sent(replace(run, run_key=uuid4().hex), shared)


def fetch_earlier(path: Path, shared: Shared, run: RunResult, repository: str) -> None:
    """The file has the runs of the shared database that the trends of this run show."""
    with shared.reading() as other:
        if other is None:
            return
        keys = keys_of_earlier(other, run, repository)
        with reading(path) as own:
            lacking = _lacking(keys, own)
        runs = [*stored(other, lacking)]
    if runs:
        _take(path, runs, shared)


def waiting(path: Path, mark: str) -> list[str]:
    """The keys of runs that were not sent to the database with this mark yet, the earliest first."""
    with reading(path) as own:
        asked = "SELECT run_key FROM runs WHERE sent <> ? ORDER BY date, id"
        return [] if own is None else [key for (key,) in own.execute(asked, storable(mark))]


def in_time(work: Callable[[threading.Event], T], seconds: float, shown: str) -> T:
    """The result of the work; HistoryError if it takes longer: then it ends itself, at its next step or with us."""
    stop, done = threading.Event(), list[T]()
    failed: list[Exception] = []

    def working() -> None:
        try:
            done.append(work(stop))
        except Exception as error:  # noqa: BLE001 - it is raised again in the thread that waits
            failed.append(error)

    thread = threading.Thread(target=working, name="ireval-history", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not done:
        stop.set()
        raise HistoryError(Problem(f"no answer in {seconds:g} s", shown))
    return done[0]


MOST_REFUSED = 10
"""A database that refuses this many runs takes none of them: it may only be read."""


def _send(
    path: Path, keys: Sequence[str], shared: Shared, progress: Progress, stop: threading.Event | None = None
) -> int:
    """Send them, one transaction for each; HistoryError at the end if a run is refused, at once if no answer comes."""
    repository = job_at(path.parent).repository
    added, refused = 0, list[HistoryError]()
    for some in _pieces(keys):
        with reading(path) as own:
            runs = [] if own is None else [*stored(own, some)]
        sent: list[str] = []
        try:
            for run in runs:
                if stop is not None and stop.is_set():
                    return added
                try:
                    added += _sent(_at_home(run, repository), shared)
                    sent.append(run.run_key)
                except HistoryError as error:
                    refused.append(error)
                    if len(refused) == MOST_REFUSED:
                        raise
                    with shared.reading():
                        pass  # it answers: others may be sent
                progress.advance(1)
        finally:
            _mark(path, sent, shared.mark)
    if refused:
        raise refused[0]
    return added


def _sent(run: KeptRun, shared: Shared) -> bool:
    with shared.writing() as other:
        return merged(other, run)


def _at_home(run: KeptRun, repository: str) -> KeptRun:
    """A run of an earlier version, or one that git tells of, with the repository of its file."""
    return run if run.job.repository else replace(run, job=run.job._replace(repository=repository))


def _mark(path: Path, keys: Iterable[str], mark: str) -> None:
    marks = [storable(mark, key) for key in keys]
    if marks:
        with suppress(HistoryError), writing(path) as own:  # else they are sent again, and found to be known
            own.executemany("UPDATE runs SET sent = ? WHERE run_key = ?", marks)


def _take(path: Path, runs: Iterable[KeptRun], shared: Shared) -> int:
    with writing(path) as own:
        added = 0
        for run in runs:
            added += merged(own, run)
            own.execute("UPDATE runs SET sent = ? WHERE run_key = ?", storable(shared.mark, run.run_key))
        return added


def _lacking(keys: Sequence[str], database: Database | None) -> list[str]:
    """Those of the keys that a database does not have."""
    known = set[str]()
    for some in _pieces(keys) if database is not None else ():
        asked = f"SELECT run_key FROM runs WHERE run_key IN ({', '.join('?' * len(some))})"  # noqa: S608 - only marks
        known |= {key for (key,) in database.execute(asked, tuple(some))} if database is not None else set()
    return [key for key in keys if key not in known]


def _pieces(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[first : first + AT_ONCE] for first in range(0, len(keys), AT_ONCE))
