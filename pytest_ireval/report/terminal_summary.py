"""The summary of a run in the terminal: a table of figures, notes, and a last line with the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_ireval.report.failure_text import format_query_values
from pytest_ireval.report.figure_rows import format_figure_row, list_figure_rows
from pytest_ireval.report.formatting import (
    choose_cause_label,
    count_stale,
    describe_ages,
    describe_cause,
    format_change,
    format_comparison,
    format_percent,
    format_value,
    is_explained,
)
from pytest_ireval.report.input_changes import describe_inputs, summarize_input_changes
from pytest_ireval.report.run_summary import list_reservations, rank_importance
from pytest_ireval.results.outcome import VERDICTS, Outcome, Verdict
from pytest_ireval.results.suite_result import Counts, RunResult, SinceBase, SliceRow, SuiteResult
from pytest_ireval.text_table import (
    align_rows,
    escape_unprintable,
    join_lines,
    lay_out_rows,
    measure_width,
    truncate,
    wrap_text,
)
from pytest_ireval.words import format_count

LISTED = 5
"""The number of queries or suites that are named; the others are counted."""
WIDEST, NARROW = 40, 11
"""After a longer name, the other cells are on the next line; the second where there is little room."""
HEADER = ("metric", "now", "baseline", "change", "90% interval", "can show", "verdict")
"""The column *can show* has the smallest change of the mean that this number of queries finds in 80% of cases."""
QUERIES_NAMED = 3
"""The worst queries of a check that is inconclusive."""
SLICES_NAMED = 3
"""The slices that a reader is asked to look at; the page marks all."""
WORTH_A_LOOK = 0.05
"""The share of slices named that are named by chance."""


def format_summary(run: RunResult, limit: int = 80, files: Sequence[str] = (), *, statistics: bool = True) -> list[str]:
    """Everything at a glance; ``files`` are those that the run wrote.

    Without ``statistics`` the column *can show* is left out.
    """
    parts = [
        _format_figures(run, limit, statistics),
        list(_format_since_base(run, limit)),
        _format_counts(run.suites, limit),
        [line for note in list_notes(run) for line in wrap_text(note, limit, then="  ")],
        [f"written: {escape_unprintable(file)}" for file in files],
        _format_unaffected(run, limit),
        _format_not_selected(run, limit),
        [escape_unprintable(line) for problem in run.problems for line in f"problem: {problem}".splitlines()],
        [line for warning in run.warnings for line in wrap_text(f"warning: {join_lines(warning)}", limit, then="  ")],
        [line for suite in run.suites for line in _format_causes(suite, limit)],
        [*format_owners(run, limit), *_format_verdict(run, limit)],
    ]
    return [line for part in parts if part for line in (*part, "")][:-1]


def choose_header(run: RunResult) -> tuple[str, ...]:
    """The names of the columns; where every baseline is that of the base, it is called by the name of the base."""
    compared = [suite for suite in run.suites if suite.baseline is not None]
    if not run.base or not compared or not all(each.since_base and each.since_base.same for each in compared):
        return HEADER
    return ("metric", "branch", run.base, *HEADER[3:])


def list_since_base_rows(since: SinceBase, *, slices: bool = True) -> list[list[str]]:
    """A row for each metric and slice: the figure of the base, that of the branch, and the change."""
    shown = (row for row in since.rows if slices or row.figures.slice == "all")
    return [[row.metric, row.figures.slice, *format_comparison(row.figures)] for row in shown]


def describe_since_base(since: SinceBase, base: str) -> str:
    """``since main (a0ec56a): the lists of 57 of 224 queries changed``."""
    return f"since {base} ({since.commit}): the lists of {since.changed:,} of {since.compared:,} queries changed"


def _format_since_base(run: RunResult, limit: int) -> Iterator[str]:
    for suite in run.suites:
        since = suite.since_base
        if since is None or not run.base:
            continue
        several = f"{suite.name}: " if len(run.suites) > 1 else ""
        yield from wrap_text(escape_unprintable(several + describe_since_base(since, run.base)), limit, then="  ")
        if since.rows:
            rows = [["metric", "slice", run.base, "branch", "change", ""], *list_since_base_rows(since, slices=False)]
            yield from (f"  {line}" for line in align_rows(rows, range(2, 6)))


def _format_figures(run: RunResult, limit: int, statistics: bool) -> list[str]:
    suites = run.suites
    if not suites:
        return []
    by_suite = [[format_figure_row(row) for row in list_figure_rows(suite)] for suite in suites]
    above = [row for rows in by_suite for row in rows]
    names = [
        name for suite, rows in zip(suites, by_suite, strict=True) for name in (suite.name, *[""] * (len(rows) - 1))
    ]
    titles, *above = drop_empty_column([choose_header(run), *above], statistics=statistics)
    beside = [[name, *row] for name, row in zip(("suite", *names), (titles, *above), strict=True)]
    lines = lay_out_rows(beside, range(2, 5), most={0: WIDEST, 1: WIDEST})
    if _fits(lines, limit):
        return [line for row in lines for line in row]
    header, *cells = _lay_out_narrow([titles, *above], limit - 2)
    cell = iter(cells)
    shown = [f"  {line}" for line in header]
    for suite, rows in zip(suites, by_suite, strict=True):
        shown += [escape_unprintable(suite.name), *(f"  {line}" for _ in rows for line in next(cell))]
    return shown


def _lay_out_narrow(rows: Sequence[Sequence[str]], limit: int) -> list[list[str]]:
    """The lines below the name of a suite; where there is little room, figures are below long names, too."""
    lines: list[list[str]] = []
    for most in (WIDEST, WIDEST // 2, NARROW):
        lines = lay_out_rows(rows, range(1, 4), most={0: most})
        if _fits(lines, limit):
            return lines
    closer = [[cell.replace(" .. ", "..") for cell in row] for row in rows]
    return lay_out_rows(closer, range(1, 4), most={0: NARROW})


def _fits(rows: Sequence[Sequence[str]], limit: int) -> bool:
    """Tell whether the figures fit; a name alone on a line may be longer."""
    return all(measure_width(lines[-1]) <= limit for lines in rows)


def drop_empty_column(table: Sequence[Sequence[str]], *, statistics: bool = True) -> list[list[str]]:
    """The rows; without ``statistics``, or if it is empty, the column *can show* is left out."""
    place = list(table[0]).index("can show")
    if statistics and any(row[place].strip("-") for row in table[1:]):
        return [list(row) for row in table]
    return [[cell for i, cell in enumerate(row) if i != place] for row in table]


_UNJUDGED = "unjudged in the lists"
COUNTS: tuple[tuple[str, Callable[[Counts], int]], ...] = (
    ("missing", lambda counts: len(counts.missing)),
    ("empty", lambda counts: len(counts.empty)),
    ("no judgments", lambda counts: len(counts.without_judgments)),
    ("no relevant", lambda counts: counts.no_relevant),
    ("waived", lambda counts: len(counts.waived)),
    (_UNJUDGED, lambda counts: counts.unjudged),
)


def name_count(name: str, suites: Sequence[SuiteResult]) -> str:
    """``unjudged in the top 20`` of each query, if all of the suites evaluate 20 documents of a query."""
    depths = {suite.depth for suite in suites}
    return f"unjudged in the top {depths.pop():,}" if name == _UNJUDGED and len(depths) == 1 and all(depths) else name


def _format_counts(suites: Sequence[SuiteResult], limit: int) -> list[str]:
    """The number of queries behind each suite's figures, and pitfalls; columns without anything are left out."""
    found = [suite for suite in suites if suite.counts.queries]
    if not found:
        return []
    columns = [(name_count(name, found), [count(suite.counts) for suite in found]) for name, count in COUNTS]
    columns = [(name, numbers) for name, numbers in columns if any(numbers)]
    header = ["suite", "queries", "judged", *(name for name, _ in columns)]
    rows = [
        [suite.name, f"{suite.counts.queries:,}", f"{suite.counts.judged:,}", *(f"{n[i]:,}" for _, n in columns)]
        for i, suite in enumerate(found)
    ]
    lines = lay_out_rows([header, *rows], range(1, len(header)), most=WIDEST)
    if _fits(lines, limit):
        return [line for row in lines for line in row]
    return [line for suite in found for line in wrap_text(_describe_counts(suite), limit, then="  ")]


