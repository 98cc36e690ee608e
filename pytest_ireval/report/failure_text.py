"""One outcome as people read it in a terminal: what broke, what it rests on, why, and what to type next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from pytest_ireval.report.commands import describe_obstacle, format_accept_command, format_why_command
from pytest_ireval.report.formatting import (
    choose_cause_label,
    describe_cause,
    describe_certainty,
    format_comparison,
    format_value,
    is_explained,
    name_worsening,
)
from pytest_ireval.report.input_changes import describe_inputs
from pytest_ireval.results.outcome import Diagnosis, Outcome, Placed, QueryChange, SliceFigures
from pytest_ireval.results.suite_result import BaselineInfo, SuiteResult
from pytest_ireval.text_table import (
    escape_unprintable,
    lay_out_rows,
    measure_width,
    truncate,
    truncate_middle,
    wrap_text,
)
from pytest_ireval.words import format_age

CAUSE_QUERIES, SHORTEST_TITLE, LONGEST_TITLE = 5, 8, 40
"""The number of queries of a cause that are named; the least and the most characters of a title."""


def format_failure(
    outcome: Outcome,
    suite: SuiteResult,
    *,
    date: str,
    width: int = 80,
    queries: int | None = 3,
    report: str = "",
    statistics: bool = True,
) -> str:
    """Everything below the line with the name; ``date`` is today's, ``report`` where a page shows the same.

    Only ids, paths and commands take more columns than ``width``. Without ``statistics`` there is no interval, no p
    and nothing else that needs an explanation.
    """
    facts = (*outcome.statistics, *outcome.facts) if statistics else outcome.facts
    direction = next((metric.direction for metric in suite.metrics if metric.name == outcome.metric), "higher")
    first = outcome.figures[0] if statistics and outcome.figures else None
    certain = describe_certainty(first, name_worsening(direction), "interval") if first else ""
    label = escape_unprintable(first.slice.partition("=")[2] or first.slice) if first else ""
    parts = [
        _format_head(outcome, suite, width),
        list(format_causes(suite, width, outcome)),
        [
            *_format_figures(outcome, width),
            *(wrap_text(certain, width, f"  {label}: ", "    ") if certain else []),
            *(line for fact in facts for line in wrap_text(fact, width, "  ", "    ")),
        ],
        _format_queries(outcome, suite.depth, width, queries),
        list(format_circumstances(outcome, suite, date, width, report, verbose=statistics)),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _format_head(outcome: Outcome, suite: SuiteResult, width: int) -> list[str]:
    first, *others = outcome.headline.splitlines() or [""]
    place = f"{escape_unprintable(outcome.place)}: " if outcome.place else ""
    headline = [
        place + escape_unprintable(first),
        *map(escape_unprintable, others),
    ]  # that of an error may have several lines
    return [*headline, *format_sentence(outcome.sentence, suite, width)]


def format_sentence(sentence: str, suite: SuiteResult, limit: int) -> list[str]:
    """A sentence, and the owner of the suite."""
    owner = f"Owner {suite.owner}." if suite.owner else ""
    text = " ".join(filter(None, (sentence, owner)))
    return wrap_text(text, limit) if text else []


def format_causes(suite: SuiteResult, limit: int, outcome: Outcome | None = None) -> Iterator[str]:
    """The plain causes, above all figures; of several red outcomes the first has them whole, the others in one line."""
    if outcome is not None and not _has_cause(outcome):
        return
    red = (each for each in suite.outcomes if each.verdict in ("fail", "error") and _has_cause(each))
    whole = outcome is None or outcome.id == next(red, outcome).id
    for number, cause in enumerate(suite.diagnoses if whole else suite.diagnoses[:1]):
        label = "also" if number else choose_cause_label("fail", cause).lower()
        yield from wrap_text(escape_unprintable(describe_cause(cause)), limit, f"  {label}: ", "    ")
        if not number and whole:
            yield from wrap_text(escape_unprintable(cause.advice), limit, "    ", "    ") if cause.advice else ()
            yield from wrap_text(list_queries_of_cause(cause), limit, "    ", "    ") if cause.queries else ()


def _has_cause(outcome: Outcome) -> bool:
    return bool(outcome.metric) or outcome.kind == "inputs"


def list_queries_of_cause(cause: Diagnosis) -> str:
    """The first queries of a cause: ``queries: q07, q12 and 8 more``."""
    named = [truncate(each, LONGEST_TITLE) for each in cause.queries[:CAUSE_QUERIES]]
    more = cause.affected - len(named)
    return f"queries: {', '.join(map(escape_unprintable, named))}{f' and {more} more' if more else ''}"


def format_circumstances(
    outcome: Outcome, suite: SuiteResult, date: str, limit: int, report: str, *, verbose: bool = False
) -> Iterator[str]:
    """Cause, baseline and commands, as far as the outcome has to do with them.

    Beside a cause, which is most often a mistake, the command that accepts is one step away.
    """
    where = f"report: {report}" if report else ""
    stored = outcome.compares and not outcome.against
    if outcome.against:
        yield from wrap_text(outcome.against, limit, "  compared with: ", "    ")
    if stored and suite.cause is not None:
        yield from wrap_text(describe_inputs(suite.cause, outcome.metric), limit, "  inputs: ", "    ")
    if stored and suite.versus:
        yield from wrap_text(suite.versus, limit, "  compared with: ", "    ")
    elif stored and suite.baseline is not None:
        line = f"  baseline: {describe_baseline(suite.baseline, date)}"
        if where and measure_width(line) + 6 + measure_width(where) <= limit:
            line, where = f"{line}      {where}", ""
        yield line
    if where:
        yield f"  report:   {report}"
    if outcome.metric and outcome.queries and outcome.explained:
        yield f"  why:      {format_why_command(suite, outcome.metric, outcome.queries[0].query)}"
    if outcome.missing_baseline and not outcome.against:
        yield f"  accept:   {format_accept_command(suite, new=True)}"
    elif stored and outcome.verdict != "error" and not suite.versus:
        away = is_explained(suite) and not verbose
        command = "if this is intended, -v shows the command" if away else format_accept_command(suite, new=False)
        yield f"  accept:   {command}"
        if obstacle := describe_obstacle(suite):
            yield from wrap_text(obstacle.removeprefix(", "), limit, "            ", "            ")


def describe_baseline(baseline: BaselineInfo, date: str) -> str:
    """The accepted commit, and its age: ``3f9c2e1 on main, 2 days old``."""
    commit = escape_unprintable(baseline.commit[:7]) or (
        "no commit yet" if baseline.branch else "no commit (not in a git repository)"
    )
    branch = f" on {escape_unprintable(baseline.branch)}" if baseline.branch else ""
    dirty = " with uncommitted changes" if baseline.dirty else ""
    forced = ", forced" if baseline.forced else ""
    return f"{commit}{branch}{dirty}, {_describe_age(baseline.date, date)}{forced}"


def _describe_age(then: str, now: str) -> str:
    """The age in the largest unit that fits at least once; the date if the age is unknown."""
    try:
        passed = _parse_date(now) - _parse_date(then)
    except ValueError:
        return escape_unprintable(then) or "of unknown date"
    if passed < timedelta(0):
        return f"of {escape_unprintable(then)}"
    return f"{format_age(passed)} old"


def _parse_date(text: str) -> datetime:
    """A date in ISO 8601; in UTC unless it says otherwise."""
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


WIDEST, NARROW = 32, 12
"""After a longer id, the other cells are on the next line; the second where there is little room."""
WIDEST_METRIC = 16
"""The name of a metric is cut above its figures: the command below has it whole."""
WIDEST_QUERY = 48
"""Texts of queries are cut so that id and text take no more columns."""


class Spacing(NamedTuple):
    """The gaps between columns of figures, and the length of their words."""

    gaps: tuple[int, ...]
    slash: str
    over: str
    brief: bool = False
    counts: bool = True


SPACINGS = (
    Spacing((3, 2, 3, 2, 3, 3), " / ", "    <- {}"),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}"),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}", brief=True),
    Spacing((2, 2, 2, 2, 2, 2), "/", "  <- {}", brief=True, counts=False),
)
"""From the most readable to the narrowest."""
CLOSE = Spacing((1, 1, 1, 1, 1, 1), "/", " <- {}", brief=True, counts=False)
"""For counts of millions."""


def _format_figures(outcome: Outcome, limit: int) -> list[str]:
    if not outcome.figures:
        return []
    tries = [*((spacing, WIDEST) for spacing in SPACINGS), *((spacing, NARROW) for spacing in (SPACINGS[-1], CLOSE))]
    rows: list[list[str]] = []
    for spacing, most in tries:
        rows = _lay_out_slices(outcome.figures, spacing, most)
        if max(measure_width(row[-1]) for row in rows) <= limit - 2:
            break
    return [f"  {line}" for row in rows for line in row]


def _lay_out_slices(figures: Sequence[SliceFigures], spacing: Spacing, most: int) -> list[list[str]]:
    """The lines of each slice; without baselines there is no change to be shown."""
    compared = any(each.baseline is not None for each in figures)
    header = ["", *(["baseline"] if compared else []), "now", *(["change", ""] if compared else [])]
    rows = [[each.label, *(format_comparison(each) if compared else [format_value(each.now)])] for each in figures]
    if spacing.counts or not compared:
        header.append("queries")
        rows = [[*row, f"{each.queries:,}"] for row, each in zip(rows, figures, strict=True)]
    right = range(1, len(header))
    counts = ([f"{number:,}" for number in (each.worse, each.better, each.same)] for each in figures)
    cells = [spacing.slash.join(each) if compared else "" for each in counts]
    broad = max(map(measure_width, cells))
    last = [
        cell
        + (
            " " * (broad - measure_width(cell)) + spacing.over.format(_describe_decision(each, spacing.brief))
            if each.over
            else ""
        )
        for cell, each in zip(cells, figures, strict=True)
    ]
    header.append(spacing.slash.join(("worse", "better", "same")) if compared else "")
    gaps = spacing.gaps if compared else (3, 3, 0)
    wide = [[*row, cell] for row, cell in zip(rows, last, strict=True)]
    return lay_out_rows([header, *wide], right, gaps[: len(header) - 1], most)


def _describe_decision(each: SliceFigures, brief: bool) -> str:
    """A rule by evidence may be red although the change that was observed is within the tolerance."""
    if each.tolerance is None or abs(each.change or 0.0) <= each.tolerance:
        return "red" if brief else "breaks the rule"
    return "over" if brief else "over tolerance"


def _format_queries(outcome: Outcome, depth: int, limit: int, shown: int | None) -> list[str]:
    queries = outcome.queries[:shown]
    if not queries:
        return []
    lines, *rows = _lay_out_queries(queries, outcome, depth, limit)
    for row, query in zip(rows, queries, strict=True):
        lines += [*row, *(f"    {line}" for line in (wrap_text(query.note, limit - 4) if query.note else ()))]
    return [*lines, *_count_other_queries(outcome, len(queries)), *format_top_documents(queries[0], limit)]


def _lay_out_queries(queries: Sequence[QueryChange], outcome: Outcome, depth: int, limit: int) -> list[list[str]]:
    """The lines of the header and of each query; columns that no query has anything in are left out."""
    columns = [[truncate(outcome.metric, WIDEST_METRIC) or "value", *(format_query_values(query) for query in queries)]]
    if not any(query.now is not None or query.baseline is not None for query in queries):
        columns = []
    gaps = [3][: len(columns)]
    if any(query.best for query in queries):
        documents = [_fit_document(query, max(WIDEST_METRIC, limit // 3)) for query in queries]
        columns.append([choose_document_title([query.best for query in queries]), *documents])
        columns.append(["now at", *(format_current_rank(query.best, depth) for query in queries)])
        gaps = [*gaps, 4 if gaps else 3, 2]
    right = [len(columns)] if len(columns) > 1 else []
    others = sum(max(measure_width(escape_unprintable(cell)) for cell in column) for column in columns)
    room = max(NARROW, min(WIDEST_QUERY, limit - 2 - others - sum(gaps)))
    names = [outcome.queries_title, *(format_query(query, room) for query in queries)]
    rows = lay_out_rows(
        list(zip(names, *columns, strict=True)), right, gaps, {0: max(room, measure_width(outcome.queries_title))}
    )
    return [[f"  {line}" for line in row] for row in rows]


def _fit_document(query: QueryChange, room: int) -> str:
    """The same; of an id that is longer than a table has room for, both ends: ids often begin alike."""
    whole = format_best_document(query)
    if query.best is None or measure_width(escape_unprintable(whole)) <= room:
        return whole
    if query.best.title:  # it is cut to the room, or left out where that would leave less than a word
        title = escape_unprintable(query.best.title)
        left = measure_width(title) + room - measure_width(escape_unprintable(whole))
        shorter = replace(query.best, title=truncate(title, left) if left >= SHORTEST_TITLE else "")
        return _fit_document(replace(query, best=shorter), room)
    name = escape_unprintable(query.best.document)
    short = truncate_middle(name, room - measure_width(escape_unprintable(whole)) + measure_width(name))
    return format_best_document(replace(query, best=replace(query.best, document=short)))


def format_query(query: QueryChange, room: int) -> str:
    """The id whole, and as much of the text as there is room for."""
    name, text = escape_unprintable(query.query), " ".join(escape_unprintable(query.text).split())
    left = room - measure_width(name) - 3
    return f'{name} "{truncate(text, left)}"' if text and left >= min(measure_width(text), 6) else name


def format_query_values(query: QueryChange) -> str:
    """A query's value in the baseline and now."""
    now = format_value(query.now, 3)
    return now if query.baseline is None else f"{format_value(query.baseline, 3)} -> {now}"


