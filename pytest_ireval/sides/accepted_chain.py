"""The accepted changes between an anchor and the current rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from pytest_ireval.baseline.record import Step
from pytest_ireval.statistics.looks import correlation_of_looks, levels_of_looks
from pytest_ireval.statistics.resolution import LEVEL


class AcceptedChange(NamedTuple):
    """An acceptance since the anchor."""

    date: str
    reason: str
    step: Step | None
    """None: the acceptance kept no figures of this mean."""

    @property
    def may_have_moved(self) -> bool:
        """True if it may have moved the mean: one that kept no figures counts."""
        return self.step is None or self.step.spread > 0 or self.step.change != 0


class AcceptedChain(NamedTuple):
    """The accepted changes of a mean from the anchor to the current rankings, read from committed acceptances."""

    accepted: tuple[AcceptedChange, ...] = ()
    """Those that moved the mean, the oldest first."""
    is_changed: bool = True
    """True if the current rankings differ from the last accepted ones, so that this run is one more look."""
    last_step: Step | None = None
    """From the last acceptance to now; None where the stored baseline does not fit the suite."""

    @property
    def looks(self) -> int:
        """The number of comparisons of the mean with the anchor, this one included."""
        return max(1, len(self.accepted) + self.is_changed)

    @property
    def missing_figure_count(self) -> int:
        """The number of accepted changes that kept no figures."""
        return sum(change.step is None for change in self.accepted)

    def correlations(self) -> Iterator[float]:
        """Of each look with the next; where an acceptance kept no figures, as if all steps were alike."""
        steps = [*(change.step for change in self.accepted), *([self.last_step] if self.is_changed else [])]
        for look, (before, after) in enumerate(pairwise(steps), 2):
            if before is None or after is None:
                yield math.sqrt((look - 1) / look)
            else:
                yield correlation_of_looks(before.from_anchor, after.from_anchor, after.spread)

    @property
    def levels(self) -> tuple[float, ...]:
        """The level of each look so far; this one is tested at the last one."""
        return levels_of_looks(tuple(self.correlations()), LEVEL)

    @property
    def look_factor(self) -> float:
        """What a p is multiplied by, so that it may be compared with 0.05 and not with the lower level of this look."""
        return LEVEL / self.levels[-1]