def _describe_counts(suite: SuiteResult) -> str:
    numbers = [(name_count(name, [suite]), count(suite.counts)) for name, count in COUNTS]
    said = [f"{name}: {number:,}" for name, number in numbers if number]
    return "; ".join(
        [f"{suite.name}: {format_count(suite.counts.queries, 'query')}, {suite.counts.judged:,} judged", *said]
    )


def list_notes(run: RunResult) -> Iterator[str]:
    """Notes for a reader of the figures, each once with the suites it holds for."""
    every: dict[str, list[str]] = {}
    for suite in run.suites:
        for note in dict.fromkeys(map(join_lines, _list_suite_notes(suite))):
            every.setdefault(note, []).append(suite.name)
    for note, names in every.items():
        yield f"{_list_first(names)}: {note}" if len(run.suites) > 1 else note
    yield from list_section_warnings(run)
    if run.accepted:
        yield f"accepted: {', '.join(run.accepted)}"


def list_section_warnings(run: RunResult) -> Iterator[str]:
    """The sections of plugins that could not be added to the report."""
    for each in run.sections:
        if each.problem:
            problem = join_lines(each.problem)
            yield escape_unprintable(f"warning: section {each.title!r} of {each.plugin} is not shown: {problem}")


def _list_suite_notes(suite: SuiteResult) -> Iterator[str]:
    if suite.error:
        first, *more = suite.error.splitlines()
        yield "; ".join([f"error: {first}", *(line.strip() for line in more[:1] if line.startswith(" "))])
    yield from (f"{metric.name} could not be computed: {metric.error}" for metric in suite.metrics if metric.error)
    counts = suite.counts
    left_out = {"missing": counts.missing, "empty": counts.empty, "without judgments": counts.without_judgments}
    yield from (f"{what}: {_list_first(queries)}" for what, queries in left_out.items() if queries)
    if suite.judgment_ages is not None:
        yield f"judgments: {describe_ages(suite.judgment_ages)}"
    cause = suite.cause  # with other judgments, queries or definitions, figures move without any change of ranking
    if cause and (cause.judgments or cause.added or cause.removed or cause.policies or cause.metrics):
        yield f"since the baseline: {describe_inputs(cause)}"
    elif cause and suite.verdict not in _RED and (changed := summarize_input_changes(cause)):
        yield f"since the baseline: {changed}"
    yield from (f"waived: {line}" for line in suite.waived)
    yield from (
        f"warning: {_describe_outcome(outcome)}"
        for outcome in suite.outcomes
        if outcome.warning and outcome.verdict == "pass"
    )
    yield from (
        f"inconclusive: {_describe_outcome(outcome)}" for outcome in suite.outcomes if outcome.verdict == "inconclusive"
    )
    yield from suite.notes
    if suite.to_judge:
        documents = format_count(len(suite.to_judge), "unjudged document")
        it = "it" if len(suite.to_judge) == 1 else "them"
        yield (
            f"grades for {documents} could change red or inconclusive checks: ireval judge --last opens {it} "
            "(--run FOLDER for a report from CI)"
        )
    yield from _list_slices_to_look_at(suite)


