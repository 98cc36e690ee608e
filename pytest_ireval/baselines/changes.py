"""Why figures differ from a baseline: which of rankings, judgments, queries, metrics and settings are others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.baselines.files import JudgmentPrints, fingerprints_of_judgments
from pytest_ireval.baselines.record import Baseline, Fingerprints
from pytest_ireval.results.outcome import Cause, JudgmentEdit
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.judgments import Judgments
from pytest_ireval.retrieval.queries import Queries
from pytest_ireval.retrieval.rankings import Rankings

NAMED = 100
"""So many edited judgments are named; all are counted."""

Grades = Mapping[str, Mapping[str, float]]


def cause_of(
    baseline: Baseline,
    *,
    rankings: Rankings | Sequence[Rankings],
    judgments: Judgments | JudgmentPrints | None,
    queries: Queries | None,
    metrics: Mapping[str, tuple[int, str]],
    fingerprints: Fingerprints,
) -> Cause:
    """What is different now; ``restated`` is left to whoever can score.

    ``metrics`` are version and origin by canonical name. Of a source that is asked several times, ``rankings`` are all
    answers. Where the judgments were remembered already, they can be given as that.
    """
    prints = fingerprints_of_judgments(judgments) if isinstance(judgments, Judgments) else judgments
    askings = [rankings] if isinstance(rankings, Rankings) else list(rankings)
    changed = changed_queries(baseline.rankings, askings, baseline.depth)
    added, removed = _added_and_removed(baseline, askings, prints, queries)
    judged = _judged_otherwise(baseline.grades_of, prints.grades_of if prints else {}, {*added, *removed})
    edits, edited = _edits(baseline.grades, prints, judged)
    return Cause(
        rankings=len(changed),
        compared=len(_ranked(baseline.rankings) & _ranked(askings)),
        judgments=len(judged),
        edits=edits,
        edited=edited,
        added=added,
        removed=removed,
        queries=baseline.fingerprints.queries != fingerprints.queries,
        metrics=tuple(sorted(name for name, said in metrics.items() if _is_another(baseline, name, said))),
        source=baseline.fingerprints.source != fingerprints.source,
        policies=baseline.fingerprints.policies != fingerprints.policies,
    )


def cause_between(before: Baseline, after: Baseline) -> Cause:
    """The same of two baselines."""
    prints = JudgmentPrints(after.fingerprints.judgments, after.grades_of, None)
    cause = cause_of(
        before,
        rankings=after.rankings,
        judgments=prints,
        queries=None,
        metrics={name: (metric.version, metric.origin) for name, metric in after.metrics.items()},
        fingerprints=after.fingerprints,
    )
    judged = _judged_otherwise(before.grades_of, after.grades_of, {*cause.added, *cause.removed})
    if not judged or before.grades is None or after.grades is None:
        return cause
    edits = list(_edited_judgments(before.grades, after.grades, judged))
    return Cause(**{**vars(cause), "edits": tuple(edits[:NAMED]), "edited": len(edits)})


def changed_queries(before: Sequence[Rankings], now: Sequence[Rankings], depth: int) -> tuple[str, ...]:
    """Queries on both sides whose first ``depth`` documents are others, or in another order; sorted.

    Where a source was asked several times, a query has changed if it has an answer now that it did not have before.
    """
    both = sorted(_ranked(before) & _ranked(now))
    same = np.array([[_same(ours, theirs, both, depth) for theirs in now] for ours in before])
    changed = np.asarray(~same.any(axis=0).all(axis=0), bool)
    return tuple(query for query, differs in zip(both, changed.tolist(), strict=True) if differs)


def _edited_judgments(before: Grades, now: Grades, queries: Iterable[str]) -> Iterator[JudgmentEdit]:
    """Every judgment of some queries that is not what it was, by query and document."""
    for query in queries:
        old, new = before.get(query, {}), now.get(query, {})
        for document in sorted(old.keys() | new.keys()):
            if old.get(document) != new.get(document):
                yield JudgmentEdit(query, document, old.get(document), new.get(document))


def _ranked(askings: Sequence[Rankings]) -> set[str]:
    return {query for rankings in askings for query in rankings.queries}


def _same(ours: Rankings, theirs: Rankings, queries: Sequence[str], depth: int) -> NDArray[np.bool_]:
    """Tell whether each of some queries has the same first documents in both."""
    mine, my_length = _begins(ours, queries, depth)
    yours, your_length = _begins(theirs, queries, depth)
    same = (my_length == your_length) & (mine >= 0) & (yours >= 0)
    length = np.where(same, my_length, 0)
    first = np.cumsum(length) - length
    rank = np.arange(int(length.sum())) - np.repeat(first, length)
    equal = _equal(ours.documents, np.repeat(mine, length) + rank, theirs.documents, np.repeat(yours, length) + rank)
    differing = np.bincount(np.repeat(np.arange(len(queries)), length)[~equal], minlength=len(queries))
    found: NDArray[np.bool_] = same & (differing == 0)
    return found


def _equal(ours: Ids, my_rows: NDArray[np.int64], theirs: Ids, their_rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    return ours.same(my_rows, theirs, their_rows) if my_rows.size else np.zeros(0, bool)


def _begins(rankings: Rankings, queries: Sequence[str], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each query (-1: it has no ranking), and how many documents count."""
    position = {query: i for i, query in enumerate(rankings.queries)}
    at = np.array([position.get(query, -1) for query in queries], np.int64)
    length = np.minimum(np.diff(rankings.first), depth)
    if not length.size:
        return at, np.zeros(at.size, np.int64)
    return np.where(at >= 0, rankings.first[:-1][at], -1), np.where(at >= 0, length[at], 0)


def _added_and_removed(
    baseline: Baseline, askings: Sequence[Rankings], prints: JudgmentPrints | None, queries: Queries | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Queries that are asked now and were not, and the other way round.

    Asked is what the queries file lists; without one, what is judged; without judgments, what is ranked.
    """
    ranked = _ranked(baseline.rankings)
    scored = {query for metric in baseline.metrics.values() for query in metric.values}
    if queries is not None:
        now: Sequence[str] = queries.ids
        known, before = ranked | scored, ranked | (scored & baseline.grades_of.keys())
    elif prints is not None and prints.grades_of:
        now, known = list(prints.grades_of), set(baseline.grades_of) or ranked
        before = known
    else:
        now, known = sorted(_ranked(askings)), ranked
        before = known
    return tuple(query for query in now if query not in known), tuple(sorted(before - set(now)))


def _judged_otherwise(before: Mapping[str, str], now: Mapping[str, str], besides: set[str]) -> list[str]:
    """Queries whose judgments are not what they were, but for those that came or went."""
    return sorted(
        query for query in before.keys() | now.keys() if query not in besides and _differs(before, now, query)
    )


def _differs(before: Mapping[str, str], now: Mapping[str, str], query: str) -> bool:
    return before.get(query) != now.get(query)


def _edits(
    before: Grades | None, prints: JudgmentPrints | None, judged: Sequence[str]
) -> tuple[tuple[JudgmentEdit, ...], int | None]:
    if not judged or before is None or (prints is not None and prints.grades is None):
        return (), None
    edits = _edited_judgments(before, prints.grades if prints and prints.grades is not None else {}, judged)
    named = tuple(islice(edits, NAMED))
    return named, len(named) + sum(1 for _ in edits)


def _is_another(baseline: Baseline, name: str, said: tuple[int, str]) -> bool:
    stored = baseline.metrics.get(name)
    return stored is not None and (stored.version, stored.origin) != said
