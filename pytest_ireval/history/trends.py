"""One figure from run to run, and how far its differences spread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

from pytest_ireval.history.database import Cursor, Database, Value, reading, storable
from pytest_ireval.history.kept import ALL, DATE, KeptFigures, KeptRun, KeptSuite, job_at, kept_run
from pytest_ireval.results.outcome import VERDICTS, Verdict
from pytest_ireval.results.suite_result import RunResult, SuiteResult, Trend, TrendPoint
from pytest_ireval.retrieval.queries import composed


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
    repository: str = ""
    """Empty where neither CI nor git knew it."""
    pull_request: str = ""
    link: str = ""
    """The page of the job."""
    run_key: str = ""
    """The name of the run in every database."""

    @property
    def partly(self) -> bool:
        """True if the run was asked for only a part of the suite."""
        return self.judged < self.planned


class Wanted(NamedTuple):
    """The rows that are wanted; an empty field filters nothing."""

    suite: str = ""
    metric: str = ""
    slice: str = ""
    branch: str = ""
    since: str = ""
    """A date, or the beginning of one."""
    repository: str = ""


EVERYTHING = Wanted()
COLUMNS = {"suite": "suites.name", "metric": "figures.metric", "slice": "composed(coalesce(figures.slice, ''))"}
COLUMNS |= {"branch": "runs.branch", "repository": "runs.repository"}
_JOINED = "FROM runs JOIN suites ON suites.run = runs.id LEFT JOIN figures ON figures.suite = suites.id"
ROWS = f"""
WITH attempts AS (
    SELECT suites.id AS id, ROW_NUMBER() OVER (
        PARTITION BY runs.repository, runs.commit_id, suites.name, suites.path
        ORDER BY runs.date, runs.id, suites.id) AS attempt
    FROM runs JOIN suites ON suites.run = runs.id
    WHERE runs.commit_id <> '' AND runs.dirty = 0 AND runs.origin <> 'git')
SELECT runs.id, runs.date, runs.commit_id, runs.branch, runs.dirty, runs.origin, runs.verdict,
    attempts.attempt,
    suites.name, suites.path, suites.verdict, suites.planned, suites.judged, suites.accepted, suites.reason,
    coalesce(figures.metric, ''), coalesce(figures.slice, ''), figures.now, figures.baseline, figures.change,
    figures.sd, figures.queries, figures.low, figures.high, coalesce(figures.verdict, ''),
    runs.repository, runs.pull_request, runs.link, runs.run_key
{_JOINED} LEFT JOIN attempts ON attempts.id = suites.id
"""  # noqa: S608 - all of it is ours
ORDER = "ORDER BY runs.date DESC, runs.id DESC, suites.id, figures.id"


def rows(path: Path, wanted: Wanted = EVERYTHING) -> list[Row]:
    """The rows that are wanted, none where there is no history. Writers never wait for the work done on them."""
    asked = [(f"{column} = ?", value) for name, column in COLUMNS.items() if (value := getattr(wanted, name))]
    asked += [("runs.date >= ?", wanted.since)] if wanted.since else []
    where = f"WHERE {' AND '.join(condition for condition, _ in asked)}" if asked else ""
    with reading(path) as connection:
        if connection is None:
            return []
        found = connection.execute(f"{ROWS} {where} {ORDER}", storable(*(value for _, value in asked)))
        return [_row(each) for each in found]


def known(path: Path, name: str) -> tuple[str, ...]:
    """The known suites, metrics, slices or branches, sorted."""
    column = COLUMNS[name]
    with reading(path) as connection:
        if connection is None:
            return ()
        asked = f"SELECT DISTINCT {column} {_JOINED} WHERE {column} IS NOT NULL AND {column} <> '' ORDER BY 1"
        return tuple(value for (value,) in connection.execute(asked))


def _row(found: tuple[object, ...]) -> Row:
    """A line of the database, if it holds the right types: damaged bytes may be values of another kind."""
    import sqlite3

    row = Row._make((*found[:4], bool(found[4]), *found[5:13], bool(found[13]), *found[14:]))
    if not all(map(isinstance, row, _kinds())):
        raise sqlite3.DatabaseError("a figure or a name has the wrong type")
    return row


@cache
def _kinds() -> tuple[tuple[type, ...], ...]:
    return tuple(get_args(hint) or (hint,) for hint in get_type_hints(Row).values())


Point = Row
"""A run, as a point of a trend: its moment, value, change, spread, verdict, and whether it was accepted, and why."""
SPREADS = f"""SELECT figures.metric, figures.slice, figures.sd {_JOINED}
    WHERE suites.name = ? AND figures.sd > 0
        AND (suites.accepted = 1 OR (runs.branch = ? AND suites.verdict NOT IN ('fail', 'error')))
        AND (? = '' OR runs.repository IN ('', ?))
    ORDER BY runs.date, runs.id, figures.id"""


def spreads(path: Path, suite: str, branch: str) -> Mapping[tuple[str, str], list[float]]:
    """By metric and slice, the standard deviation of the differences of each run that had some, the newest last.

    Runs count that were accepted, and those of one branch in which the suite was not red: what it refuses is not a
    usual change.
    A run in which nothing changed says nothing of how far changes spread, so a spread of 0 is left out.
    """
    found: dict[tuple[str, str], list[float]] = {}
    home = job_at(path.parent).repository
    with reading(path) as connection:
        asked = storable(suite, branch, home, home)
        for metric, part, sd in () if connection is None else connection.execute(SPREADS, asked):
            found.setdefault((str(metric), composed(str(part))), []).append(float(sd))
    return found


def trend(path: Path, suite: str, metric: str, slice: str = "all") -> list[Point]:  # noqa: A002 - the word of this project
    """Every run that measured it, the newest last; acceptances that only git tells of among them.

    Runs of other repositories, which a history has that was fetched from a shared one, are left out.
    """
    home = job_at(path.parent).repository
    found = rows(path, Wanted(suite=suite, metric=metric, slice=composed(slice)))[::-1]
    return [row for row in found if not home or row.repository in ("", home)]


MOST_POINTS, MOST_TRENDS = 60, 40
"""Of a trend, the run's own included; of a suite: one with hundreds of slices has more than a reader looks at."""
PATIENCE = 5.0
"""Seconds to wait for others who write: a picture is worth no more."""
CHOSEN = """FROM suites JOIN runs ON runs.id = suites.run
    WHERE suites.name = ? AND runs.date < ? AND runs.repository IN ('', ?)
        AND (? = 1 OR runs.branch IN (?, ?, ?, ?) OR (suites.accepted = 1 AND runs.date IN ({})))
    ORDER BY runs.date DESC, runs.id DESC, suites.id DESC LIMIT ?"""
