"""A run as ``summary.md``, for a pull request and the page of a job: the verdict first, and never too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_ireval.report.commands import describe_obstacle, format_accept_command, format_why_command
from pytest_ireval.report.failure_text import (
    choose_document_title,
    describe_baseline,
    describe_grade,
    format_best_document,
    format_current_rank,
    format_query_values,
)
from pytest_ireval.report.figure_rows import format_figure_row, list_figure_rows
from pytest_ireval.report.fitting import Fit, SummaryPart, fit_parts
from pytest_ireval.report.formatting import (
    count_stale,
    describe_certainty,
    format_comparison,
    format_value,
    is_explained,
)
from pytest_ireval.report.input_changes import describe_inputs
from pytest_ireval.report.markdown_text import (
    NOWHERE,
    SourceLinks,
    escape_markdown,
    format_code,
    format_code_block,
    format_details,
    format_markdown_table,
)
from pytest_ireval.report.red_checks import RedCheck, count_others, format_ranges, group_red_checks, rank_red_queries
from pytest_ireval.report.run_summary import is_lowering, summarize_run
from pytest_ireval.report.terminal_summary import (
    choose_header,
    count_verdicts,
    describe_since_base,
    drop_empty_column,
    list_notes,
    list_since_base_rows,
)
from pytest_ireval.results.outcome import Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import RunResult, SuiteResult
from pytest_ireval.words import format_count

LIMIT = 65_000
"""Characters; a comment on a code host holds 65,535, and a bot that posts it may add a line."""
LISTED, FACTS, FIRST = 20, 5, 5
"""The most entries of a list, facts in a line, and red outcomes that are shown whole as long as possible."""
OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)?")
"""A person or a team, who is mentioned where a suite of theirs is red: that is what an owner is for."""
RED = ("fail", "error")
VERDICT, REASONS, RED_TITLE, FIRST_RED, RED_LINE, LOWERED, FIGURES, NOTES, OTHER_RED = range(90, 0, -10)
"""A part that is worth more stays longer."""


def make_marker(key: str = "") -> str:
    """The first line, by which a comment is found again; a key tells the summaries of several jobs apart."""
    safe = re.sub(r"[^A-Za-z0-9_.]+", "-", key).strip("-")
    return f"<!-- pytest-ireval summary{f': {safe}' if safe else ''} -->"


def format_markdown_summary(
    run: RunResult, links: SourceLinks = NOWHERE, key: str = "", rest: str = "", limit: int = LIMIT
) -> str:
    """The same text for equal runs; ``rest`` is the file with everything that is left out here."""
    return fit_parts([*_make_parts(run, links, key)], limit, lambda fit: _format_notice(fit, rest))


def _make_parts(run: RunResult, links: SourceLinks, key: str) -> Iterator[SummaryPart]:
    yield _make_part(VERDICT, f"{make_marker(key)}\n{_format_verdict(run)}")
    yield from _make_optional_part(REASONS, _format_problems(run))
    first = FIRST
    for suite in run.suites:
        yield from _make_red_parts(suite, run.date, links, first)
        first -= sum(outcome.verdict in RED for outcome in suite.outcomes)
    yield from _make_optional_part(LOWERED, _format_lowered(run, links))
    yield from _make_optional_part(LOWERED, _format_warnings(run))
    yield from _make_figure_parts(run)
    yield from _make_optional_part(NOTES, _format_since_base(run))
    yield from _make_optional_part(NOTES, _format_notes(run))
    yield from _make_optional_part(REASONS, _format_footer(run))


def _make_part(worth: int, text: str) -> SummaryPart:
    return SummaryPart(((worth, text),))


def _make_optional_part(worth: int, text: str) -> Iterator[SummaryPart]:
    if text:
        yield _make_part(worth, text)


def _format_verdict(run: RunResult) -> str:
    words = summarize_run(run)
    said = [f"**{words.verdict}**: {escape_markdown(words.reason, 1500)}."]
    said += [f"**{words.label}**: {escape_markdown(each, 500)}." for each in words.causes]
    said += [f"**Next**: {escape_markdown(words.next, 500)}"] if words.next else []
    return "\n\n".join(said)


def _format_problems(run: RunResult) -> str:
    """The problems of the whole run, unless the verdict has shown them all."""
    shown = run.problems[:LISTED]
    if not shown or (not run.suites and len(shown) == 1 and "\n" not in shown[0].strip()):
        return ""
    more = [f"… and {len(run.problems) - LISTED:,} more"] if len(run.problems) > LISTED else []
    return "\n\n".join(["### Problems of the run", *(format_code_block(each, most=1500) for each in shown), *more])


def _make_red_parts(suite: SuiteResult, date: str, links: SourceLinks, first: int) -> Iterator[SummaryPart]:
    """A suite that is red: its name, and each outcome that made it so; broken inputs once for all of them."""
    red = [outcome for outcome in suite.outcomes if outcome.verdict in RED]
    if not red and suite.verdict not in RED:
        return
    owner = suite.owner if OWNER.fullmatch(suite.owner) else escape_markdown(suite.owner, 80)
    title = f"### {escape_markdown(suite.name)}: {_count_red(suite)}" + (f"\n\nOwner: {owner}" if suite.owner else "")
    if suite.error:
        unknown = format_count(len(suite.planned) or len(suite.outcomes), "check")
        text = f"{title}\n\n{format_code_block(suite.error)}\n\n{unknown} of this suite could not be made."
        yield SummaryPart(((FIRST_RED, text), (RED_TITLE, title)))
        return
    yield _make_part(RED_TITLE, title)
    checks = group_red_checks(suite, suite.outcomes)
    for number, check in enumerate(checks):
        early = 9 - min(number // FIRST, 9)  # the first of every suite are named before the last of one
        whole, line = (FIRST_RED, FIRST_RED + 1) if number < first else (OTHER_RED, RED_LINE + early)
        told = f"{_format_check_line(check.outcome, suite, links)} {count_others(check)}".rstrip()
        forms = ((whole, _format_check(check, links, number + 1 if len(checks) > 1 else 0, suite)), (line, told))
        yield SummaryPart(forms, counts=True, flush=True)
    yield from _make_optional_part(OTHER_RED + 5, _format_queries(checks, suite.depth))
    yield from _make_optional_part(OTHER_RED + 5, _format_circumstances(checks, suite, date))


def _count_red(suite: SuiteResult) -> str:
    verdicts = [outcome.verdict for outcome in suite.outcomes]
    failed, broken = verdicts.count("fail"), verdicts.count("error")
    said = [f"{failed:,} of {len(verdicts):,} failed{count_stale(suite.outcomes)}"] if failed else []
    if suite.error or (not broken and suite.verdict == "error"):
        said.append("could not be judged as a whole" if failed else "could not be judged")
    elif broken:
        said.append(f"{broken:,} of {len(verdicts):,} could not be judged")
    return ", ".join(said)


def _format_lowered(run: RunResult, links: SourceLinks) -> str:
    """Baselines that the branch itself made lower; a red one is among the failures."""
    lowered = [(suite, outcome) for suite in run.suites for outcome in suite.outcomes if is_lowering(outcome)]
    if not lowered:
        return ""
    lines = []
    for suite, each in lowered[:LISTED]:
        shown = "; ".join(map(escape_markdown, each.facts[:FACTS]))
        more_facts = f"; and {len(each.facts) - FACTS:,} more" if len(each.facts) > FACTS else ""
        lines.append(f"{_format_check_line(each, suite, links)}{f': {shown}{more_facts}' if shown else ''}")
    more = [f"* … and {len(lowered) - LISTED:,} more"] if len(lowered) > LISTED else []
    lower = any(each.numbers for _, each in lowered)
    title = (
        "### This branch lowers what later changes are compared with"
        if lower
        else "### This branch makes its suite weaker"
    )
    return "\n".join([title, "", *lines, *more])


def _format_warnings(run: RunResult) -> str:
    if not run.warnings:
        return ""
    lines = [f"* {escape_markdown(warning)}" for warning in run.warnings[:LISTED]]
    more = [f"* … and {len(run.warnings) - LISTED:,} more"] if len(run.warnings) > LISTED else []
    return "\n".join(["### Notes on this run", "", *lines, *more])


def _format_since_base(run: RunResult) -> str:
    parts = []
    for suite in run.suites:
        since = suite.since_base
        if since is None or not run.base:
            continue
        words = escape_markdown(describe_since_base(since, run.base))
        name = f"{escape_markdown(suite.name, 80)}: " if len(run.suites) > 1 else ""
        if not since.rows:
            parts.append(f"{name}{words}.")
            continue
        rows = [
            [escape_markdown(metric, 80), escape_markdown(within, 80), *figures]
            for metric, within, *figures in list_since_base_rows(since)
        ]
        table = format_markdown_table(
            ["metric", "slice", escape_markdown(run.base), "branch", "change", ""], rows, range(2, 6)
        )
        worst = since.queries[:QUERIES]
        title = choose_document_title(each.best for each in worst)
        header = ["worst changed lists", "text", escape_markdown(since.rows[0].metric), title, "now at"]
        lists = format_markdown_table(header, [_format_query(each, suite.depth, "") for each in worst])
        parts.append(format_details(f"{name}{words}", f"{table}\n\n{lists}" if since.queries else table))
    return "\n\n".join(parts)


def _make_figure_parts(run: RunResult) -> Iterator[SummaryPart]:
    """Suites beside their metrics; where there is no room, only those of red suites."""
    suites, header = run.suites, choose_header(run)
    rows = [row for suite in suites for row in _list_rows(suite)]
    if not rows:
        return
    red = [row for suite in suites if suite.verdict in RED for row in _list_rows(suite)]
    forms = [(FIGURES, _format_figures("Figures", rows, header))]
    if red and len(red) < len(rows):
        forms.append((FIGURES + 1, _format_figures("Figures of the suites that are red", red, header)))
    yield SummaryPart(tuple(forms))


def _format_figures(title: str, rows: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    header, *cells = drop_empty_column([("suite", *map(escape_markdown, names)), *rows])
    text = format_markdown_table(header, cells, range(2, 5))
    return (
        format_details(f"{title}: {format_count(len(rows), 'row')}", text)
        if len(rows) > 12
        else f"### {title}\n\n{text}"
    )


def _list_rows(suite: SuiteResult) -> list[list[str]]:
    rows = [format_figure_row(row) for row in list_figure_rows(suite)]
    return [
        [
            escape_markdown(suite.name, 80),
            escape_markdown(name, 80),
            *figures,
            f"**{verdict}**" if verdict.startswith(RED) else verdict,
        ]
        for name, *figures, verdict in rows
    ]


def _format_notes(run: RunResult) -> str:
    """Notes for a reader of the figures, without those above: errors, lowered baselines, what was accepted."""
    suites = (
        replace(suite, error="", outcomes=tuple(outcome for outcome in suite.outcomes if not is_lowering(outcome)))
        for suite in run.suites
    )
    untold = replace(run, suites=tuple(suites), accepted=())
    lines = [f"* {escape_markdown(note, 600)}" for note in list_notes(untold)]
    return format_details(f"Warnings, waivers and notes: {len(lines)}", "\n".join(lines)) if lines else ""


def _format_footer(run: RunResult) -> str:
    lines = []
    if run.not_selected:
        lines.append(f"Not selected: {_list_suites(run.not_selected)}")
    if run.unaffected:
        since = f" since {format_code(run.changed_since)}" if run.changed_since else ""
        lines.append(f"Not affected by what changed{since}: {_list_suites(run.unaffected)}")
    if run.base:
        lines.append(f"Baselines were compared with those of the merge base with {format_code(run.base)}")
    counts = f"{format_count(len(run.suites), 'suite')}, {count_verdicts(run.suites)}" if run.suites else ""
    commit = f"commit {format_code(run.commit[:12])}" if run.commit else ""
    branch = f" on {format_code(run.branch)}" if commit and run.branch else ""
    dirty = " with uncommitted changes" if commit and run.dirty else ""
    lines.append(
        " · ".join(filter(None, (counts, f"{commit}{branch}{dirty}", f"pytest-ireval {escape_markdown(run.version)}")))
    )
    return "\n\n".join(lines)


def _list_suites(suites: Sequence[str]) -> str:
    more = f" and {len(suites) - LISTED:,} more" if len(suites) > LISTED else ""
    return ", ".join(format_code(name, 80) for name in suites[:LISTED]) + more


def _format_notice(fit: Fit, rest: str) -> str:
    said = []
    if fit.shortened:
        said.append(f"{format_count(fit.shortened, 'failure')} shortened to one line")
    if fit.omitted:
        said.append(f"{format_count(fit.omitted, 'failure')} left out")
    if fit.others:
        said.append(f"{format_count(fit.others, 'other part')} shortened or left out")
    where = f"Everything is in {format_code(rest)}" if rest else "`-vv` shows everything in the log"
    return f"**This summary is incomplete**: {', '.join(said)}. {where}."


SLICES, QUERIES, FACTS_OF_OUTCOME, SENTENCE = 8, 5, 6, 1000
"""The most lines of figures, queries and facts that are shown, and the most characters of a sentence."""


def _format_check(check: RedCheck, links: SourceLinks, number: int, suite: SuiteResult) -> str:
    """The headline; place, figures, statistics and the command that explains them, folded where there are several."""
    outcome = check.outcome
    first, *more = check.headline.splitlines() or [""]
    facts = (*outcome.facts[:FACTS_OF_OUTCOME], *outcome.statistics[:FACTS_OF_OUTCOME])
    why = outcome.metric and outcome.queries and outcome.explained
    parts = [
        f"{links.place(outcome.file, outcome.line)} · {format_code(outcome.id)}",
        format_code_block("\n".join(more)) if more else "",
        escape_markdown(outcome.sentence, SENTENCE),
        f"The same holds for {', '.join(format_code(each.id) for each in check.others[:LISTED])}"
        if check.others
        else "",
        _format_outcome_figures(outcome),
        "\n".join(f"* {escape_markdown(fact, SENTENCE)}" for fact in facts),
        f"Compared with: {escape_markdown(outcome.against, SENTENCE)}" if outcome.against else "",
        f"Why:\n\n{format_code_block(format_why_command(suite, outcome.metric, outcome.queries[0].query), 'sh')}"
        if why
        else "",
    ]
    text = "\n\n".join(filter(None, parts))
    title = f"{escape_markdown(first)}{f' ({count_others(check)})' if check.others else ''}"
    return format_details(f"{number}. {title}", text) if number else f"#### {title}\n\n{text}"


def _format_check_line(outcome: Outcome, suite: SuiteResult, links: SourceLinks) -> str:
    headline = escape_markdown(outcome.headline.partition("\n")[0])
    return f"* {escape_markdown(suite.name)}: {headline} ({links.place(outcome.file, outcome.line)})"


def _format_outcome_figures(outcome: Outcome) -> str:
    """A row for each slice; without a baseline there is no change."""
    shown = outcome.figures[:SLICES]
    if not shown:
        return ""
    compared = any(each.baseline is not None for each in shown)
    header = ["slice", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else []), "queries"]
    header += ["worse / better / same"] if compared else []
    rows = [_format_row(each, compared) for each in shown]
    lines = [format_markdown_table(header, rows, range(1, len(header)))]
    if len(outcome.figures) > SLICES:
        lines.append(f"… and {len(outcome.figures) - SLICES:,} more slices")
    if said := describe_certainty(shown[0], "change"):
        lines.append(f"{escape_markdown(shown[0].slice, 80)}: {said}")
    return "\n\n".join(lines)


def _format_row(each: SliceFigures, compared: bool) -> list[str]:
    name = escape_markdown(each.label, 80)
    cells = format_comparison(each) if compared else [format_value(each.now)]
    counts = [f"{each.worse} / {each.better} / {each.same}"] if compared else []
    return [f"**{name}**" if each.over and name else name, *cells, f"{each.queries:,}", *counts]


def _format_queries(checks: Sequence[RedCheck], depth: int) -> str:
    """The queries that broke most checks with their documents, and the top of the first ranking."""
    found = rank_red_queries(checks)
    shown = found[:QUERIES]
    if not shown:
        return ""
    metrics = list(dict.fromkeys(each.metric for each in shown))
    header = [checks[0].outcome.queries_title if len(checks) == 1 else "worst queries", "text"]
    header += [(escape_markdown(metrics[0]) if len(metrics) == 1 else "") or "value"]
    header += [choose_document_title(each.change.best for each in shown), "now at"]
    rows = [_format_query(each.change, depth, each.metric if len(metrics) > 1 else "") for each in shown]
    if len(checks) > 1:
        header.append("checks")
        rows = [[*row, format_ranges(each.checks)] for row, each in zip(rows, shown, strict=True)]
    lines = [format_markdown_table(header, rows)]
    count = max(len(found), *(check.outcome.query_count for check in checks))
    if count > QUERIES:
        lines.append(f"… and {count - QUERIES:,} more queries")
    if top := shown[0].change.top:
        placed = ", ".join(f"{_format_document(each)} ({describe_grade(each)})" for each in top)
        lines.append(f"Top {len(top)} of {format_code(shown[0].change.query, 80)} now: {placed}")
    return "\n\n".join(lines)


def _format_query(each: QueryChange, depth: int, metric: str) -> list[str]:
    return [
        format_code(each.query, 80) or "-",
        escape_markdown(each.text, 80) + (f"; {escape_markdown(each.note, 200)}" if each.note else ""),
        f"{escape_markdown(metric)} {format_query_values(each)}".strip(),
        escape_markdown(format_best_document(each), 120),
        escape_markdown(format_current_rank(each.best, depth)),
    ]


def _format_circumstances(checks: Sequence[RedCheck], suite: SuiteResult, date: str) -> str:
    stored = [each.outcome for each in checks if not each.outcome.against]
    compares = [each for each in stored if each.compares]
    parts = []
    if compares and suite.cause is not None:
        parts.append(f"Inputs: {escape_markdown(describe_inputs(suite.cause, compares[0].metric), SENTENCE)}")
    if compares and suite.versus:
        parts.append(f"Compared with {escape_markdown(suite.versus)}")
    elif compares and suite.baseline is not None:
        parts.append(f"Baseline: {escape_markdown(describe_baseline(suite.baseline, date))}")
    shown = [format_details("Inputs, baseline", "\n\n".join(parts))] if parts else []
    new = any(each.missing_baseline for each in stored)
    if new or (any(each.verdict != "error" for each in compares) and not is_explained(suite) and not suite.versus):
        # Not folded: the next step at the top of the summary speaks of the command below.
        command = format_code_block(format_accept_command(suite, new=new), "sh")
        shown.append(f"Accept{escape_markdown(describe_obstacle(suite))}:\n\n{command}")
    return "\n\n".join(shown)


def _format_document(each: Placed) -> str:
    title = f" {escape_markdown(each.title, 80)}" if each.title else ""
    return f"{format_code(each.document, 80)}{title}"
