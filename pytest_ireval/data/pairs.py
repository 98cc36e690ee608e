"""Pairs of query and document of several judgments or rankings, each pair once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_ireval.data.ids import Ids, concatenated
from pytest_ireval.data.judged import Floats, Integers, Mask
from pytest_ireval.data.judgments import MOST_SEEDS, Judgments, judgments_of, no_judgments, numbered
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.scan.tokens import mixed, owners_of
from pytest_ireval.errors import InputError, Problem


@dataclass(frozen=True, eq=False)
class Pairs:
    """Different pairs of query and document, in order of appearance; ``query`` is a position in ``queries``."""

    queries: tuple[str, ...]
    query: Integers
    documents: Ids

    def __len__(self) -> int:
        return int(self.query.size)

    def of_queries(self, wanted: Mask) -> Pairs:
        """The pairs of some queries."""
        queries = tuple(name for name, there in zip(self.queries, wanted.tolist(), strict=True) if there)
        kept = np.flatnonzero(wanted[self.query])
        return Pairs(queries, (np.cumsum(wanted) - 1)[self.query[kept]], self.documents.take(kept))

    def with_grades(self, grade: Floats, origin: str) -> Judgments:
        """Judgments with one grade for each pair; pairs with NaN are not judged, their queries stay."""
        rows = np.flatnonzero(~np.isnan(grade))
        if not rows.size:
            return no_judgments(self.queries, origin)
        return judgments_of(
            self.queries,
            self.query[rows],
            self.documents.take(rows),
            grade[rows],
            origin=origin,
            place=numbered(origin),
        )


def number_pairs(parts: Sequence[Judgments | Rankings]) -> tuple[Pairs, Integers]:
    """The pairs of all parts, and for each row of the parts, one after the other, the number of its pair."""
    names = {name: i for i, name in enumerate(dict.fromkeys(name for part in parts for name in part.queries))}
    codes = [np.array([names[name] for name in part.queries], np.int64)[_query_of_rows(part)] for part in parts]
    query = np.concatenate([np.zeros(0, np.int64), *codes])
    documents = concatenated([part.documents for part in parts])
    every = np.arange(query.size)
    for seed in range(MOST_SEEDS):
        keys = documents.keys(seed) ^ mixed(Ids.of(list(names)).keys(seed))[query]
        _, first, number = np.unique(keys, return_index=True, return_inverse=True)
        same = first[number]
        if (query[same] == query).all() and documents.same(every, documents, same).all():
            order = np.argsort(first)
            place = np.empty(order.size, np.int64)
            place[order] = np.arange(order.size)
            kept = first[order]
            return Pairs(tuple(names), query[kept], documents.take(kept)), place[number]
    raise InputError(Problem("ids collide under all hash functions; were they constructed to collide?"))


def _query_of_rows(part: Judgments | Rankings) -> Integers:
    return part.query if isinstance(part, Judgments) else owners_of(part.first)
