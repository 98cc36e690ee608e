"""The figures of a run beside those of earlier ones: what its report draws as lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ireval.history.database import bound, reading
from pytest_ireval.history.kept import ALL, DATE, KeptFigures, KeptRun, KeptSuite, kept_run
from pytest_ireval.results.curves import Trend, TrendPoint
from pytest_ireval.results.outcome import VERDICTS, Verdict
from pytest_ireval.results.suite_result import RunResult

if TYPE_CHECKING:
    from sqlite3 import Connection

MOST_POINTS = 60
"""Of a trend, that of the run itself included."""
MOST_TRENDS = 40
"""Of a suite; one that is judged on hundreds of slices has more figures than anybody looks at."""
PATIENCE = 5.0
"""Seconds to wait for others who write: a picture is worth no more."""
EARLIER = """
SELECT runs.date, runs.commit_id, chosen.accepted, chosen.reason, figures.metric, figures.slice, figures.now,
    figures.verdict
FROM (
    SELECT suites.id, suites.run, suites.accepted, suites.reason FROM suites JOIN runs ON runs.id = suites.run
    WHERE suites.name = ? AND runs.date < ?
        AND (suites.accepted OR ? OR runs.branch IN (?, ?, ?, ?))
    ORDER BY runs.date DESC, runs.id DESC, suites.id DESC LIMIT ?) AS chosen
JOIN runs ON runs.id = chosen.run JOIN figures ON figures.suite = chosen.id
WHERE figures.now IS NOT NULL ORDER BY runs.date, runs.id, figures.id"""
Points = Mapping[tuple[str, str], Sequence[TrendPoint]]
"""By metric and slice, the oldest first."""


def with_trends(path: Path, run: RunResult) -> RunResult:
    """The run with the trends of its suites; HistoryError where the history cannot be read.

    Beside its own point a trend has those of earlier runs on its branch, on the branch that it is held against, on the
    one whose baseline it is compared with, and wherever something was accepted: what was tried on other branches is
    about other changes. On no branch, such as in
    a checkout of a bare commit, it has all of them. Earlier is what has an earlier date, so that two runs of one
    moment are told the same. A figure that no earlier run has is no trend.
    """
    kept = kept_run(run)
    with reading(path, wait=PATIENCE) as connection:
        if connection is None:
            return run
        accepted_on = {suite.name: suite.baseline.branch if suite.baseline else "" for suite in run.suites}
        earlier = {
            suite.name: _earlier(connection, run, suite.name, accepted_on[suite.name])
            for suite in kept.suites
            if suite.figures
        }
    trends = {suite.name: tuple(_trends(kept, suite, earlier.get(suite.name, {}))) for suite in kept.suites}
    return replace(run, suites=tuple(replace(suite, trends=trends[suite.name]) for suite in run.suites))


def _earlier(connection: Connection, run: RunResult, suite: str, accepted_on: str) -> Points:
    others = run.base, run.base.partition("/")[2], accepted_on  # origin/main is main there
    asked = bound(suite, run.date, int(not run.branch), run.branch, *(name or run.branch for name in others))
    found: dict[tuple[str, str], list[TrendPoint]] = {}
    for date, commit, accepted, reason, *figure, now, verdict in connection.execute(EARLIER, (*asked, MOST_POINTS - 1)):
        said = str(reason) if accepted else ""
        point = TrendPoint(_date(str(date)), _number(now), _verdict(verdict), str(commit), bool(accepted), said)
        metric, part = map(str, figure)
        found.setdefault((metric, part), []).append(point)
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
    """What the database says, if it is a verdict; ValueError of bytes that went wrong."""
    return VERDICTS[VERDICTS.index(text)] if text else None


def _number(value: float) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{number} is no figure")
    return number


def _date(text: str) -> str:
    if not DATE.fullmatch(text):
        raise ValueError(f"{text!r} is no date")
    return text
