"""What the history keeps of a run: figures of each suite, metric and slice, and what was accepted; no query."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Literal

from pytest_ireval.errors import HistoryError, Problem
from pytest_ireval.results.outcome import Outcome, SliceFigures, worst_of
from pytest_ireval.results.suite_result import MetricFigures, RunResult, SuiteResult

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
    """Empty where nobody knows: of a run that only the baseline tells of."""
    planned: int = 0
    """How many verdicts the suite has."""
    judged: int = 0
    """How many of them the run was asked for."""
    accepted: bool = False
    """Whether the run wrote its baseline."""
    reason: str = ""
    """Why."""
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

    @property
    def key(self) -> str:
        """The same for the same run, whoever tells of it."""
        suites = [[*_OF_SUITE(suite), [_OF_FIGURES(each) for each in suite.figures]] for suite in self.suites]
        return hashlib.sha256(json.dumps([*_OF_RUN(self), suites]).encode()).hexdigest()[:32]


_OF_RUN = attrgetter("date", "commit", "branch", "dirty", "verdict", "version")
_OF_SUITE = attrgetter("name", "path", "verdict", "planned", "judged", "accepted", "reason")
_OF_FIGURES = attrgetter(*(each.name for each in fields(KeptFigures)))


def kept_run(run: RunResult, origin: Origin = "run", place: str = "") -> KeptRun:
    """What is kept of a run; ``place`` is what messages call it. HistoryError where its date is none."""
    if not DATE.fullmatch(run.date):
        allowed = "as in 2026-11-20T19:20:00Z"
        raise HistoryError(Problem(f"{run.date!r} is no date of a run", place, ("date",), allowed=allowed))
    suites = tuple(_suite(suite, run) for suite in run.suites)
    return KeptRun(run.date, run.commit, run.branch, bool(run.dirty), run.verdict, run.version, suites, origin)


def _suite(suite: SuiteResult, run: RunResult) -> KeptSuite:
    accepted = suite.name in run.accepted
    return KeptSuite(
        name=suite.name,
        path=suite.path,
        verdict=suite.verdict,
        planned=len(suite.planned),
        judged=len(suite.outcomes),
        accepted=accepted,
        reason=run.reason if accepted else "",
        figures=tuple(_figures(suite)),
    )


def _figures(suite: SuiteResult) -> Iterator[KeptFigures]:
    """All queries first, then each slice that a rule compared with the baseline of the suite."""
    names = {metric.name for metric in suite.metrics}
    for metric in suite.metrics:
        if metric.now is not None:
            yield _whole(metric, suite)
    slices: dict[tuple[str, str], SliceFigures] = {}
    for outcome in suite.outcomes:
        for figures in outcome.figures if outcome.metric in names and not outcome.against else ():
            at = (outcome.metric, figures.slice)
            if figures.slice != ALL and figures.baseline is not None and _says_more(figures, slices.get(at)):
                slices[at] = figures
    for (name, _), figures in sorted(slices.items()):
        yield _slice(name, figures, _verdict(suite.outcomes, name, figures.slice))


def _says_more(figures: SliceFigures, known: SliceFigures | None) -> bool:
    """Several rules may look at one slice; one that knows the spread says more."""
    return known is None or (known.sd is None and figures.sd is not None)


def _whole(metric: MetricFigures, suite: SuiteResult) -> KeptFigures:
    values = suite.queries.now.get(metric.name)
    paired = metric.worse + metric.better + metric.same
    counted = None if values is None else sum(value is not None for value in values)
    return KeptFigures(
        metric=metric.name,
        slice=ALL,
        now=_number(metric.now),
        baseline=_number(metric.baseline),
        change=_number(metric.change),
        sd=_number(metric.sd),
        queries=int(paired) or counted,
        low=_number(metric.low),
        high=_number(metric.high),
        verdict=_verdict(suite.outcomes, metric.name, ALL),
    )


def _slice(name: str, figures: SliceFigures, verdict: str) -> KeptFigures:
    return KeptFigures(
        metric=name,
        slice=figures.slice,
        now=_number(figures.now),
        baseline=_number(figures.baseline),
        change=_number(figures.change),
        sd=_number(figures.sd),
        queries=int(figures.queries),
        low=_number(figures.low),
        high=_number(figures.high),
        verdict=verdict,
    )


def _number(value: float | None) -> float | None:
    """As the database and JSON know it, whatever kind of number it was."""
    return None if value is None else float(value)


def _verdict(outcomes: tuple[Outcome, ...], metric: str, part: str) -> str:
    about = tuple(each.verdict for each in outcomes if (each.metric, each.slice) == (metric, part))
    return worst_of(about) if about else ""
