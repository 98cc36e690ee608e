"""Whether a document occurs twice in a ranking: line numbers scattered into a table, suspicions confirmed by bytes."""

from __future__ import annotations

import numpy as np

from pytest_ireval.retrieval.scan.chunk import Chunk, Offsets, Words
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.pairs import not_unique
from pytest_ireval.retrieval.scan.tokens import Span
from pytest_ireval.retrieval.scan.words import U

SLACK_BITS = 2
"""The table has about four places for every line."""


def repeated_documents(lines: Lines, key: Words) -> tuple[Offsets, Offsets]:
    """Pairs of lines (first, later) that hold one document for one query; ``key`` is ``lines.pair_key``."""
    if not _any_equal(key):  # usually, and that is found without sorting
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = np.argsort(key)
    return repetitions(lines.chunk, lines.document, lines.query, not_unique(key[row], row))


def repetitions(chunk: Chunk, span: Span, group: Offsets, rows: Offsets) -> tuple[Offsets, Offsets]:
    """Pairs of rows (first, later) with the same bytes in the same group, among ``rows``; in order of the later one."""
    first: dict[tuple[int, bytes], int] = {}
    pairs = []
    for row, name, token in zip(
        rows.tolist(), group[rows].tolist(), chunk.tokens(span.start[rows], span.end[rows]), strict=True
    ):
        earlier = first.setdefault((name, token), row)
        if earlier != row:
            pairs.append((earlier, row))
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _any_equal(key: Words) -> bool:
    """Every line writes its number into the place its key names, and those overwritten by another key go again."""
    bits = max(8, int(key.size).bit_length() + SLACK_BITS)
    table = np.empty(1 << bits, np.int32)
    while key.size:
        place = (key >> U(64 - bits)).view(np.int64)
        mine = np.arange(key.size, dtype=np.int32)
        table[place] = mine
        winner = table[place]
        lost = np.flatnonzero(winner != mine)
        if (key[winner[lost]] == key[lost]).any():
            return True
        key = key[lost]
    return False
