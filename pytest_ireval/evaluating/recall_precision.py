"""Precision at levels of recall, and R-precision: what the recall-precision curves of the page are drawn from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.data.arrays import Floats, Integers
from pytest_ireval.data.judged import JudgedRankings, ratio

LEVELS = tuple(i / 10 for i in range(11))
ALMOST = 1e-9
"""Recall times R that is this close to a whole number is that number."""


class RelevantFound(NamedTuple):
    """The relevant documents that were retrieved, by query and rank; those of query i begin at ``first[i]``."""

    first: Integers
    rank: Integers
    so_far: Integers
    """The number of relevant ones at this rank or above."""
    relevant: Integers
    """Per query, the number of relevant documents, retrieved or not."""


def find_relevant(judged: JudgedRankings, rel: float) -> RelevantFound:
    """The retrieved documents with a grade of ``rel`` or more."""
    rows = judged.relevant(rel)
    query = judged.hits.query[rows]
    first = np.searchsorted(query, np.arange(judged.count + 1))
    so_far = np.arange(query.size) - first[query] + 1
    return RelevantFound(first, judged.hits.rank[rows], so_far, judged.relevant_count(rel))


def interpolate_precision(found: RelevantFound) -> Floats:
    """A row for each query: the best precision at recall 0, 0.1 … 1 or any higher one; 0 where it is never reached."""
    best = _find_best_precision(found)
    begin, end = found.first[:-1], found.first[1:]
    levels = np.zeros((begin.size, len(LEVELS)))
    for column, level in enumerate(LEVELS):
        needed = np.maximum(np.ceil(level * found.relevant - ALMOST).astype(np.int64), 1)
        reached = np.flatnonzero(begin + needed <= end)
        levels[reached, column] = best[(begin + needed - 1)[reached]]
    return levels


def _find_best_precision(found: RelevantFound) -> Floats:
    """At each document, the best precision at it or at a later one of its query; from the last ones up."""
    best: Floats = found.so_far / found.rank
    begin, row = found.first[:-1], found.first[1:] - 1
    while (above := row > begin).any():
        begin, row = begin[above], row[above] - 1
        best[row] = np.maximum(best[row], best[row + 1])
    return best


def compute_r_precision(found: RelevantFound) -> Floats:
    """Per query, precision at the rank that equals the number of relevant documents; 0 without any."""
    query = np.repeat(np.arange(found.relevant.size), np.diff(found.first))
    early = found.rank <= found.relevant[query]
    return ratio(np.bincount(query[early], minlength=found.relevant.size), found.relevant)
