"""Pairs of query and document of several judgments or rankings, each pair once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pytest_ireval.data import scan
from pytest_ireval.data.arrays import Floats, Integers, Mask
from pytest_ireval.data.judgments import Judgments, make_empty_judgments, make_judgments
from pytest_ireval.data.rankings import Rankings
from pytest_ireval.data.tables import place_by_number
from pytest_ireval.errors import InputError, Problem


@dataclass(eq=False)
class Pairs:
    """Different pairs of query and document, in order of appearance; ``query`` is a position in ``queries``."""

    queries: tuple[str, ...]
    query: Integers
    documents: scan.Ids

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
            return make_empty_judgments(self.queries, origin)
        place = place_by_number(origin)
        return make_judgments(
            self.queries, self.query[rows], self.documents.take(rows), grade[rows], origin=origin, place=place
        )


def number_pairs(parts: Sequence[Judgments | Rankings]) -> tuple[Pairs, Integers]:
    """The pairs of all parts, and for each row of the parts, one after the other, the number of its pair."""
    position = {name: i for i, name in enumerate(dict.fromkeys(name for part in parts for name in part.queries))}
    codes = [np.array([position[name] for name in part.queries], np.int64)[part.query] for part in parts]
    query = np.concatenate([np.zeros(0, np.int64), *codes])
    documents = scan.concatenate_ids([part.documents for part in parts])
    try:
        first, number = scan.number_pairs(query, documents)
    except scan.CollidingIdsError:
        problem = Problem("ids collide under all hash functions; were they constructed to collide?")
        raise InputError(problem) from None
    return Pairs(tuple(position), query[first], documents.take(first)), number