def _list_slices_to_look_at(suite: SuiteResult) -> Iterator[str]:
    """The slices that got worse most clearly, each once; none that a rule about the metric, or a doubt, names."""
    if is_explained(suite, why=False):
        return
    by_rule = {(outcome.metric, outcome.slice) for outcome in suite.outcomes}
    doubtful = [outcome for outcome in suite.outcomes if outcome.verdict != "pass" or outcome.warning]
    above = {each.slice for each in doubtful} | {line.slice for each in doubtful for line in each.figures if line.over}
    found = [
        each
        for each in suite.slices
        if each.corrected is not None
        and each.corrected < WORTH_A_LOOK
        and each.figures.slice not in above
        and (each.metric, each.figures.slice) not in by_rule
    ]
    among = format_count(len(suite.slices), "figure")
    once: dict[str, SliceRow] = {}
    for each in sorted(found, key=lambda each: each.corrected or 0.0):
        once.setdefault(each.figures.slice, each)
    for name, each in list(once.items())[:SLICES_NAMED]:
        moved = f"{each.metric} {format_change(each.figures.change)} ({format_percent(each.figures.relative)})"
        yield f"look at {name}: {moved}, significant among {among}"


def _describe_outcome(outcome: Outcome) -> str:
    if outcome.verdict == "inconclusive" and outcome.metric:
        return f"{outcome.place}: {outcome.headline}{_format_worst_queries(outcome)}"
    fact = f" ({outcome.facts[0]})" if outcome.facts else ""
    return f"{outcome.place}: {outcome.headline}{fact}"


