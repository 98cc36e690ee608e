"""A run as ``summary.md``, for a pull request and the page of a job: the verdict first, and never too long."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_ireval.report.commands import accept_command, why_command
from pytest_ireval.report.failure_text import (
    baseline_words,
    best_document,
    cause_sentence,
    document_title,
    grade_words,
    moved_text,
    now_at,
)
from pytest_ireval.report.markdown_text import NOWHERE, SourceLinks, fenced, folded, inert, literal, markdown_table
from pytest_ireval.report.red_checks import RedCheck, others_words, ranges_words, red_checks, red_queries
from pytest_ireval.report.summary_table import (
    filled,
    header_of,
    metric_rows,
    notes_of_run,
    since_base_rows,
    since_base_words,
    verdicts_in_words,
)
from pytest_ireval.report.wording import certainty_words, figure, is_explained, lowers, moved_figures, words_of
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


def marker(key: str = "") -> str:
    """The first line, by which a comment is found again; a key tells the summaries of several jobs apart."""
    safe = re.sub(r"[^A-Za-z0-9_.]+", "-", key).strip("-")
    return f"<!-- pytest-ireval summary{f': {safe}' if safe else ''} -->"


def summary_text(
    run: RunResult, links: SourceLinks = NOWHERE, key: str = "", rest: str = "", limit: int = LIMIT
) -> str:
    """The same text for equal runs; ``rest`` is the file with everything that is left out here."""
    return fitted([*_parts(run, links, key)], limit, lambda fit: _notice(fit, rest))


def _parts(run: RunResult, links: SourceLinks, key: str) -> Iterator[SummaryPart]:
    yield _part(VERDICT, f"{marker(key)}\n{_verdict(run)}")
    yield from _optional(REASONS, _problems(run))
    first = FIRST
    for suite in run.suites:
        yield from _red(suite, run.date, links, first)
        first -= sum(each.verdict in RED for each in suite.outcomes)
    yield from _optional(LOWERED, _lowered(run, links))
    yield from _optional(LOWERED, _warnings(run))
    yield from _figures(run)
    yield from _optional(NOTES, _since_base(run))
    yield from _optional(NOTES, _notes(run))
    yield from _optional(REASONS, _last(run))


def _part(worth: int, text: str) -> SummaryPart:
    return SummaryPart(((worth, text),))


def _optional(worth: int, text: str) -> Iterator[SummaryPart]:
    if text:
        yield _part(worth, text)


def _verdict(run: RunResult) -> str:
    words = words_of(run)
    said = [f"**{words.verdict}**: {inert(words.reason, 1500)}."]
    said += [f"**{words.label}**: {inert(each, 500)}." for each in words.causes]
    said += [f"**Next**: {inert(words.next, 500)}"] if words.next else []
    return "\n\n".join(said)


def _problems(run: RunResult) -> str:
    """The problems of the whole run, unless the verdict has shown them all."""
    shown = run.problems[:LISTED]
    if not shown or (not run.suites and len(shown) == 1 and "\n" not in shown[0].strip()):
        return ""
    more = [f"… and {len(run.problems) - LISTED:,} more"] if len(run.problems) > LISTED else []
    return "\n\n".join(["### Problems of the run", *(fenced(each, most=1500) for each in shown), *more])


def _red(suite: SuiteResult, date: str, links: SourceLinks, first: int) -> Iterator[SummaryPart]:
    """A suite that is red: its name, and each outcome that made it so; broken inputs once for all of them."""
    red = [each for each in suite.outcomes if each.verdict in RED]
    if not red and suite.verdict not in RED:
        return
    owner = suite.owner if OWNER.fullmatch(suite.owner) else inert(suite.owner, 80)
    title = f"### {inert(suite.name)}: {_how_red(suite)}" + (f"\n\nOwner: {owner}" if suite.owner else "")
    if suite.error:
        unknown = format_count(len(suite.planned) or len(suite.outcomes), "check")
        text = f"{title}\n\n{fenced(suite.error)}\n\n{unknown} of this suite could not be made."
        yield SummaryPart(((FIRST_RED, text), (RED_TITLE, title)))
        return
    yield _part(RED_TITLE, title)
    checks = red_checks(suite, suite.outcomes)
    for number, check in enumerate(checks):
        early = 9 - min(number // FIRST, 9)  # the first of every suite are named before the last of one
        whole, line = (FIRST_RED, FIRST_RED + 1) if number < first else (OTHER_RED, RED_LINE + early)
        told = f"{_told_in_a_line(check.outcome, suite, links)} {others_words(check)}".rstrip()
        forms = ((whole, _told_whole(check, links, number + 1 if len(checks) > 1 else 0, suite)), (line, told))
        yield SummaryPart(forms, counts=True, flush=True)
    yield from _optional(OTHER_RED + 5, _queries(checks, suite.depth))
    yield from _optional(OTHER_RED + 5, _circumstances(checks, suite, date))


def _how_red(suite: SuiteResult) -> str:
    verdicts = [each.verdict for each in suite.outcomes]
    failed, broken = verdicts.count("fail"), verdicts.count("error")
    said = [f"{failed:,} of {len(verdicts):,} failed"] if failed else []
    if suite.error or (not broken and suite.verdict == "error"):
        said.append("could not be judged as a whole" if failed else "could not be judged")
    elif broken:
        said.append(f"{broken:,} of {len(verdicts):,} could not be judged")
    return ", ".join(said)


def _lowered(run: RunResult, links: SourceLinks) -> str:
    """Baselines that the branch itself made lower; a red one is among the failures."""
    lowered = [(suite, each) for suite in run.suites for each in suite.outcomes if lowers(each)]
    if not lowered:
        return ""
    lines = []
    for suite, each in lowered[:LISTED]:
        shown = "; ".join(map(inert, each.facts[:FACTS]))
        more_facts = f"; and {len(each.facts) - FACTS:,} more" if len(each.facts) > FACTS else ""
        lines.append(f"{_told_in_a_line(each, suite, links)}{f': {shown}{more_facts}' if shown else ''}")
    more = [f"* … and {len(lowered) - LISTED:,} more"] if len(lowered) > LISTED else []
    lower = any(each.numbers for _, each in lowered)
    title = (
        "### This branch lowers what later changes are compared with"
        if lower
        else "### This branch makes its suite weaker"
    )
    return "\n".join([title, "", *lines, *more])


def _warnings(run: RunResult) -> str:
    if not run.warnings:
        return ""
    lines = [f"* {inert(each)}" for each in run.warnings[:LISTED]]
    more = [f"* … and {len(run.warnings) - LISTED:,} more"] if len(run.warnings) > LISTED else []
    return "\n".join(["### Notes on this run", "", *lines, *more])


def _since_base(run: RunResult) -> str:
    parts = []
    for suite in run.suites:
        since = suite.since_base
        if since is None or not run.base:
            continue
        words = inert(since_base_words(since, run.base))
        name = f"{inert(suite.name, 80)}: " if len(run.suites) > 1 else ""
        if not since.rows:
            parts.append(f"{name}{words}.")
            continue
        rows = [[inert(metric, 80), inert(within, 80), *figures] for metric, within, *figures in since_base_rows(since)]
        table = markdown_table(["metric", "slice", inert(run.base), "branch", "change", ""], rows, range(2, 6))
        worst = since.queries[:QUERIES]
        title = document_title(each.best for each in worst)
        header = ["worst changed lists", "text", inert(since.rows[0].metric), title, "now at"]
        lists = markdown_table(header, [_query(each, suite.depth, "") for each in worst])
        parts.append(folded(f"{name}{words}", f"{table}\n\n{lists}" if since.queries else table))
    return "\n\n".join(parts)


def _figures(run: RunResult) -> Iterator[SummaryPart]:
    """Suites beside their metrics; where there is no room, only those of red suites."""
    suites, header = run.suites, header_of(run)
    rows = [row for suite in suites for row in _rows(suite)]
    if not rows:
        return
    red = [row for suite in suites if suite.verdict in RED for row in _rows(suite)]
    forms = [(FIGURES, _figures_table("Figures", rows, header))]
    if red and len(red) < len(rows):
        forms.append((FIGURES + 1, _figures_table("Figures of the suites that are red", red, header)))
    yield SummaryPart(tuple(forms))


def _figures_table(title: str, rows: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    header, *cells = filled([("suite", *map(inert, names)), *rows])
    text = markdown_table(header, cells, range(2, 5))
    return folded(f"{title}: {format_count(len(rows), 'row')}", text) if len(rows) > 12 else f"### {title}\n\n{text}"


def _rows(suite: SuiteResult) -> list[list[str]]:
    rows = metric_rows(suite)
    return [
        [inert(suite.name, 80), inert(name, 80), *figures, f"**{verdict}**" if verdict in RED else verdict]
        for name, *figures, verdict in rows
    ]


def _notes(run: RunResult) -> str:
    """Notes for a reader of the figures, without those above: errors, lowered baselines, what was accepted."""
    suites = (
        replace(suite, error="", outcomes=tuple(each for each in suite.outcomes if not lowers(each)))
        for suite in run.suites
    )
    untold = replace(run, suites=tuple(suites), accepted=())
    lines = [f"* {inert(note, 600)}" for note in notes_of_run(untold)]
    return folded(f"Warnings, waivers and notes: {len(lines)}", "\n".join(lines)) if lines else ""


def _last(run: RunResult) -> str:
    lines = []
    if run.not_selected:
        lines.append(f"Not selected: {_named(run.not_selected)}")
    if run.unaffected:
        since = f" since {literal(run.changed_since)}" if run.changed_since else ""
        lines.append(f"Not affected by what changed{since}: {_named(run.unaffected)}")
    if run.base:
        lines.append(f"Baselines were compared with those of the merge base with {literal(run.base)}")
    counts = f"{format_count(len(run.suites), 'suite')}, {verdicts_in_words(run.suites)}" if run.suites else ""
    commit = f"commit {literal(run.commit[:12])}" if run.commit else ""
    branch = f" on {literal(run.branch)}" if commit and run.branch else ""
    dirty = " with uncommitted changes" if commit and run.dirty else ""
    lines.append(" · ".join(filter(None, (counts, f"{commit}{branch}{dirty}", f"pytest-ireval {inert(run.version)}"))))
    return "\n\n".join(lines)


def _named(suites: Sequence[str]) -> str:
    more = f" and {len(suites) - LISTED:,} more" if len(suites) > LISTED else ""
    return ", ".join(literal(name, 80) for name in suites[:LISTED]) + more


def _notice(fit: Fit, rest: str) -> str:
    said = []
    if fit.shortened:
        said.append(f"{format_count(fit.shortened, 'failure')} shortened to one line")
    if fit.omitted:
        said.append(f"{format_count(fit.omitted, 'failure')} left out")
    if fit.others:
        said.append(f"{format_count(fit.others, 'other part')} shortened or left out")
    where = f"Everything is in {literal(rest)}" if rest else "`-vv` shows everything in the log"
    return f"**This summary is incomplete**: {', '.join(said)}. {where}."


SLICES, QUERIES, FACTS_OF_OUTCOME, SENTENCE = 8, 5, 6, 1000
"""The most lines of figures, queries and facts that are shown, and the most characters of a sentence."""


def _told_whole(check: RedCheck, links: SourceLinks, number: int, suite: SuiteResult) -> str:
    """The headline; place, figures, statistics and the command that explains them, folded where there are several."""
    outcome = check.outcome
    first, *more = check.headline.splitlines() or [""]
    facts = (*outcome.facts[:FACTS_OF_OUTCOME], *outcome.statistics[:FACTS_OF_OUTCOME])
    why = outcome.metric and outcome.queries and outcome.explained
    parts = [
        f"{links.place(outcome.file, outcome.line)} · {literal(outcome.id)}",
        fenced("\n".join(more)) if more else "",
        inert(outcome.sentence, SENTENCE),
        f"The same holds for {', '.join(literal(each.id) for each in check.others[:LISTED])}" if check.others else "",
        _figures_of_outcome(outcome),
        "\n".join(f"* {inert(fact, SENTENCE)}" for fact in facts),
        f"Compared with: {inert(outcome.against, SENTENCE)}" if outcome.against else "",
        f"Why:\n\n{fenced(why_command(suite, outcome.metric, outcome.queries[0].query), 'sh')}" if why else "",
    ]
    text = "\n\n".join(filter(None, parts))
    title = f"{inert(first)}{f' ({others_words(check)})' if check.others else ''}"
    return folded(f"{number}. {title}", text) if number else f"#### {title}\n\n{text}"


def _told_in_a_line(outcome: Outcome, suite: SuiteResult, links: SourceLinks) -> str:
    headline = inert(outcome.headline.partition("\n")[0])
    return f"* {inert(suite.name)}: {headline} ({links.place(outcome.file, outcome.line)})"


def _figures_of_outcome(outcome: Outcome) -> str:
    """A row for each slice; without a baseline there is no change."""
    shown = outcome.figures[:SLICES]
    if not shown:
        return ""
    compared = any(each.baseline is not None for each in shown)
    header = ["slice", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else []), "queries"]
    header += ["worse / better / same"] if compared else []
    rows = [_row(each, compared) for each in shown]
    lines = [markdown_table(header, rows, range(1, len(header)))]
    if len(outcome.figures) > SLICES:
        lines.append(f"… and {len(outcome.figures) - SLICES:,} more slices")
    if said := certainty_words(shown[0], "change"):
        lines.append(f"{inert(shown[0].slice, 80)}: {said}")
    return "\n\n".join(lines)


def _row(each: SliceFigures, compared: bool) -> list[str]:
    name = inert(each.label, 80)
    cells = moved_figures(each) if compared else [figure(each.now)]
    counts = [f"{each.worse} / {each.better} / {each.same}"] if compared else []
    return [f"**{name}**" if each.over and name else name, *cells, f"{each.queries:,}", *counts]


def _queries(checks: Sequence[RedCheck], depth: int) -> str:
    """The queries that broke most checks with their documents, and the top of the first ranking."""
    found = red_queries(checks)
    shown = found[:QUERIES]
    if not shown:
        return ""
    metrics = list(dict.fromkeys(each.metric for each in shown))
    header = [checks[0].outcome.worst if len(checks) == 1 else "worst queries", "text"]
    header += [(inert(metrics[0]) if len(metrics) == 1 else "") or "value"]
    header += [document_title(each.change.best for each in shown), "now at"]
    rows = [_query(each.change, depth, each.metric if len(metrics) > 1 else "") for each in shown]
    if len(checks) > 1:
        header.append("checks")
        rows = [[*row, ranges_words(each.checks)] for row, each in zip(rows, shown, strict=True)]
    lines = [markdown_table(header, rows)]
    count = max(len(found), *(check.outcome.query_count for check in checks))
    if count > QUERIES:
        lines.append(f"… and {count - QUERIES:,} more queries")
    if top := shown[0].change.top:
        placed = ", ".join(f"{_document(each)} ({grade_words(each)})" for each in top)
        lines.append(f"Top {len(top)} of {literal(shown[0].change.query, 80)} now: {placed}")
    return "\n\n".join(lines)


def _query(each: QueryChange, depth: int, metric: str) -> list[str]:
    return [
        literal(each.query, 80) or "-",
        inert(each.text, 80) + (f"; {inert(each.note, 200)}" if each.note else ""),
        f"{inert(metric)} {moved_text(each)}".strip(),
        inert(best_document(each), 120),
        inert(now_at(each.best, depth)),
    ]


def _circumstances(checks: Sequence[RedCheck], suite: SuiteResult, date: str) -> str:
    stored = [each.outcome for each in checks if not each.outcome.against]
    compares = [each for each in stored if each.compares]
    parts = []
    if compares and suite.cause is not None:
        parts.append(f"Inputs: {inert(cause_sentence(suite.cause, compares[0].metric), SENTENCE)}")
    if compares and suite.baseline is not None:
        parts.append(f"Baseline: {inert(baseline_words(suite.baseline, date))}")
    new = any(each.missing_baseline for each in stored)
    if new or (any(each.verdict != "error" for each in compares) and not is_explained(suite)):
        parts.append(f"Accept:\n\n{fenced(accept_command(suite, new=new), 'sh')}")
    accepts = ", and how to accept" if parts and parts[-1].startswith("Accept") else ""
    return folded(f"Inputs, baseline{accepts}", "\n\n".join(parts)) if parts else ""


def _document(each: Placed) -> str:
    title = f" {inert(each.title, 80)}" if each.title else ""
    return f"{literal(each.document, 80)}{title}"


@dataclass(frozen=True)
class SummaryPart:
    """A part of the summary, in one or more forms; it is never cut in the middle."""

    forms: tuple[tuple[int, str], ...]
    """From the longest to the shortest, each with what it is worth: what is worth least is given up first."""
    counts: bool = False
    """True if it is counted when it is left out."""
    flush: bool = False
    """True if its last form is a line of a list, directly below the one before it."""


@dataclass(frozen=True)
class Fit:
    """The number of counted parts that are shortened or left out."""

    shortened: int = 0
    omitted: int = 0
    others: int = 0
    """Other parts of which something is missing."""


def size(text: str) -> int:
    """Characters as a code host counts them: those beyond the first 65,536 of Unicode are two."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fitted(parts: Sequence[SummaryPart], limit: int, notice: Callable[[Fit], str]) -> str:
    """As many parts as there is room for, in their order, then what ``notice`` says of the others.

    Something of the first part always stays.
    """
    shown = [0] * len(parts)
    room = limit - sum(size(part.forms[0][1]) + 2 for part in parts)
    if room < 0:
        room -= size(notice(Fit(999_999, 999_999, 999_999))) + 2
    for _, negative, form in sorted(_steps(parts)):
        if room >= 0:
            break
        number = -negative
        if form != shown[number]:
            continue  # a form that is worth more than the one before it goes with it
        shown[number] = form + 1
        room += size(parts[number].forms[form][1]) - size(_text(parts[number], form + 1))
    return _joined(parts, shown, notice)


