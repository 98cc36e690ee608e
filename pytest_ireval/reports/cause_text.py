"""What changed since the baseline was accepted, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_ireval.plurals import counted
from pytest_ireval.reports.figures import figure
from pytest_ireval.results.cause import Cause, JudgmentEdit, Restated

EDITS = 3
"""So many edited judgments are named."""
LISTED = 5
"""So many queries are named."""


def cause_sentence(cause: Cause, metric: str = "") -> str:
    """What is different, and what is not; with what ``metric`` now says of the baseline itself."""
    different = list(_different(cause, metric))
    same = [what for what, changed in _parts(cause) if not changed and what != "policies"]
    if not different:
        return f"nothing changed: {_listing(same)} are those of the baseline"
    if not same:
        return "; ".join(different)
    if same == ["source"]:
        return "; ".join([*different, "the source is that of the baseline"])
    return "; ".join([*different, f"{_listing(same)} are those of the baseline"])


def _parts(cause: Cause) -> list[tuple[str, bool]]:
    """What may change, and whether it did."""
    return [
        ("rankings", cause.rankings > 0),
        ("queries", bool(cause.queries or cause.added or cause.removed)),
        ("judgments", bool(cause.judgments or cause.edited or cause.edits)),
        ("source", cause.source),
        ("policies", cause.policies),
        ("metrics", bool(cause.metrics)),
    ]


def _different(cause: Cause, metric: str) -> Iterator[str]:
    changed = dict(_parts(cause))
    if changed["rankings"]:
        yield "rankings changed"
    if changed["queries"]:
        yield _queries(cause)
    if changed["judgments"]:
        yield _judgments(cause)
    if changed["source"]:
        yield "the source is set up in another way"
    if changed["policies"]:
        yield "queries are evaluated under other policies"
    if changed["metrics"]:
        yield f"{_listing(cause.metrics)} {'is' if len(cause.metrics) == 1 else 'are'} defined in another way"
    if metric in cause.restated:
        yield _restated(cause.restated[metric])


def _queries(cause: Cause) -> str:
    """Which are new and which are gone; or that the file says something else of those it had."""
    moved = [
        f"{counted(len(names), 'query')} {verb} ({_some(names)})"
        for names, verb in ((cause.added, "added"), (cause.removed, "removed"))
        if names
    ]
    return ", ".join(moved) or "the queries file says something else of its queries"


def _judgments(cause: Cause) -> str:
    """How many judgments of how many queries, and the first of them."""
    queries = counted(cause.judgments, "query")
    if not cause.edits:
        return f"judgments of {queries} changed"
    number = len(cause.edits) if cause.edited is None else cause.edited
    named = [_edit(edit) for edit in cause.edits[:EDITS]]
    more = [f"… and {number - EDITS:,} more"] if number > EDITS else []
    head = f"judgments changed: {number:,} in {queries}" if cause.judgments else f"judgments changed: {number:,}"
    return f"{head} ({', '.join([*named, *more])})"


def _edit(edit: JudgmentEdit) -> str:
    return f"{edit.query} {edit.document}: {_grade(edit.before)} -> {_grade(edit.now)}"


def _grade(grade: float | None) -> str:
    return "not judged" if grade is None else f"{grade:g}"


def _restated(restated: Restated) -> str:
    return f"the baseline itself is now {figure(restated.now)} (was {figure(restated.then)})"


def _some(names: Sequence[str]) -> str:
    more = [f"… and {len(names) - LISTED:,} more"] if len(names) > LISTED else []
    return ", ".join([*names[:LISTED], *more])


def _listing(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
