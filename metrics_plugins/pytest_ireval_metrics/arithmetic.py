"""How numbers, divisions and sums are written in the last line of a metric's steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

MOST_TERMS = 12
"""A sum of more terms is not written out."""


def shown_number(value: float) -> str:
    """A number of a formula: whole numbers as such, others with four decimals."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4f}"


def quotient(above: float, below: float) -> tuple[str, float]:
    """A division in words, and what it comes to; nothing divided by 0 is 0."""
    text = f"{shown_number(above)} / {shown_number(below)}"
    return (f"({text} counts as 0)", 0.0) if below == 0 else (text, above / below)


def total(terms: Sequence[float] | NDArray[np.float64]) -> str:
    """A sum in words, of the terms that are not 0; if they are too many, what it comes to."""
    there = [float(term) for term in terms if term]
    if len(there) <= MOST_TERMS:
        return " + ".join(map(shown_number, there)) or "0"
    return shown_number(sum(there))


def shared(terms: NDArray[np.float64], among: float) -> tuple[str, float]:
    """A sum divided by a number in words, and what it comes to; nothing divided by 0 is 0."""
    if not 1 < np.count_nonzero(terms) <= MOST_TERMS or not among:
        return quotient(float(terms.sum()), among)
    return f"({total(terms)}) / {shown_number(among)}", float(terms.sum()) / among
