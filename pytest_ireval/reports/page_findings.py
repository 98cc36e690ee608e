"""What the first screen of the page says of each outcome that is no plain pass: what broke, for whom, what to type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pytest_ireval.reports.anchors import rule_anchor
from pytest_ireval.reports.cause_text import cause_sentence
from pytest_ireval.reports.commands import accept_command, why_command
from pytest_ireval.reports.failure_tables import best_document, grade_words, now_at
from pytest_ireval.reports.failure_text import baseline_words
from pytest_ireval.reports.figures import figure, interval
from pytest_ireval.reports.markdown_text import SourceLinks
from pytest_ireval.reports.page_suite import tone_of, word_of
from pytest_ireval.reports.sight import sight_words
from pytest_ireval.results.outcome import Outcome, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import RunResult, SuiteResult

QUERIES = 3
"""So many queries are laid out below a finding, the others are listed in the table of queries."""
OPEN = 12
"""Of more findings the later ones are folded."""


class QueryLine(NamedTuple):
    """A query that a finding rests on, in a line."""

    change: QueryChange
    before: str
    now: str
    best: str
    now_at: str
    top: str


class Finding(NamedTuple):
    """An outcome with everything a reader needs to decide what to do about it."""

    suite: SuiteResult
    outcome: Outcome
    anchor: str
    word: str
    headline: str
    more: tuple[str, ...]
    """Further lines of the headline of an error."""
    address: str
    """Where a code host shows the rule; empty: nowhere."""
    tones: tuple[str, ...]
    """Of each line of figures."""
    compared: bool
    certainty: str
    queries: tuple[QueryLine, ...]
    circumstances: tuple[tuple[str, str], ...]
    commands: tuple[tuple[str, str], ...]
    open: bool = True


def findings_of(run: RunResult, links: SourceLinks, *words: str) -> tuple[Finding, ...]:
    """Every outcome that a list would name by one of the words."""
    chosen = [(suite, each) for suite in run.suites for each in suite.outcomes if word_of(each) in words]
    return tuple(
        _finding(suite, outcome, run, links)._replace(open=number < OPEN)
        for number, (suite, outcome) in enumerate(chosen)
    )


def _finding(suite: SuiteResult, outcome: Outcome, run: RunResult, links: SourceLinks) -> Finding:
    headline, *more = outcome.headline.splitlines() or [""]
    direction = next((metric.direction for metric in suite.metrics if metric.name == outcome.metric), "higher")
    return Finding(
        suite,
        outcome,
        rule_anchor(suite, outcome.id),
        word_of(outcome),
        headline,
        tuple(more),
        links.address(outcome.file, outcome.line),
        tuple(tone_of(each.change, direction) for each in outcome.figures),
        any(each.baseline is not None for each in outcome.figures),
        _certainty(outcome.figures[0], direction) if outcome.figures else "",
        tuple(_query(each, suite.depth) for each in outcome.queries[:QUERIES]),
        tuple(_circumstances(suite, outcome, run.date)),
        tuple(_commands(suite, outcome)),
    )


def _certainty(each: SliceFigures, direction: str) -> str:
    """The interval of the change, and the smallest one that so many queries can show."""
    moved = {"higher": "drop", "lower": "rise"}.get(direction, "change")
    said = []
    if each.low is not None and each.high is not None:
        said.append(f"{each.level * 100:.4g}% interval of the change {interval(each.low, each.high)}")
    said += filter(None, [sight_words(each, moved)])
    return "; ".join(said)


def _query(each: QueryChange, depth: int) -> QueryLine:
    top = ", ".join(f"{placed.document} ({grade_words(placed)})" for placed in each.top)
    best = best_document(each) if each.best else ""
    return QueryLine(
        each, figure(each.baseline, 3), figure(each.now, 3), best, now_at(each.best, depth) if best else "", top
    )


def _circumstances(suite: SuiteResult, outcome: Outcome, date: str) -> Iterator[tuple[str, str]]:
    """What it compared with, and what changed besides."""
    if suite.owner:
        yield "owner", suite.owner
    if outcome.against:
        yield "compared with", outcome.against
        return
    if outcome.compares and suite.cause is not None:
        yield "cause", cause_sentence(suite.cause, outcome.metric)
    if outcome.compares and suite.baseline is not None:
        yield "baseline", baseline_words(suite.baseline, date)


def _commands(suite: SuiteResult, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """To be pasted: why it is so, and what accepts it."""
    if outcome.metric and outcome.queries and outcome.explained:
        yield "why", why_command(suite, outcome.metric, outcome.queries[0].query)
    if outcome.verdict == "pass" or outcome.against:
        return
    if outcome.missing_baseline or (outcome.compares and outcome.verdict != "error"):
        yield "accept", accept_command(suite, new=outcome.missing_baseline)
