"""The record that the history keeps of a run and of its job, and how runs are added, deleted and rebuilt from git."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from pytest_ireval.baselines.files import RECORD
from pytest_ireval.baselines.merging import FOLDER
from pytest_ireval.baselines.reading import record_from
from pytest_ireval.baselines.record import Acceptance, Record, begins_record
from pytest_ireval.baselines.writing import is_anchor
from pytest_ireval.errors import BaselineError, HistoryError, Problem
from pytest_ireval.history.database import WAIT, Database, reading, shrink, storable, writing
from pytest_ireval.repositories.git import asked, blob, git
from pytest_ireval.results.outcome import SliceFigures, worst_of
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult

_SERVER = re.compile(r"(?:[a-z+]+://)?(?:.*@)?(?:\[[^]/]*\]|[^/:]+)(?::[0-9]+(?=/))?[:/]", re.IGNORECASE | re.DOTALL)
"""The beginning of the address of a remote, as in ``https://host/`` or ``git@host:``; a login may hold anything."""
_OF_GITHUB = re.compile(r"refs/pull/([0-9]+)/")


class Job(NamedTuple):
    """A field is empty where neither the CI system nor git reports it."""

    repository: str = ""
    """The name on its code host, as ``acme/search``."""
    pull_request: str = ""
    link: str = ""


NO_JOB = Job()


def job_at(folder: Path) -> Job:
    """The job, from the variables of its CI system; without one, the repository of ``folder`` by its remote."""
    say = os.environ.get
    if say("GITHUB_ACTIONS") == "true":
        request = _OF_GITHUB.match(say("GITHUB_REF", ""))
        page = f"{say('GITHUB_SERVER_URL')}/{say('GITHUB_REPOSITORY')}/actions/runs/{say('GITHUB_RUN_ID')}"
        return Job(say("GITHUB_REPOSITORY", ""), request[1] if request else "", _page(page))
    if say("GITLAB_CI"):
        return Job(say("CI_PROJECT_PATH", ""), say("CI_MERGE_REQUEST_IID", ""), _page(say("CI_JOB_URL", "")))
    remote = say("GIT_URL", "") if say("JENKINS_URL") else ""
    if not remote:
        remote = os.fsdecode(git(folder, "remote", "get-url", "origin") or b"").strip()
    jenkins = (say("CHANGE_ID", ""), _page(say("BUILD_URL", ""))) if say("JENKINS_URL") else ("", "")
    return Job(_name_in(remote), *jenkins)


def _page(address: str) -> str:
    """An address that a page may link to."""
    return address if address.startswith(("https://", "http://")) else ""


def _name_in(remote: str) -> str:
    """``acme/search`` of any address of it; empty for a folder, whose name differs from machine to machine."""
    server = _SERVER.match(remote)
    if server is None or "@" in remote[server.end() :] or remote.lower().startswith(("/", ".", "file:")):
        return ""
    return re.split("[?#]", remote[server.end() :])[0].strip("/").removesuffix(".git")


Origin = Literal["run", "results", "git"]
"""Who told of a run: it itself, its ``results.json``, or the git history of a baseline."""
ALL = "all"
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@dataclass(frozen=True)
class KeptFigures:
    """One metric on one slice; None where there is nothing."""

    metric: str
    slice: str
    now: float | None
    baseline: float | None = None
    change: float | None = None
    """Over the queries that both sides have."""
    sd: float | None = None
    """The standard deviation of the differences."""
    queries: int | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    """The worst of the rules about it; empty where there is none."""


@dataclass(frozen=True)
class KeptSuite:
    """One suite in a run."""

    name: str
    path: str
    verdict: str
    """Empty where the run is known only from its baseline."""
    planned: int = 0
    judged: int = 0
    """The number of them that the run was asked for."""
    accepted: bool = False
    """True if the run wrote the suite's baseline."""
    reason: str = ""
    figures: tuple[KeptFigures, ...] = ()


