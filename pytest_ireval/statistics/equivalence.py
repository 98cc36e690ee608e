"""Whether a mean surely moved by less than a margin, up or down: two one-sided tests, each by t and by Hall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.estimate import estimated
from pytest_ireval.statistics.mean_evidence import p_worse, shifted
from pytest_ireval.statistics.one_sided import FEWEST, p_above
from pytest_ireval.statistics.weighting import Sampling, weighting


class Equivalence(NamedTuple):
    """``p`` is the chance to see so little if the mean had moved by the margin, the larger of both directions.

    It is 0 where nothing changed, otherwise 1 below five queries. ``p_moved`` is the two-sided chance of so much if the
    mean had not moved at all; 1 below five queries or where nothing changed.
    """

    p: float
    p_moved: float


def equivalence(
    differences: Floats,
    margins: Floats | float,
    *,
    weights: Floats | None = None,
    sampling: Sampling | None = None,
) -> Equivalence:
    """The evidence that the mean moved by less than ``margins``: a number, or the mean of one for each query."""
    row = np.asarray(differences, dtype=np.float64)[None, :]
    row = np.where(np.abs(row) < TIE, 0.0, row)
    weigh = weighting(weights, row.shape[1], sampling)
    allowed = np.broadcast_to(np.asarray(margins, dtype=np.float64), row.shape)[:, weigh.counted]
    row = row[:, weigh.counted]
    changed = np.count_nonzero(row, axis=1)
    if not changed[0] and row.size:
        return Equivalence(0.0, 1.0)
    if weigh.worth < FEWEST or weigh.lone:
        return Equivalence(1.0, 1.0)
    above_low = p_above(estimated(shifted(row, allowed), weigh))
    below_high = p_above(estimated(shifted(-row, allowed), weigh))
    fell, rose = (p_worse(side, changed, estimated(side, weigh), weigh) for side in (row, -row))
    return Equivalence(float(np.maximum(above_low, below_high)[0]), float(min(1.0, 2 * min(fell[0], rose[0]))))
