"""Causes of a difference from a baseline: changed rankings, judgments, queries, metrics and settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baseline.fingerprints import fingerprint_judgments
from pytest_ireval.baseline.index_facts import describe_index_change, describe_rebuild
from pytest_ireval.baseline.record import NO_SEARCH, Baseline, Fingerprints, Grades, JudgmentPrints, Search
from pytest_ireval.baseline.trees import name_changes
from pytest_ireval.data.join import begin_alike
from pytest_ireval.data.judgments import Judgments
from pytest_ireval.data.queries import Queries
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.results.outcome import Cause, JudgmentEdit
from pytest_ireval.words import format_count

NAMED = 100
"""Edited judgments named in a cause; all are counted."""


def find_cause(
    baseline: Baseline,
    *,
    rankings: Rankings | Sequence[Rankings],
    judgments: Judgments | JudgmentPrints | None,
    queries: Queries | None,
    metrics: Mapping[str, tuple[int, str]],
    fingerprints: Fingerprints,
    search: Search = NO_SEARCH,
) -> Cause:
    """Everything that differs now; ``restated`` is left to the caller, who can score.

    ``metrics`` are version and origin by canonical name. Of a source that is asked several times, ``rankings`` are all
    answers. Fingerprints can be given in place of judgments.
    """
    prints = fingerprint_judgments(judgments) if isinstance(judgments, Judgments) else judgments
    askings = [rankings] if isinstance(rankings, Rankings) else list(rankings)
    changed = find_changed_queries(baseline.rankings, askings, baseline.depth)
    added, removed = _added_and_removed(baseline, askings, prints, queries)
    before, after = baseline.judgments.grades_of, prints.grades_of if prints else {}
    stayed = (before.keys() | after.keys()) - {*added, *removed}
    judged = sorted(query for query in stayed if before.get(query) != after.get(query))
    sources = baseline.search.source, search.source
    edits, edited = _edits(baseline.judgments.grades, prints, judged)
    request, system = _changes_of_request(baseline.search, search)
    return Cause(
        rankings=len(changed),
        compared=len(_ranked(baseline.rankings) & _ranked(askings)),
        judgments=len(judged),
        edits=edits,
        edited=edited,
        added=added,
        removed=removed,
        queries=baseline.fingerprints.queries != fingerprints.queries,
        metrics=tuple(sorted(name for name, now in metrics.items() if _is_another(baseline, name, now))),
        source=baseline.fingerprints.source != fingerprints.source,
        policies=baseline.fingerprints.policies != fingerprints.policies,
        timings=_other_timings(*([each.timings or {} for each in side] for side in (baseline.rankings, askings))),
        fields=_other_fields(baseline.rankings[0].fields or {}, askings),
        request=request,
        system=system,
        files=tuple(_changed_files(baseline.search.files, search.files)),
        index=describe_index_change(baseline.search.index, search.index),
        rebuilt=describe_rebuild(baseline.search.index, search.index),
        judges=_judges_change(baseline.judgments.judges, prints.judges if prints else {}),
        sources=sources if all(sources) and sources[0] != sources[1] else (),
    )


OWN_REQUESTS = ("http", "command", "sql")
"""Sources whose first option is the request itself; that of others names a system, a function or a file."""


def _changes_of_request(then: Search, search: Search) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options that changed, with what the engine keeps of the request; and apart from them, the system."""
    before, now = then.request, search.request
    if not before or not now:  # a source may have no options
        return (), ()
    own, other = next(iter(before)), next(iter(now))
    if own != other:
        return (), (f"source: {own} -> {other}",)
    (system, asked), (system_now, asked_now) = _parted(before, own), _parted(now, own)
    both = [name for name in search.index.stored if name in then.index.stored]
    stored, stored_now = ({name: each.index.stored[name] for name in both} for each in (then, search))
    request = [*name_changes(asked, asked_now), *name_changes(stored, stored_now)]
    return tuple(request), tuple(name_changes(system, system_now, own))


