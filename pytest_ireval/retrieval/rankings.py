"""Rankings: what a system returned for each query, best document first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.scan.kept import KeptRows


@dataclass(frozen=True, eq=False)
class Rankings:
    """The first documents of each ranking; those of query i are rows ``first[i]`` to ``first[i + 1]``.

    ``queries`` in order of appearance, those with an empty ranking last; ``retrieved`` (int64) counts all documents a
    query retrieved, kept or not.
    ``documents``, ``score`` (float64), ``tied_from`` and ``tied_to`` (int64; first and last rank with this score, ranks
    start at 1) have one entry a kept document. A query may have an empty ranking. ``origin`` says where they come from.
    """

    queries: tuple[str, ...]
    retrieved: NDArray[np.int64]
    first: NDArray[np.int64]
    documents: Ids
    score: NDArray[np.float64]
    tied_from: NDArray[np.int64]
    tied_to: NDArray[np.int64]
    origin: str = "rankings"

    def __len__(self) -> int:
        return len(self.queries)

    def ranking(self, query: str) -> list[str]:
        """The document ids of one query in order of rank."""
        i = self.queries.index(query)
        return self.documents.texts(np.arange(self.first[i], self.first[i + 1]))


def rankings_of(parts: Sequence[KeptRows], origin: str, empty: Sequence[str] = ()) -> Rankings:
    """Rankings from what was kept of all queries; ``empty`` names queries that retrieved nothing."""
    documents = concatenated([part.documents for part in parts if part.documents is not None])
    retrieved = np.concatenate([part.count for part in parts] + [np.zeros(len(empty), np.int64)])
    kept = [np.bincount(part.query, minlength=part.count.size) for part in parts]
    return Rankings(
        queries=(*(name.decode() for part in parts for name in part.query_id), *empty),
        retrieved=retrieved,
        first=np.concatenate(([0], np.cumsum(np.concatenate([*kept, np.zeros(len(empty), np.int64)])))).astype(
            np.int64
        ),
        documents=documents,
        score=np.concatenate([np.zeros(0), *(part.score for part in parts)]),
        tied_from=np.concatenate([np.zeros(0, np.int64), *(part.tied_from for part in parts)]),
        tied_to=np.concatenate([np.zeros(0, np.int64), *(part.tied_to for part in parts)]),
        origin=origin,
    )