def choose_document_title(documents: Iterable[Placed | None]) -> str:
    """The title of a column: where there is a baseline, the documents in it fell; else they are the best ones."""
    compared = {each.baseline is not None for each in documents if each is not None}
    if len(compared) != 1:
        return "document"
    return "document that fell" if compared == {True} else "best document"


def format_best_document(query: QueryChange) -> str:
    """The document that fell, or the best one: its grade, and its rank before."""
    if query.best is None:
        return "-"
    rank = "" if query.best.baseline is None else f" #{query.best.baseline}"
    return f"{query.best.named} ({describe_grade(query.best)}){rank}"


def format_current_rank(best: Placed | None, depth: int) -> str:
    """The current rank of that document."""
    if best is None:
        return "-"
    return f"#{best.now}" if best.now is not None else f"not in top {depth}" if depth else "gone"


def describe_grade(placed: Placed) -> str:
    """The grade, as in ``grade 3``, or that there is none."""
    return "not judged" if placed.grade is None else f"grade {placed.grade:g}"


def _count_other_queries(outcome: Outcome, shown: int) -> Iterator[str]:
    left, listed = outcome.query_count - shown, len(outcome.queries)
    if left and outcome.query_count <= 10:
        yield f"  … and {left} more: -v shows {'it' if left == 1 else 'them'}"
    elif left:
        most = "all" if not outcome.more_queries else f"the worst {listed:,}"
        ways = [*(["-v shows ten"] if shown < 10 else []), *([f"-vv shows {most}"] if shown < listed else [])]
        yield f"  … and {left:,} more" + (f": {', '.join(ways)}" if ways else "")


