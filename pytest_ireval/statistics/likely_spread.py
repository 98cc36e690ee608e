"""How far queries may be expected to move while nobody has seen them move: a guess from how their values differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import stdev

LIKENESS = 0.95
"""How strongly the values of two versions correlate after a small change, as far as anybody knows before the second."""


def likely_spread(values: Sequence[float]) -> float | None:
    """The standard deviation of the differences of two versions whose values spread alike and correlate so.

    None where the values say nothing: there are fewer than two, or all are alike.
    """
    if len(values) < 2:
        return None
    return stdev(values) * math.sqrt(2 * (1 - LIKENESS)) or None