@dataclass(frozen=True)
class KeptRun:
    """One run."""

    date: str
    commit: str
    branch: str
    dirty: bool
    verdict: str
    version: str
    suites: tuple[KeptSuite, ...]
    origin: Origin = "run"
    job: Job = NO_JOB
    run_key: str = ""
    """Its name in every database; for a run that files or git tell of, the fingerprint."""
    fingerprint: str = ""
    """The key that a database has for it."""

    @property
    def key(self) -> str:
        """A fingerprint that is equal for equal runs, whether from the run itself, a file or git."""
        if self.fingerprint:
            return self.fingerprint
        suites = [[*_OF_SUITE(suite), [_OF_FIGURES(each) for each in suite.figures]] for suite in self.suites]
        return hashlib.sha256(json.dumps([*_OF_RUN(self), suites]).encode()).hexdigest()[:32]


_OF_RUN = attrgetter("date", "commit", "branch", "dirty", "verdict", "version")
RUN = ("date", "commit_id", "branch", "dirty", "verdict", "version", "key", "origin", *Job._fields, "run_key")
SUITE = ("name", "path", "verdict", "planned", "judged", "accepted", "reason")
"""The columns of both tables, without those that number their rows."""
_OF_SUITE = attrgetter(*SUITE)
FIGURES = tuple(each.name for each in fields(KeptFigures))
"""The columns are called as the fields."""
_OF_FIGURES = attrgetter(*FIGURES)


def kept_run(run: RunResult, origin: Origin = "run", place: str = "", job: Job = NO_JOB) -> KeptRun:
    """The record of a run; ``place`` is its name in messages. Raises HistoryError where its date is invalid."""
    if not DATE.fullmatch(run.date):
        allowed = "as in 2026-11-20T19:20:00Z"
        raise HistoryError(Problem(f"{run.date!r} is not a valid date of a run", place, ("date",), allowed=allowed))
    suites = []
    for suite in run.suites:
        accepted, counts = suite.name in run.accepted, (len(suite.planned), len(suite.outcomes))
        reason, figures = run.reason if accepted else "", tuple(_figures(suite))
        suites.append(KeptSuite(suite.name, suite.path, suite.verdict, *counts, accepted, reason, figures))
    about = (run.date, run.commit, run.branch, bool(run.dirty), run.verdict, run.version)
    return KeptRun(*about, tuple(suites), origin, job)


def _figures(suite: SuiteResult) -> Iterator[KeptFigures]:
    """All queries first, then each slice that a rule compared with the baseline of the suite."""
    names = {metric.name for metric in suite.metrics}
    for metric in suite.metrics:
        if metric.now is not None:
            values = suite.queries.now.get(metric.name)
            paired = metric.worse + metric.better + metric.same
            counted = None if values is None else sum(value is not None for value in values)
            yield _kept(suite, metric.name, ALL, metric, int(paired) or counted)
    slices: dict[tuple[str, str], SliceFigures] = {}
    for outcome in suite.outcomes:
        for figures in outcome.figures if outcome.metric in names and not outcome.against else ():
            known = slices.get((outcome.metric, figures.slice))
            # several rules may look at one slice; one that knows the spread says more
            more = known is None or (known.sd is None and figures.sd is not None)
            if figures.slice != ALL and figures.baseline is not None and more:
                slices[outcome.metric, figures.slice] = figures
    for (name, part), figures in sorted(slices.items()):
        yield _kept(suite, name, part, figures, int(figures.queries))


def _kept(
    suite: SuiteResult, metric: str, part: str, of: MetricFigures | SliceFigures, queries: int | None
) -> KeptFigures:
    now, baseline, change, sd = map(_number, (of.now, of.baseline, of.change, of.sd))
    about = tuple(each.verdict for each in suite.outcomes if (each.metric, each.slice) == (metric, part))
    verdict = worst_of(about) if about else ""
    return KeptFigures(metric, part, now, baseline, change, sd, queries, _number(of.low), _number(of.high), verdict)


