"""Whether a metric became worse on a slice, and by how much it may: the numbers that every test of that starts from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_ireval.rules.seen import Seen, Values
from pytest_ireval.rules.side import Floats
from pytest_ireval.statistics.differences import differences
from pytest_ireval.statistics.mean_evidence import MeanEvidence, mean_evidence
from pytest_ireval.statistics.weighting import weighting
from pytest_ireval.suites.quantities import Tolerance

LEVEL = 0.05
"""Of the bounds that are shown unless a rule says otherwise: both together are the 90% interval."""
ROUNDING = 1e-12
"""A move beyond what is allowed by no more than this share is none."""


@dataclass(frozen=True, eq=False)
class Question:
    """A metric on a slice, paired; ``tolerance`` is None where nothing says how far it may fall."""

    seen: Seen
    values: Values
    tolerance: Tolerance | None = None
    alpha: float = LEVEL
    weights: Floats | None = None
    """One for each unit, where the mean is weighted."""
    told: Floats | None = None
    """Other gains of the same units, where the question is about labels that nobody gave."""

    @property
    def about_a_mean(self) -> bool:
        """Whether there is a mean of several units to be tested."""
        return self.seen.metric.aggregate == "mean" and self.values.now.size > 1 and not self.weightless

    @cached_property
    def worth(self) -> int:
        """How many queries of equal weight these are worth."""
        return weighting(self.weights, self.gains.size).worth

    @property
    def weightless(self) -> bool:
        """Whether nobody asks any of these queries, so that there is no mean."""
        return weightless(self.weights)

    @cached_property
    def gains(self) -> Floats:
        """What each unit gained; a loss is negative, whichever values of the metric are better."""
        if self.told is not None:
            return self.told
        return self.seen.sign * differences(self.values.now, self.values.before)

    @cached_property
    def baseline(self) -> float:
        """The mean of the baseline; of no values, nothing."""
        return mean_of(self.values.before, self.weights) if self.values.before.size else 0.0

    @property
    def allowed(self) -> float | None:
        """How far the figure may fall."""
        return None if self.tolerance is None else self.tolerance.allowed(self.baseline)

    @cached_property
    def margins(self) -> Floats | None:
        """How far each unit may fall: a share of its own value in the baseline, which is a sample as well."""
        if self.tolerance is None:
            return None
        toward = 1.0 if self.baseline >= 0 else -1.0
        margins: Floats = self.tolerance.relative * toward * self.values.before + self.tolerance.absolute
        return margins

    @cached_property
    def evidence(self) -> MeanEvidence:
        """All tests of the mean."""
        return mean_evidence(self.gains, self.margins, alpha=self.alpha, weights=self.weights)


def beyond(moved: Any, allowed: float, baseline: float) -> Any:
    """Tell whether a figure, or each of an array, moved by more than is allowed, and not by rounding alone."""
    return moved > allowed + ROUNDING * max(1.0, abs(baseline))


def weightless(weights: Floats | None) -> bool:
    """Whether all weights are 0."""
    return weights is not None and not weights.any()


def mean_of(values: Floats, weights: Floats | None) -> float:
    """The mean, weighted or not; the order of the values does not change it."""
    if weights is None:
        return math.fsum(values.tolist()) / values.size
    return math.fsum((values * weights).tolist()) / math.fsum(weights.tolist())


def weights_of(seen: Seen, values: Values, *, weighted: bool) -> Floats | None:
    """What each unit counts; None where all count the same."""
    weights = seen.population.weights
    return weights[values.place] if weighted and weights is not None else None
