"""Changes of rankings that no rule may mind: the order of equal scores, and what stands where nobody looks."""

from __future__ import annotations

import numpy as np

from pytest_ireval.rehearsing.rows import queries_of_rows, ranks_of_rows, with_documents_at
from pytest_ireval.retrieval.rankings import Rankings, rankings_of_columns
from pytest_ireval.rules.slices import Mask


def rows_tied(rankings: Rankings) -> Mask:
    """Which documents have the score of another one of their query."""
    length = np.repeat(np.diff(rankings.first), np.diff(rankings.first))
    tied: Mask = rankings.tied_from < np.minimum(rankings.tied_to, length)
    return tied


def ties_written_otherwise(rankings: Rankings) -> Rankings:
    """As a file is read in which documents with equal scores stand in reverse order."""
    query = queries_of_rows(rankings)
    order = np.lexsort((-ranks_of_rows(rankings), rankings.tied_from, query))
    length = np.diff(rankings.first)
    filled, empty = np.flatnonzero(length), np.flatnonzero(length == 0)
    number = np.zeros(len(rankings), np.int64)
    number[filled] = np.arange(filled.size)
    return rankings_of_columns(
        [rankings.queries[i] for i in filled.tolist()],
        number[query[order]],
        rankings.documents.take(order),
        rankings.score[order],
        rankings.origin,
        by_id=True,
        empty=[rankings.queries[i] for i in empty.tolist()],
    )


def reversed_below(rankings: Rankings, deepest: int) -> Rankings:
    """What stands below rank ``deepest`` stands in reverse order."""
    rank = ranks_of_rows(rankings)
    length = np.repeat(np.diff(rankings.first), np.diff(rankings.first))
    rows = np.arange(rank.size)
    return with_documents_at(rankings, np.where(rank > deepest, rows - rank + (length + deepest + 1 - rank), rows))
