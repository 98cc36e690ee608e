"""A run as ``comment.md``: what a pull request is told, in at most 25 lines, and whether it needs to be told at all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from pytest_ireval.report.commands import describe_obstacle, format_accept_command, format_why_command
from pytest_ireval.report.failure_text import format_best_document, format_current_rank, format_query_values
from pytest_ireval.report.formatting import format_change, format_interval, is_explained
from pytest_ireval.report.markdown_summary import make_marker
from pytest_ireval.report.markdown_text import NOWHERE, SourceLinks, escape_markdown, format_code
from pytest_ireval.report.red_checks import RED, count_others, group_red_checks
from pytest_ireval.report.run_summary import summarize_run
from pytest_ireval.results.outcome import Outcome
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.words import format_count

QUIET = "<!-- quiet -->"
"""The second line where there is nothing to tell: a recipe then makes no comment, and only updates an old one."""
SHOWN = 5
BREAK = "  \n"
"""Ends a line within a paragraph of Markdown."""


def format_comment(run: RunResult, links: SourceLinks = NOWHERE, key: str = "") -> str:
    """The verdict, at most five findings with a query each, and the next step; one line where nothing happened."""
    words = summarize_run(run)
    verdict = f"**{words.verdict}**: {escape_markdown(words.reason, 400)}."
    findings = list(_list_findings(run, links))
    moves = list(_list_moves(run))
    if run.verdict not in RED and not findings and not moves:
        return f"{make_marker(key)}\n{QUIET}\n{verdict}\n"
    head = [verdict, *(f"**{words.label}**: {escape_markdown(cause, 300)}." for cause in words.causes[:1])]
    listed = [f"{number}. {finding}" for number, finding in enumerate(findings[:SHOWN], 1)]
    listed += moves[: SHOWN - len(listed)]
    tail = [f"… and {format_count(len(findings) - SHOWN, 'more finding')}"] if len(findings) > SHOWN else []
    tail += [f"**Next**: {escape_markdown(words.next, 300)}"] if words.next else []
    tail += islice(_list_accept_commands(run), 1)
    parts = [f"{make_marker(key)}\n{BREAK.join(head)}", "\n".join(listed), BREAK.join(tail)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _list_findings(run: RunResult, links: SourceLinks) -> Iterator[str]:
    """What failed in each suite, then what the run itself could not do, then what only warns."""
    for suite in run.suites:
        for check in group_red_checks(suite, suite.outcomes):
            first_line = check.headline.partition("\n")[0]
            yield _format_finding(suite, check.outcome, f"{first_line} {count_others(check)}".rstrip(), links)
        if suite.error and not any(outcome.verdict in RED for outcome in suite.outcomes):
            yield f"**{escape_markdown(suite.name, 80)}**: {escape_markdown(' '.join(suite.error.split()), 300)}"
    for text in chain(run.problems, (f"{test} failed" for test in run.failed_tests)):
        yield escape_markdown(" ".join(text.split()), 300)
    for suite in run.suites:
        for outcome in suite.outcomes:
            if outcome.verdict not in RED and outcome.warning and not _is_as_before(suite, outcome):
                yield _format_finding(suite, outcome, outcome.headline.partition("\n")[0], links)
    yield from (escape_markdown(warning, 300) for warning in run.warnings)


def _is_as_before(suite: SuiteResult, outcome: Outcome) -> bool:
    """Tell whether an expectation that does not hold, such as a known failure, did not hold before: no list changed."""
    unchanged = suite.cause is not None and suite.cause.compared > 0 and suite.cause.rankings == 0
    return outcome.kind == "expect" and outcome.broken and unchanged


def _format_finding(suite: SuiteResult, outcome: Outcome, headline: str, links: SourceLinks) -> str:
    """The headline, then the query that tells most, with its document and the command that explains it."""
    owner = f" · {escape_markdown(suite.owner, 80)}" if suite.owner else ""
    place = links.place(outcome.file, outcome.line)
    lines = [f"**{escape_markdown(headline, 200)}** · {place}{owner}"]
    worst = next((each for each in outcome.queries if each.query), None)
    if worst is not None:
        text = f" {escape_markdown(worst.text, 80)}" if worst.text else ""
        facts = [format_query_values(worst)] if worst.now is not None else []
        if worst.best is not None:
            now = format_current_rank(worst.best, suite.depth)
            facts.append(escape_markdown(f"{format_best_document(worst)}, now {now}", 200))
        lines.append(f"   {format_code(worst.query, 80)}{text}: {'; '.join(facts)}".removesuffix(": "))
        if outcome.metric and outcome.explained:
            lines.append(f"   Why: {format_code(format_why_command(suite, outcome.metric, worst.query))}")
    return BREAK.join(lines)


def _list_moves(run: RunResult) -> Iterator[str]:
    """Means that moved by more than chance explains, for better or worse."""
    for suite in run.suites:
        name = f"{escape_markdown(suite.name, 80)}: " if len(run.suites) > 1 else ""
        for metric in suite.metrics:
            if metric.low is not None and metric.high is not None and (metric.low > 0 or metric.high < 0):
                interval = format_interval(metric.low, metric.high)
                change = f"{format_change(metric.change)}, 90% interval {interval}"
                yield f"* {name}{escape_markdown(metric.name, 80)} {change}"


def _list_accept_commands(run: RunResult) -> Iterator[str]:
    for suite in run.suites:
        red = [outcome for outcome in suite.outcomes if outcome.verdict in RED]
        new = any(outcome.missing_baseline and not outcome.against for outcome in red)
        if new or (any(outcome.acceptable for outcome in red) and not is_explained(suite)):
            obstacle = escape_markdown(describe_obstacle(suite))
            yield f"Accept{obstacle}: {format_code(format_accept_command(suite, new=new))}"