def _number(value: float | None) -> float | None:
    """As the database and JSON know it, whatever kind of number it was; None if it is not finite."""
    return None if value is None or not math.isfinite(value) else float(value)


class Merged(NamedTuple):
    """The result of merging."""

    added: int = 0
    known: int = 0
    """Runs that the history had already."""


def append(path: Path, run: KeptRun, *, wait: float = WAIT) -> None:
    """Add the run even if it is like an earlier one: repeated tries until a run is green stay visible."""
    with writing(path, wait=wait) as connection:
        _add(connection, replace(run, run_key=uuid4().hex))


def merge(path: Path, runs: Iterable[KeptRun], *, wait: float = WAIT) -> Merged:
    """All of them are in the history, each once; those that files tell of come before those of git, who knows less."""
    ordered = sorted(runs, key=lambda run: (run.origin == "git", run.date))
    if not ordered:
        return Merged()
    with writing(path, wait=wait) as connection:
        added = sum(merged(connection, run) for run in ordered)
    return Merged(added, len(ordered) - added)


def merged(connection: Database, run: KeptRun) -> bool:
    """Add a run that the database lacks; False if it has this run, or the same from a better source."""
    known = connection.execute('SELECT run_key FROM runs WHERE "key" = ? OR run_key = ?', storable(run.key, _name(run)))
    keys = {key for (key,) in known.fetchall()}
    if _name(run) in keys or (keys and run.origin != "run"):
        return False
    if run.origin == "git":
        return _merge_acceptance(connection, run)
    _add(connection, run)
    return True


def _name(run: KeptRun) -> str:
    return run.run_key or run.key


def _merge_acceptance(connection: Database, run: KeptRun) -> bool:
    """Take an acceptance from git where the history has none, and its reason where none is known."""
    (suite,) = run.suites
    known = _acceptances(connection, run, suite)
    if any(origin != "git" or figures for _, _, origin, figures in known):
        for row, _, _, _ in known:
            connection.execute("UPDATE suites SET reason = ? WHERE id = ? AND reason = ''", storable(suite.reason, row))
        return False
    if known and not suite.figures:
        return False
    _add(connection, run)
    return not known


def _add(connection: Database, run: KeptRun) -> None:
    """Add a run, and remove what files told of it, and git of its acceptances: the run itself knows more."""
    for suite in run.suites:
        if suite.accepted:
            told = _acceptances(connection, run, suite)
            for number in {number for _, number, origin, _ in told if origin == "git"}:
                connection.execute("DELETE FROM runs WHERE id = ?", (number,))
    connection.execute("DELETE FROM runs WHERE \"key\" = ? AND origin = 'results'", (run.key,))
    about = (*_OF_RUN(run), run.key, run.origin, *run.job, _name(run))
    _insert(connection, "runs", RUN, [about])
    ((number,),) = connection.execute("SELECT id FROM runs WHERE run_key = ?", storable(_name(run))).fetchall()
    _insert(connection, "suites", ("run", *SUITE), [(number, *_OF_SUITE(suite)) for suite in run.suites])
    numbers = connection.execute("SELECT id FROM suites WHERE run = ? ORDER BY id", (number,)).fetchall()
    figures = [(row, *_OF_FIGURES(each)) for (row,), of in zip(numbers, run.suites, strict=True) for each in of.figures]
    _insert(connection, "figures", ("suite", *FIGURES), figures)


def _insert(connection: Database, table: str, names: Sequence[str], values: list[tuple[Any, ...]]) -> None:
    if values:
        quoted, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
        sql = f"INSERT INTO {table} ({quoted}) VALUES ({marks})"  # noqa: S608 - the names are ours
        connection.executemany(sql, [storable(*each) for each in values])