def _steps(parts: Sequence[SummaryPart]) -> Iterator[tuple[int, int, int]]:
    """The parts that can be given up, by their worth; of equals, the last in the text first."""
    for number, part in enumerate(parts):
        for form in range(len(part.forms) if number else len(part.forms) - 1):
            yield part.forms[form][0], -number, form


def _text(part: SummaryPart, form: int) -> str:
    return part.forms[form][1] if form < len(part.forms) else ""


def _joined(parts: Sequence[SummaryPart], shown: Sequence[int], notice: Callable[[Fit], str]) -> str:
    """Paragraphs apart; lines of a list below each other."""
    text, in_list = "", False
    for part, form in zip(parts, shown, strict=True):
        told = _text(part, form)
        if not told:
            continue
        line = part.flush and form == len(part.forms) - 1
        text += ("\n" if line and in_list else "\n\n" if text else "") + told
        in_list = line
    counted = [(form, len(part.forms)) for part, form in zip(parts, shown, strict=True) if part.counts and form]
    others = sum(1 for part, form in zip(parts, shown, strict=True) if form and not part.counts)
    omitted = sum(form == forms for form, forms in counted)
    missing = Fit(len(counted) - omitted, omitted, others)
    return f"{text}\n\n{notice(missing)}\n" if missing != Fit() else f"{text}\n"
