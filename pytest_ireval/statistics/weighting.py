"""Weights of queries: values whose plain mean and standard error are the weighted ones, so that every test applies."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.statistics.differences import Floats

Counts = NDArray[np.int64]


class Weighting(NamedTuple):
    """``counted`` are the places of the queries whose weight is not 0, ``shares`` their weights with mean 1.

    ``shares`` is None where all weigh the same. ``effective`` is how many equally weighted queries are worth as much.
    """

    counted: Counts | slice
    shares: Floats | None
    effective: float

    @property
    def worth(self) -> int:
        """The same as a count: one query that outweighs all others is one query."""
        return round(self.effective)


def weighting(weights: Floats | None, queries: int) -> Weighting:
    """The weights as they are used; without any, all queries weigh the same."""
    if weights is None:
        return Weighting(slice(None), None, float(queries))
    counted: Counts = np.flatnonzero(weights > 0)
    left = weights[counted]
    if not left.size or left.min() == left.max():
        return Weighting(counted, None, float(left.size))
    scaled = left / left.max()  # so that no square overflows
    total = math.fsum(scaled.tolist())
    effective = total * total / math.fsum((scaled * scaled).tolist())
    return Weighting(counted, scaled * (left.size / total), effective)


def influence(rows: Floats, shares: Floats | None) -> Floats:
    """For each row the values v with mean(v) = Σ w d / Σ w and var(v) / n = n / (n - 1) Σ w² (d - mean)² / (Σ w)²."""
    if shares is None:
        return rows
    mean = np.array([math.fsum(row.tolist()) for row in rows * shares])[:, None] / shares.size
    found: Floats = mean + shares * (rows - mean)
    return found
