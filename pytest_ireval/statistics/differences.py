"""Differences of paired scores, and which of them are ties: what every test of this folder starts from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TIE = 1e-12
"""A smaller difference is rounding: the order of a sum must not decide what counts as changed."""

LARGEST = float(np.finfo(np.float64).max)


def differences(scores: Floats, others: Floats) -> Floats:
    """``scores - others``, exactly 0 where rounding alone tells the two apart; the arrays may broadcast."""
    with np.errstate(over="ignore"):  # two huge numbers of opposite sign
        gains: Floats = np.clip(np.subtract(scores, others), -LARGEST, LARGEST)
    size = np.maximum(1.0, np.maximum(np.abs(scores), np.abs(others)))
    gains[np.abs(gains) < TIE * size] = 0.0
    return gains
