"""Metrics that follow a reader down the list until she stops: ERR and RBP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pytest_ireval import JudgedRankings, Param, make_steps, steps_for
from pytest_ireval_metrics.vocabulary import (
    Depth,
    Floats,
    MaxGrade,
    Persistence,
    compute_satisfaction,
    condensable_metric,
    find_top_grade,
    format_number,
    list_as_scored,
    make_sum_steps,
)

if TYPE_CHECKING:
    from pytest_ireval import Steps

Columns = dict[str, NDArray[Any]]


def describe_scale(judged: JudgedRankings, max_grade: float | None, gain: str) -> list[str]:
    """The top of the scale, and how a grade becomes a chance to stop."""
    top = format_number(find_top_grade(max_grade, judged))
    chance = f"grade / ({top} + 1)" if gain == "ntcir" else f"(2^grade - 1) / 2^{top}"
    return [f"the top of the scale is {top}", f"stops = {chance}; adds = reaches * stops / rank"]


def make_stop_columns(grade: Floats, top: float, gain: str) -> Columns:
    """For each document, how likely it ends the search, is reached, and what it adds to ERR."""
    stops = compute_satisfaction(grade, top, gain)
    reaches = np.concatenate((np.ones(1), np.cumprod(1.0 - stops)))[:-1]
    adds = reaches * stops / np.arange(1, grade.size + 1)
    return {"stops": stops, "reaches": reaches, "adds": adds, "sum": np.cumsum(adds)}


StopChance = Annotated[
    Literal["exp", "ntcir"],
    Param("the probability that a grade g satisfies: exp is (2^g - 1) / 2^max_grade, ntcir is g / (max_grade + 1)"),
]


def _compute_err(judged: JudgedRankings, cutoff: int | None, max_grade: float, gain: str) -> Floats:
    """Per query, the expectation of one divided by the rank at which the reader is satisfied."""
    hits = judged.hits
    stops = compute_satisfaction(hits.grade, max_grade, gain)
    goes_on = judged.running_product(1.0 - stops)
    reaches = np.concatenate((np.ones(1), goes_on[:-1])) if goes_on.size else goes_on
    first = judged.first[:-1]
    reaches[first[first < judged.first[1:]]] = 1.0
    return judged.sum(reaches * stops / hits.rank, None if cutoff is None else hits.rank <= cutoff)


@condensable_metric(
    name="ERR",
    spellings={"err_{cutoff}": {}},
    dialects={"ir_measures": lambda given: {"max_grade": 4, **given}},  # of gdeval, which it asks
)
def err(
    judged: JudgedRankings, *, cutoff: Depth = None, max_grade: MaxGrade = None, gain: StopChance = "exp"
) -> Floats:
    """Expectation of 1 / the rank at which a reader is satisfied; good documents make later ones matter less.

    Formula: ERR = sum over ranks i of (1/i) R_i prod of (1 - R_j) for j < i, with R = (2^grade - 1) / 2^max_grade
    Reference: O. Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009. gdeval has max_grade=4.
    Example: ERR(max_grade=4) of 3 2 4 = 7/16 + 1/2 * 9/16 * 3/16 + 1/3 * 9/16 * 13/16 * 15/16 = 0.6331
    """
    return _compute_err(judged, cutoff, find_top_grade(max_grade, judged), gain)


@steps_for(err)
def _err_steps(judged: JudgedRankings, *, max_grade: float | None, gain: str, **settings: Any) -> Steps:
    listed = list_as_scored(judged, settings)
    columns = make_stop_columns(listed.grade, find_top_grade(max_grade, judged), gain)
    return make_sum_steps(listed, columns, columns["adds"], None, describe_scale(judged, max_grade, gain))


@condensable_metric(name="RBP", spellings={"rbp_p={p}": {}}, additive=True)
def rank_biased_precision(
    judged: JudgedRankings,
    *,
    cutoff: Depth = None,
    p: Persistence = 0.8,
    rel: Annotated[
        float | None,
        Param("documents of this grade and above have gain 1, others 0; unless given, gain is grade / max_grade"),
    ] = None,
    max_grade: MaxGrade = None,
) -> Floats:
    """Gain per document of a reader who goes on from each document to the next with probability p.

    Formula: RBP = (1 - p) sum over ranks i of gain_i p^(i - 1), with gain = grade / max_grade
    Reference: A. Moffat, J. Zobel, Rank-biased precision for measurement of retrieval effectiveness, TOIS 27, 2008.
    Example: RBP(p=0.5) of 1 0 1 = 0.5 * (1 + 0.25) = 0.625
    """
    hits = judged.hits
    if rel is not None:
        gain = judged.relevant(rel).astype(np.float64)
    else:
        gain = np.maximum(hits.grade, 0.0) / find_top_grade(max_grade, judged)
    within = None if cutoff is None else hits.rank <= cutoff
    return (1 - p) * judged.sum(gain * _compute_reach(hits.rank, p), within)


@steps_for(rank_biased_precision)
def _rbp_steps(
    judged: JudgedRankings, *, p: float, rel: float | None, max_grade: float | None, **settings: Any
) -> Steps:
    listed = list_as_scored(judged, settings)
    if rel is None:
        top = find_top_grade(max_grade, judged)
        gain, said = np.maximum(listed.grade, 0.0) / top, f"gain = grade / {format_number(top)}"
    else:
        gain, said = listed.relevant(rel).astype(np.float64), f"gain = 1 for grade {rel:g} and more"
    reaches = _compute_reach(listed.rank, p)
    columns = {"gain": gain, "reaches": reaches, "product": gain * reaches, "sum": np.cumsum(gain * reaches)}
    whole = float((gain * reaches).sum())
    return make_steps(
        listed,
        columns,
        arithmetic=f"(1 - {p:g}) * {format_number(whole)}",
        value=(1 - p) * whole,
        facts=[f"p = {p:g}, the probability to go on; reaches = p^(rank - 1)", said],
        shares=(1 - p) * gain * reaches,
    )


def _compute_reach(rank: NDArray[np.int64], p: float) -> Floats:
    reaches: Floats = np.power(p, rank - 1.0)
    return reaches
