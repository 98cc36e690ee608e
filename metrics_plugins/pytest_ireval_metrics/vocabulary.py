"""Shared by many metrics: parameters, gains and discounts, orders and lists, arrays, and steps of sums in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import (
    JudgedRankings,
    Listing,
    Metric,
    MetricError,
    Param,
    condensed,
    list_ranking,
    make_steps,
    metric,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

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
    Literal["up", "nearest"],
    Param("how recall * R becomes a number of documents: up (recall is reached) or to the nearest (trec_eval 10)"),
]


def parse_field_number(value: object) -> float | None:
    """The number in a field of a document, which a table holds as text; None if it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def format_number(value: float) -> str:
    """A number of a formula: whole numbers as such, others with four decimals."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4f}"


def sum_prefixes(values: Floats) -> Floats:
    """The sum of the first 0, 1, 2 … values."""
    return np.concatenate((np.zeros(1), np.cumsum(values)))


def mark_found(judged: JudgedRankings, rel: float, cutoff: int | None) -> Mask:
    """True for relevant hits within the cutoff."""
    relevant = judged.relevant(rel)
    return relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff)


def compute_gain(grade: Floats, gain: str = "linear", gains: Mapping[float, float] | None = None) -> Floats:
    """The gain of each grade; grades below 0 have none unless ``gains`` gives them one."""
    value = np.maximum(grade, 0.0)
    if gain == "exp":
        value = np.exp2(value) - 1
    for key, mapped in (gains or {}).items():
        value[grade == key] = np.exp2(mapped) - 1 if gain == "exp" else mapped
    return value


def compute_discount(rank: NDArray[np.int64], discount: str, log_base: float) -> Floats:
    """The divisor of a gain at each rank."""
    if discount == "jarvelin":
        return np.maximum(_log(rank.astype(np.float64), log_base), 1.0)
    return _log(rank.astype(np.float64) + 1.0, log_base)


def _log(x: Floats, base: float) -> Floats:
    return np.log2(x) if base == 2 else np.log(x) / np.log(base)


def compute_satisfaction(grade: Floats, max_grade: float, gain: str) -> Floats:
    """The probability that a document of this grade ends the search."""
    value = np.maximum(grade, 0.0)
    if gain == "ntcir":
        return value / (max_grade + 1)
    chance: Floats = (np.exp2(value) - 1) / np.exp2(max_grade)
    return chance


def find_top_grade(max_grade: float | None, judged: JudgedRankings) -> float:
    """The top of the scale: as given, or that of the evaluation; 1 if nothing at all is relevant.

    A judged grade above it is an error, retrieved or not: no ranking may fail where another would not.
    """
    if max_grade is None:
        return judged.highest_grade or 1.0
    highest = float(judged.ideal.grade.max()) if judged.ideal.grade.size else 0.0
    if highest > max_grade:
        raise MetricError(f"grade {highest:g} is above max_grade={max_grade:g}")
    return max_grade


def gain_range(settings: Mapping[str, Any], best: float = 1.0) -> tuple[float, float]:
    """Scores are 0 to ``best``, or without lower bound if a gain is negative."""
    negative = min((settings.get("gains") or {0: 0}).values()) < 0
    return (-np.inf if negative else 0.0, best)


JudgedOnly = Annotated[bool, Param("leave out unjudged documents first, so that the others move up (condensed list)")]


def _take_judged_only(judged: JudgedRankings, *, judged_only: JudgedOnly = False) -> Floats:
    """A parameter of many metrics; only the signature is used."""
    raise NotImplementedError


JUDGED_ONLY = metric(name="Described")(_take_judged_only).parameters


def condensable_metric(**about: Any) -> Callable[[Callable[..., Floats]], Metric]:
    """Make a metric, and give it the parameter ``judged_only``: the function scores the condensed rankings then."""

    def make(function: Callable[..., Floats]) -> Metric:
        def batch(judged: JudgedRankings, *, judged_only: bool, **settings: Any) -> Floats:
            return function(condensed(judged) if judged_only else judged, **settings)

        own = metric(**about)(function)
        return replace(own, batch=batch, parameters=(*own.parameters, *JUDGED_ONLY))

    return make


relevance_metric = partial(condensable_metric, binary=True)


def condense_if_asked(judged: JudgedRankings, settings: Mapping[str, Any]) -> JudgedRankings:
    """The rankings that a metric with these settings looks at."""
    return condensed(judged) if settings.get("judged_only") else judged


def list_as_scored(judged: JudgedRankings, settings: Mapping[str, Any], cutoff: int | None = None) -> Listing:
    """The list that a metric with these settings looks at."""
    return list_ranking(condense_if_asked(judged, settings), settings.get("cutoff") if cutoff is None else cutoff)


MOST_TERMS = 12
"""A sum of more terms is not written out."""


def format_quotient(above: float, below: float) -> tuple[str, float]:
    """A division in words, and its value; a division by 0 gives 0."""
    text = f"{format_number(above)} / {format_number(below)}"
    return (f"({text} counts as 0)", 0.0) if below == 0 else (text, above / below)


def format_sum(terms: Sequence[float] | NDArray[np.float64]) -> str:
    """A sum in words, of the terms that are not 0; only its value if there are too many."""
    there = [float(term) for term in terms if term]
    if len(there) <= MOST_TERMS:
        return " + ".join(map(format_number, there)) or "0"
    return format_number(sum(there))


def format_mean(terms: NDArray[np.float64], among: float) -> tuple[str, float]:
    """A sum divided by a number in words, and its value; a division by 0 gives 0."""
    if not 1 < np.count_nonzero(terms) <= MOST_TERMS or not among:
        return format_quotient(float(terms.sum()), among)
    return f"({format_sum(terms)}) / {format_number(among)}", float(terms.sum()) / among


def make_sum_steps(
    listed: Listing,
    columns: Mapping[str, NDArray[Any]],
    adds: Floats,
    among: float | None,
    facts: Sequence[str],
    *,
    terms: bool = True,
    second_title: str = "",
    second_table: Mapping[str, NDArray[Any]] | None = None,
) -> Steps:
    """Steps of a value that is a sum over documents, ``adds``; divided by ``among``, nothing if that is 0.

    The ``terms`` of the sum are written out, if they are not too many.
    """
    if among is None:
        text, value, shares = format_sum(adds), float(adds.sum()), adds
    else:
        text, value = format_mean(adds, among) if terms else format_quotient(float(adds.sum()), among)
        shares = adds / among if among else np.zeros(adds.size)
    return make_steps(
        listed,
        columns,
        arithmetic=text,
        value=value,
        facts=facts,
        shares=shares,
        second_title=second_title,
        second_table=second_table,
    )