def _format_worst_queries(outcome: Outcome) -> str:
    """``; worst queries: q052 1.000 -> 0.000``; empty where none got worse."""
    compared = [each for each in outcome.queries if each.baseline is not None]
    named = [f"{truncate(each.query, 30)} {format_query_values(each)}" for each in compared[:QUERIES_NAMED]]
    return f"; {outcome.queries_title}: {', '.join(named)}" if named else ""


def _list_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def format_brief_summary(run: RunResult, limit: int) -> list[str]:
    """A line for each red suite, one for the warnings of each suite, and the verdict; nothing if all is well."""
    red = [suite for suite in run.suites if suite.verdict in _RED]
    lines = [
        line for suite in red for line in (truncate(_describe_red_suite(suite), limit), *_format_causes(suite, limit))
    ]
    warned = ((each, [o.headline for o in each.outcomes if o.warning and o.verdict == "pass"]) for each in run.suites)
    lines += [truncate(_describe_first(found, "warning", suite), limit) for suite, found in warned if found]
    whole = run.verdict == "pass" and not run.not_selected
    return lines if whole else [*lines, *_format_verdict(run, limit)]


def _format_causes(suite: SuiteResult, limit: int) -> Iterator[str]:
    for cause in suite.diagnoses[:1]:
        label = choose_cause_label(suite.verdict, cause).lower()
        yield from wrap_text(escape_unprintable(f"{label}: {suite.name}: {describe_cause(cause)}"), limit, then="  ")


def _describe_red_suite(suite: SuiteResult) -> str:
    red = sorted((outcome for outcome in suite.outcomes if outcome.verdict == suite.verdict), key=rank_importance)
    return _describe_first([suite.error] if suite.error else [each.headline for each in red], suite.verdict, suite)


def _describe_first(found: Sequence[str], word: str, suite: SuiteResult) -> str:
    first = next(iter(found), "no verdict").partition("\n")[0]
    more = f" and {len(found) - 1:,} more: " if len(found) > 1 else ": "
    return escape_unprintable(f"{word}: {suite.name}{more}{first}")


def _format_verdict(run: RunResult, limit: int) -> list[str]:
    """The last line: the suites that did not pass, or of a single one its checks."""
    if not run.suites:
        none = "no suite is affected" if run.unaffected else "no suites"
        return wrap_text(f"ireval: {run.verdict}, {none}", limit, then="  ")
    single = len(run.suites) == 1 and not run.not_selected
    said = [_count_checks(run.suites[0])] if single else []
    for verdict in () if single else reversed(VERDICTS):
        names = [suite.name for suite in run.suites if suite.verdict == verdict]
        if names:
            named = f" ({_list_first(names)})" if verdict != "pass" else ""
            said.append(f"{format_count(len(names), 'suite')} {_VERDICT_WORDS[verdict]}{named}")
    if run.not_selected:
        said.append(f"{format_count(len(run.not_selected), 'suite')} not selected ({_list_first(run.not_selected)})")
    if run.failed_tests:
        said.append(f"{format_count(len(run.failed_tests), 'Python test')} failed")
    whole = [", ".join(said), *list_reservations(run)]
    text = f"ireval: {run.verdict}: {'; '.join(map(escape_unprintable, whole))}"
    return wrap_text(text, limit, then="  ")


def _count_checks(suite: SuiteResult) -> str:
    """``1 of 7 checks of shop failed, 2 inconclusive``."""
    every = [outcome.verdict for outcome in suite.outcomes]
    if suite.verdict not in every:
        return f"{suite.name} {_VERDICT_WORDS[suite.verdict]}"
    checks = format_count(len(every), "check")
    if suite.verdict == "pass":
        return f"{'all ' if len(every) > 1 else ''}{checks} of {suite.name} passed"
    first, *others = [verdict for verdict in reversed(VERDICTS) if verdict in every and verdict != "pass"]
    rest = "".join(f", {every.count(verdict):,} {_VERDICT_WORDS[verdict]}" for verdict in others)
    stale = count_stale(suite.outcomes)
    return f"{every.count(first):,} of {checks} of {suite.name} {_VERDICT_WORDS[first]}{rest}{stale}"


_VERDICT_WORDS: dict[Verdict, str] = {
    "pass": "passed",
    "fail": "failed",
    "inconclusive": "inconclusive",
    "error": "could not be judged",
}


