"""Shared by many metrics: gains, discounts, orders of equal scores, condensed lists, and steps of sums in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import (
    JudgedRankings,
    Listing,
    Metric,
    MetricError,
    Param,
    Steps,
    condensed,
    listing,
    metric,
    steps_of,
)
from pytest_ireval_metrics.vocabulary import Floats, Mask, shown_number


def found_within(judged: JudgedRankings, rel: float, cutoff: int | None) -> Mask:
    """True for relevant hits within the cutoff."""
    relevant = judged.relevant(rel)
    return relevant if cutoff is None else relevant & (judged.hits.rank <= cutoff)


def gain_of(grade: Floats, gain: str = "linear", gains: Mapping[float, float] | None = None) -> Floats:
    """The gain of each grade; grades below 0 have none unless ``gains`` gives them one."""
    value = np.maximum(grade, 0.0)
    if gain == "exp":
        value = np.exp2(value) - 1
    for key, mapped in (gains or {}).items():
        value[grade == key] = np.exp2(mapped) - 1 if gain == "exp" else mapped
    return value


def discount_at(rank: NDArray[np.int64], discount: str, log_base: float) -> Floats:
    """The divisor of a gain at each rank."""
    if discount == "jarvelin":
        return np.maximum(_log(rank.astype(np.float64), log_base), 1.0)
    return _log(rank.astype(np.float64) + 1.0, log_base)


def _log(x: Floats, base: float) -> Floats:
    return np.log2(x) if base == 2 else np.log(x) / np.log(base)


def satisfaction(grade: Floats, max_grade: float, gain: str) -> Floats:
    """The probability that a document of this grade ends the search."""
    value = np.maximum(grade, 0.0)
    if gain == "ntcir":
        return value / (max_grade + 1)
    chance: Floats = (np.exp2(value) - 1) / np.exp2(max_grade)
    return chance


def scale_top(max_grade: float | None, judged: JudgedRankings) -> float:
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


def by_relevance(grade: Floats, *, rel: float = 1, **_: Any) -> Floats:
    """The order of equal scores for metrics that ask only which documents are relevant."""
    return np.where(np.isnan(grade), 0.5, grade >= rel)


def by_gain(grade: Floats, *, gain: str = "linear", gains: Mapping[float, float] | None = None, **_: Any) -> Floats:
    """The order of equal scores for metrics that add up gains; judged documents without gain come last."""
    return _above_unjudged(grade, gain_of(grade, gain, gains))


def by_relevant_gain(
    grade: Floats, *, rel: float = 1, gains: Mapping[float, float] | None = None, **_: Any
) -> Floats | None:
    """The order of equal scores for metrics that add up gains of relevant documents; unknown if one is not above 0."""
    if min((gains or {1: 1}).values()) <= 0:
        return None
    return _above_unjudged(grade, np.where(grade >= rel, gain_of(grade, "linear", gains), 0.0))


def by_nothing(grade: Floats, **_: Any) -> Floats:
    """The order of equal scores for metrics that look at no order."""
    return np.zeros(grade.size)


def _above_unjudged(grade: Floats, worth: Floats) -> Floats:
    """Worth above 0 is above that of unjudged documents, all other worth below."""
    return np.where(np.isnan(grade), 0.0, np.where(worth > 0, worth, worth - 1.0))


JudgedOnly = Annotated[bool, Param("leave out unjudged documents first, so that the others move up (condensed list)")]


def _described(judged: JudgedRankings, *, judged_only: JudgedOnly = False) -> Floats:
    """A parameter of many metrics; only the signature is used."""
    raise NotImplementedError


JUDGED_ONLY = metric(name="Described")(_described).parameters
RELEVANCE: dict[str, Any] = {"tie_order": by_relevance, "binary": True}
"""Fields of a metric that asks only which documents are relevant."""


def condensable_metric(**about: Any) -> Callable[[Callable[..., Floats]], Metric]:
    """Make a metric, and give it the parameter ``judged_only``: the function scores the condensed rankings then."""

    def make(function: Callable[..., Floats]) -> Metric:
        def batch(judged: JudgedRankings, *, judged_only: bool, **settings: Any) -> Floats:
            return function(condensed(judged) if judged_only else judged, **settings)

        own = metric(**about)(function)
        return replace(own, batch=batch, parameters=(*own.parameters, *JUDGED_ONLY))

    return make


relevance_metric = partial(condensable_metric, **RELEVANCE)


def seen_with(judged: JudgedRankings, settings: Mapping[str, Any]) -> JudgedRankings:
    """The rankings that a metric with these settings looks at."""
    return condensed(judged) if settings.get("judged_only") else judged


def listed_as(judged: JudgedRankings, settings: Mapping[str, Any], cutoff: int | None = None) -> Listing:
    """The list that a metric with these settings looks at."""
    return listing(seen_with(judged, settings), settings.get("cutoff") if cutoff is None else cutoff)


MOST_TERMS = 12
"""A sum of more terms is not written out."""


def quotient(above: float, below: float) -> tuple[str, float]:
    """A division in words, and its value; a division by 0 gives 0."""
    text = f"{shown_number(above)} / {shown_number(below)}"
    return (f"({text} counts as 0)", 0.0) if below == 0 else (text, above / below)


def total(terms: Sequence[float] | NDArray[np.float64]) -> str:
    """A sum in words, of the terms that are not 0; only its value if there are too many."""
    there = [float(term) for term in terms if term]
    if len(there) <= MOST_TERMS:
        return " + ".join(map(shown_number, there)) or "0"
    return shown_number(sum(there))


def shared(terms: NDArray[np.float64], among: float) -> tuple[str, float]:
    """A sum divided by a number in words, and its value; a division by 0 gives 0."""
    if not 1 < np.count_nonzero(terms) <= MOST_TERMS or not among:
        return quotient(float(terms.sum()), among)
    return f"({total(terms)}) / {shown_number(among)}", float(terms.sum()) / among


def shared_steps(
    listed: Listing,
    columns: Mapping[str, NDArray[Any]],
    adds: Floats,
    among: float | None,
    facts: Sequence[str],
    *,
    terms: bool = True,
    beside: tuple[str, Mapping[str, NDArray[Any]]] | None = None,
) -> Steps:
    """Steps of a value that is a sum over documents, ``adds``; divided by ``among``, nothing if that is 0.

    The ``terms`` of the sum are written out, if they are not too many.
    """
    if among is None:
        text, value, shares = total(adds), float(adds.sum()), adds
    else:
        text, value = shared(adds, among) if terms else quotient(float(adds.sum()), among)
        shares = adds / among if among else np.zeros(adds.size)
    return steps_of(listed, columns, arithmetic=text, value=value, facts=facts, shares=shares, beside=beside)
