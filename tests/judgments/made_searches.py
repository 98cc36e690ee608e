"""Searches of one query, made of lists and clicks."""

import numpy as np

from pytest_ireval_judgments.clicks import Searches


def make_searches(rows, documents=None):
    """Searches of query q: documents, clicked ranks in the order of time, and how often."""
    names = documents or sorted({name for shown, _, _ in rows for name in shown})
    order = [
        [clicks.index(rank) + 1 if rank in clicks else 0 for rank in range(1, len(shown) + 1)]
        for shown, clicks, _ in rows
    ]
    return Searches(
        ("q",),
        tuple(names),
        np.zeros(len(rows), np.int64),
        np.array([count for _, _, count in rows], np.int64),
        np.cumsum([0, *(len(shown) for shown, _, _ in rows)]),
        np.array([names.index(name) for shown, _, _ in rows for name in shown], np.int64),
        np.array([place for places in order for place in places], np.int64),
    )
