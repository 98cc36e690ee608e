"""A red outcome in a pull request: what broke and where at first sight, the queries and commands folded away."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.reports.cause_text import cause_sentence
from pytest_ireval.reports.commands import accept_command, why_command
from pytest_ireval.reports.failure_tables import best_document, grade_words, moved, now_at
from pytest_ireval.reports.failure_text import baseline_words
from pytest_ireval.reports.figures import change, figure, interval, percent
from pytest_ireval.reports.markdown_text import SourceLinks, fenced, folded, inert, literal, table
from pytest_ireval.reports.sight import sight_words
from pytest_ireval.results.outcome import Outcome, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import SuiteResult

SLICES = 8
"""So many lines of figures are shown."""
QUERIES = 5
"""So many queries are shown."""
FACTS = 6
SENTENCE = 1000
"""Sentences are cut beyond this; none of ours is so long."""


def told_whole(outcome: Outcome, suite: SuiteResult, date: str, links: SourceLinks) -> str:
    """Headline, place and figures; queries, cause and commands for whoever opens them."""
    first, *more = outcome.headline.splitlines() or [""]
    parts = [
        f"#### {inert(first)}",
        f"{links.place(outcome.file, outcome.line)} · {literal(outcome.id)}",
        fenced("\n".join(more)) if more else "",
        inert(outcome.sentence, SENTENCE),
        _figures(outcome),
        "\n".join(f"* {inert(fact, SENTENCE)}" for fact in outcome.facts[:FACTS]),
        _details(outcome, suite, date),
    ]
    return "\n\n".join(filter(None, parts))


def told_in_a_line(outcome: Outcome, suite: SuiteResult, links: SourceLinks) -> str:
    """A line of a list."""
    headline = inert(outcome.headline.partition("\n")[0])
    return f"* {inert(suite.name)}: {headline} ({links.place(outcome.file, outcome.line)})"


def _figures(outcome: Outcome) -> str:
    """A row for each slice; without a baseline there is no change."""
    shown = outcome.figures[:SLICES]
    if not shown:
        return ""
    compared = any(each.baseline is not None for each in shown)
    header = ["slice", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else []), "queries"]
    header += ["worse / better / same"] if compared else []
    rows = [_row(each, compared) for each in shown]
    lines = [table(header, rows, range(1, len(header)))]
    if len(outcome.figures) > SLICES:
        lines.append(f"… and {len(outcome.figures) - SLICES:,} more slices")
    if said := _certainty(shown[0]):
        lines.append(said)
    return "\n\n".join(lines)


def _row(each: SliceFigures, compared: bool) -> list[str]:
    name = inert(each.label, 80)
    cells = [f"**{name}**" if each.over and name else name]
    cells += [figure(each.baseline)] if compared else []
    cells.append(figure(each.now))
    cells += [change(each.change), percent(each.relative)] if compared else []
    cells.append(f"{each.queries:,}")
    return [*cells, *([f"{each.worse} / {each.better} / {each.same}"] if compared else [])]


def _certainty(each: SliceFigures) -> str:
    """The interval, and what so many queries can show."""
    said = []
    if each.low is not None and each.high is not None:
        said.append(f"{each.level * 100:.4g}% interval of the change {interval(each.low, each.high)}")
    said += filter(None, [sight_words(each, "change")])
    return f"{inert(each.slice, 80)}: {'; '.join(said)}" if said else ""


def _details(outcome: Outcome, suite: SuiteResult, date: str) -> str:
    """What somebody needs who sets out to mend it."""
    parts = [_queries(outcome, suite.depth), *_circumstances(outcome, suite, date), *_commands(outcome, suite)]
    text = "\n\n".join(filter(None, parts))
    title = "Queries, cause and commands" if outcome.queries else "Cause and commands"
    return folded(title, text) if text else ""


def _queries(outcome: Outcome, depth: int) -> str:
    """The first of them with their documents, and what stands on top of the very first."""
    shown = outcome.queries[:QUERIES]
    if not shown:
        return ""
    compared = any(each.baseline is not None or (each.best and each.best.baseline) for each in shown)
    header = [outcome.worst, "text", inert(outcome.metric) or "value"]
    header += ["best document was" if compared else "best document", "now at"]
    lines = [table(header, [_query(each, depth) for each in shown])]
    if outcome.query_count > QUERIES:
        lines.append(f"… and {outcome.query_count - QUERIES:,} more queries")
    if top := _top(shown[0]):
        lines.append(top)
    return "\n\n".join(lines)


def _query(each: QueryChange, depth: int) -> list[str]:
    return [
        literal(each.query, 80) or "-",
        inert(each.text, 80) + (f"; {inert(each.note, 200)}" if each.note else ""),
        moved(each),
        inert(best_document(each), 120),
        inert(now_at(each.best, depth)),
    ]


def _top(query: QueryChange) -> str:
    """What stands on top now."""
    placed = ", ".join(f"{literal(each.document, 80)} ({grade_words(each)})" for each in query.top)
    return f"Top {len(query.top)} of {literal(query.query, 80)} now: {placed}" if placed else ""


def _circumstances(outcome: Outcome, suite: SuiteResult, date: str) -> Iterator[str]:
    """What it compared with, and what changed besides."""
    if outcome.against:
        yield f"Compared with: {inert(outcome.against, SENTENCE)}"
        return
    if outcome.compares and suite.cause is not None:
        yield f"Cause: {inert(cause_sentence(suite.cause, outcome.metric), SENTENCE)}"
    if outcome.compares and suite.baseline is not None:
        yield f"Baseline: {inert(baseline_words(suite.baseline, date))}"


def _commands(outcome: Outcome, suite: SuiteResult) -> Iterator[str]:
    """To be pasted: why it is so, and what accepts it."""
    if outcome.metric and outcome.queries and outcome.explained:
        yield f"Why:\n\n{fenced(why_command(suite, outcome.metric, outcome.queries[0].query), 'sh')}"
    if not outcome.against and (outcome.missing_baseline or (outcome.compares and outcome.verdict != "error")):
        yield f"Accept:\n\n{fenced(accept_command(suite, new=outcome.missing_baseline), 'sh')}"
