"""What equal scores leave open: the best and the worst order they allow."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.judged import Documents, Hits, JudgedRankings, is_relevant


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
    """New ranks inside each group of equal scores; the rows of a group stand together, so only they move."""
    rows = np.flatnonzero(hits.tied_from < hits.tied_to)
    query, tied_from, grade = hits.query[rows], hits.tied_from[rows], hits.grade[rows]
    new_group = np.ones(rows.size, bool)
    new_group[1:] = (query[1:] != query[:-1]) | (tied_from[1:] != tied_from[:-1])
    first = np.flatnonzero(new_group)
    group = np.cumsum(new_group) - 1
    order = np.lexsort((-grade if best_first else grade, group))
    place = np.arange(rows.size)
    in_front = place - first[group]
    behind = np.append(first[1:], rows.size)[group] - place - 1
    leading = is_relevant(grade[order], None) == best_first
    rank = np.where(leading, tied_from + in_front, hits.tied_to[rows] - behind)
    moved = rows[order]
    return hits._replace(
        rank=_with(hits.rank, rows, rank),
        grade=_with(hits.grade, rows, hits.grade[moved]),
        judgment=_with(hits.judgment, rows, hits.judgment[moved]),
    )


def _with(column: NDArray[Any], rows: NDArray[np.int64], values: NDArray[Any]) -> NDArray[Any]:
    changed = column.copy()
    changed[rows] = values
    return changed


def _reordered_documents(documents: Documents, best_first: bool) -> Documents:
    query = np.repeat(np.arange(documents.first.size - 1), np.diff(documents.first))
    grade = documents.grade
    kind = np.where(np.isnan(grade), 1, np.where(grade > 0, 0, 2))  # relevant, unjudged, not relevant
    known = np.nan_to_num(grade)
    sign = 1 if best_first else -1
    rank = np.arange(grade.size)
    order = np.lexsort((rank, -sign * known, sign * kind, documents.tied_from, query))
    return documents.at(order, documents.first)
