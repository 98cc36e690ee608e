"""How a mean got from an anchor to the current rankings: the accepted changes, and how often it was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pytest_ireval.baselines.spreads import Step
from pytest_ireval.statistics.looks import agreement, even_agreement, levels_of_looks


@dataclass(frozen=True)
class AcceptedChange:
    """An acceptance since the anchor."""

    date: str
    reason: str
    step: Step | None
    """None: the acceptance kept no figures of this mean."""

    @property
    def moved(self) -> bool:
        """Whether it may have moved the mean: one that kept no figures counts."""
        return self.step is None or self.step.spread > 0 or self.step.change != 0


@dataclass(frozen=True)
class Walk:
    """How a mean got from the anchor to the current rankings, all of it read from committed acceptances."""

    accepted: tuple[AcceptedChange, ...] = ()
    """Those that moved the mean, the oldest first."""
    moving: bool = True
    """Whether the current rankings differ from what was accepted last, so that this run is one more look."""
    step: Step | None = None
    """From what was accepted last to now; None where the stored baseline does not fit what is evaluated now."""

    @property
    def looks(self) -> int:
        """How often the mean was compared with the anchor, this time included."""
        return max(1, len(self.accepted) + self.moving)

    @property
    def unknown(self) -> int:
        """How many accepted changes kept no figures."""
        return sum(each.step is None for each in self.accepted)

    def correlations(self) -> Iterator[float]:
        """Of each look with the next; where an acceptance kept no figures, as if all steps were alike."""
        steps = [*(each.step for each in self.accepted), *([self.step] if self.moving else [])]
        for look, (before, after) in enumerate(pairwise(steps), 2):
            if before is None or after is None:
                yield even_agreement(look)
            else:
                yield agreement(before.from_anchor, after.from_anchor, after.spread)

    def level(self, looks: int, alpha: float) -> float:
        """The level at which this look is tested, so that ``alpha`` lasts for this many of them."""
        return self.levels(looks, alpha)[-1]

    def levels(self, looks: int, alpha: float) -> tuple[float, ...]:
        """Those of all looks so far."""
        return levels_of_looks(tuple(self.correlations()), looks, alpha)
