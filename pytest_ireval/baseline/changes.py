"""Causes of a difference from a baseline: changed rankings, judgments, queries, metrics and settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pytest_ireval.baseline.index_facts import describe_index_change, describe_rebuild
from pytest_ireval.baseline.json_trees import name_changes
from pytest_ireval.baseline.record import (
    NO_JUDGMENTS,
    NO_SEARCH,
    Baseline,
    Fingerprints,
    Grades,
    JudgmentPrints,
    Search,
)
from pytest_ireval.data.arrays import Mask
from pytest_ireval.data.join import compare_first_documents
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.results.outcome import Cause, JudgmentEdit
from pytest_ireval.words import format_count

MOST_NAMED = 100
"""Edited judgments named in a cause; all are counted."""
OWN_REQUESTS = ("http", "command", "sql")
"""Sources whose first option is the request itself; that of others names a system, a function or a file."""


def find_cause(
    baseline: Baseline,
    *,
    rankings: Sequence[Rankings],
    judgments: JudgmentPrints | None,
    queries: Queries | None,
    metrics: Mapping[str, tuple[int, str]],
    fingerprints: Fingerprints,
    search: Search = NO_SEARCH,
) -> Cause:
    """Return everything that differs now; ``restated`` is left to the caller, who can score.

    ``metrics`` are version and origin by canonical name. Of a source that is asked several times, ``rankings`` are all
    answers.
    """
    judgments = judgments or NO_JUDGMENTS
    before, after = baseline.judgments.grades_of, judgments.grades_of
    ranked_before, ranked_now = _list_ranked(baseline.rankings), _list_ranked(rankings)
    # The queries file lists the asked queries; without one they are the judged, without judgments the ranked queries.
    if queries is not None:
        scored = set[str]().union(*(metric.values for metric in baseline.metrics.values()))
        asked_now, asked_before = queries.ids, ranked_before | (scored & before.keys())
        known = ranked_before | scored
    elif after:
        asked_now = tuple(after)
        asked_before = known = set(before) or ranked_before
    else:
        asked_now = tuple(sorted(ranked_now))
        asked_before = known = ranked_before
    added = tuple(query for query in asked_now if query not in known)
    removed = tuple(sorted(asked_before.difference(asked_now)))

    regraded: list[str] = []
    if before != after:
        in_both = (before.keys() | after.keys()).difference(added, removed)
        regraded = sorted(query for query in in_both if before.get(query) != after.get(query))
    edits: tuple[JudgmentEdit, ...] | None = None
    grades_now = judgments.grades if judgments.grades_of else {}
    if regraded and baseline.judgments.grades is not None and grades_now is not None:
        edits = tuple(_list_edits(baseline.judgments.grades, grades_now, regraded))

    names = baseline.search.source, search.source
    request = _find_request_changes(baseline.search, search)
    files_before = baseline.search.files
    stored = baseline.metrics
    return Cause(
        rankings=len(find_changed_queries(baseline.rankings, rankings, baseline.depth)),
        compared=len(ranked_before & ranked_now),
        judgments=len(regraded),
        edits=(edits or ())[:MOST_NAMED],
        edited=None if edits is None else len(edits),
        added=added,
        removed=removed,
        queries=baseline.fingerprints.queries != fingerprints.queries,
        metrics=tuple(
            sorted(
                name
                for name, definition in metrics.items()
                if name in stored and (stored[name].version, stored[name].origin) != definition
            )
        ),
        source=baseline.fingerprints.source != fingerprints.source,
        policies=baseline.fingerprints.policies != fingerprints.policies,
        timings=_have_timings_changed(baseline.rankings, rankings),
        fields=_have_fields_changed(baseline.fields, rankings),
        request=request.request,
        system=request.system,
        # a file of one side alone may only have moved
        files=tuple(name for name, content in search.files.items() if files_before.get(name, content) != content),
        index=describe_index_change(baseline.search.index, search.index),
        rebuilt=describe_rebuild(baseline.search.index, search.index),
        judges=_describe_new_judges(baseline.judgments.judges, judgments.judges),
        sources=names if all(names) and names[0] != names[1] else (),
    )


def find_cause_between(before: Baseline, after: Baseline) -> Cause:
    """Return everything that differs between two baselines."""
    return find_cause(
        before,
        rankings=after.rankings,
        judgments=after.judgments,
        queries=None,
        metrics={name: (metric.version, metric.origin) for name, metric in after.metrics.items()},
        fingerprints=after.fingerprints,
        search=after.search,
    )


def find_changed_queries(before: Sequence[Rankings], now: Sequence[Rankings], depth: int) -> tuple[str, ...]:
    """Return the queries on both sides whose first ``depth`` documents differ, or their order; sorted.

    If a source was asked several times, a query has changed if it has an answer now that it did not have before.
    """
    ranked_now = _list_ranked(now)
    changed = set[str]()
    for new in now:
        is_known = np.any([_are_same(new, old, depth) for old in before], axis=0)
        changed.update(new.queries[row] for row in np.flatnonzero(~is_known).tolist())
        changed |= ranked_now.difference(new.queries) if len(now) > 1 else set()
    return tuple(sorted(changed & ranked_now & _list_ranked(before)))


def _are_same(new: Rankings, old: Rankings, depth: int) -> Mask:
    """Tell which queries of new rankings have the same first documents in old ones, and in their earlier stages."""
    same = compare_first_documents(new, old, depth)
    if new.stages.keys() & old.stages.keys():
        same &= np.array([_has_same_stages(old, new, query) for query in new.queries], bool)
    return same


def _has_same_stages(old: Rankings, new: Rankings, query: str) -> bool:
    """Compare what both know: a document may be judged on one side alone."""
    for name in old.stages.keys() & new.stages.keys():
        one, other = old.stages[name].get(query), new.stages[name].get(query)
        if one is None or other is None or one.retrieved != other.retrieved:
            return False
        if any(one.ranks[each] != other.ranks[each] for each in one.ranks.keys() & other.ranks.keys()):
            return False
    return True


def _list_ranked(askings: Sequence[Rankings]) -> set[str]:
    return set[str]().union(*(rankings.queries for rankings in askings))


def _list_edits(before: Grades, now: Grades, queries: Iterable[str]) -> Iterator[JudgmentEdit]:
    for query in queries:
        old, new = before.get(query, {}), now.get(query, {})
        for document in sorted(old.keys() | new.keys()):
            if old.get(document) != new.get(document):
                yield JudgmentEdit(query, document, old.get(document), new.get(document))


class _RequestChanges(NamedTuple):
    """The changes of options, and apart from them those of the system that is asked."""

    request: tuple[str, ...] = ()
    system: tuple[str, ...] = ()


def _find_request_changes(then: Search, now: Search) -> _RequestChanges:
    """Compare the requests, with what the engine keeps of them."""
    if not then.request or not now.request:  # a source may have no options
        return _RequestChanges()
    name, name_now = next(iter(then.request)), next(iter(now.request))  # the first key is that of the source
    if name != name_now:
        return _RequestChanges(system=(f"source: {name} -> {name_now}",))
    options, options_now = _without_system(then.request, name), _without_system(now.request, name)
    both = [part for part in now.index.stored if part in then.index.stored]
    stored, stored_now = ({part: index.stored[part] for part in both} for index in (then.index, now.index))
    return _RequestChanges(
        (*name_changes(options, options_now), *name_changes(stored, stored_now)),
        tuple(name_changes(_find_system(then.request, name), _find_system(now.request, name), name)),
    )


def _find_system(request: Mapping[str, Any], name: str) -> Any:
    """What is asked: the host of an address; the value of the source's own key, unless that is the request itself."""
    value = request[name]
    if name not in OWN_REQUESTS:
        return value
    return {"host": value.get("host")} if isinstance(value, Mapping) else None