def format_top_documents(query: QueryChange, limit: int) -> list[str]:
    """The top documents now, with their grades."""
    if not query.top:
        return []
    documents = [
        escape_unprintable(replace(placed, title=truncate(placed.title, LONGEST_TITLE)).named) for placed in query.top
    ]
    if all(placed.grade is None for placed in query.top):
        text = f"{', '.join(documents)} ({'none' if len(documents) > 1 else 'not'} judged)"
    else:
        text = ", ".join(
            f"{name} ({describe_grade(placed)})" for name, placed in zip(documents, query.top, strict=True)
        )
    return wrap_text(f"{escape_unprintable(query.query)} top {len(query.top)} is now {text}", limit, "  ", "    ")


MAX_WHOLE = 20
"""The number of red outcomes of a suite that are shown whole; readers skip longer lists."""


def is_shown_whole(suite: SuiteResult, outcome: str) -> bool:
    """Tell whether an outcome is one of the first by the plan, whatever the order in which tests are run."""
    red = [each.id for each in suite.outcomes if each.verdict in ("fail", "error")]
    return outcome not in red[MAX_WHOLE:]


def format_short_failure(outcome: Outcome, suite: SuiteResult, width: int, rest: str = "") -> str:
    """Headline, sentence and where the rest is; ``rest`` is a file that has it."""
    where = f"{rest} and -vv show the rest" if rest else "-vv shows the rest"
    said = f"  one of more than {MAX_WHOLE} red verdicts of this suite: {where}"
    return "\n".join([*_format_head(outcome, suite, width), said])