AT_ONCE = 100
"""Runs that are read together: a statement may have 999 values."""


def stored(connection: Database, keys: Sequence[str]) -> Iterator[KeptRun]:
    """The runs of these keys, as another database takes them."""
    for first in range(0, len(keys), AT_ONCE):
        some = keys[first : first + AT_ONCE]
        figures: dict[int, list[KeptFigures]] = {}
        for suite, *figure in _selected(connection, "figures", ("suite", *FIGURES), some):
            figures.setdefault(suite, []).append(KeptFigures(*figure))
        suites: dict[int, list[KeptSuite]] = {}
        for run, number, name, path, *about in _selected(connection, "suites", ("run", "id", *SUITE), some):
            verdict, planned, judged, accepted, reason = about
            all_of_it = tuple(figures.get(number, ()))
            kept = KeptSuite(name, path, verdict, planned, judged, bool(accepted), reason, all_of_it)
            suites.setdefault(run, []).append(kept)
        for number, date, commit, branch, dirty, *about in _selected(connection, "runs", ("id", *RUN), some):
            verdict, version, key, origin, *job, run_key = about
            of_it = tuple(suites.get(number, ()))
            yield KeptRun(date, commit, branch, bool(dirty), verdict, version, of_it, origin, Job(*job), run_key, key)


_FROM = {
    "runs": "runs",
    "suites": "suites JOIN runs ON runs.id = suites.run",
    "figures": "figures JOIN suites ON suites.id = figures.suite JOIN runs ON runs.id = suites.run",
}


def _selected(connection: Database, table: str, names: Sequence[str], keys: Sequence[str]) -> Sequence[Any]:
    columns, marks = ", ".join(f'{table}."{name}"' for name in names), ", ".join("?" * len(keys))
    order = "runs.date, runs.id" if table == "runs" else f"{table}.id"
    sql = f"SELECT {columns} FROM {_FROM[table]} WHERE runs.run_key IN ({marks}) ORDER BY {order}"  # noqa: S608 - all of it is ours
    return connection.execute(sql, tuple(keys)).fetchall()


def _acceptances(connection: Database, run: KeptRun, suite: KeptSuite) -> Sequence[tuple[int, int, str, int]]:
    """Those of the suite at that moment: row of the suite, run, who told of it, and how many figures there are."""
    # a run that was started outside of the repository knows no commit, and its baseline does
    return connection.execute(
        """SELECT suites.id, runs.id, runs.origin, (SELECT count(*) FROM figures WHERE figures.suite = suites.id)
        FROM suites JOIN runs ON runs.id = suites.run
        WHERE suites.name = ? AND suites.accepted = 1 AND runs.date = ?
            AND (runs.commit_id = ? OR runs.commit_id = '' OR ? = '')
            AND (runs.repository = ? OR runs.repository = '' OR ? = '')""",
        storable(suite.name, run.date, run.commit, run.commit, run.job.repository, run.job.repository),
    ).fetchall()


class Old(NamedTuple):
    """The runs that a pruning would delete, or has deleted."""

    runs: int
    acceptances: int
    """Suites that those runs accepted."""
    first: str
    """The date of the oldest; empty where there is none."""
    last: str
    kept: int
    """The number of runs that stay."""


def old_runs(path: Path, before: str = "", keep: int | None = None) -> Old:
    """The runs that :func:`prune` would delete."""
    with reading(path) as connection:
        return Old(0, 0, "", "", 0) if connection is None else _old(connection, before, keep)


def prune(path: Path, before: str = "", keep: int | None = None) -> Old:
    """Delete runs before a date, or all but the newest ``keep``, and make the file as small as possible."""
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


