"""How far the values of single queries moved with an acceptance: one standard deviation for each metric and slice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DIGITS = 6
"""So many digits that matter are kept: what is planned with them is rough."""
LARGEST = 1e300
"""A text that says more says nothing."""
WHOLE = "all"
"""The slice of all queries."""


@dataclass(frozen=True)
class Spreads(Mapping[str, float]):
    """Standard deviations of the differences by metric and slice; a value that can be a key itself."""

    entries: tuple[tuple[str, float], ...] = ()
    """Sorted by name."""

    def __getitem__(self, key: str) -> float:
        for name, spread in self.entries:
            if name == key:
                return spread
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)


NO_SPREADS = Spreads()


def spread_key(metric: str, within: str) -> str:
    """``nDCG@10`` of all queries, ``nDCG@10 segment=tail`` of a slice."""
    return metric if within == WHOLE else f"{metric} {within}"


def spreads_of(found: Iterable[tuple[str, float]]) -> Spreads:
    """Rounded and sorted; where nothing moved there is nothing to know."""
    rounded = {key: float(f"{spread:.{DIGITS}g}") for key, spread in found if math.isfinite(spread) and spread > 0}
    return Spreads(tuple(sorted(rounded.items())))


def spreads_said(said: Any) -> Spreads:
    """What a file says, exactly; TypeError or ValueError where that is nothing of the kind."""
    if not isinstance(said, dict):
        raise TypeError("spreads are no mapping")
    for key, spread in said.items():
        if isinstance(spread, bool) or not isinstance(spread, (int, float)) or not 0 < spread <= LARGEST:
            raise ValueError(f"{spread!r} is no spread of {key!r}")
    return Spreads(tuple(sorted((key, float(spread)) for key, spread in said.items())))