def _parted(request: Mapping[str, Any], own: str) -> tuple[Any, Mapping[str, Any]]:
    """The system that is asked, and the request to it."""
    system, rest = request[own], {name: value for name, value in request.items() if name != own}
    if own not in OWN_REQUESTS:
        return system, rest
    if isinstance(system, Mapping):
        return {"host": system.get("host")}, {own: system.get("path"), **rest}
    return None, request


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Files of both sides whose content is another one: a file of one side may only have moved."""
    yield from (name for name in now if name in before and before[name] != now[name])


def _judges_change(before: Mapping[str, int], now: Mapping[str, int]) -> str:
    """``A (120 judgments) to B (120 judgments)``; empty where no judge is new or gone, or where none was known."""
    gone, new = (
        " and ".join(f"{name} ({format_count(one[name], 'judgment')})" for name in one if name not in other)
        for one, other in ((before, now), (now, before))
    )
    if not before or not now or not (gone or new):
        return ""
    return f"{gone} to {new}" if gone and new else f"{gone} gone" if gone else f"{new} added"


def _other_timings(before: Sequence[Mapping[str, float]], now: Sequence[Mapping[str, float]]) -> bool:
    """Tell whether a query that has times on both sides has other ones."""
    return any(
        [each[query] for each in before if query in each] != [each.get(query) for each in now]
        for query in before[0].keys() & now[0].keys()
    )


def _other_fields(before: Mapping[str, Mapping[str, Any]], askings: Sequence[Rankings]) -> bool:
    """Tell whether a document on both sides has another value, or none, in a field that the baseline keeps."""
    names, now = {name for known in before.values() for name in known}, askings[0].fields or {}
    ranked = {document for rankings in askings for document in rankings.documents.texts()} if names else set()
    pairs = ((before[document], now.get(document, {})) for document in before.keys() & ranked)
    return any(then.get(name) != known.get(name) for then, known in pairs for name in names)


def find_cause_between(before: Baseline, after: Baseline) -> Cause:
    """Everything that differs between two baselines."""
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
    """Queries on both sides whose first ``depth`` documents differ, or their order; sorted.

    If a source was asked several times, a query has changed if it has an answer now that it did not have before.
    """
    both = sorted(_ranked(before) & _ranked(now))
    same = np.array([[_same(ours, theirs, both, depth) for theirs in now] for ours in before])
    changed = np.asarray(~same.any(axis=0).all(axis=0), bool)
    return tuple(query for query, differs in zip(both, changed.tolist(), strict=True) if differs)


def _same(ours: Rankings, theirs: Rankings, queries: Sequence[str], depth: int) -> NDArray[np.bool_]:
    """Tell whether each of some queries has the same first documents in both."""
    same = {query for query, each in zip(ours.queries, begin_alike(ours, theirs, depth).tolist(), strict=True) if each}
    return np.array([query in same for query in queries], bool)


def _edited_judgments(before: Grades, now: Grades, queries: Iterable[str]) -> Iterator[JudgmentEdit]:
    for query in queries:
        old, new = before.get(query, {}), now.get(query, {})
        for document in sorted(old.keys() | new.keys()):
            if old.get(document) != new.get(document):
                yield JudgmentEdit(query, document, old.get(document), new.get(document))


def _ranked(askings: Sequence[Rankings]) -> set[str]:
    return {query for rankings in askings for query in rankings.queries}


def _added_and_removed(
    baseline: Baseline, askings: Sequence[Rankings], prints: JudgmentPrints | None, queries: Queries | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Queries that are asked now and were not, and the other way round.

    The queries file lists the asked queries; without one they are the judged, without judgments the ranked queries.
    """
    ranked, judged = _ranked(baseline.rankings), baseline.judgments.grades_of
    scored = {query for metric in baseline.metrics.values() for query in metric.values}
    if queries is not None:
        now: Sequence[str] = queries.ids
        known, before = ranked | scored, ranked | (scored & judged.keys())
    elif prints is not None and prints.grades_of:
        now, known = list(prints.grades_of), set(judged) or ranked
        before = known
    else:
        now, known = sorted(_ranked(askings)), ranked
        before = known
    return tuple(query for query in now if query not in known), tuple(sorted(before - set(now)))


def _edits(
    before: Grades | None, prints: JudgmentPrints | None, judged: Sequence[str]
) -> tuple[tuple[JudgmentEdit, ...], int | None]:
    now = prints.grades if prints else {}
    if not judged or before is None or now is None:
        return (), None
    edits = _edited_judgments(before, now, judged)
    named = tuple(islice(edits, NAMED))
    return named, len(named) + sum(1 for _ in edits)


def _is_another(baseline: Baseline, name: str, now: tuple[int, str]) -> bool:
    stored = baseline.metrics.get(name)
    return stored is not None and (stored.version, stored.origin) != now
