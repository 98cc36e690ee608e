"""How figures are written: four decimals for a metric, three for one query, changes with their sign."""

from __future__ import annotations


def figure(value: float | None, decimals: int = 4) -> str:
    """A metric's figure; ``-`` where there is none."""
    return "-" if value is None else f"{value:.{decimals}f}"


def change(value: float | None, decimals: int = 4) -> str:
    """A difference; one that rounds to nothing has no minus."""
    return "-" if value is None else f"{_without_minus_zero(value, decimals):+.{decimals}f}"


def percent(share: float | None) -> str:
    """A difference as a share, in per cent."""
    return "-" if share is None else f"{_without_minus_zero(100 * share, 1):+.1f}%"


def interval(low: float, high: float) -> str:
    """From low to high, three decimals."""
    return f"{change(low, 3)} .. {change(high, 3)}"


def _without_minus_zero(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0
