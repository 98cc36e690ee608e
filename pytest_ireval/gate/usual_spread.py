"""How far queries usually move from one version to the next: what acceptances kept and runs saw, or a guess."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from pytest_ireval.baselines.baseline import Acceptance
from pytest_ireval.baselines.spreads import DIGITS, spread_key
from pytest_ireval.plurals import counted
from pytest_ireval.statistics.resolution import likely_spread

NEWEST = 20
"""So many are looked at: a search that changed in how it changes is not planned by what it was years ago."""
ASSUMED = "assumed from the spread of values"

Seen = Mapping[tuple[str, str], Sequence[float]]
"""By metric and slice, the spreads that runs saw, the newest last."""


class UsualSpread(NamedTuple):
    """A standard deviation of differences, and where it comes from."""

    spread: float
    origin: str

    @property
    def assumed(self) -> bool:
        """Whether nobody has seen a change yet."""
        return self.origin == ASSUMED


def usual_spread(
    acceptances: Sequence[Acceptance], runs: Seen, metric: str, within: str, values: Sequence[float]
) -> UsualSpread | None:
    """The median of those that are known; from ``values`` of queries where none is; None where these are all alike.

    A run that saw exactly what an acceptance kept, or another run, saw the same change.
    """
    accepted = list(_accepted(acceptances, metric, within))[-NEWEST:]
    known = dict.fromkeys(accepted)
    others = [each for each in dict.fromkeys(map(_rounded, runs.get((metric, within), ()))) if each not in known]
    others = others[len(others) - max(0, NEWEST - len(accepted)) :] if len(accepted) < NEWEST else []
    if not accepted and not others:
        guess = likely_spread(values)
        return None if guess is None else UsualSpread(guess, ASSUMED)
    return UsualSpread(median([*accepted, *others]), _origin(len(accepted), len(others)))


def _accepted(acceptances: Sequence[Acceptance], metric: str, within: str) -> Iterator[float]:
    key = spread_key(metric, within)
    yield from (each.spreads[key] for each in acceptances if key in each.spreads)


def _rounded(spread: float) -> float:
    return float(f"{spread:.{DIGITS}g}")


def _origin(accepted: int, others: int) -> str:
    """``3 acceptances and 12 other runs``."""
    if not accepted:
        return counted(others, "run")
    said = counted(accepted, "acceptance")
    return said if not others else f"{said} and {counted(others, 'other run')}"