def count_verdicts(suites: Iterable[SuiteResult]) -> str:
    """The number of rules by verdict: ``12 verdicts: 1 fail, 11 pass``."""
    outcomes = [outcome for suite in suites for outcome in suite.outcomes]
    every = [outcome.verdict for outcome in outcomes]
    said = [f"{every.count(verdict):,} {verdict}" for verdict in reversed(VERDICTS) if verdict in every]
    text = f"{format_count(len(every), 'verdict')}: {', '.join(said)}{count_stale(outcomes)}"
    return text if every else "no verdicts"


LISTED_FILES = 40
"""The number of them that are named; all are in the results."""


def _format_unaffected(run: RunResult, limit: int) -> list[str]:
    """The suites that took no part, by name, so that they are not taken for suites that passed."""
    if not run.unaffected:
        return []
    text = f"not affected by what changed since {run.changed_since}: {_list_with_count(run.unaffected)}"
    return wrap_text(text, limit, then="  ")


def _format_not_selected(run: RunResult, limit: int) -> list[str]:
    text = f"not selected: {_list_with_count(run.not_selected)}"
    return wrap_text(escape_unprintable(text), limit, then="  ") if run.not_selected else []


def _list_with_count(suites: Sequence[str]) -> str:
    more = ", …" if len(suites) > LISTED_FILES else ""
    return f"{', '.join(suites[:LISTED_FILES])}{more} ({format_count(len(suites), 'suite')})"


def format_reasons(run: RunResult, limit: int = 80) -> list[str]:
    """Why each of the others took part."""
    reasons = [f"{suite.name}: {suite.affected_by}" for suite in run.suites if suite.affected_by]
    lines = [line for reason in reasons for line in wrap_text(escape_unprintable(reason), limit, then="  ")]
    return [f"affected by what changed since {escape_unprintable(run.changed_since)}:", *lines, ""] if lines else []


DIRTY_HINT = "commit them with the baseline, so that it can be measured again"


def format_updates(run: RunResult, limit: int = 80) -> list[str]:
    """A table for each suite whose baseline this run wrote, and whether its commit is what was measured."""
    parts = [_format_update(suite, limit) for suite in run.suites if suite.name in run.accepted]
    if parts and run.dirty:
        on = f" on commit {run.commit[:7]}" if run.commit else ""
        parts.append(wrap_text(f"accepted with uncommitted changes{on}: {DIRTY_HINT}", limit, then="  "))
    return [line for part in parts for line in (*part, "")][:-1]


def _format_update(suite: SuiteResult, limit: int) -> list[str]:
    new = suite.baseline is None and all(metric.baseline is None for metric in suite.metrics)
    rows = [
        [metric.name, format_value(metric.baseline), format_value(metric.now), format_change(metric.change)]
        + ([] if new else [f"{metric.worse} / {metric.better} / {metric.same}"])
        for metric in suite.metrics
        if not metric.lists  # it compares lists, and has no figure that could be accepted
    ]
    header = ["metric", "was", "now", "change", *([] if new else ["worse / better / same"])]
    lines = [f"{escape_unprintable(suite.name)}: {'first baseline' if new else 'new baseline'}"]
    if rows:
        lines += [f"  {line}" for line in align_rows([header, *rows], range(1, 4), most=WIDEST)]
    if suite.cause is not None:
        lines += wrap_text(describe_inputs(suite.cause), limit, "  ", "    ")
    return lines


_RED = ("fail", "error")


def format_owners(run: RunResult, limit: int = 80) -> list[str]:
    """The owners of red suites with what is red; nothing where no red suite has an owner."""
    by_owner = group_red_suites_by_owner(run)
    if not any(by_owner):
        return []
    said = [f"{owner or 'without an owner'} ({_list_first(names)})" for owner, names in by_owner.items()]
    return wrap_text(f"red: {', '.join(said)}", limit, then="  ")


def group_red_suites_by_owner(run: RunResult) -> dict[str, list[str]]:
    """The names of red suites by owner, in the order of the run; suites without an owner come last, under no name."""
    red = [suite for suite in run.suites if suite.verdict in _RED]
    owners = sorted(dict.fromkeys(suite.owner for suite in red), key=lambda owner: not owner)
    return {owner: [suite.name for suite in red if suite.owner == owner] for owner in owners}
