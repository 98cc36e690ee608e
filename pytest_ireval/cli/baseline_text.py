"""A baseline, and two of them side by side, as text."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pytest_ireval.baseline.changes import find_cause_between, find_changed_queries
from pytest_ireval.baseline.files import is_anchor, suite_name_of
from pytest_ireval.baseline.fingerprints import MOST_PAIRS
from pytest_ireval.baseline.record import Acceptance, Baseline
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.errors import BaselineError, Problem, did_you_mean, quote
from pytest_ireval.results.outcome import Cause
from pytest_ireval.text_table import escape_unprintable, format_table
from pytest_ireval.words import format_count


def format_baseline(baseline: Baseline, path: str) -> str:
    """Figures, and below them the inputs that they rest on."""
    rows = [
        [name, format_figure(metric.value), str(len(metric.values)), str(metric.version), metric.origin]
        for name, metric in sorted(baseline.metrics.items(), key=get_metric_order)
    ]
    header = ["metric", "value", "queries", "version", "from"]
    parts = ["\n".join(map(escape_unprintable, _format_head(baseline, path)))]
    if rows:
        parts.append(format_table(header, rows, right=(1, 2, 3)))
    parts.append("\n".join(map(escape_unprintable, _describe_inputs(baseline))))
    return "\n\n".join(parts) + "\n"


def get_metric_order(entry: tuple[str, object]) -> tuple[str, str]:
    """The key that sorts metrics by their names, as people look them up."""
    return entry[0].lower(), entry[0]


def _format_head(baseline: Baseline, path: str) -> Iterator[str]:
    pinned = is_anchor(baseline.suite)
    yield f"{'anchor' if pinned else 'baseline'} of {suite_name_of(baseline.suite)}: {path}"
    yield f"{'pinned' if pinned else 'accepted'} {format_acceptance(baseline.accepted)}"
    if baseline.accepted.reason:
        yield f"reason: {baseline.accepted.reason}"
    earlier = len(baseline.acceptances) - 1
    if earlier:
        yield f"{format_count(earlier, 'earlier acceptance')}; ireval baseline log lists them"


def format_acceptance(acceptance: Acceptance) -> str:
    """The date, the commit and the branch of an acceptance; without the reason."""
    at = f", commit {acceptance.commit[:9]}" if acceptance.commit else ""
    on = f" on {acceptance.branch}" if acceptance.branch else ""
    dirty = " with uncommitted changes" if acceptance.dirty else ""
    return f"{acceptance.date}{at}{on}{dirty}{', forced' if acceptance.forced else ''}"


def _describe_inputs(baseline: Baseline) -> Iterator[str]:
    documents = sum(int(rankings.first[-1]) for rankings in baseline.rankings)
    askings = len(baseline.rankings)
    times = f" in {format_count(askings, 'asking')}" if askings > 1 else ""
    scores = ", with scores" if baseline.scored else ""
    queries = format_count(len({query for rankings in baseline.rankings for query in rankings.queries}), "query")
    yield f"rankings: {queries}, {format_count(documents, 'document')}{times}, depth {baseline.depth}{scores}"
    yield f"judgments: {_describe_judgments(baseline)}"
    prints = [f"{name} {value}" for name, value in baseline.fingerprints._asdict().items() if value]
    yield f"fingerprints: {', '.join(prints) or 'none'}"
    if baseline.search.index.known:
        yield f"index: {baseline.search.index}"
    if baseline.judgments.judges:
        yield f"judges: {', '.join(f'{name} ({number:,})' for name, number in baseline.judgments.judges.items())}"
    yield f"plugins: {', '.join(baseline.plugins) or 'none'}"


def _describe_judgments(baseline: Baseline) -> str:
    judged = format_count(len(baseline.judgments.grades_of), "query")
    if baseline.judgments.grades is not None:
        return f"{sum(map(len, baseline.judgments.grades.values()))} for {judged}"
    return f"for {judged}, not kept (more than {MOST_PAIRS:,})" if baseline.judgments.grades_of else "none"


def format_query(baseline: Baseline, query: str, path: str) -> str:
    """The ranking of one query, and its figures."""
    with_ranking = [rankings for rankings in baseline.rankings if query in rankings.queries]
    known = {*(query for rankings in baseline.rankings for query in rankings.queries), *baseline.judgments.grades_of}
    if query not in known:
        raise BaselineError(Problem(f"has no query {quote(query)}", place=path, suggestion=did_you_mean(query, known)))
    figures = [
        f"{name} {format_figure(metric.values[query])}"
        for name, metric in sorted(baseline.metrics.items(), key=get_metric_order)
        if query in metric.values
    ]
    parts = [escape_unprintable(f"query {query} of {baseline.suite}: {', '.join(figures) or 'no figures'}")]
    grades = baseline.judgments.grades.get(query, {}) if baseline.judgments.grades is not None else {}
    for asking, rankings in enumerate(with_ranking, 1):
        title = f"asking {asking} of {len(baseline.rankings)}\n\n" if len(baseline.rankings) > 1 else ""
        parts.append(title + _format_ranking(rankings, query, dict(grades), scored=baseline.scored))
    if not with_ranking:
        parts.append("the query has no ranking")
    return "\n\n".join(parts) + "\n"


def _format_ranking(rankings: Rankings, query: str, grades: dict[str, float], *, scored: bool) -> str:
    i = rankings.queries.index(query)
    first, documents = int(rankings.first[i]), rankings.ranking(query)
    if not documents:
        return "the ranking is empty"
    header, right = ["rank", "document", "grade"], [0, 2]
    rows = [[str(rank), name, _format_grade(grades.get(name))] for rank, name in enumerate(documents, 1)]
    if scored:
        header, right = [*header, "score"], [*right, 3]
        rows = [[*row, f"{float(rankings.score[first + at]):g}"] for at, row in enumerate(rows)]
    return format_table(header, rows, right=right)


def _format_grade(grade: float | None) -> str:
    return "-" if grade is None else f"{grade:g}"


def format_figure(value: float | None) -> str:
    """Four decimals, as everywhere."""
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"


MAX_LISTED = 5
"""Queries, or edited judgments, that are named in a line."""


def format_diff(before: Baseline, after: Baseline, names: tuple[str, str], lines: int) -> str:
    """Figures, then other differences, then queries."""
    heads = [
        f"{letter}: {name}, accepted {format_acceptance(baseline.accepted)}"
        for letter, baseline, name in zip("AB", (before, after), names, strict=True)
    ]
    parts = [
        "\n".join(map(escape_unprintable, heads)),
        _format_figures(before, after),
        "\n".join(
            map(
                escape_unprintable,
                [*_describe_rankings(before, after), *_describe_differences(find_cause_between(before, after))],
            )
        ),
        _format_changes(before, after, lines),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _format_figures(before: Baseline, after: Baseline) -> str:
    rows = []
    for name in sorted({*before.metrics, *after.metrics}, key=str.lower):
        a, b = before.metrics.get(name), after.metrics.get(name)
        old, new = a.value if a else None, b.value if b else None
        both = [(a.values[query], b.values[query]) for query in a.values if query in b.values] if a and b else []
        worse, better = sum(y < x for x, y in both), sum(y > x for x, y in both)
        counts = f"{worse} / {better} / {len(both) - worse - better}" if both else "-"
        rows.append([name, format_figure(old), format_figure(new), _format_change(old, new), counts])
    header = ["metric", "A", "B", "B - A", "lower / higher / same"]
    return format_table(header, rows, right=(1, 2, 3, 4)) if rows else ""


def _format_change(old: float | None, new: float | None) -> str:
    return "-" if old is None or new is None else f"{new - old:+.4f}"


def _describe_rankings(before: Baseline, after: Baseline) -> Iterator[str]:
    one, other = ({query for rankings in each.rankings for query in rankings.queries} for each in (before, after))
    changed = find_changed_queries(before.rankings, after.rankings, max(before.depth, after.depth))
    only = [
        f"; {_list_queries(tuple(sorted(queries)))} only in {letter}"
        for letter, queries in (("A", one - other), ("B", other - one))
        if queries
    ]
    yield f"rankings: {len(changed)} of {format_count(len(one & other), 'query')} changed{''.join(only)}"
    if before.depth != after.depth:
        yield f"depth: {before.depth} and {after.depth}"


def _describe_differences(cause: Cause) -> Iterator[str]:
    for title, queries in (("only in A", cause.removed), ("only in B", cause.added)):
        if queries:
            yield f"queries {title}: {_list_queries(queries)}"
    if cause.judgments:
        edited = "" if cause.edited is None else f", {format_count(cause.edited, 'judgment')}"
        yield f"judgments: {format_count(cause.judgments, 'query')}{edited} changed{_format_edits(cause)}"
    if cause.judges:
        yield f"judges: {cause.judges}"
    if cause.queries:
        yield "queries: the content of the file changed"
    if cause.metrics:
        yield f"metrics defined differently: {', '.join(cause.metrics)}"
    for change in (*cause.request, *cause.system):
        yield f"source: {change}"
    if cause.sources and not (cause.request or cause.system):
        yield f"source: {' -> '.join(map(escape_unprintable, cause.sources))}"
    if cause.files:
        yield f"files of the source that changed: {', '.join(cause.files)}"
    unnamed = cause.source and not (cause.sources or cause.request or cause.system)
    others = [name for name, differs in (("source", unnamed), ("policies", cause.policies)) if differs]
    if others:
        yield f"different: {', '.join(others)}"
    if cause.index:
        yield f"index: {cause.index}"
    if cause.rebuilt:
        yield cause.rebuilt


def _format_edits(cause: Cause) -> str:
    named = [
        f"{edit.query} {edit.document} {_format_grade(edit.before)} -> {_format_grade(edit.now)}"
        for edit in cause.edits[:MAX_LISTED]
    ]
    more = ", …" if cause.edited and cause.edited > MAX_LISTED else ""
    return f": {', '.join(named)}{more}" if named else ""


def _list_queries(queries: tuple[str, ...]) -> str:
    more = f" and {len(queries) - MAX_LISTED} more" if len(queries) > MAX_LISTED else ""
    return f"{len(queries)} ({', '.join(queries[:MAX_LISTED])}{more})"


def _format_changes(before: Baseline, after: Baseline, lines: int) -> str:
    changes = [
        (abs(new - old), query, name, old, new)
        for name in sorted(before.metrics.keys() & after.metrics.keys())
        for query, old in before.metrics[name].values.items()
        if (new := after.metrics[name].values.get(query, old)) != old
    ]
    changes.sort(key=lambda change: (-change[0], change[1], change[2]))
    if not changes or not lines:
        return ""
    rows = [
        [query, name, format_figure(old), format_figure(new), _format_change(old, new)]
        for _, query, name, old, new in changes[:lines]
    ]
    text = format_table(["query", "metric", "A", "B", "B - A"], rows, right=(2, 3, 4))
    left = len(changes) - len(rows)
    return f"{text}\n{format_count(left, 'more change')} of values; --lines shows more" if left else text
