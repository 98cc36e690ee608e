"""One outcome as people read it in a terminal: what broke, what it rests on, why, and what to type next."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from pytest_ireval.plurals import counted
from pytest_ireval.reports.cause_text import cause_sentence
from pytest_ireval.reports.commands import accept_command, why_command
from pytest_ireval.reports.failure_tables import figure_lines, query_lines
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import BaselineInfo, SuiteResult
from pytest_ireval.text_table import printable, width, wrapped


def failure_text(
    outcome: Outcome, suite: SuiteResult, *, date: str, width: int = 80, queries: int | None = 3, report: str = ""
) -> str:
    """Everything below the line with the name; ``date`` is today's, ``report`` where a page shows the same.

    Only ids, paths and commands take more columns than ``width``.
    """
    direction = next((metric.direction for metric in suite.metrics if metric.name == outcome.metric), "higher")
    parts = [
        failure_head(outcome, suite, width),
        [
            *figure_lines(outcome, direction, width),
            *(line for fact in outcome.facts for line in wrapped(fact, width, "  ", "    ")),
        ],
        query_lines(outcome, suite.depth, width, queries),
        list(_circumstances(outcome, suite, date, width, report)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def failure_head(outcome: Outcome, suite: SuiteResult, width: int) -> list[str]:
    """Where, what, and for somebody who does not know the metric."""
    return [*_head(outcome), *_sentence(outcome, suite, width)]


def _head(outcome: Outcome) -> list[str]:
    """Place and headline; the headline of an error may go on for some lines."""
    first, *others = outcome.headline.splitlines() or [""]
    place = f"{printable(outcome.place)}: " if outcome.place else ""
    return [place + printable(first), *map(printable, others)]


def _sentence(outcome: Outcome, suite: SuiteResult, limit: int) -> list[str]:
    owner = f"Owner {suite.owner}." if suite.owner else ""
    text = " ".join(filter(None, (outcome.sentence, owner)))
    return wrapped(text, limit) if text else []


def _circumstances(outcome: Outcome, suite: SuiteResult, date: str, limit: int, report: str) -> Iterator[str]:
    """Cause, baseline and commands, as far as the outcome has to do with them."""
    where = f"report: {report}" if report else ""
    stored = outcome.compares and not outcome.against
    if outcome.against:
        yield from wrapped(outcome.against, limit, "  compared with: ", "    ")
    if stored and suite.cause is not None:
        yield from wrapped(cause_sentence(suite.cause, outcome.metric), limit, "  cause: ", "    ")
    if stored and suite.baseline is not None:
        line = f"  baseline: {baseline_words(suite.baseline, date)}"
        if where and width(line) + 6 + width(where) <= limit:
            line, where = f"{line}      {where}", ""
        yield line
    if where:
        yield f"  report:   {report}"
    if outcome.metric and outcome.queries and outcome.explained:
        yield f"  why:      {why_command(suite, outcome.metric, outcome.queries[0].query)}"
    if outcome.missing_baseline and not outcome.against:
        yield f"  accept:   {accept_command(suite, new=True)}"
    elif stored and outcome.verdict != "error":
        yield f"  accept:   {accept_command(suite, new=False)}"


def baseline_words(baseline: BaselineInfo, date: str) -> str:
    """Which commit was accepted, and how long ago: ``3f9c2e1 on main, 2 days old``."""
    commit = printable(baseline.commit[:7]) or "accepted outside of git"
    branch = f" on {printable(baseline.branch)}" if baseline.branch else ""
    dirty = " with uncommitted changes" if baseline.dirty else ""
    forced = ", forced" if baseline.forced else ""
    return f"{commit}{branch}{dirty}, {_age(baseline.date, date)}{forced}"


def _age(then: str, now: str) -> str:
    """How old something is, in the largest unit there is a whole one of; the date if that cannot be said."""
    try:
        passed = _moment(now) - _moment(then)
    except ValueError:
        return printable(then) or "of unknown date"
    if passed < timedelta(0):
        return f"of {printable(then)}"
    seconds = int(passed.total_seconds())
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{counted(seconds // size, unit)} old"
    return "just accepted"


def _moment(text: str) -> datetime:
    """A date in ISO 8601; in UTC unless it says otherwise."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
