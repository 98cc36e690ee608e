"""Ranking lines as arrays: one entry a line, the lines of a query next to each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.retrieval.scan.chunk import Chunk, Offsets, Words
from pytest_ireval.retrieval.scan.numbers import numbers
from pytest_ireval.retrieval.scan.tokens import SHOWN_LINES, BadLines, Span, columns
from pytest_ireval.retrieval.scan.words import keys_of, mixed, starts_of_groups

WIDTH = 6
QUERY, DOCUMENT, SCORE = 0, 2, 4
SECOND_COLUMN = 64
"""So many bytes in front of a document hold the end of the second column."""


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Lines of whole queries. ``first`` has one entry more than there are queries: where each begins and the end.

    ``query_id`` and ``query_key`` have one entry a query; ``document``, ``document_key`` and ``score`` one a line.
    """

    chunk: Chunk
    query_id: list[bytes]
    query_key: Words
    first: Offsets
    document: Span
    document_key: Words
    score_text: Span
    score: NDArray[np.float64]
    inexact: NDArray[np.bool_]

    @property
    def count(self) -> Offsets:
        """How many lines each query has."""
        return np.diff(self.first)

    @property
    def pair_key(self) -> Words:
        """A key for the (query, document) pair of each line."""
        return self.document_key ^ np.repeat(self.query_key, self.count)

    @property
    def query(self) -> Offsets:
        """The query of each line, as a position in ``query_id``."""
        return np.repeat(np.arange(self.first.size - 1), self.count)


def read_lines(chunk: Chunk, seed: int, *, final: bool) -> tuple[Lines | None, int]:
    """The lines of a chunk and how many bytes they take.

    The last query may go on in the next chunk: unless ``final`` it is left out. When there is no other, the answer
    is None and 0.
    """
    query, document, score_text = columns(chunk, WIDTH, (QUERY, DOCUMENT, SCORE), exact=False)
    _refuse_misplaced(chunk, document)
    heads = starts_of_groups(chunk, query)
    size, used = query.start.size, chunk.size
    if not final:
        if heads.size < 2:
            return None, 0
        size = int(heads[-1])
        used = int(query.start[size])
        heads = heads[:-1]
        query, document, score_text = (Span(s[:size], e[:size]) for s, e in (query, document, score_text))
    ids = Span(query.start[heads], query.end[heads])
    value = numbers(chunk, score_text, "score")
    lines = Lines(
        chunk=chunk,
        query_id=chunk.tokens(*ids),
        query_key=mixed(keys_of(chunk, ids, seed)),
        first=np.append(heads, size),
        document=document,
        document_key=keys_of(chunk, document, seed),
        score_text=score_text,
        score=value.value,
        inexact=value.inexact,
    )
    return lines, used


def _refuse_misplaced(chunk: Chunk, document: Span) -> None:
    """A document that is called ``Q0``, and no Q0 in front of it: an id with a blank has pushed the columns."""
    suspects = np.flatnonzero(document.end - document.start == 2)
    start = document.start[suspects]
    named = start[(chunk.text[start] == ord("Q")) & (chunk.text[start + 1] == ord("0"))]
    found = [at for at in named.tolist() if chunk.token(max(0, at - SECOND_COLUMN), at).split()[-1:] != [b"Q0"]]
    if found:
        complaint = "has Q0 in the third column, not in the second: is there a blank in the query's id?"
        raise BadLines([(at, complaint) for at in found[:SHOWN_LINES]], max(0, len(found) - SHOWN_LINES))


def gathered(parts: list[Lines], offsets: list[int], whole: Chunk) -> Lines:
    """The lines of a whole file with each query's lines together, in the order in which they stand.

    ``offsets`` says where in ``whole`` the chunk of each part begins.
    """
    names = {name: i for i, name in enumerate(dict.fromkeys(n for part in parts for n in part.query_id))}
    key = np.zeros(len(names), np.uint64)
    query = []
    for part in parts:
        code = np.array([names[name] for name in part.query_id], np.int64)
        key[code] = part.query_key
        query.append(code[part.query])
    line_query = np.concatenate(query)
    order = np.argsort(line_query, kind="stable")
    spans = [
        (_shifted(part.document, at), _shifted(part.score_text, at)) for part, at in zip(parts, offsets, strict=True)
    ]
    return Lines(
        chunk=whole,
        query_id=list(names),
        query_key=key,
        first=np.concatenate((np.zeros(1, np.int64), np.cumsum(np.bincount(line_query, minlength=len(names))))),
        document=_taken([document for document, _ in spans], order),
        document_key=np.concatenate([part.document_key for part in parts])[order],
        score_text=_taken([score for _, score in spans], order),
        score=np.concatenate([part.score for part in parts])[order],
        inexact=np.concatenate([part.inexact for part in parts])[order],
    )


def _shifted(span: Span, at: int) -> Span:
    return Span(span.start + at, span.end + at)


def _taken(spans: list[Span], order: Offsets) -> Span:
    return Span(
        np.concatenate([span.start for span in spans])[order],
        np.concatenate([span.end for span in spans])[order],
    )