"""The runs of a trend, the newest first; ``{}`` has a ``?`` for each acceptance of the baseline."""
EARLIER = f"""
SELECT runs.date, runs.commit_id, chosen.accepted, chosen.reason, figures.metric, figures.slice, figures.now,
    figures.verdict
FROM (SELECT suites.id, suites.run, suites.accepted, suites.reason {CHOSEN}) AS chosen
JOIN runs ON runs.id = chosen.run JOIN figures ON figures.suite = chosen.id
WHERE figures.now IS NOT NULL ORDER BY runs.date, runs.id, figures.id"""  # noqa: S608 - all of it is ours
Points = Mapping[tuple[str, str], Sequence[TrendPoint]]
"""By metric and slice, the oldest first."""


def with_trends(path: Path, run: RunResult, repository: str = "") -> RunResult:
    """The run with the trends of its suites; HistoryError where the history cannot be read.

    A trend has the run's own point and earlier points: of its branch, of the base branch, of the branch whose baseline
    it is compared with, and of acceptances on other branches that the baseline includes. Other runs of other branches
    are about other changes. On no branch, as in a checkout of a bare commit, it has all of them. Earlier means an
    earlier date, so two runs of one moment get equal trends. A figure needs an earlier run to have a trend. Runs of
    other repositories are left out.
    """
    kept = kept_run(run)
    with reading(path, wait=PATIENCE) as connection:
        if connection is None:
            return run
        judged = {suite.name: suite for suite in run.suites}
        earlier = {
            suite.name: _earlier(connection, run, judged[suite.name], repository)
            for suite in kept.suites
            if suite.figures
        }
    trends = {suite.name: tuple(_trends(kept, suite, earlier.get(suite.name, {}))) for suite in kept.suites}
    return replace(run, suites=tuple(replace(suite, trends=trends[suite.name]) for suite in run.suites))


def keys_of_earlier(connection: Database, run: RunResult, repository: str) -> list[str]:
    """The runs that the trends of a run have, by their keys."""
    found: dict[str, None] = {}
    for suite in run.suites:
        asked = f"SELECT runs.run_key {CHOSEN}"
        found |= dict.fromkeys(key for (key,) in _asked(connection, asked, run, suite, repository))
    return list(found)


def _asked(connection: Database, sql: str, run: RunResult, suite: SuiteResult, repository: str) -> Cursor:
    accepted_on = suite.baseline.branch if suite.baseline else ""
    others = run.base, run.base.partition("/")[2], accepted_on  # origin/main is main there
    branches = (run.branch, *(name or run.branch for name in others))
    dates = [each.date for each in suite.acceptances[-MOST_POINTS:]] or [""]
    values: list[Value] = [suite.name, run.date, repository, int(not run.branch), *branches, *dates, MOST_POINTS - 1]
    return connection.execute(sql.format(", ".join("?" * len(dates))), storable(*values))


def _earlier(connection: Database, run: RunResult, suite: SuiteResult, repository: str) -> Points:
    found: dict[tuple[str, str], list[TrendPoint]] = {}
    for date, commit, accepted, reason, *figure, now, verdict in _asked(connection, EARLIER, run, suite, repository):
        day, value, said = str(date), float(now), str(reason) if accepted else ""
        if not DATE.fullmatch(day):
            raise ValueError(f"{day!r} is not a date")
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        point = TrendPoint(day, value, _verdict(verdict), str(commit), bool(accepted), said)
        metric, part = map(str, figure)
        found.setdefault((metric, composed(part)), []).append(point)
    return found


def _trends(run: KeptRun, suite: KeptSuite, earlier: Points) -> Iterator[Trend]:
    """All queries first, then the slices that a rule is worst about."""
    for figures in sorted(suite.figures, key=_order)[:MOST_TRENDS]:
        points = earlier.get((figures.metric, figures.slice), ())
        if points and figures.now is not None:
            reason = suite.reason if suite.accepted else ""
            verdict = _verdict(figures.verdict)
            own = TrendPoint(run.date, figures.now, verdict, run.commit, suite.accepted, reason, this=True)
            yield Trend(figures.metric, figures.slice, (*points, own))


def _order(figures: KeptFigures) -> tuple[bool, int]:
    verdict = _verdict(figures.verdict)
    return figures.slice != ALL, 0 if verdict is None else -VERDICTS.index(verdict)


def _verdict(text: str) -> Verdict | None:
    """The verdict that the database holds; ValueError if its bytes are damaged."""
    return VERDICTS[VERDICTS.index(text)] if text else None
