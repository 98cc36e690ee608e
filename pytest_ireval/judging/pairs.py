"""The distinct pairs of query and document in several files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pytest_ireval.errors import InputError, Problem
from pytest_ireval.retrieval.ids import Ids, concatenated
from pytest_ireval.retrieval.judged import Integers
from pytest_ireval.retrieval.judgments import MOST_SEEDS
from pytest_ireval.retrieval.scan.tokens import mixed


class PairRows(NamedTuple):
    """Pairs of one file: for each row the position of its query in ``queries``, and its document."""

    queries: Sequence[str]
    query: Integers
    documents: Ids


class Pairs(NamedTuple):
    """Each pair once, in order of appearance; ``number`` is the pair of each row of all parts."""

    queries: tuple[str, ...]
    query: Integers
    documents: Ids
    number: Integers


def distinct_pairs(parts: Sequence[PairRows]) -> Pairs:
    """The pairs of all parts, each once."""
    names = {name: i for i, name in enumerate(dict.fromkeys(name for part in parts for name in part.queries))}
    codes = [np.array([names[name] for name in part.queries], np.int64)[part.query] for part in parts]
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
            return Pairs(tuple(names), query[kept], documents.take(kept), place[number])
    raise InputError(Problem("ids collide under all hash functions; were they constructed to collide?"))
