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


def size(value: float) -> str:
    """A magnitude to two digits that matter: ``0.34``, ``0.0051``, ``12``."""
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.095 or not value else f"{value:.{_decimals(value)}f}"


def _decimals(value: float) -> int:
    """How many decimals show two digits that matter, ten at most."""
    return next((places for places in range(2, 10) if value * 10**places >= 9.5), 10)


def _without_minus_zero(value: float, decimals: int) -> float:
    return round(value, decimals) + 0.0
