"""Shared by many metrics: parameters, each described once, arrays, and numbers."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import Param

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

Cutoff = Annotated[int, Param("number of documents from the top that count", low=1)]
Depth = Annotated[int | None, Param("how many documents from the top count; all, unless given", low=1)]
Rel = Annotated[float, Param("documents of this grade and above are relevant")]
AnyRel = Annotated[float | None, Param("only documents of this grade and above count; all, unless given")]
Relative = Annotated[bool, Param("divide by the most relevant documents that a list of this length could hold")]
Beta = Annotated[float, Param("how many times as important recall is as precision", low=0)]
Denominator = Annotated[
    Literal["R", "min"],
    Param(
        "what the sum is divided by: R, all relevant documents, or min, no more of them than the cutoff leaves room for"
    ),
]
Gain = Annotated[
    Literal["linear", "exp"],
    Param("the gain of a grade g: linear is g, exp is 2^g - 1", aliases={"dcg": {"log2": "linear", "exp-log2": "exp"}}),
]
Gains = Annotated[
    dict[float, float] | None, Param("the gain of single grades, in place of the grade itself, as {1: 1, 2: 3}")
]
Discount = Annotated[
    Literal["log2", "jarvelin"],
    Param("log2 divides by log(rank + 1); jarvelin by log(rank), and not at all where the rank is below the base"),
]
LogBase = Annotated[float, Param("the base of the discount's logarithm", above=1)]
MaxGrade = Annotated[
    float | None,
    Param(
        "the top of the scale; unless given, that of the evaluation, or else the highest grade of the judgments",
        above=0,
        aliases={"max_rel": {}},
    ),
]
Persistence = Annotated[
    float,
    Param(
        "the probability that a reader goes on to the next document",
        low=0,
        below=1,
        why="with p = 1 the factor 1 - p is 0, and so is every score",
    ),
]
Rounding = Annotated[
    Literal["nearest", "up"],
    Param("how recall * R becomes a number of documents: to the nearest (trec_eval 10) or up (recall really reached)"),
]


def number_of_field(value: object) -> float | None:
    """The number in a field of a document, which a table holds as text; None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def shown_number(value: float) -> str:
    """A number of a formula: whole numbers as such, others with four decimals."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4f}"


def summed(values: Floats) -> Floats:
    """The sum of the first 0, 1, 2 … values."""
    return np.concatenate((np.zeros(1), np.cumsum(values)))
