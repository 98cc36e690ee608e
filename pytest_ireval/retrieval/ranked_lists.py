"""Rankings from lists of documents with scores, or from columns of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.ids import Ids
from pytest_ireval.retrieval.rankings import Rankings, rankings_of
from pytest_ireval.retrieval.scan.kept import first_rows
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.tokens import BadLines, Span
from pytest_ireval.retrieval.scan.words import keys_of, mixed

RankedLists = Mapping[str, Sequence[tuple[str, float]]]


def rankings_of_lists(lists: RankedLists, origin: str, depth: int | None = None, *, by_id: bool = True) -> Rankings:
    """The first ``depth`` documents of each list by score, descending; an empty list is an empty ranking."""
    filled = {query: documents for query, documents in lists.items() if documents}
    empty = [query for query, documents in lists.items() if not documents]
    if not filled:
        return rankings_of([], origin, empty)
    names = list(filled)
    length = [len(ranking) for ranking in filled.values()]
    documents = Ids.of([document for ranking in filled.values() for document, _ in ranking])
    score = np.array([score for ranking in filled.values() for _, score in ranking], np.float64)
    code = np.repeat(np.arange(len(names)), length)
    return rankings_of_columns(names, code, documents, score, origin, depth, by_id=by_id, empty=empty)


def rankings_of_columns(
    queries: Sequence[str],
    query: NDArray[np.int64],
    documents: Ids,
    score: NDArray[np.float64],
    origin: str,
    depth: int | None = None,
    *,
    by_id: bool = True,
    empty: Sequence[str] = (),
    place: Callable[[int], str] | None = None,
) -> Rankings:
    """The same from columns with one entry a document; ``query`` holds positions in ``queries``, in any order.

    ``place`` says where a row stands, if that is better than ``origin``.
    """
    order = np.argsort(query, kind="stable")
    document = Span(documents.span.start[order], documents.span.end[order])
    lines = Lines(
        chunk=documents.chunk,
        query_id=[name.encode() for name in queries],
        query_key=mixed(Ids.of(queries).keys()),
        first=np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(query, minlength=len(queries))))),
        document=document,
        document_key=keys_of(documents.chunk, document),
        score_text=document,
        score=score[order],
        inexact=np.zeros(score.size, bool),
    )
    try:
        return rankings_of([first_rows(lines, depth, by_id=by_id)], origin, empty)
    except BadLines as bad:
        rows = np.searchsorted(documents.span.start, [offset for offset, _ in bad.complaints]).tolist()
        places = [place(row) if place else origin for row in rows]
        problems = [Problem(text, place=at) for (_, text), at in zip(bad.complaints, places, strict=True)]
        raise InputError(*problems, *([f"… and {bad.more} more"] if bad.more else [])) from None
