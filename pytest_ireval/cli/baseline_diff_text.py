"""What is different between two baselines, as text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_ireval.baselines.baseline import Baseline
from pytest_ireval.baselines.changes import cause_between, changed_queries
from pytest_ireval.cli.baseline_text import accepted_text, figure, grade_text
from pytest_ireval.plurals import counted
from pytest_ireval.results.cause import Cause
from pytest_ireval.text_table import printable, table

LISTED = 5
"""So many queries, or edited judgments, are named in a line."""


def diff_text(before: Baseline, after: Baseline, names: tuple[str, str], lines: int) -> str:
    """Figures, then what else is different, then queries."""
    cause = cause_between(before, after)
    parts = [
        "\n".join(printable(line) for line in _heads(before, after, names)),
        _figures(before, after),
        "\n".join(map(printable, [*_ranked_once(before, after), *_differences(cause)])),
        _queries(before, after, lines),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _heads(before: Baseline, after: Baseline, names: tuple[str, str]) -> Iterator[str]:
    for letter, baseline, name in zip("AB", (before, after), names, strict=True):
        yield f"{letter}: {name}, accepted {accepted_text(baseline.accepted)}"


def _figures(before: Baseline, after: Baseline) -> str:
    rows = []
    for name in sorted({*before.metrics, *after.metrics}, key=str.lower):
        a, b = before.metrics.get(name), after.metrics.get(name)
        old, new = a.value if a else None, b.value if b else None
        both = [(a.values[query], b.values[query]) for query in a.values if query in b.values] if a and b else []
        worse, better = sum(y < x for x, y in both), sum(y > x for x, y in both)
        counts = f"{worse} / {better} / {len(both) - worse - better}" if both else "-"
        rows.append([name, figure(old), figure(new), _change(old, new), counts])
    header = ["metric", "A", "B", "B - A", "lower / higher / same"]
    return table(header, rows, right=(1, 2, 3, 4)) if rows else ""


def _change(old: float | None, new: float | None) -> str:
    return "-" if old is None or new is None else f"{new - old:+.4f}"


def _ranked_once(before: Baseline, after: Baseline) -> Iterator[str]:
    """Rankings that changed, and those that only one side has."""
    one, other = ({query for rankings in each.rankings for query in rankings.queries} for each in (before, after))
    changed = changed_queries(before.rankings, after.rankings, max(before.depth, after.depth))
    only = [
        f"; {_listed(tuple(sorted(queries)))} only in {letter}"
        for letter, queries in (("A", one - other), ("B", other - one))
        if queries
    ]
    yield f"rankings: {len(changed)} of {counted(len(one & other), 'query')} changed{''.join(only)}"
    if before.depth != after.depth:
        yield f"depth: {before.depth} and {after.depth}"


def _differences(cause: Cause) -> Iterator[str]:
    for title, queries in (("only in A", cause.removed), ("only in B", cause.added)):
        if queries:
            yield f"queries {title}: {_listed(queries)}"
    if cause.judgments:
        edited = "" if cause.edited is None else f", {counted(cause.edited, 'judgment')}"
        yield f"judgments: {counted(cause.judgments, 'query')}{edited} changed{_edits(cause)}"
    if cause.queries:
        yield "queries: the file says something else"
    if cause.metrics:
        yield f"metrics defined otherwise: {', '.join(cause.metrics)}"
    others = [name for name, differs in (("source", cause.source), ("policies", cause.policies)) if differs]
    if others:
        yield f"different: {', '.join(others)}"


def _edits(cause: Cause) -> str:
    named = [
        f"{edit.query} {edit.document} {grade_text(edit.before)} -> {grade_text(edit.now)}"
        for edit in cause.edits[:LISTED]
    ]
    more = ", …" if cause.edited and cause.edited > LISTED else ""
    return f": {', '.join(named)}{more}" if named else ""


def _listed(queries: tuple[str, ...]) -> str:
    more = f" and {len(queries) - LISTED} more" if len(queries) > LISTED else ""
    return f"{len(queries)} ({', '.join(queries[:LISTED])}{more})"


def _queries(before: Baseline, after: Baseline, lines: int) -> str:
    """The queries and metrics whose values differ most."""
    changes = [
        (abs(new - old), query, name, old, new)
        for name in sorted(before.metrics.keys() & after.metrics.keys())
        for query, old in before.metrics[name].values.items()
        if (new := after.metrics[name].values.get(query, old)) != old
    ]
    changes.sort(key=lambda change: (-change[0], change[1], change[2]))
    if not changes or not lines:
        return ""
    rows = [[query, name, figure(old), figure(new), _change(old, new)] for _, query, name, old, new in changes[:lines]]
    text = table(["query", "metric", "A", "B", "B - A"], rows, right=(2, 3, 4))
    left = len(changes) - len(rows)
    return f"{text}\n{counted(left, 'more change')} of values; --lines shows more" if left else text
