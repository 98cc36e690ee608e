"""The one-sided tests of a mean that decide: Student's t and Hall's correction of it, and both must agree."""

from __future__ import annotations

import numpy as np

from pytest_ireval.statistics.differences import Floats
from pytest_ireval.statistics.estimate import Estimate
from pytest_ireval.statistics.student import shares_below

FEWEST = 5
"""Fewer queries show nothing: even if all of them agree, four do so by chance once in 16 times."""


def p_below(sample: Estimate) -> Floats:
    """For each row the chance of a mean this low or lower if the true one were 0: the larger of both tests' p.

    Of a whole population nothing is left to chance: 0 where the mean is below 0, otherwise 1.
    """
    if sample.exact:
        return np.where(sample.mean < 0, 0.0, 1.0)
    return shares_below(np.maximum(sample.t, sample.corrected), sample.degrees)


def p_above(sample: Estimate) -> Floats:
    """For each row the chance of a mean this high or higher if the true one were 0: the larger of both tests' p.

    Of a whole population: 0 where the mean is 0 or above, otherwise 1.
    """
    if sample.exact:
        return np.where(sample.mean >= 0, 0.0, 1.0)
    return shares_below(-np.minimum(sample.t, sample.corrected), sample.degrees)