def _without_system(request: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    options = {key: value for key, value in request.items() if key != name}
    if name not in OWN_REQUESTS:
        return options
    value = request[name]
    return {name: value.get("path") if isinstance(value, Mapping) else value, **options}


def _describe_new_judges(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """``A (120 judgments) to B (120 judgments)``; empty where no judge is new or gone, or where none was known."""
    if not before or not now:
        return ""
    gone = _format_judges(before, now)
    new = _format_judges(now, before)
    return f"{gone} to {new}" if gone and new else f"{gone} gone" if gone else f"{new} added" if new else ""


def _format_judges(judges: Mapping[str, int], others: Mapping[str, int]) -> str:
    """Those that are not among others."""
    return " and ".join(
        f"{name} ({format_count(count, 'judgment')})" for name, count in judges.items() if name not in others
    )


def _have_timings_changed(before: Sequence[Rankings], now: Sequence[Rankings]) -> bool:
    """Tell whether a query that has times on both sides has other ones."""
    old, new = ([rankings.timings or {} for rankings in side] for side in (before, now))
    return any(
        [times[query] for times in old if query in times] != [times.get(query) for times in new]
        for query in old[0].keys() & new[0].keys()
    )


def _have_fields_changed(before: Mapping[str, Mapping[str, Any]], askings: Sequence[Rankings]) -> bool:
    """Tell whether a document on both sides has another value, or none, in a field that the baseline keeps."""
    names, now = {name for fields in before.values() for name in fields}, askings[0].fields or {}
    ranked = {document for rankings in askings for document in rankings.documents.texts()} if names else set()
    return any(
        before[document].get(name) != now.get(document, {}).get(name)
        for document in before.keys() & ranked
        for name in names
    )
