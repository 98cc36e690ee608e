"""The inputs that changed since the baseline, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_ireval.report.formatting import format_value
from pytest_ireval.results.outcome import Cause
from pytest_ireval.text_table import truncate
from pytest_ireval.words import format_count, list_changes

EDITS, LISTED = 3, 5
"""The numbers of edited judgments and of queries that are named."""


def describe_inputs(cause: Cause, metric: str = "") -> str:
    """The inputs that differ, and those that do not; with the current figure of the baseline itself for ``metric``."""
    different = list(_describe_changes(cause, metric))
    unnamed = ("policies", "timings", "fields")  # many suites have none
    same = [what for what, changed in _list_input_changes(cause) if not changed and what not in unnamed]
    if not different:
        return f"nothing changed: {_join_names(same)} are those of the baseline"
    if same == ["source"]:
        different.append("the source is that of the baseline")
    elif same:
        different.append(f"{_join_names(same)} are those of the baseline")
    return "; ".join(different)


def _list_input_changes(cause: Cause) -> list[tuple[str, bool]]:
    return [
        ("rankings", cause.rankings > 0),
        ("queries", bool(cause.queries or cause.added or cause.removed)),
        ("judgments", bool(cause.judgments or cause.edited or cause.edits)),
        ("source", _has_source_change(cause) or bool(cause.files)),
        ("policies", cause.policies),
        ("metrics", bool(cause.metrics)),
        ("timings", cause.timings),
        ("fields", cause.fields),
    ]


def _has_source_change(cause: Cause) -> bool:
    return bool(cause.source or cause.request or cause.system)


def _describe_changes(cause: Cause, metric: str) -> Iterator[str]:
    changed = dict(_list_input_changes(cause))
    if changed["rankings"]:
        yield "rankings changed"
    if changed["queries"]:
        yield _describe_query_changes(cause)
    if changed["judgments"]:
        yield _describe_judgment_changes(cause)
    if cause.judges:
        yield f"the judge changed ({cause.judges})"
    if _has_source_change(cause):
        yield _describe_source_change(cause)
    if cause.files:
        yield f"{_join_names(cause.files[:LISTED])} changed"
    if changed["policies"]:
        yield "queries are evaluated under different policies"
    yield from _describe_index_changes(cause)
    if changed["metrics"]:
        yield f"{_join_names(cause.metrics)} {'is' if len(cause.metrics) == 1 else 'are'} defined differently"
    yield from (what for what in ("timings changed", "fields of documents changed") if changed[what.split()[0]])
    if restated := cause.restated.get(metric):
        yield f"the baseline itself is now {format_value(restated.now)} (was {format_value(restated.then)})"


_MAX_OPTIONS = 80
"""Characters of a source's options that are shown."""


def _describe_index_changes(cause: Cause) -> Iterator[str]:
    if cause.index:
        yield f"the index changed ({cause.index})"
    if cause.rebuilt:
        yield cause.rebuilt


def summarize_input_changes(cause: Cause) -> str:
    """The changes in one line, for a run in which nothing has to be looked for; empty if only rankings changed.

    ``since the baseline: the request changed (size: 10 -> 20); the index was rebuilt``
    """
    others = [each for each in _describe_changes(cause, "") if each != "rankings changed"]
    moved = [f"{cause.rankings:,} of {cause.compared:,} rankings changed"] if cause.rankings else []
    return "; ".join([*others, *moved]) if others else ""


def _describe_source_change(cause: Cause) -> str:
    """``rankings from new.txt (baseline: old.txt)``, or the options that differ."""
    is_run = cause.sources and all(each.startswith("run: ") for each in cause.sources)
    if changes := [] if is_run else [*cause.request, *cause.system]:
        return f"the {'request' if cause.request else 'source'} changed ({list_changes(changes)})"
    if not cause.sources:
        return "the source is not that of the baseline"
    before, now = cause.sources
    if before.startswith("run: ") and now.startswith("run: "):
        return f"rankings from {now[5:]} (baseline: {before[5:]})"
    then, here = before.split(", "), now.split(", ")
    own, its = (
        truncate(", ".join(each for each in mine if each not in others), _MAX_OPTIONS)
        for mine, others in ((here, then), (then, here))
    )
    return f"the source has {own or 'fewer options'} (baseline: {its or 'without'})"


def _describe_query_changes(cause: Cause) -> str:
    moved = []
    for names, verb in ((cause.added, "added"), (cause.removed, "removed")):
        more = [f"… and {len(names) - LISTED:,} more"] if len(names) > LISTED else []
        if names:
            moved.append(f"{format_count(len(names), 'query')} {verb} ({', '.join([*names[:LISTED], *more])})")
    return ", ".join(moved) or "the content of the queries file changed"


def _describe_judgment_changes(cause: Cause) -> str:
    queries = format_count(cause.judgments, "query")
    if not cause.edits:
        return f"judgments of {queries} changed"
    number = len(cause.edits) if cause.edited is None else cause.edited
    named = [
        f"{edit.query} {edit.document}: {_format_grade(edit.before)} -> {_format_grade(edit.now)}"
        for edit in cause.edits[:EDITS]
    ]
    more = [f"… and {number - EDITS:,} more"] if number > EDITS else []
    head = f"judgments changed: {number:,} in {queries}" if cause.judgments else f"judgments changed: {number:,}"
    return f"{head} ({', '.join([*named, *more])})"


def _format_grade(grade: float | None) -> str:
    return "not judged" if grade is None else f"{grade:g}"


def _join_names(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
