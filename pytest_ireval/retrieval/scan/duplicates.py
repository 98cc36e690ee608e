"""Whether a document occurs twice in a ranking: line numbers scattered into a table, suspicions confirmed by bytes."""

from __future__ import annotations

import numpy as np

from pytest_ireval.retrieval.scan.chunk import Offsets, Words
from pytest_ireval.retrieval.scan.lines import Lines
from pytest_ireval.retrieval.scan.words import U, same_bytes

SLACK_BITS = 2
"""The table has about four places for every line."""


def repeated_documents(lines: Lines) -> tuple[Offsets, Offsets]:
    """Pairs of lines (earlier, later) that hold one document for one query."""
    key = lines.document_key ^ np.repeat(lines.query_key, lines.count)
    earlier, later = _equal_keys(key)
    if not earlier.size:
        return earlier, later
    start, end = lines.document
    same = same_bytes(lines.chunk, start[earlier], end[earlier], lines.chunk, start[later], end[later])
    query = lines.query
    same &= query[earlier] == query[later]
    return earlier[same], later[same]


def _equal_keys(key: Words) -> tuple[Offsets, Offsets]:
    """All neighbouring pairs of equal keys; usually there is none, and that is found without sorting."""
    if not _any_equal(key):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    row = np.argsort(key, kind="stable")
    equal = np.flatnonzero(key[row[1:]] == key[row[:-1]])
    return row[equal], row[equal + 1]


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
