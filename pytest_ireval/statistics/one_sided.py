"""The one-sided tests of a mean that decide: Student's t and Hall's correction of it, and both must agree."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.hall import hall_t
from pytest_ireval.statistics.moments import Moments
from pytest_ireval.statistics.student import shares_below

FEWEST = 5
"""Fewer queries show nothing: even if all of them agree, four do so by chance once in 16 times."""


def p_below(sample: Moments) -> Floats:
    """For each row the chance of a mean this low or lower if the true one were 0: the larger of both tests' p."""
    return shares_below(np.maximum(sample.t, hall_t(sample.t, sample.skew, sample.size)), sample.size - 1)


def p_above(sample: Moments) -> Floats:
    """For each row the chance of a mean this high or higher if the true one were 0: the larger of both tests' p."""
    return shares_below(-np.minimum(sample.t, hall_t(sample.t, sample.skew, sample.size)), sample.size - 1)
