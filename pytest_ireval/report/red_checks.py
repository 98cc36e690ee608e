"""The red checks of a suite as one list, and the queries behind them as one list, each with the checks it broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from pytest_ireval.report.failure_text import (
    LONGEST_TITLE,
    describe_grade,
    format_causes,
    format_circumstances,
    format_current_rank,
    format_failure,
    format_query,
    format_query_values,
    format_sentence,
    format_top_documents,
)
from pytest_ireval.results.outcome import Outcome, QueryChange
from pytest_ireval.results.suite_result import SuiteResult
from pytest_ireval.text_table import escape_unprintable, lay_out_rows, truncate, wrap_text
from pytest_ireval.words import format_count

RED = ("fail", "error")
MAX_LISTED = 20
"""The most checks of a suite that a terminal lists."""


class RedCheck(NamedTuple):
    """A line of the list."""

    outcome: Outcome
    headline: str
    others: tuple[Outcome, ...] = ()
    """Further checks that failed for the same reason, without a line of their own."""


class RedQuery(NamedTuple):
    """A query, as the first check shows it that compares it with a baseline."""

    change: QueryChange
    metric: str
    checks: tuple[int, ...]
    """The numbers of the checks it broke, from 1 on."""


def group_red_checks(suite: SuiteResult, outcomes: Sequence[Outcome]) -> tuple[RedCheck, ...]:
    """The red ones among the outcomes; what one reason keeps from passing is one line."""
    red = [each for each in outcomes if each.verdict in RED]
    if suite.error and red:
        first = next((each for each in red if each.kind == "inputs"), red[0])
        return (RedCheck(first, suite.error, tuple(each for each in red if each is not first)),)
    reasons: dict[str, list[Outcome]] = {}
    for each in red:
        reasons.setdefault(each.headline, []).append(each)
    return tuple(RedCheck(first, first.headline, tuple(others)) for first, *others in reasons.values())


def rank_red_queries(checks: Sequence[RedCheck]) -> tuple[RedQuery, ...]:
    """Every query that a check lists: those that broke most checks first, then in the order of the checks.

    Where some checks compare with a baseline, queries that only others list are left out: they were low before.
    """
    broken: dict[str, list[int]] = {}
    shown: dict[str, tuple[tuple[bool, int, int], QueryChange, str]] = {}
    for number, check in enumerate(checks, 1):
        for place, each in enumerate(check.outcome.queries):
            if not each.query:
                continue
            broken.setdefault(each.query, []).append(number)
            entry = ((each.baseline is None and not each.note, number, place), each, check.outcome.metric)
            shown[each.query] = min(shown.get(each.query, entry), entry, key=lambda known: known[0])
    comparing = any(check.outcome.compares for check in checks)
    silent = {number for number, check in enumerate(checks, 1) if comparing and not check.outcome.compares}
    shown = {query: entry for query, entry in shown.items() if entry[1].note or set(broken[query]) - silent}
    order = sorted(shown, key=lambda query: (-len(dict.fromkeys(broken[query])), shown[query][0]))
    return tuple(RedQuery(shown[each][1], shown[each][2], tuple(dict.fromkeys(broken[each]))) for each in order)


def format_ranges(numbers: Sequence[int]) -> str:
    """``1-3, 6``."""
    runs = [[each for _, each in group] for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def count_others(check: RedCheck) -> str:
    """``and 6 more checks`` of the same reason; nothing where there are none."""
    return f"and {format_count(len(check.others), 'more check')}" if check.others else ""


def format_suite_failures(
    outcomes: Sequence[Outcome], suite: SuiteResult, *, date: str, width: int = 80, queries: int = 3, report: str = ""
) -> str:
    """Several red checks of a suite: the cause, the checks in a line each, their queries, and what to type next."""
    checks = group_red_checks(suite, outcomes)
    if suite.error:
        unknown = len(suite.planned) or len(outcomes)
        return f"{suite.error}\n\n  {format_count(unknown, 'check')} of this suite could not be made"
    if len(checks) == 1:
        only = format_failure(
            checks[0].outcome, suite, date=date, width=width, queries=queries, report=report, statistics=False
        )
        return f"{only}\n  {count_others(checks[0])} of this suite"
    red = [each.verdict for each in outcomes if each.verdict in RED]
    failed = "failed" if "fail" in red else "could not be made"
    found = rank_red_queries(checks)
    first = next((each.outcome for each in checks if each.outcome.compares), checks[0].outcome)
    shown = found[:queries]
    around = replace(first, queries=tuple(each.change for each in shown if each.metric == first.metric))
    parts = [
        format_sentence(
            f"{escape_unprintable(suite.path)}: {len(red)} of {len(suite.planned)} checks {failed}.", suite, width
        ),
        list(format_causes(suite, width)),
        [*_list_checks(checks, suite, width)],
        _format_queries(found, shown, suite, width),
        list(format_circumstances(around, suite, date, width, report)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _list_checks(checks: Sequence[RedCheck], suite: SuiteResult, limit: int) -> Iterator[str]:
    room = len(str(min(len(checks), MAX_LISTED)))
    for number, check in enumerate(checks[:MAX_LISTED], 1):
        first, *more = check.headline.splitlines() or [""]
        start = f"  {number:>{room}}  "
        at = check.outcome
        against = f", compared with {escape_unprintable(at.against)}" if at.against else ""
        place = f", line {at.line}" if at.line and at.file == suite.path else f", {escape_unprintable(at.place)}"
        yield from wrap_text(f"{escape_unprintable(first)}{against}{place}", limit, start, " " * len(start))
        more += at.facts if at.verdict == "error" else ()
        yield from (" " * len(start) + escape_unprintable(line) for line in more)
        yield from [" " * len(start) + count_others(check)] if check.others else []
    if len(checks) > MAX_LISTED:
        yield f"  … and {format_count(len(checks) - MAX_LISTED, 'more check')}: -v shows all"


def _format_queries(found: Sequence[RedQuery], shown: Sequence[RedQuery], suite: SuiteResult, limit: int) -> list[str]:
    if not shown:
        return []
    metrics = list(dict.fromkeys(each.metric for each in shown))
    rows = [["worst queries", metrics[0] if len(metrics) == 1 else "", "checks"]]
    for each in shown:
        moved = (
            format_query_values(each.change) if each.change.now is not None or each.change.baseline is not None else ""
        )
        value = f"{each.metric} {moved}".strip() if len(metrics) > 1 else moved
        rows.append([format_query(each.change, limit // 2), value, format_ranges(each.checks)])
    lines = []
    for row, query in zip(lay_out_rows(rows, (), (3, 3), {0: limit // 2}), (None, *shown), strict=True):
        lines += [f"  {line}".rstrip() for line in row]
        lines += (
            [line for text in _describe_query(query, suite) for line in wrap_text(text, limit, "    ")] if query else []
        )
        lines += [f"  {line}" for line in format_top_documents(shown[0].change, limit - 2)] if query is shown[0] else []
    more = len(found) - len(shown)
    return [*lines, *([f"  … and {more:,} more: -v shows each check with its queries"] if more else [])]


def _describe_query(query: RedQuery, suite: SuiteResult) -> Iterator[str]:
    best = query.change.best
    if query.change.note:
        yield escape_unprintable(query.change.note)
    elif best is not None and best.baseline is not None:
        document = escape_unprintable(replace(best, title=truncate(best.title, LONGEST_TITLE)).named)
        yield f"{document} ({describe_grade(best)}): #{best.baseline} -> {format_current_rank(best, suite.depth)}"