def _old(connection: Database, before: str, keep: int | None) -> Old:
    condition, value = _condition(before, keep)
    runs, first, last = connection.execute(
        f"SELECT count(*), coalesce(min(date), ''), coalesce(max(date), '') FROM runs WHERE {condition}",  # noqa: S608 - as above
        (value,),
    ).fetchone()
    (acceptances,) = connection.execute(
        f"SELECT count(*) FROM suites WHERE accepted = 1 AND run IN (SELECT id FROM runs WHERE {condition})",  # noqa: S608 - as above
        (value,),
    ).fetchone()
    (total,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return Old(runs, acceptances, first, last, total - runs)


CHANGED = re.compile(rb":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [AMT]\0([^\0]+)\0")
"""The id that git has for the new content, and the path."""


class FromGit(NamedTuple):
    """The acceptances of baselines that git knows."""

    runs: tuple[KeptRun, ...]
    """One for each acceptance."""
    versions: int
    """The number of versions that baselines had, unreadable ones included."""
    unread: tuple[str, ...] = ()
    """Those that could not be read, and why."""
    shallow: bool = False
    """True if the clone has only a part of the history."""


def acceptances_in_git(folder: Path) -> FromGit:
    """All acceptances of baselines in ``folder`` and below; HistoryError where git cannot say."""
    found: dict[tuple[str, Acceptance], KeptRun] = {}
    unread = []
    records = []
    for content, path in _versions(folder):
        if is_anchor(Path(path).stem):
            continue  # it repeats a baseline, and what was pinned is no suite
        try:
            record = _record(content, path, folder)
        except BaselineError as error:
            unread.append(f"{path} ({content[:7]}): {error.problems[0].complaint}")
            continue
        if record is None:
            continue
        records.append((record, path))
        accepted = record.baseline.accepted
        found.setdefault((record.baseline.suite, accepted), _run(record, path, accepted))
    for record, path in records:  # acceptances that were never committed on their own are at least dates and reasons
        for accepted in record.baseline.acceptances:
            found.setdefault((record.baseline.suite, accepted), _run(record, path, accepted, figures=False))
    shallow = (git(folder, "rev-parse", "--is-shallow-repository") or b"").strip() == b"true"
    return FromGit(tuple(found.values()), len(records) + len(unread), tuple(unread), shallow)


def _versions(folder: Path) -> Iterator[tuple[str, str]]:
    """Git's id of each content that a baseline ever had, the newest first, and its path."""
    how = ("-m", "--raw", "--no-abbrev", "--no-renames", "--relative", "--format=", "-z")
    answer = asked(folder, "log", *how, "--", f":(glob)**/{FOLDER}/*.{RECORD}", patience=300.0)
    if answer.status != 0:
        said = answer.said.splitlines()[-1] if answer.said else "git gave no reason"
        raise HistoryError(Problem(f"git cannot list earlier baselines: {said}", place=str(folder)))
    yield from dict.fromkeys((id_.decode("ascii"), os.fsdecode(path)) for id_, path in CHANGED.findall(answer.out))


def _record(content: str, path: str, folder: Path) -> Record | None:
    """The record of the content; None of JSON that is not a baseline."""
    data = blob(content, folder)
    if data is not None and data[:1] in (b"{", b"[") and not begins_record(data):
        return None
    record = record_from(lambda _: data, lambda _: path, content[:7])
    if record is None:
        raise BaselineError(Problem("git does not have this file's content here", place=path))
    if not DATE.fullmatch(record.baseline.accepted.date):
        raise BaselineError(Problem("has no valid date of acceptance", place=path))
    return record


def _run(record: Record, path: str, accepted: Acceptance, *, figures: bool = True) -> KeptRun:
    metrics = record.baseline.metrics if figures else {}
    kept = tuple(
        KeptFigures(name, ALL, metric.value, queries=len(metric.values) or None)
        for name, metric in metrics.items()
        if metric.value is not None
    )
    suite = KeptSuite(record.baseline.suite, path, "", accepted=True, reason=accepted.reason, figures=kept)
    return KeptRun(accepted.date, accepted.commit, accepted.branch, accepted.dirty, "", "", (suite,), "git")
