"""Risk: the mean difference when a loss weighs more than a gain, and whether it is more than chance.

L. Wang, P. Bennett, K. Collins-Thompson 2012, Robust ranking models via risk-sensitive optimization, SIGIR: 761-770;
B. Dincer, C. Macdonald, I. Ounis 2014, Hypothesis testing for the risk-sensitive evaluation of retrieval systems,
SIGIR: 23-32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pytest_ireval.statistics.differences import TIE, Floats
from pytest_ireval.statistics.estimate import moments


class Risk(NamedTuple):
    """``mean`` is URisk, the mean of what the differences weigh; ``t`` is TRisk, that in standard errors.

    Beyond 2 it is notable, below -2 a risk.
    """

    mean: float
    t: float


def risk(differences: Floats, aversion: float) -> Risk:
    """The risk of ``differences`` (above 0 is better) when a loss weighs ``1 + aversion`` times as much as a gain."""
    changed = np.where(np.abs(differences) < TIE, 0.0, differences)
    sample = moments(np.where(changed < 0, (1 + aversion) * changed, changed)[None, :])
    return Risk(float(sample.mean[0]), float(sample.t[0]))
