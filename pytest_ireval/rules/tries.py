"""Changes that were drawn, and what a rule makes of each: from these a run knows how often chance would turn it red."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_ireval.metrics.metric import Metric
from pytest_ireval.plugins.kinds import Part
from pytest_ireval.rules.side import Floats
from pytest_ireval.rules.slices import Slice
from pytest_ireval.statistics.weighting import weighting

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tries:
    """Drawn changes of one metric on one slice, a row each and the queries in columns."""

    part: Part
    metric: Metric
    slice: Slice
    before: Floats
    """The value of each query in the baseline."""
    changes: Floats
    """``now - before``, a row for each try."""
    units: NDArray[np.int64]
    """The places of the queries in the suite: rules with the same ones are corrected together."""
    weights: Floats | None
    """How much traffic each query stands for, if the suite says so."""
    accepted: int = 0
    """How many accepted changes lie between the reference and the current rankings."""

    @property
    def sign(self) -> int:
        """1 where higher values of the metric are better, -1 where lower ones are."""
        return -1 if self.metric.direction == "lower" else 1

    def means(self, *, weighted: bool) -> Floats:
        """The change of the mean in each try; above 0 is better."""
        weights = self.weights if weighted else None
        changes: Floats = self.sign * np.average(self.changes, axis=1, weights=weights)
        return changes

    def worth(self, *, weighted: bool) -> int:
        """How many queries of equal weight these are worth."""
        return weighting(self.weights if weighted else None, self.before.size).worth


class Shown(NamedTuple):
    """What each try is evidence for; ``p`` is corrected with those of the suite's other rules."""

    p: Floats
    """Of a fall."""
    safe: Mask
    """Whether evidence rules out what is not allowed."""
    undecided: Mask
    """Whether it fails if evidence tells neither."""
    alpha: float
    alone: bool = False
    """Whether the gate corrects it as a test of its own."""


class Chances(NamedTuple):
    """What a rule makes of each try."""

    red: Mask
    """Whether it fails, whatever else is true."""
    shown: Shown | None = None
    """None where evidence does not decide."""

    def failed(self, adjusted: Floats) -> Mask:
        """Return the tries that it fails, by their corrected p."""
        if self.shown is None:
            return self.red
        worse: Mask = adjusted < self.shown.alpha
        failed: Mask = self.red | (~self.shown.safe & (worse | self.shown.undecided))
        return failed
