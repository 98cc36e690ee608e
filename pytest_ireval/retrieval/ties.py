"""What equal scores leave open: the best and the worst order they allow."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from pytest_ireval.retrieval.judged import Documents, Hits, JudgedRankings, Mask, is_relevant


def tied_queries(judged: JudgedRankings, cutoff: int | None) -> Mask:
    """Queries in which a judged document shares its score with others across the cutoff (None: anywhere)."""
    hits = judged.hits
    tied = hits.tied_from < hits.tied_to
    if cutoff is not None:
        tied = (hits.tied_from <= cutoff) & (hits.tied_to > cutoff)
    return np.bincount(hits.query[tied], minlength=judged.count) > 0


def reordered(judged: JudgedRankings, *, best_first: bool) -> JudgedRankings:
    """Equal scores put in the order that serves metrics best, or worst.

    Best: relevant documents first, by grade; then unjudged ones; then those judged not relevant. Worst: the reverse.
    """
    documents = judged.documents and _reordered_documents(judged.documents, best_first)
    return replace(
        judged,
        hits=_reordered_hits(judged.hits, best_first),
        documents=documents,
        reference=judged.reference and reordered(judged.reference, best_first=best_first),
        _memory={},
    )


def _reordered_hits(hits: Hits, best_first: bool) -> Hits:
    """New ranks inside each group of equal scores; groups without ties stay as they are."""
    sign = -1 if best_first else 1
    order = np.lexsort((hits.rank, sign * hits.grade, hits.tied_from, hits.query))
    query, tied_from, tied_to = hits.query[order], hits.tied_from[order], hits.tied_to[order]
    new_group = np.ones(order.size, bool)
    new_group[1:] = (query[1:] != query[:-1]) | (tied_from[1:] != tied_from[:-1])
    first = np.flatnonzero(new_group)
    group = np.cumsum(new_group) - 1
    behind = np.append(first[1:], order.size)[group] - np.arange(order.size) - 1
    in_front = np.arange(order.size) - first[group]
    leading = is_relevant(hits.grade[order], None) == best_first
    rank = np.where(leading, tied_from + in_front, tied_to - behind)
    again = np.lexsort((rank, query))
    moved = {f.name: getattr(hits, f.name)[order][again] for f in fields(hits)}
    return Hits(**{**moved, "rank": rank[again]})


def _reordered_documents(documents: Documents, best_first: bool) -> Documents:
    query = np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))
    grade = documents.grade
    kind = np.where(np.isnan(grade), 1, np.where(grade > 0, 0, 2))  # relevant, unjudged, not relevant
    known = np.nan_to_num(grade)
    sign = 1 if best_first else -1
    rank = np.arange(grade.size)
    order = np.lexsort((rank, -sign * known, sign * kind, documents.tied_from, query))
    return Documents(
        first=documents.first,
        ids=documents.ids.take(order),
        score=documents.score[order],
        grade=grade[order],
        tied_from=documents.tied_from[order],
        tied_to=documents.tied_to[order],
    )
